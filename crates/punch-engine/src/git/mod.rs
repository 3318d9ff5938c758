//! Runs git where reading its files is not enough: for the state of the worktree and the ancestors of a head. Nothing
//! here changes a repository. Never called inside a transaction.
//!
//! Without the feature `git` there are no repositories: [`Git::of`] finds none, and no process is started.

#[cfg(feature = "git")]
mod ancestry;
#[cfg(feature = "git")]
mod blobs;
#[cfg(feature = "git")]
mod call;
#[cfg(feature = "git")]
mod folders;
#[cfg(not(feature = "git"))]
mod no_repository;
#[cfg(feature = "git")]
mod repository;
mod state;
#[cfg(feature = "git")]
mod status;
#[cfg(feature = "verify")]
mod tree_hash;
mod verdict;
#[cfg(feature = "git")]
mod worktree_state;

use std::collections::BTreeMap;

#[cfg(feature = "git")]
pub use call::{ELSEWHERE, GitCall, finish, finish_within, program, read_beginning};
#[cfg(feature = "git")]
pub use folders::{GitFolders, link as git_link};
#[cfg(not(feature = "git"))]
pub use no_repository::{Git, GitFolders};
#[cfg(feature = "git")]
pub use repository::Git;
pub use state::GitState;
pub use verdict::CommitVerdict;

/// The contents of files by path: the names that git has for them.
pub type Blobs = BTreeMap<String, String>;
