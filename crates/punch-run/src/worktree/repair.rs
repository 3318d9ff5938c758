//! Removes what a killed `git worktree add` leaves behind: a half-written entry with which no git of the repository can
//! list its worktrees, not even the user's.

use std::fs;
use std::path::{Path, PathBuf};

use super::WorktreeError;
use super::git::LaneGit;
use super::lane::is_half_made;

/// Removes the worktrees below `folder` that git did not finish creating. No agent has worked in them.
///
/// While agents work, call it only with the turn held: otherwise another lane may be in the making.
pub(super) fn remove_half_made(git: &LaneGit, folder: &Path) -> Result<(), WorktreeError> {
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

/// Returns the worktree that an entry in git's `worktrees` folder is for, if git did not finish creating it.
fn half_made(entry: &Path) -> Option<PathBuf> {
    let read = |name: &str| fs::read_to_string(entry.join(name)).ok();
    let locked = read("locked").filter(|why| is_half_made(why));
    locked.and(read("gitdir")).and_then(|file| Some(Path::new(file.trim_end_matches('\n')).parent()?.to_owned()))
}
