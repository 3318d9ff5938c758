//! Submodules of a lane whose git folder somebody exchanged. git asks the repository inside a submodule for its status,
//! and that repository's configuration can name programs: only one that git itself made is asked.

use std::path::Path;

use punch_engine::{GitFolders, git_link};

use super::WorktreeError;
use super::git::Git;
use super::settle::PATHS;

/// How git lists what is a repository of its own.
const GITLINK: &[u8] = b"160000 ";

/// Submodules with a git folder that is not below the git folders of the lane.
pub(super) fn foreign_submodules(git: &Git) -> Result<Vec<String>, WorktreeError> {
    let Some(folders) = git.folders() else { return Ok(Vec::new()) };
    let listed =
        git.records("list submodules", &["ls-files", "--stage", "-z"], &|record| record.starts_with(GITLINK))?;
    // `160000 OBJECT STAGE`, a tab, then the path.
    let paths = listed.iter().filter_map(|record| Some(record.split_once('\t')?.1));
    let foreign = paths.filter(|path| !is_own(folders, git.root(), path)).take(PATHS);
    Ok(foreign.map(str::to_owned).collect())
}

/// Whether a submodule is empty, or git made it for this lane.
fn is_own(folders: &GitFolders, lane: &Path, path: &str) -> bool {
    let folder = lane.join(path);
    if folder.join(".git").symlink_metadata().is_err() {
        return true;
    }
    // A link on the way there would lead to another repository.
    let (Ok(real), Ok(top)) = (folder.canonicalize(), lane.canonicalize()) else { return false };
    let modules = [&folders.own, &folders.common].map(|folder| folder.join("modules").canonicalize().ok());
    let linked = git_link(&folder).and_then(|link| link.canonicalize().ok());
    real == top.join(path) && linked.is_some_and(|link| modules.iter().flatten().any(|all| link.starts_with(all)))
}
