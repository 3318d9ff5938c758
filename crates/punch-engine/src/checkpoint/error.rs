//! Why a checkpoint is not made or not restored.

use punch_core::text;

/// Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckpointError {
    /// No checkpoint has that id.
    Unknown {
        /// What was given.
        id: String,
        /// What it may have meant.
        near: Vec<String>,
    },
    /// The code is not where it was, nor further along.
    Elsewhere {
        /// The checkpoint.
        id: String,
        /// What differs.
        what: String,
        /// The command that brings the code back, where one does.
        back: Option<String>,
    },
    /// The checkpoint cannot be read.
    Damaged {
        /// The checkpoint.
        id: String,
    },
}

impl CheckpointError {
    /// The stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "unknown_checkpoint",
            Self::Elsewhere { .. } => "git_mismatch",
            Self::Damaged { .. } => "damaged_checkpoint",
        }
    }

    /// What is wrong.
    pub fn message(&self) -> String {
        let name = |id: &str| text::clip(&text::neutral(id), 80).into_owned();
        match self {
            Self::Unknown { id, near } if near.is_empty() => format!("no checkpoint `{}`", name(id)),
            Self::Unknown { id, near } => {
                let near: Vec<String> = near.iter().map(|id| format!("`{}`", name(id))).collect();
                format!("no checkpoint `{}`; did you mean {}?", name(id), near.join(", "))
            }
            Self::Elsewhere { id, what, .. } => format!("`{}` is not restored: {}", name(id), text::neutral(what)),
            Self::Damaged { id } => format!("the checkpoint `{}` cannot be read", name(id)),
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Unknown { .. } => "`punch checkpoint list` shows what there is".into(),
            Self::Elsewhere { id, back, .. } => {
                let back = back.as_ref().map(|command| format!(" with `{command}`")).unwrap_or_default();
                let id = text::shell(id);
                format!(
                    "bring the code back first{back}, or restore the plan alone: `punch checkpoint restore {id} --force`"
                )
            }
            Self::Damaged { .. } => "restore another one; `punch doctor` checks the store".into(),
        }
    }
}
