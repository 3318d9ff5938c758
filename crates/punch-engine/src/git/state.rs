//! The state of a worktree, small enough to be stored.

use serde::{Deserialize, Serialize};

use super::{ANSWER, Git, status};

/// Bytes of a patch that is kept.
const PATCH: usize = 1 << 20;

/// Names that are kept of each kind.
const NAMES: usize = 200;

/// Where the code stands.
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

impl Git {
    /// The branch, the commit and what is not committed. An error if git cannot say.
    pub fn state(&self) -> std::io::Result<GitState> {
        let answer =
            self.ask(&["status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal"], None, ANSWER)?;
        let status::Status { branch, commit, mut modified, mut untracked } = status::read(&answer);
        let mut state = GitState {
            dirty: !modified.is_empty(),
            modified_total: modified.len(),
            untracked_total: untracked.len(),
            ..GitState::default()
        };
        modified.truncate(NAMES);
        untracked.truncate(NAMES);
        if state.dirty {
            match commit.is_some().then(|| self.patch()) {
                Some(Ok(patch)) => state.patch = Some(patch),
                Some(Err(why)) => state.patch_left_out = Some(why.to_string()),
                None => state.patch_left_out = Some("there is no commit yet".into()),
            }
        }
        Ok(GitState { branch, commit, modified, untracked, ..state })
    }

    /// Everything that is not committed, staged or not, in a form that `git apply` takes whatever the settings are.
    fn patch(&self) -> std::io::Result<String> {
        let form = ["--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/"];
        let answer = self.ask(&[&["diff", "--binary"], &form[..], &["HEAD"]].concat(), None, PATCH)?;
        String::from_utf8(answer).map_err(|_| std::io::Error::other("it holds bytes that are not UTF-8"))
    }
}
