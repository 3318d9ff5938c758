//! Every way in which a request can fail, each with a stable code, a message and a hint.

use punch_core::Refusal;
use punch_store::StoreError;

use crate::plan_file::FileError;
use crate::{CheckpointError, VerifyError};

/// Why a request failed. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EngineError {
    /// Rules said no; never empty.
    Refused(Vec<Refusal>),
    /// The store said no.
    Store(StoreError),
    /// No plan of that name.
    UnknownPlan {
        /// What was given.
        name: String,
        /// Names that look like it.
        near: Vec<String>,
    },
    /// A plan in use has that name.
    PlanExists {
        /// The name.
        name: String,
    },
    /// The plan was put away.
    ArchivedPlan {
        /// Its name.
        name: String,
    },
    /// A reference fits several todos.
    Ambiguous {
        /// What was given.
        given: String,
        /// Ids and contents that fit, at most ten.
        candidates: Vec<(String, String)>,
        /// How many fit.
        total: usize,
    },
    /// The role of the session does not allow it (rule 39).
    NotAllowed {
        /// What was asked for.
        what: String,
    },
    /// The plan would have more open todos than a request may make.
    TooMany {
        /// Open todos there would be.
        open: u64,
        /// How many there may be.
        limit: u64,
    },
    /// A check did not pass, or could not run.
    Verify(VerifyError),
    /// Work is not handed out here (rule 40).
    SubagentsOff,
    /// The plan file said no.
    PlanFile(FileError),
    /// A checkpoint is not there, or does not fit the code.
    Checkpoint(CheckpointError),
    /// A reference fits nothing.
    NotFound {
        /// What was given.
        given: String,
        /// Ids that look like it.
        near: Vec<String>,
    },
}

impl EngineError {
    /// The stable code that programs match on.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Refused(refusals) => refusals.first().map_or("refused", Refusal::code),
            Self::Store(error) => error.code(),
            Self::UnknownPlan { .. } => "unknown_plan",
            Self::PlanExists { .. } => "plan_exists",
            Self::ArchivedPlan { .. } => "archived_plan",
            Self::Ambiguous { .. } => "ambiguous",
            Self::NotAllowed { .. } => "not_allowed",
            Self::TooMany { .. } => "too_many",
            Self::Verify(error) => error.code(),
            Self::SubagentsOff => "subagents_off",
            Self::PlanFile(error) => error.code(),
            Self::Checkpoint(error) => error.code(),
            Self::NotFound { .. } => "unknown_todo",
        }
    }

    /// What is wrong, with which values.
    pub fn message(&self) -> String {
        let clip = |text: &str| punch_core::text::clip(&punch_core::text::neutral(text), 80).into_owned();
        match self {
            Self::Refused(refusals) => {
                let mut lines: Vec<String> = refusals.iter().take(10).map(Refusal::message).collect();
                if refusals.len() > 10 {
                    lines.push(format!("{} more", refusals.len() - 10));
                }
                lines.join("; ")
            }
            Self::Store(error) => error.message(),
            Self::UnknownPlan { name, near } => format!("no plan `{}`{}", clip(name), nearest(near)),
            Self::PlanExists { name } => format!("a plan `{}` exists already", clip(name)),
            Self::ArchivedPlan { name } => format!("the plan `{}` is archived", clip(name)),
            Self::Ambiguous { given, candidates, total } => {
                let mut lines = vec![format!("`{}` fits {total} todos:", clip(given))];
                lines.extend(candidates.iter().map(|(id, content)| format!("  {}  {}", clip(id), clip(content))));
                if *total > candidates.len() {
                    lines.push(format!("  and {} more", total - candidates.len()));
                }
                lines.join("\n")
            }
            Self::NotAllowed { what } => format!("a worker session may not {what}"),
            Self::TooMany { open, limit } => format!("the plan would have {open} open todos, the limit is {limit}"),
            Self::Verify(error) => error.message(),
            Self::SubagentsOff => "the setting `subagents` is off: nothing is assigned to other agents".into(),
            Self::PlanFile(error) => error.message(),
            Self::Checkpoint(error) => error.message(),
            Self::NotFound { given, near } => format!("no todo `{}`{}", clip(given), nearest(near)),
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Refused(refusals) => refusals.first().map(Refusal::hint).unwrap_or_default(),
            Self::Store(error) => error.hint(),
            Self::UnknownPlan { .. } => "`punch plan list` names the plans, `punch plan new NAME` makes one".into(),
            Self::PlanExists { name } => {
                format!("choose another name, or `punch plan use {}`", punch_core::text::shell(name))
            }
            Self::ArchivedPlan { name } => {
                format!("`punch plan archive {} --undo` puts it back into use", punch_core::text::shell(name))
            }
            Self::Ambiguous { .. } => "name it by its id".into(),
            Self::NotAllowed { .. } => {
                "report on the todos that were assigned to you: start, done, fail, note, hold".into()
            }
            Self::TooMany { .. } => "finish or remove some first, or keep several steps in one todo".into(),
            Self::Verify(error) => error.hint(),
            Self::SubagentsOff => "`punch config set subagents conservative` allows it".into(),
            Self::PlanFile(error) => error.hint(),
            Self::Checkpoint(error) => error.hint(),
            Self::NotFound { .. } => "`punch list --all` shows every todo".into(),
        }
    }
}

fn nearest(near: &[String]) -> String {
    if near.is_empty() {
        return String::new();
    }
    let names: Vec<String> = near.iter().map(|n| format!("`{}`", punch_core::text::neutral(n))).collect();
    format!(" (nearest: {})", names.join(", "))
}

impl From<StoreError> for EngineError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<VerifyError> for EngineError {
    fn from(error: VerifyError) -> Self {
        Self::Verify(error)
    }
}

impl From<FileError> for EngineError {
    fn from(error: FileError) -> Self {
        Self::PlanFile(error)
    }
}

impl From<CheckpointError> for EngineError {
    fn from(error: CheckpointError) -> Self {
        Self::Checkpoint(error)
    }
}

impl From<Refusal> for EngineError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(vec![refusal])
    }
}

impl std::fmt::Display for EngineError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message())
    }
}

impl std::error::Error for EngineError {}
