//! Rows of a whole list that repeat the last state of a todo that the session saw, although the todo has changed since.
//! They change nothing (rule 9), and the answer says so, because the model would otherwise take its own list for the
//! state of the plan.

use punch_core::dialect::list::{ListItem, SessionList};
use punch_core::{Actor, Event, EventKind, FieldChange, Patch, Plan, Status, Todo, Uid, text};

use super::render;

/// Rows that are named.
const NAMED: usize = 5;

/// A row about a todo that someone other than the user has changed since the session last saw it. The session learns of the
/// user's changes in another sentence.
pub(super) struct RepeatedRow<'a> {
    uid: Uid,
    /// What the row says, if it only repeats what the session saw.
    repeated: Option<Status>,
    /// The status before the call.
    status: Status,
    event: &'a Event,
}

impl<'a> RepeatedRow<'a> {
    /// Returns such rows of `list`, before the call changes `part`. `base` is the list as the session saw it.
    pub fn rows(later: &'a [Event], base: &SessionList, list: &SessionList, part: &Plan) -> Vec<Self> {
        let row = |item: &ListItem| {
            let uid = item.uid?;
            let event = cause(later, uid).filter(|event| !Actor::parse(&event.by, None).is_user())?;
            let repeats = base.items.iter().any(|seen| seen.uid == Some(uid) && seen.status == item.status);
            Some(Self { uid, repeated: repeats.then_some(item.status), status: part.get(uid)?.status, event })
        };
        list.items.iter().filter_map(row).collect()
    }

    /// The note about a row that changed nothing and differs from the plan, or is about a failed attempt.
    fn note(&self, after: &Plan) -> Option<String> {
        let todo = after.get(self.uid).filter(|todo| todo.is_live() && todo.status == self.status)?;
        let shown = if todo.status == Status::Failed { Status::Pending } else { todo.status };
        let wanted = self.repeated.filter(|wanted| *wanted != shown);
        (wanted.is_some() || self.event.kind == EventKind::Failed).then(|| sentence(todo, self.event, wanted))
    }
}

/// The notes about these rows in the plan after the call.
pub(super) fn notes(rows: &[RepeatedRow<'_>], after: &Plan) -> Vec<String> {
    rows.iter().filter_map(|row| row.note(after)).take(NAMED).collect()
}

/// The last event that changed the status of a todo or reported a failed attempt.
fn cause(later: &[Event], uid: Uid) -> Option<&Event> {
    let is_cause = |event: &&Event| match &event.patch {
        Patch::Todo(of, changes) => *of == uid && (event.kind == EventKind::Failed || changes_status(changes)),
        Patch::Phases(_) | Patch::Policy(_) => false,
    };
    later.iter().rev().find(is_cause)
}

fn changes_status(changes: &[FieldChange]) -> bool {
    changes.iter().any(|change| matches!(change, FieldChange::Status(_)))
}

fn sentence(todo: &Todo, event: &Event, wanted: Option<Status>) -> String {
    let by = text::clip(&text::neutral(&event.by), 40).into_owned();
    let did = match (event.kind, todo.last_error.as_deref()) {
        (EventKind::Failed, Some(error)) => format!("{by} reported a failed attempt ({})", render::short(error)),
        (EventKind::Failed, None) => format!("{by} reported a failed attempt"),
        (EventKind::Started | EventKind::Claimed, _) => format!("{by} started it"),
        (EventKind::Completed, _) => format!("{by} completed it"),
        (EventKind::Cancelled, _) => format!("{by} cancelled it"),
        (EventKind::Reopened, _) => format!("{by} reopened it"),
        (EventKind::LeaseExpired, _) => "its claim expired".to_owned(),
        _ => format!("{by} changed it"),
    };
    let is = todo.status.name();
    let not = wanted.map(|wanted| format!(", not {}", wanted.name())).unwrap_or_default();
    let again = match (wanted, todo.status) {
        (Some(Status::InProgress), Status::Pending | Status::Failed) => " To work on it, send it as in_progress again.",
        _ => "",
    };
    format!("Note: \"{}\" is {is}{not}: {did} since your last list.{again}", render::short(&todo.content))
}
