//! Hints for models: what to call after a refusal, in the terms of each dialect. Hints for users name commands and are
//! in the errors.

use punch_core::reason::{Cause, WaitReason};
use punch_core::{Refusal, Status, text};

use super::{Dialect, ToolCaller};
use crate::{CheckpointError, EngineError, VerifyError};

/// What a text for a model may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolWords {
    /// The dialect of its tools.
    pub dialect: Dialect,
    /// It has a shell in which `punch` works on the same plan.
    pub shell: bool,
}

impl From<Dialect> for ToolWords {
    fn from(dialect: Dialect) -> Self {
        Self { dialect, shell: true }
    }
}

impl ToolCaller<'_> {
    /// What texts for this caller may name.
    pub(super) fn words(&self, dialect: Dialect) -> ToolWords {
        ToolWords { dialect, shell: self.settings.is_none_or(|settings| settings.reminders_shell.value) }
    }
}

impl EngineError {
    /// Returns the hint for a model with these tools.
    pub fn tool_hint(&self, words: impl Into<ToolWords>) -> String {
        let words @ ToolWords { dialect, .. } = words.into();
        let reads = matches!(dialect, Dialect::Native | Dialect::Extended);
        let known = || match reads {
            true => "use an id from the list; todo_read shows it".to_owned(),
            false => "use an id from the list in the last result".to_owned(),
        };
        match self {
            Self::Refused(refusals) => match refusals.first() {
                Some(refusal) => refused(refusal, dialect, reads).unwrap_or_else(|| self.hint()),
                None => String::new(),
            },
            Self::NotFound { .. } => known(),
            Self::UnknownPlan { .. } => "omit `plan` to use the plan of this project".into(),
            Self::ArchivedPlan { .. } => "omit `plan` to use the plan of this project, or choose another".into(),
            Self::Verify(error) => unproven(error, words),
            Self::Checkpoint(error) => uncheckpointed(error, words),
            Self::Store(_)
            | Self::PlanExists { .. }
            | Self::Ambiguous { .. }
            | Self::NotAllowed { .. }
            | Self::TooMany { .. }
            | Self::SubagentsOff
            | Self::RunTaken { .. }
            | Self::RunReplaced
            | Self::WorkerTaken { .. }
            | Self::WorkerReplaced { .. }
            | Self::ApprovalNotStored { .. }
            | Self::PlanFile(_) => self.hint(),
        }
    }
}

/// A check is the one thing for which a model is sent to a shell: it may take longer than a tool call.
fn unproven(error: &VerifyError, words: ToolWords) -> String {
    let again = match words.dialect {
        Dialect::Native => "send done again",
        Dialect::Cursor | Dialect::Phases | Dialect::Todowrite | Dialect::Extended => "send the same call again",
    };
    match error {
        VerifyError::NoCommand { .. } => "add a verifyCommand with edit".into(),
        VerifyError::Consent { .. } if words.shell => {
            format!("continue with something else and tell the user to {}", error.hint())
        }
        VerifyError::Consent { .. } => {
            "continue with something else and tell the user that the command has to be approved".into()
        }
        VerifyError::Failed { .. } => format!("fix the problem, then {again}; leave the todo open until then"),
        VerifyError::NotStarted { .. } => "fix its verifyCommand with edit".into(),
        VerifyError::Running { .. } => "continue with another todo; the check decides about this one".into(),
        VerifyError::Stopped { .. } => again.to_owned(),
        VerifyError::Timeout { .. } if !words.shell => "continue with another todo and tell the user".into(),
        VerifyError::Timeout { id, .. } => {
            format!("run `punch verify {}` in a shell; if it passes, it completes the todo", text::shell(id))
        }
    }
}

fn uncheckpointed(error: &CheckpointError, words: ToolWords) -> String {
    match error {
        CheckpointError::Unknown { .. } | CheckpointError::Damaged { .. } => {
            "todo_checkpoint with action list shows the checkpoints".into()
        }
        CheckpointError::Elsewhere { .. } if !words.shell => "go back to that commit with git first".into(),
        CheckpointError::Elsewhere { .. } => {
            "go back to that commit with git first, or ask the user to restore only the plan with `punch checkpoint restore ID --force`".into()
        }
    }
}

