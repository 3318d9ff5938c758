//! git as a program, for what its files do not say plainly: the state of the worktree, and which commits a head has
//! behind it. Nothing here changes a repository. Never called inside a transaction.

mod ancestry;
mod blobs;
mod call;
mod folders;
mod state;
mod status;

use std::io;
use std::path::{Path, PathBuf};

pub use ancestry::CommitVerdict;
pub use blobs::Blobs;
use call::read_all;
pub use call::{ELSEWHERE, GitCall, finish, program, read_beginning};
pub use folders::{GitFolders, link as git_link};
pub use state::GitState;

use crate::locate;

/// Answers longer than this are not read: status lines, names of commits.
const ANSWER: usize = 8 << 20;

/// The repository of a worktree.
#[derive(Clone, Debug)]
pub struct Git {
    root: PathBuf,
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
    fn ask(&self, arguments: &[&str], input: Option<String>, limit: usize) -> io::Result<Vec<u8>> {
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
