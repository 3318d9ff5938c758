//! The state of a worktree, small enough to be stored.

use serde::{Deserialize, Serialize};

/// The state of the code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GitState {
    /// None with a detached head.
    pub branch: Option<String>,
    /// The commit of the head; none before the first one.
    pub commit: Option<String>,
    /// Tracked files differ from the commit.
    pub dirty: bool,
    /// The tracked files that differ, at most 200.
    pub modified: Vec<String>,
    /// How many tracked files differ.
    pub modified_total: usize,
    /// Files and folders that git does not know, at most 200. They are only listed.
    pub untracked: Vec<String>,
    /// How many files and folders git does not know.
    pub untracked_total: usize,
    /// What leads from the commit to the files as they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
    /// Why there is no patch although files differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch_left_out: Option<String>,
}
