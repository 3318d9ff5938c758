//! What stands in for repositories in a build without the feature `git`: types that have no value.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use super::{Blobs, CommitVerdict, GitState};

/// A repository; there is none.
#[derive(Clone, Debug)]
pub enum Git {}

/// The git folders of a worktree; there are none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GitFolders {}

impl Git {
    /// Finds no repository.
    pub fn of(_root: &Path, _recorded: Option<&GitFolders>) -> Option<Self> {
        None
    }

    /// The state of the worktree.
    pub fn state(&self) -> io::Result<GitState> {
        match *self {}
    }

    /// Whether commits are behind the head.
    pub fn judge(&self, _commits: &BTreeSet<String>) -> BTreeMap<String, CommitVerdict> {
        match *self {}
    }

    /// Branches whose commits the head does not have.
    pub fn unmerged(&self, _branches: &[String]) -> BTreeSet<String> {
        match *self {}
    }

    /// The contents of files.
    pub fn blobs(&self, _globs: &[String]) -> Blobs {
        match *self {}
    }

    /// Whether files have lost what they contained.
    pub fn lost(&self, _then: &Blobs) -> Option<bool> {
        match *self {}
    }
}

impl GitFolders {
    /// The commit of the worktree's head.
    pub fn head(&self, _worktree: &Path) -> Option<String> {
        match *self {}
    }
}
