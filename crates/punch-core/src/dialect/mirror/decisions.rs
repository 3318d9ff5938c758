//! Decisions of the user that a host's list does not override: a todo that the user cancelled or put on hold stays that
//! way, even if the host lists it as work. Its model may not know yet, or may copy an old list.

use super::{HostListCopy, HostStatus};
use crate::{Status, Todo, Warning};

/// Returns how a todo stays if it was cancelled or put on hold by someone other than `by`; `before` is the host's last list.
pub fn decided_otherwise(todo: &Todo, before: &HostListCopy, by: &str, now: i64) -> Option<Warning> {
    let listed = before.rows.iter().find(|row| row.uid == Some(todo.uid));
    let state = match todo.hold_at(now) {
        Some(hold) if hold.by != by => hold.words(),
        _ if todo.status == Status::Cancelled && listed.is_some_and(|row| row.status != HostStatus::Cancelled) => {
            Status::Cancelled.name().to_owned()
        }
        _ => return None,
    };
    Some(Warning::Overruled { id: todo.id.clone(), state })
}
