//! Restores the work on a todo to an earlier state. No gate is checked, because it was passed at that time.

use super::ApplyStop;
use super::draft::PlanDraft;
use super::transition::set_status;
use crate::{EventKind, Status, TodoProgress, Uid};

/// Puts the work on a todo back. What ran then and does not now is to be resumed: its owner is gone (rule 33).
pub(super) fn restore(draft: &mut PlanDraft<'_>, uid: Uid, work: &TodoProgress) -> Result<(), ApplyStop> {
    let todo = draft.get(uid)?;
    let (status, mut work) = (todo.status, work.clone());
    if work.status == Status::InProgress {
        if status == Status::InProgress {
            return Ok(());
        }
        work.status = Status::Pending;
        work.flags.resume = true;
        work.hold = None;
    }
    if TodoProgress::of(todo) == work {
        return Ok(());
    }
    let kind = match work.status {
        _ if work.status == status => EventKind::Edited,
        Status::Pending | Status::InProgress => EventKind::Reopened,
        Status::Completed => EventKind::Completed,
        Status::Cancelled => EventKind::Cancelled,
        Status::Failed => EventKind::Failed,
    };
    // An answer of the agent that works on it now comes late.
    let fenced = status == Status::InProgress && todo.fence > 0;
    draft.row.last_fence += u64::from(fenced);
    let fence = draft.row.last_fence;
    set_status(draft, uid, work.status, kind, |t| {
        if fenced {
            t.fence = fence;
        }
        work.put(&mut t.fields);
    })
}
