//! What a git leaves that was killed while it made a work tree: an entry that is half written, with which no git of the
//! repository lists work trees any more, the user's neither.

use std::fs;
use std::path::{Path, PathBuf};

use super::git::Git;
use super::lane::HALF_MADE;
use super::{Lanes, WorktreeError};

impl Lanes {
    /// Removes work trees of this run whose making was cut short. Nobody has worked in them. To be called by whoever has
    /// the turn: another one may be in the making.
    pub(super) fn mend(&self) -> Result<(), WorktreeError> {
        mend(&self.git, &self.folder)
    }
}

/// The same before anybody is at work.
pub(super) fn mend(git: &Git, folder: &Path) -> Result<(), WorktreeError> {
    let common = git.read("find its folder", &["rev-parse", "--path-format=absolute", "--git-common-dir"])?;
    for entry in fs::read_dir(Path::new(&common).join("worktrees")).into_iter().flatten().flatten() {
        let Some(tree) = half_made(&entry.path()).filter(|tree| tree.starts_with(folder)) else { continue };
        for path in [tree, entry.path()] {
            if let Err(cause) = fs::remove_dir_all(&path)
                && cause.kind() != std::io::ErrorKind::NotFound
            {
                return Err(WorktreeError::Folder { path, cause: cause.to_string() });
            }
        }
    }
    Ok(())
}

/// The work tree that an entry of git's was being made for, if it was not made to its end.
fn half_made(entry: &Path) -> Option<PathBuf> {
    let read = |name: &str| fs::read_to_string(entry.join(name)).ok();
    let locked = read("locked").filter(|why| why.trim_end() == HALF_MADE);
    locked.and(read("gitdir")).and_then(|file| Some(Path::new(file.trim_end_matches('\n')).parent()?.to_owned()))
}
