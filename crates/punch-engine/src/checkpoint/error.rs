//! Errors of saving and restoring checkpoints.

use punch_core::text::shell;

punch_core::errors! {
    /// Why a checkpoint cannot be used. Nothing was changed.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum CheckpointError {
        /// No checkpoint has that id.
        Unknown { id: String, near: Vec<String> }: "unknown_checkpoint",
            ("no checkpoint `{id}`{near}"),
            ("`punch checkpoint list` shows the checkpoints");
        /// The code is not where it was, nor further along. `back` is the command that brings the code back.
        Elsewhere { id: String, what: String, back: Option<String> }: "git_mismatch",
            ("cannot restore `{id}`: {what}"),
            ("go back to that commit first{}, or restore only the plan with `punch checkpoint restore {} --force`",
                if back.is_empty() { back } else { format!(" with `{back}`") }, shell(&id));
        /// The checkpoint cannot be read.
        Damaged { id: String }: "damaged_checkpoint",
            ("the checkpoint `{id}` cannot be read"),
            ("restore another checkpoint; `punch doctor` checks the store");
    }
}
