//! Submodules of a lane whose git folder was replaced. git asks the repository inside a submodule for its status, and
//! that repository's configuration can name programs, so only one that git itself created is asked.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use punch_engine::{GitFolders, git_link};

use super::WorktreeError;
use super::git::LaneGit;
use super::settle::PATHS;

/// How git's list of an index begins the line of a submodule.
const GITLINK: &[u8] = b"160000 ";

/// The mode of a submodule in an index.
const MODE: &[u8] = &0o160_000_u32.to_be_bytes();

/// The signature of the extension of a split index.
const SPLIT: &[u8] = b"link";

/// The largest index that is read here; for larger ones git is asked.
const INDEX: u64 = 64 << 20;

/// Returns submodules whose git folder is not below the git folders of the lane.
pub(super) fn foreign_submodules(git: &LaneGit) -> Result<Vec<String>, WorktreeError> {
    let Some(folders) = git.folders().filter(|folders| may_have_submodules(&folders.own.join("index"))) else {
        return Ok(Vec::new());
    };
    let listed =
        git.records("list submodules", &["ls-files", "--stage", "-z"], &|record| record.starts_with(GITLINK))?;
    // `160000 OBJECT STAGE`, a tab, then the path.
    let paths = listed.iter().filter_map(|record| Some(record.split_once('\t')?.1));
    let foreign = paths.filter(|path| !is_own(folders, git.root(), path)).take(PATHS);
    Ok(foreign.map(str::to_owned).collect())
}

/// Returns false only if no entry of an index can be a submodule. Each entry has its mode in four bytes; an index that
/// is split has entries elsewhere. Most repositories have no submodule, and are spared a process.
fn may_have_submodules(index: &Path) -> bool {
    let mut bytes = Vec::new();
    let read = File::open(index).and_then(|file| file.take(INDEX + 1).read_to_end(&mut bytes));
    read.is_err() || bytes.len() as u64 > INDEX || bytes.windows(4).any(|four| four == MODE || four == SPLIT)
}

/// Returns true if a submodule is empty, or git created it for this lane.
fn is_own(folders: &GitFolders, lane: &Path, path: &str) -> bool {
    let folder = lane.join(path);
    if folder.join(".git").symlink_metadata().is_err() {
        return true;
    }
    // A link in the path would lead to another repository.
    let (Ok(real), Ok(top)) = (folder.canonicalize(), lane.canonicalize()) else { return false };
    let modules = [&folders.own, &folders.common].map(|folder| folder.join("modules").canonicalize().ok());
    let linked = git_link(&folder).and_then(|link| link.canonicalize().ok());
    real == top.join(path) && linked.is_some_and(|link| modules.iter().flatten().any(|all| link.starts_with(all)))
}
