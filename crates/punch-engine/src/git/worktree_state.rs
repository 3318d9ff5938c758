//! Asks git for the state of the code.

use super::repository::ANSWER;
use super::{Git, GitState, status};

/// The number of bytes of a patch that are kept.
const PATCH: usize = 1 << 20;

/// The number of names of each kind that are kept.
const NAMES: usize = 200;

impl Git {
    /// The branch, the commit and what is not committed. An error if git cannot say.
    pub fn state(&self) -> std::io::Result<GitState> {
        let answer =
            self.ask(&["status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal"], None, ANSWER)?;
        let status::GitStatus { branch, commit, mut modified, mut untracked } = status::read(&answer);
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
