//! Translates events in the log into changes, in the terms of this library.

use punch_core::view::Progress;
use punch_core::{EventKind, Patch, Status};
use serde::{Deserialize, Serialize};

/// Fields that users and agents edit. The others follow from a change of status, such as times and owners.
const EDITED: &[&str] = &[
    "id",
    "content",
    "active_form",
    "description",
    "depends_on",
    "phase",
    "position",
    "priority",
    "labels",
    "complexity",
    "estimated_tokens",
    "criteria",
    "verify",
    "files",
    "hidden",
];

/// What happened to a todo or to the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Change {
    /// The todo is new.
    Added,
    /// The status of the todo changed.
    Status {
        /// What it was. A todo that came with another status than pending was pending for a moment.
        from: Status,
        /// The new status.
        to: Status,
    },
    /// A note was added.
    Noted {
        /// The note. It is untrusted.
        text: String,
    },
    /// It was put on hold, or the reason changed.
    Held {
        /// Why. The text is untrusted.
        reason: String,
    },
    /// The hold ended.
    Released,
    /// Other fields changed.
    Edited {
        /// The names of the changed fields.
        fields: Vec<String>,
    },
    /// The todo was archived.
    Removed,
    /// It came back from the archive.
    Restored,
    /// The phases or the policy of the plan changed.
    Plan,
    /// More todos are completed, or there are more or fewer of them. Comes after the changes that it follows from.
    Progress {
        /// How far the plan is.
        progress: Progress,
    },
    /// A call of an agent was refused, and changed nothing.
    WriteFailed {
        /// What was wrong. It is untrusted.
        message: String,
    },
}

/// What an event says, in the order in which a UI would show it.
pub(crate) fn changes(event: &punch_core::Event) -> Vec<Change> {
    let Patch::Todo(_, patches) = &event.patch else { return vec![Change::Plan] };
    let added = event.kind == EventKind::Added;
    let (mut out, mut fields) = (Vec::new(), Vec::new());
    if added {
        out.push(Change::Added);
    }
    for patch in patches {
        match patch {
            punch_core::FieldChange::Status(status) => {
                out.push(Change::Status { from: status.before, to: status.after })
            }
            punch_core::FieldChange::Notes(notes) => {
                out.extend(notes.added.iter().map(|note| Change::Noted { text: note.text.clone() }));
            }
            punch_core::FieldChange::Removed(removed) => {
                out.push(if removed.after.is_some() { Change::Removed } else { Change::Restored });
            }
            punch_core::FieldChange::Hold(hold) => out.push(match &hold.after {
                Some(hold) => Change::Held { reason: hold.reason.clone() },
                None => Change::Released,
            }),
            // The fields of a new todo are not edits.
            other if !added && EDITED.contains(&other.field()) => fields.push(other.field().to_owned()),
            _ => {}
        }
    }
    if !fields.is_empty() {
        out.push(Change::Edited { fields });
    }
    out
}
