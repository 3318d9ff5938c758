//! What a model can do about a refusal: a tool call, not a command. The one place where hints are put in the words of a
//! dialect.

use punch_core::{Refusal, Status, text};

use super::Dialect;
use crate::{CheckpointError, EngineError, VerifyError};

impl EngineError {
    /// The hint for callers of a dialect.
    pub fn tool_hint(&self, dialect: Dialect) -> String {
        let reads = matches!(dialect, Dialect::Native | Dialect::Extended);
        let known = || match reads {
            true => "use an id from the list; todo_read shows it".to_owned(),
            false => "use one from the list in the last result".to_owned(),
        };
        match self {
            Self::Refused(refusals) => match refusals.first() {
                Some(refusal) => refused(refusal, dialect, reads).unwrap_or_else(|| self.hint()),
                None => String::new(),
            },
            Self::NotFound { .. } => known(),
            Self::UnknownPlan { .. } => "leave `plan` out to use the plan of this project".into(),
            Self::ArchivedPlan { .. } => "leave `plan` out to use the plan of this project, or name another".into(),
            Self::Verify(error) => unproven(error, dialect),
            Self::Checkpoint(error) => uncheckpointed(error),
            Self::Store(_)
            | Self::PlanExists { .. }
            | Self::Ambiguous { .. }
            | Self::NotAllowed { .. }
            | Self::TooMany { .. }
            | Self::SubagentsOff
            | Self::PlanFile(_) => self.hint(),
        }
    }
}

/// A check is the one thing for which a model is sent to a shell: it may take longer than a tool call.
fn unproven(error: &VerifyError, dialect: Dialect) -> String {
    let again = match dialect {
        Dialect::Native => "send done again",
        Dialect::Cursor | Dialect::Phases | Dialect::Todowrite | Dialect::Extended => "send the same call again",
    };
    match error {
        VerifyError::NoCommand { .. } => "give it a verifyCommand with edit".into(),
        VerifyError::Consent { .. } => {
            format!("go on with something else and tell the user: {}", error.hint())
        }
        VerifyError::Failed { .. } => format!("fix what it found, then {again}; leave it open until then"),
        VerifyError::NotStarted { .. } => "correct its verifyCommand with edit".into(),
        VerifyError::Stopped { .. } => again.to_owned(),
        VerifyError::Timeout { id, .. } => {
            format!("run `punch verify {}` in a shell: it finishes the todo if it passes", text::shell(id))
        }
    }
}

fn uncheckpointed(error: &CheckpointError) -> String {
    match error {
        CheckpointError::Unknown { .. } | CheckpointError::Damaged { .. } => {
            "todo_checkpoint with action list shows what there is".into()
        }
        CheckpointError::Elsewhere { .. } => {
            "bring the code back with git first, or ask the user to restore the plan alone with `punch checkpoint restore ID --force`".into()
        }
    }
}