/// Returns `None` if the hint for people fits a model too, because it names no command.
fn refused(refusal: &Refusal, dialect: Dialect, reads: bool) -> Option<String> {
    let name = |id: &str| format!("`{}`", text::clip(&text::neutral(id), 80));
    let ops = dialect == Dialect::Native;
    Some(match refusal {
        Refusal::AtLine { refusal, .. } => return refused(refusal, dialect, reads),
        Refusal::UnknownTodo { .. } if reads => "use an id from the list; todo_read shows it".into(),
        Refusal::UnknownTodo { .. } => "use an id from the list in the last result".into(),
        Refusal::NotReady { reasons, id } => not_ready(id, reasons.first(), (ops, reads)),
        Refusal::InProgressLimit { running, together: true, .. } => {
            format!("start one at a time, for example only {}", name(running))
        }
        Refusal::InProgressLimit { running, .. } if ops => {
            format!("send the call again, beginning with done, hold or reopen of {}", name(running))
        }
        Refusal::InProgressLimit { running, .. } => format!("complete {} or set it to pending first", name(running)),
        Refusal::Transition { status: Status::Completed | Status::Cancelled | Status::Failed, id, .. } => match ops {
            true => format!("reopen {} first", name(id)),
            false => format!("set {} to pending first", name(id)),
        },
        Refusal::Transition { id, .. } if reads => {
            format!("todo_read with view todo and id {} shows its state", name(id))
        }
        Refusal::Transition { .. } => "the list in the last result shows its state".into(),
        Refusal::Leased { free: Some(free), .. } => {
            format!("take {} instead, or wait until the claim ends", name(free))
        }
        Refusal::Leased { .. } => "no other todo is ready; wait until the claim ends, or stop here".into(),
        Refusal::UnknownPhase { .. } => "use the name of a phase in the plan".into(),
        Refusal::NeedsEvidence { .. } => "send done again with evidence: what you checked and the result".into(),
        Refusal::RevertConflict { .. } => {
            "undo the later revisions first; todo_read with view history lists them".into()
        }
        Refusal::UnknownRevision { .. } | Refusal::NothingUndoable { .. } => {
            "todo_read with view history lists the revisions".into()
        }
        Refusal::AlreadyUndone { by, .. } => format!("the op undo with revision {by} redoes it"),
        Refusal::NothingToUndo { others: None } | Refusal::NothingToRedo { others: None } => {
            "todo_read with view history lists the revisions".into()
        }
        Refusal::NothingToUndo { .. } => "the op undo with any: true also undoes other people's changes".into(),
        Refusal::NothingToRedo { others: Some((revision, _)) } => {
            format!("the op undo with revision {revision} undoes it")
        }
        Refusal::UnknownDependency { .. } => {
            "add the missing todo in the same call, or leave the dependency out".into()
        }
        Refusal::FailingCheck { .. } => "fix it and run it again, then send done again".into(),
        Refusal::NeedsCheck { .. } if ops => {
            "run its tests, build or lint, then send done again, or send done with evidence if nothing can be run"
                .into()
        }
        Refusal::NeedsCheck { .. } => "run its tests, build or lint, then mark it completed again".into(),
        Refusal::Invalid { .. } => "fix that value and send the call again".into(),
        Refusal::NeedsVerification { .. } => "its check must pass first; send done again when it does".into(),
        Refusal::DuplicateId { .. }
        | Refusal::Cycle { .. }
        | Refusal::StaleFence { .. }
        | Refusal::RemovedInBatch { .. }
        | Refusal::TooLong { .. }
        | Refusal::InvalidLabel { .. }
        | Refusal::TooManyLabels { .. }
        | Refusal::Conflict { .. } => return None,
    })
}

