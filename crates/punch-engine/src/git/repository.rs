//! The repository of a worktree, and queries to it.

use std::io;
use std::path::{Path, PathBuf};

use super::GitFolders;
use super::call::{finish, program, read_all};
use crate::locate;

/// Answers longer than this are not read: status lines, names of commits.
pub(super) const ANSWER: usize = 8 << 20;

/// The repository of a worktree.
#[derive(Clone, Debug)]
pub struct Git {
    pub(super) root: PathBuf,
    folders: Option<GitFolders>,
}

impl Git {
    /// The repository whose worktree has its top here; `None` if there is none.
    pub fn at(root: &Path) -> Option<Self> {
        locate::is_work_tree(root).then(|| Self { root: root.to_owned(), folders: None })
    }

    /// The repository of a worktree: with recorded git folders those count, whatever its `.git` says.
    pub fn of(root: &Path, recorded: Option<&GitFolders>) -> Option<Self> {
        let with = |folders: &GitFolders| Self { root: root.to_owned(), folders: Some(folders.clone()) };
        recorded.map_or_else(|| Self::at(root), |folders| Some(with(folders)))
    }

    /// What git prints; an error if that is more than `limit` bytes.
    pub(super) fn ask(&self, arguments: &[&str], input: Option<String>, limit: usize) -> io::Result<Vec<u8>> {
        let mut git = program(&self.root, self.folders.as_ref());
        // Objects that are elsewhere are not fetched by the way.
        git.args(arguments).env("GIT_NO_LAZY_FETCH", "1");
        let call = finish(git, input, |pipe| read_all(pipe, limit))?;
        match call.status.success() {
            true => Ok(call.out),
            false => Err(io::Error::other(format!("git {} failed", arguments.first().unwrap_or(&"")))),
        }
    }
}
