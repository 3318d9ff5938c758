//! One lane: a work tree of its own on a branch of its own. What git has registered as work trees, read.

use std::path::{Path, PathBuf};

use super::WorktreeError;
use super::git::Git;

/// The work tree and the branch of one agent, or of one todo, in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    /// Its name inside the run: no more than a part of a ref.
    pub name: String,
    /// Its branch.
    pub branch: String,
    /// Its folder, outside of the user's tree.
    pub path: PathBuf,
}

impl Lane {
    /// Its branch, in full.
    pub(super) fn full_branch(&self) -> String {
        format!("refs/heads/{}", self.branch)
    }

    /// What is said when its folder is gone, or no work tree any more.
    pub(super) fn gone(&self) -> WorktreeError {
        WorktreeError::Gone { path: self.path.clone(), branch: self.branch.clone() }
    }
}

/// A work tree as git lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Registered {
    pub path: PathBuf,
    /// In full, `refs/heads/…`.
    pub branch: Option<String>,
    /// With the reason, which may be empty.
    pub locked: Option<String>,
    /// Its folder is not there.
    pub missing: bool,
}

impl Registered {
    /// The git that made it was killed.
    pub fn is_half_made(&self) -> bool {
        self.locked.as_deref().is_some_and(is_half_made)
    }
}

/// What git locks a work tree with until all files are there.
pub(super) const HALF_MADE: &str = "initializing";

/// Whether a work tree that is locked so was never made to its end.
pub(super) fn is_half_made(locked: &str) -> bool {
    locked.trim_end() == HALF_MADE
}

/// All work trees of the repository.
pub(super) fn registered(git: &Git) -> Result<Vec<Registered>, WorktreeError> {
    Ok(read(&git.read("list its work trees", &["worktree", "list", "--porcelain", "-z"])?))
}

/// The one in a folder. Names are compared as git writes them: with links followed.
pub(super) fn at(git: &Git, path: &Path) -> Result<Option<Registered>, WorktreeError> {
    let (path, real) = (path.to_owned(), path.canonicalize().ok());
    let same = |found: &Registered| found.path == path || real.as_ref().is_some_and(|real| found.path == *real);
    Ok(registered(git)?.into_iter().find(same))
}

fn read(answer: &str) -> Vec<Registered> {
    let mut out: Vec<Registered> = Vec::new();
    for line in answer.split('\0') {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match (word, out.last_mut()) {
            ("worktree", _) => out.push(Registered { path: PathBuf::from(rest), ..Registered::default() }),
            ("branch", Some(last)) => last.branch = Some(rest.to_owned()),
            ("locked", Some(last)) => last.locked = Some(rest.to_owned()),
            ("prunable", Some(last)) => last.missing = true,
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_git_is_read_with_any_path() {
        let answer = "worktree /a b\0HEAD 1\0branch refs/heads/main\0\0worktree /c\nd\0HEAD 2\0detached\0\
            locked by me\0\0worktree /e\0branch refs/heads/punch/7/x\0prunable gone\0\0";
        let tree = |path: &str| Registered { path: path.into(), ..Registered::default() };
        assert_eq!(
            read(answer),
            [
                Registered { branch: Some("refs/heads/main".into()), ..tree("/a b") },
                Registered { locked: Some("by me".into()), ..tree("/c\nd") },
                Registered { branch: Some("refs/heads/punch/7/x".into()), missing: true, ..tree("/e") },
            ]
        );
        assert_eq!(read("locked x\0branch y"), []);
    }
}