/// Says what a caller can do about a todo that cannot be started: `ops` if it sends ops, `reads` if it has a reading tool.
fn not_ready(id: &str, first: Option<&WaitReason>, (ops, reads): (bool, bool)) -> String {
    let name = |id: &str| format!("`{}`", text::clip(&text::neutral(id), 80));
    let Some(first) = first else { return "take another todo".into() };
    let other = name(&first.id);
    match first.cause {
        Cause::Dropped if ops => format!("reopen {other}, or edit {} to remove the dependency", name(id)),
        Cause::Dropped => format!("{other} is closed, so this can never start; take another todo and tell the user"),
        Cause::Files => format!("wait until {other} is done; take another todo"),
        Cause::Blank => "it has no text; take another todo".into(),
        cause if cause.is_hold() && first.is_own() => match ops {
            true => format!("the op release on {} takes it off hold", name(id)),
            false => "it is on hold; take another todo".into(),
        },
        _ if reads => {
            format!("finish {other} first; todo_read with view why and id {} shows the whole chain", name(id))
        }
        _ => format!("finish {other} first"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use punch_core::Verify;

    use super::*;

    #[test]
    fn hints_for_models_name_no_command() {
        let (id, near) = ("a".to_owned(), Vec::new());
        let reason = |cause| WaitReason {
            cause,
            id: "a".to_owned(),
            uid: None,
            status: None,
            about: None,
            until: None,
            needed_by: "a".to_owned(),
        };
        let refusals = [
            Refusal::UnknownTodo { id: id.clone(), near },
            Refusal::NotReady { id: id.clone(), reasons: Vec::new() },
            Refusal::NotReady { id: id.clone(), reasons: vec![reason(Cause::Ready)] },
            Refusal::NotReady { id: id.clone(), reasons: vec![reason(Cause::Dropped)] },
            Refusal::NotReady { id: id.clone(), reasons: vec![reason(Cause::Files)] },
            Refusal::NotReady { id: id.clone(), reasons: vec![reason(Cause::Person)] },
            Refusal::InProgressLimit { id: id.clone(), running: "b".into(), together: false },
            Refusal::InProgressLimit { id: id.clone(), running: "b".into(), together: true },
            Refusal::Transition { id: id.clone(), op: "fail", status: Status::Completed },
            Refusal::Transition { id: id.clone(), op: "fail", status: Status::Pending },
            Refusal::Leased { id: id.clone(), owner: Some("o".into()), until: None, free: None },
            Refusal::Leased { id: id.clone(), owner: None, until: None, free: Some("b".into()) },
            Refusal::UnknownPhase { name: "p".into(), near: Vec::new() },
            Refusal::RevertConflict { revision: 1, redo: false, fields: Vec::new() },
            Refusal::UnknownRevision { revision: 1 },
            Refusal::AlreadyUndone { revision: 1, by: 2 },
            Refusal::NothingUndoable { revision: 1, stays: Vec::new() },
            Refusal::NothingToUndo { others: Some((1, "o".into())) },
            Refusal::NothingToRedo { others: Some((1, "o".into())) },
            Refusal::NeedsEvidence { id: id.clone() },
            Refusal::NeedsVerification { id: id.clone() },
            Refusal::FailingCheck { id: id.clone(), command: "c".into(), outcome: "failed".into() },
            Refusal::NeedsCheck { id: id.clone(), outdated: false },
            Refusal::UnknownDependency { id: id.clone(), missing: "b".into(), near: Vec::new() },
        ];
        for refusal in refusals {
            for dialect in &Dialect::ALL {
                let hint = EngineError::from(refusal.clone()).tool_hint(*dialect);
                assert!(!hint.is_empty() && !hint.contains("punch "), "{hint}");
            }
        }
        let id_of = || id.clone();
        let command = || Verify::Shell("true".into());
        let checks = [
            VerifyError::NoCommand { id: id_of() },
            VerifyError::Consent { id: id_of(), command: command(), outdated: false },
            VerifyError::Timeout { id: id_of(), command: command(), limit: Duration::ZERO, tail: String::new() },
            VerifyError::Stopped { id: id_of() },
        ];
        for error in checks.map(EngineError::from) {
            let hint = error.tool_hint(ToolWords { dialect: Dialect::Native, shell: false });
            assert!(!hint.is_empty() && !hint.contains("punch "), "{hint}");
        }
        for dialect in &Dialect::ALL {
            let lost = EngineError::NotFound { given: id.clone(), near: Vec::new() }.tool_hint(*dialect);
            assert!(!lost.contains("punch "), "{lost}");
        }
    }
}
