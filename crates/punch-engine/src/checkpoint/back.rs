//! The commands that restore the files of a checkpoint. They are printed and never run.

use super::{Code, SavedCheckpoint};
use crate::git::GitState;

impl SavedCheckpoint {
    /// What brings the files back from where the code is now, in every folder of the project; nothing if they are there.
    pub fn way_back(&self, code: &Code) -> Vec<String> {
        let Some(GitState { commit: Some(commit), dirty, patch, .. }) = &self.git else { return Vec::new() };
        let now = code.state.as_ref();
        let is_there =
            |now: &GitState| now.commit.as_ref() == Some(commit) && now.patch == *patch && now.dirty == *dirty;
        if now.is_some_and(is_there) {
            return Vec::new();
        }
        // What is not committed now would be lost.
        let mut out: Vec<String> = now.filter(|now| now.dirty).map(|_| "git stash".to_owned()).into_iter().collect();
        out.push(format!("git restore --source={commit} --worktree --staged :/"));
        if patch.is_some() {
            // `git apply` ignores paths outside the folder in which it is called.
            let top = r#""$(git rev-parse --show-toplevel)""#;
            out.push(format!("punch checkpoint show {} --patch | git -C {top} apply", self.id));
        }
        out
    }
}
