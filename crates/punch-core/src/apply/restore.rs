//! Work put back to where it stood at an earlier moment. No gate is asked: it was passed then.

use super::Stop;
use super::draft::Draft;
use super::transition::set_status;
use crate::{Kind, Status, Uid, Work};

/// Puts the work on a todo back. What ran then and does not now is to be resumed: its owner is gone (rule 33).
pub(super) fn restore(draft: &mut Draft<'_>, uid: Uid, work: &Work) -> Result<(), Stop> {
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
    if Work::of(todo) == work {
        return Ok(());
    }
    let kind = match work.status {
        _ if work.status == status => Kind::Edited,
        Status::Pending | Status::InProgress => Kind::Reopened,
        Status::Completed => Kind::Completed,
        Status::Cancelled => Kind::Cancelled,
        Status::Failed => Kind::Failed,
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
