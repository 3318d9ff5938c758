//! What a worker of a run may ask for: reports on the todo it works on, and new todos (rule 39). Otherwise it could take away
//! the check of its own todo, or end the work of others.

use punch_core::{Actor, Op, Plan, Ref, Status, Todo};

use crate::EngineError;

/// Refuses ops of a worker of a run that change anything but its own todo; `plan` is the plan before the write. Other actors
/// may ask for anything here.
pub(crate) fn check(ops: &[Op], plan: &Plan, actor: &Actor) -> Result<(), EngineError> {
    if actor.worker_id().is_none() {
        return Ok(());
    }
    let is_own = |todo: &Todo| todo.status == Status::InProgress && todo.owner.as_deref() == actor.owner();
    for op in ops.iter().filter(|op| !matches!(op, Op::Add(_))) {
        let target = report_on(op).map_err(|what| EngineError::NotAllowed { what: what.into() })?;
        let todo = match target {
            Ref::Uid(uid) => plan.get(*uid),
            Ref::Id(id) => plan.by_id(id),
            Ref::New(_) => None,
        };
        if !todo.is_some_and(is_own) {
            return Err(EngineError::NotAllowed { what: "report on todos that were not assigned to it".into() });
        }
    }
    Ok(())
}

/// Returns the todo that a report is about, or what the op would do instead.
fn report_on(op: &Op) -> Result<&Ref, &'static str> {
    match op {
        Op::Start(target) | Op::Fail(target, _) | Op::Note(target, _) | Op::Hold(target, _) => Ok(target),
        Op::Done { target, .. } | Op::Report { target, .. } => Ok(target),
        Op::Release(target) | Op::Block(target) | Op::Renew(target, _) => Ok(target),
        Op::Rm(_) | Op::Drop(_) => Err("remove or cancel todos"),
        Op::Reopen(_) | Op::Unclaim(_) | Op::Claim(..) | Op::HandOver(..) => Err("decide who works on what"),
        Op::Undo { .. } | Op::Redo => Err("undo"),
        Op::Add(_)
        | Op::Edit(..)
        | Op::Move(..)
        | Op::Arrange(_)
        | Op::Phases(_)
        | Op::SetPolicy(_)
        | Op::Vouch { .. }
        | Op::RecordCheck { .. }
        | Op::Refute { .. }
        | Op::Restore { .. } => Err("change the plan"),
    }
}
