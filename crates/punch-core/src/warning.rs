//! Warnings: what the caller should know about a write that succeeded.

use crate::{Uid, text};

/// Something the caller should know that did not stop the write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Warning {
    /// Started or finished although it waits for others.
    StartedEarly {
        /// The todo.
        id: String,
        /// Unmet dependencies.
        unmet: u32,
    },
    /// It was started although work in progress touches the same files (rule 48).
    SharedFiles {
        /// The todo.
        id: String,
        /// The todo that is in progress.
        other: String,
        /// The globs that overlap.
        files: String,
    },
    /// An open todo was removed and these no longer wait for it.
    Detached {
        /// The removed todo.
        id: String,
        /// The todos that depended on it.
        dependents: Vec<String>,
    },
    /// An edge would close a cycle and was suspended.
    Suspended {
        /// The dependent.
        id: String,
        /// The dependency.
        dep: String,
    },
    /// The dependency is not known yet.
    Dangling {
        /// The dependent.
        id: String,
        /// The missing id.
        missing: String,
    },
    /// A group number in the input differs from the derived one (rule 22).
    Group {
        /// The todo.
        id: String,
        /// Given.
        given: u64,
        /// Derived.
        derived: u32,
    },
    /// Two open todos look like the same work (rule 48).
    SameContent {
        /// One.
        id: String,
        /// The other.
        other: String,
    },
    /// Two items of one payload had the same id; the last one counts (rule 10).
    FoldedId {
        /// The id.
        id: String,
    },
    /// The todo is not completed yet: a runner verifies what its workers report.
    Reported {
        /// The todo.
        id: String,
    },
    /// A user changed the work on a todo that someone else had claimed.
    ClaimEnded {
        /// The todo.
        id: String,
        /// The owner of the claim.
        owner: String,
    },
    /// A list said something about the work on a todo that someone else has claimed; that part was left out.
    LeftOut {
        /// The todo.
        id: String,
        /// The owner of the claim; `None` is the user.
        owner: Option<String>,
    },
    /// A host's list changes the work on a todo that was cancelled or put on hold by someone else; it stays as it is.
    Overruled {
        /// The todo.
        id: String,
        /// How it stays, such as `cancelled` or `on hold: after the release`.
        state: String,
    },
    /// It was completed although the last run of its verify command failed.
    FailedCheck {
        /// The todo.
        id: String,
        /// The command.
        command: String,
        /// How it ended, as the end of a sentence.
        outcome: String,
        /// Milliseconds since then.
        age: i64,
    },
    /// It was completed without a check and without evidence, and is marked so.
    Unchecked {
        /// The todo.
        id: String,
    },
    /// The todo uid was touched by a consequence the caller may not expect.
    Cascaded {
        /// The todo that was cancelled as well.
        uid: Uid,
        /// The id of that todo.
        id: String,
    },
    /// Notes of someone else that stay although their revision is undone.
    NotesStay {
        /// The number of notes.
        count: usize,
        /// The author of these notes.
        by: String,
    },
    /// A part of an undone revision that undo never reverts.
    Stays {
        /// The part that stays.
        what: &'static str,
        /// The ids of the todos that it belongs to.
        ids: Vec<String>,
    },
}

impl Warning {
    /// One short line.
    pub fn message(&self) -> String {
        let name = |id: &str| format!("`{}`", text::clip(id, 80));
        match self {
            Self::StartedEarly { id, unmet } => {
                let todos = if *unmet == 1 { "1 todo".to_owned() } else { format!("{unmet} todos") };
                format!("{} is still waiting for {todos}", name(id))
            }
            Self::SharedFiles { id, other, files } => format!(
                "{} touches the same files as {}, which is in progress ({})",
                name(id),
                name(other),
                text::clip(files, 120)
            ),
            Self::Detached { id, dependents } => {
                let shown: Vec<String> = dependents.iter().take(5).map(|d| name(d)).collect();
                let more =
                    if dependents.len() > 5 { format!(" and {} more", dependents.len() - 5) } else { String::new() };
                let wait = if dependents.len() == 1 { "waits" } else { "wait" };
                format!("{} was still open; {}{more} no longer {wait} for it", name(id), shown.join(", "))
            }
            Self::Suspended { id, dep } => {
                format!("{} and {} depend on each other in a cycle, so neither can start", name(id), name(dep))
            }
            Self::Reported { id } => {
                format!("{} is reported as done; the runner verifies it, then completes it", name(id))
            }
            Self::ClaimEnded { id, owner } => format!("this ends the claim of {} on {}", name(owner), name(id)),
            Self::LeftOut { id, owner } => {
                let owner = owner.as_deref().map_or_else(|| "the user".to_owned(), name);
                format!("{} is claimed by {owner}, so it was left unchanged", name(id))
            }
            Self::Overruled { id, state } => format!("{} stays {state}", name(id)),
            Self::Dangling { id, missing } => {
                format!("{} is waiting for {}, which does not exist", name(id), name(missing))
            }
            Self::Group { id, given, derived } => {
                format!("{} says group {given}, but its dependencies put it in group {derived}", name(id))
            }
            Self::SameContent { id, other } => format!("{} and {} have the same text", name(id), name(other)),
            Self::FoldedId { id } => format!("{} occurs more than once; the last one counts", name(id)),
            Self::FailedCheck { id, command, outcome, age } => format!(
                "{} is marked done, but its check `{}` {outcome} {}",
                name(id),
                text::clip(command, 120),
                crate::time::ago(*age)
            ),
            Self::Unchecked { id } => {
                format!("{} was completed without a check or evidence, so it is marked unchecked", name(id))
            }
            Self::Cascaded { id, .. } => format!("{} was cancelled because it depends on a cancelled todo", name(id)),
            Self::NotesStay { count: 1, by } => format!("1 note by {} stays", name(by)),
            Self::NotesStay { count, by } => format!("{count} notes by {} stay", name(by)),
            Self::Stays { what, ids } => {
                let mut shown: Vec<String> = ids.iter().take(5).map(|id| name(id)).collect();
                if ids.len() > 5 {
                    shown.push(format!("{} more", ids.len() - 5));
                }
                format!("the {what} of {} stays", shown.join(", "))
            }
        }
    }
}
