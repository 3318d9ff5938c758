//! Decides for single todos whether they can be started, for callers that page through ready todos instead of loading a
//! plan.

use crate::{Status, Todo, files};

/// The weakest priority: only if time allows (rule 47).
const OPTIONAL: u8 = 5;

/// Returns true if there is nothing in the todo that could be done (rule 44).
pub fn is_empty(todo: &Todo) -> bool {
    crate::text::is_blank(&todo.content)
}

/// Returns true if the todo has the weakest priority and nothing stronger waits for it (rule 47).
pub fn is_optional(todo: &Todo) -> bool {
    todo.effective_priority() >= OPTIONAL
}

/// Returns the globs of two todos that may name the same file, the first todo's glob first.
pub fn shared_files<'a>(one: &'a Todo, other: &'a Todo) -> Option<(&'a str, &'a str)> {
    let pairs = one.files.iter().flat_map(|a| other.files.iter().map(move |b| (a.as_str(), b.as_str())));
    pairs.into_iter().find(|(a, b)| files::overlap(a, b))
}

/// Returns true if a todo is work in progress whose files others must not touch. A stalled todo is not worked on: if it
/// counted, a todo that it waits for could never be started.
pub fn is_busy(todo: &Todo, now: i64) -> bool {
    todo.is_live() && todo.status_at(now) == Status::InProgress && todo.derived.unmet == 0
}

/// Returns true if another owner works on the todo. A todo in progress without an owner is available to all.
pub fn is_elsewhere(todo: &Todo, owner: Option<&str>, now: i64) -> bool {
    let of_other = todo.owner.is_some() && todo.owner.as_deref() != owner;
    todo.status_at(now) == Status::InProgress && (of_other || todo.leased_by_other(owner, now))
}

/// Returns what an owner has in progress and can continue, best first. What was reported waits for verification.
pub fn own_work<'a>(running: &'a [Todo], owner: Option<&str>, now: i64) -> Vec<&'a Todo> {
    let own = running.iter().filter(|t| is_busy(t, now) && !is_elsewhere(t, owner, now));
    let mut own: Vec<&Todo> = own.filter(|t| !is_empty(t) && !t.flags.reported).collect();
    own.sort_by_key(|t| (t.effective_priority(), t.position, t.uid));
    own
}

/// Returns true if a todo can be started at `now` beside what is [busy](is_busy): ready, with content, and touching none of
/// those files.
pub fn is_startable<'a>(todo: &Todo, busy: impl IntoIterator<Item = &'a Todo>, now: i64) -> bool {
    let conflicts = |other: &Todo| other.uid != todo.uid && shared_files(todo, other).is_some();
    todo.is_ready(now) && !is_empty(todo) && (todo.files.is_empty() || !busy.into_iter().any(conflicts))
}
