//! Checkpoints: the recorded state of the work and of the code. Saving and restoring are one transaction each; git is
//! asked before. The worktree itself is never touched (docs/checkpoints.md).

mod after_commit;
mod automatic;
mod back;
mod batch;
mod blobs;
mod error;
mod read;
mod restore;
mod save;

pub(crate) use after_commit::AfterCommit;
pub use error::CheckpointError;
pub use read::Differs;
pub use restore::{RestoreResult, RestoredTodo, Restoring};
pub use save::{CheckpointReason, SavedCheckpoint, Saving, Verification};

use crate::git::{Git, GitState};
use crate::verify::WorkTree;

/// The code beside a plan at one moment.
#[derive(Clone, Debug, Default)]
pub struct Code {
    /// To ask more of it; none outside git.
    pub git: Option<Git>,
    /// The state of the code; none if git could not provide it.
    pub state: Option<GitState>,
}

impl Code {
    /// Asks git, which takes some milliseconds.
    pub fn look(tree: &WorkTree) -> Self {
        let git = Git::of(&tree.root, tree.git.as_ref());
        let state = git.as_ref().and_then(|git| git.state().ok());
        Self { git, state }
    }
}
