//! One lane: a worktree on a branch of its own. Also reads the worktrees that git has registered.

use std::path::{Path, PathBuf};

use super::WorktreeError;
use super::git::LaneGit;

/// The worktree and the branch of one todo in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    /// The name of the lane within the run, usable as one part of a ref.
    pub name: String,
    /// The name of its branch.
    pub branch: String,
    /// The folder of its worktree, outside of the user's worktree.
    pub path: PathBuf,
    /// The branch of the remote with the work of its todo, where a fleet shares one.
    pub remote: Option<String>,
}

impl Lane {
    /// Returns the branch that users and other machines see.
    pub(super) fn shown_branch(&self) -> &str {
        self.remote.as_deref().unwrap_or(&self.branch)
    }

    /// Returns the full ref of its branch.
    pub(super) fn full_branch(&self) -> String {
        format!("refs/heads/{}", self.branch)
    }

    /// Returns the error for a folder that is gone or no longer a worktree.
    pub(super) fn gone(&self) -> WorktreeError {
        WorktreeError::Gone { path: self.path.clone(), branch: self.branch.clone() }
    }
}

/// A worktree as git lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ListedWorktree {
    pub path: PathBuf,
    /// The full ref of its branch, `refs/heads/…`.
    pub branch: Option<String>,
    /// The reason why it is locked, which may be empty.
    pub locked: Option<String>,
    /// The folder does not exist.
    pub missing: bool,
}

impl ListedWorktree {
    /// Returns true if git was killed while it created the worktree.
    pub fn is_half_made(&self) -> bool {
        self.locked.as_deref().is_some_and(is_half_made)
    }
}

/// The reason with which git locks a worktree until all files are checked out.
const HALF_MADE: &str = "initializing";

/// Returns true if this reason for a lock means that git did not finish creating the worktree.
pub(super) fn is_half_made(locked: &str) -> bool {
    locked.trim_end() == HALF_MADE
}

/// Returns all worktrees of the repository.
pub(super) fn registered(git: &LaneGit) -> Result<Vec<ListedWorktree>, WorktreeError> {
    Ok(read(&git.read("list its worktrees", &["worktree", "list", "--porcelain", "-z"])?))
}

/// Returns the worktree in a folder. Paths are compared with links followed, as git writes them.
pub(super) fn at(git: &LaneGit, path: &Path) -> Result<Option<ListedWorktree>, WorktreeError> {
    let (path, real) = (path.to_owned(), path.canonicalize().ok());
    let same = |found: &ListedWorktree| found.path == path || real.as_ref().is_some_and(|real| found.path == *real);
    Ok(registered(git)?.into_iter().find(same))
}

fn read(answer: &str) -> Vec<ListedWorktree> {
    let mut out: Vec<ListedWorktree> = Vec::new();
    for line in answer.split('\0') {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match (word, out.last_mut()) {
            ("worktree", _) => out.push(ListedWorktree { path: PathBuf::from(rest), ..ListedWorktree::default() }),
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
        let tree = |path: &str| ListedWorktree { path: path.into(), ..ListedWorktree::default() };
        assert_eq!(
            read(answer),
            [
                ListedWorktree { branch: Some("refs/heads/main".into()), ..tree("/a b") },
                ListedWorktree { locked: Some("by me".into()), ..tree("/c\nd") },
                ListedWorktree { branch: Some("refs/heads/punch/7/x".into()), missing: true, ..tree("/e") },
            ]
        );
        assert_eq!(read("locked x\0branch y"), []);
    }
}