/// `None` where the hint names no command anyway.
fn refused(refusal: &Refusal, dialect: Dialect, reads: bool) -> Option<String> {
    let name = |id: &str| format!("`{}`", text::clip(&text::neutral(id), 80));
    let ops = dialect == Dialect::Native;
    Some(match refusal {
        Refusal::UnknownTodo { .. } if reads => "use an id from the list; todo_read shows it".into(),
        Refusal::UnknownTodo { .. } => "use one from the list in the last result".into(),
        Refusal::NotReady { waits_for, id, .. } => match waits_for.first() {
            Some((first, _)) if reads => {
                format!("finish {} first; todo_read with view why and id {} tells more", name(first), name(id))
            }
            Some((first, _)) => format!("finish {} first", name(first)),
            None if ops => format!("the op release on {} ends the hold", name(id)),
            None => "it is on hold; take another todo".into(),
        },
        Refusal::InProgressLimit { running, .. } if ops => {
            format!("finish it with done, or put it back with reopen: {}", name(running))
        }
        Refusal::InProgressLimit { running, .. } => format!("complete {} or set it to pending first", name(running)),
        Refusal::Transition { status: Status::Completed | Status::Cancelled | Status::Failed, id, .. } => match ops {
            true => format!("reopen {} first", name(id)),
            false => format!("set {} to pending first", name(id)),
        },
        Refusal::Transition { id, .. } if reads => format!("look at {} with todo_read, view todo, first", name(id)),
        Refusal::Transition { .. } => "look at the list in the last result first".into(),
        Refusal::Leased { free: Some(free), .. } => {
            format!("take {} instead, or wait until the claim ends", name(free))
        }
        Refusal::Leased { .. } => "nothing else is free: wait until the claim ends, or stop here".into(),
        Refusal::UnknownPhase { .. } => "use a phase of the plan".into(),
        Refusal::NeedsEvidence { .. } => "send done again with evidence: what you checked, and what came of it".into(),
        Refusal::RevertConflict { .. } => {
            "undo the later revisions first; todo_read with view history lists them".into()
        }
        Refusal::UnknownRevision { .. } | Refusal::NothingUndoable { .. } => {
            "todo_read with view history lists the revisions".into()
        }
        Refusal::AlreadyUndone { by, .. } => format!("the op undo with revision {by} brings it back"),
        Refusal::NothingToUndo { others: None } | Refusal::NothingToRedo { others: None } => {
            "todo_read with view history lists the revisions".into()
        }
        Refusal::NothingToUndo { .. } => "the op undo with any true undoes changes of others too".into(),
        Refusal::NothingToRedo { others: Some((revision, _)) } => {
            format!("the op undo with revision {revision} undoes it")
        }
        Refusal::Invalid { .. }
        | Refusal::DuplicateId { .. }
        | Refusal::UnknownDependency { .. }
        | Refusal::Cycle { .. }
        | Refusal::StaleFence { .. }
        | Refusal::NeedsVerification { .. }
        | Refusal::RemovedInBatch { .. }
        | Refusal::TooLong { .. }
        | Refusal::Conflict { .. } => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_hint_of_a_surface_names_a_command() {
        let (id, near) = ("a".to_owned(), Vec::new());
        let refusals = [
            Refusal::UnknownTodo { id: id.clone(), near },
            Refusal::NotReady { id: id.clone(), waits_for: vec![("b".into(), "pending")], hold: None },
            Refusal::NotReady { id: id.clone(), waits_for: Vec::new(), hold: Some("why".into()) },
            Refusal::InProgressLimit { id: id.clone(), running: "b".into() },
            Refusal::Transition { id: id.clone(), op: "fail", status: Status::Completed },
            Refusal::Transition { id: id.clone(), op: "fail", status: Status::Pending },
            Refusal::Leased { id: id.clone(), owner: Some("o".into()), until: None, free: None },
            Refusal::Leased { id: id.clone(), owner: None, until: None, free: Some("b".into()) },
            Refusal::UnknownPhase { name: "p".into() },
            Refusal::RevertConflict { revision: 1, redo: false, fields: Vec::new() },
            Refusal::UnknownRevision { revision: 1 },
            Refusal::AlreadyUndone { revision: 1, by: 2 },
            Refusal::NothingUndoable { revision: 1, stays: Vec::new() },
            Refusal::NothingToUndo { others: Some((1, "o".into())) },
            Refusal::NothingToRedo { others: Some((1, "o".into())) },
            Refusal::NeedsEvidence { id: id.clone() },
        ];
        for refusal in refusals {
            for dialect in Dialect::ALL {
                let hint = EngineError::from(refusal.clone()).tool_hint(*dialect);
                assert!(!hint.is_empty() && !hint.contains("punch "), "{hint}");
            }
        }
        for dialect in Dialect::ALL {
            let lost = EngineError::NotFound { given: id.clone(), near: Vec::new() }.tool_hint(*dialect);
            assert!(!lost.contains("punch "), "{lost}");
        }
    }
}
