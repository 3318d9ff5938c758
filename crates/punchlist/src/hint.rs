//! What a host can do about an error. The hints in the errors themselves are for users of the program `punch` and name
//! its commands.

use punch_core::reason::Cause;
use punch_core::{Refusal, Status};
use punch_engine::EngineError;

/// The hint for a host. It never names a command.
pub(crate) fn of_engine(error: &EngineError) -> String {
    let own = match error {
        EngineError::Refused(refusals) => refusals.first().and_then(of_refusal),
        EngineError::NotFound { .. } => Some("`Session::todos` has the ids".into()),
        _ => None,
    };
    own.unwrap_or_else(|| without_commands(error.hint(), error.code()))
}

/// A hint for people, unless it names a command.
pub(crate) fn without_commands(hint: String, code: &str) -> String {
    match hint.contains("punch ") {
        true => format!("docs/errors.md explains `{code}`"),
        false => hint,
    }
}

/// Returns `None` if the hint for people fits, because it names no command.
fn of_refusal(refusal: &Refusal) -> Option<String> {
    Some(match refusal {
        Refusal::UnknownTodo { .. } => "`Session::todos` has the ids".into(),
        Refusal::UnknownDependency { .. } => {
            "add the missing todo in the same batch, or leave the dependency out".into()
        }
        Refusal::NotReady { reasons, .. } => match reasons.first().map(|reason| (reason.cause, &reason.id)) {
            Some((Cause::Dropped, id)) => format!("reopen `{id}`, or remove the dependency with `Op::depend`"),
            Some((cause, _)) if cause.is_hold() => "`Op::release` takes it off hold".into(),
            Some((_, id)) => format!("finish `{id}` first"),
            None => "choose another todo".into(),
        },
        Refusal::InProgressLimit { running, together: true, .. } => {
            format!("start one at a time, for example `{running}`")
        }
        Refusal::InProgressLimit { running, .. } => format!("finish `{running}`, or put it back with `Op::reopen`"),
        Refusal::Transition { status: Status::Completed | Status::Cancelled | Status::Failed, .. } => {
            "put it back with `Op::reopen` first".into()
        }
        Refusal::Transition { .. } => "`Session::todos` shows its state".into(),
        Refusal::Leased { free: Some(free), .. } => format!("start `{free}` instead, or wait until the claim ends"),
        Refusal::Leased { .. } => "wait until the claim ends".into(),
        Refusal::NeedsVerification { .. } => "its check must pass first".into(),
        Refusal::NeedsEvidence { .. } | Refusal::NeedsCheck { .. } => {
            "say what was checked with `Op::done_with`".into()
        }
        Refusal::FailingCheck { .. } => {
            "fix it and run it again, or say why it does not matter with `Op::done_with`".into()
        }
        Refusal::UnknownPhase { .. } => "use the name of a phase of the plan".into(),
        Refusal::RevertConflict { .. } => "undo the later revisions first".into(),
        Refusal::UnknownRevision { .. } | Refusal::NothingUndoable { .. } => {
            "`Applied::revision` of a change is what can be undone".into()
        }
        Refusal::AlreadyUndone { by, .. } => format!("undo revision {by} to redo it"),
        Refusal::NothingToUndo { others: Some((revision, _)) }
        | Refusal::NothingToRedo { others: Some((revision, _)) } => {
            format!("`Session::undo` with revision {revision} undoes what someone else did")
        }
        Refusal::NothingToUndo { others: None } | Refusal::NothingToRedo { others: None } => {
            "this session has changed nothing that could be undone".into()
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_for_hosts_name_no_command() {
        let id = || "a".to_owned();
        let refusals = [
            Refusal::UnknownTodo { id: id(), near: Vec::new() },
            Refusal::NotReady { id: id(), reasons: Vec::new() },
            Refusal::InProgressLimit { id: id(), running: id(), together: false },
            Refusal::InProgressLimit { id: id(), running: id(), together: true },
            Refusal::Transition { id: id(), op: "fail", status: Status::Completed },
            Refusal::Transition { id: id(), op: "fail", status: Status::Pending },
            Refusal::Leased { id: id(), owner: None, until: None, free: Some(id()) },
            Refusal::Leased { id: id(), owner: None, until: None, free: None },
            Refusal::UnknownPhase { name: id(), near: Vec::new() },
            Refusal::RevertConflict { revision: 1, redo: false, fields: Vec::new() },
            Refusal::UnknownRevision { revision: 1 },
            Refusal::AlreadyUndone { revision: 1, by: 2 },
            Refusal::NothingUndoable { revision: 1, stays: Vec::new() },
            Refusal::NothingToUndo { others: Some((1, id())) },
            Refusal::NothingToRedo { others: None },
            Refusal::NeedsEvidence { id: id() },
            Refusal::NeedsVerification { id: id() },
            Refusal::FailingCheck { id: id(), command: id(), outcome: "failed".into() },
            Refusal::NeedsCheck { id: id(), outdated: false },
            Refusal::UnknownDependency { id: id(), missing: id(), near: Vec::new() },
            Refusal::DuplicateId { id: id() },
            Refusal::Conflict { expected: 1, current: 2 },
        ];
        let errors = refusals.into_iter().map(EngineError::from).chain([
            EngineError::NotFound { given: id(), near: Vec::new() },
            EngineError::UnknownPlan { name: id(), near: Vec::new() },
            EngineError::SubagentsOff,
            EngineError::RunReplaced,
        ]);
        for error in errors {
            let hint = of_engine(&error);
            assert!(!hint.is_empty() && !hint.contains("punch "), "{error:?}: {hint}");
        }
    }
}
