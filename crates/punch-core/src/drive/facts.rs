//! What a decision needs to know about a plan, small enough to be stored with it. Built from a few rows: what the
//! owner has in progress, the head of what is ready, the counts of the plan row.

use serde::{Deserialize, Serialize};

use super::{Roots, Unproven};
use crate::text::clip;
use crate::{Counts, Status, Todo, Uid, files};

/// Characters of a text that is stored with a decision.
pub(super) const CLIPPED: usize = 240;
/// Conflicts that are named.
const CONFLICTS: usize = 2;

/// Which todos a session answers for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cover {
    /// Everything in the plan that it could act on.
    Plan,
    /// The list it wrote, was shown, or was assigned.
    List(Vec<Uid>),
}

/// A todo as texts name it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Named {
    /// Its id.
    pub id: String,
    /// What is to be done.
    pub content: String,
    /// It is in progress.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub running: bool,
    /// It was tried before.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
}

impl Named {
    /// As it is at `now`; long texts are cut, since facts are stored.
    pub fn of(todo: &Todo, now: i64) -> Self {
        Self {
            id: clip(&todo.id, CLIPPED).into_owned(),
            content: clip(&todo.content, CLIPPED).into_owned(),
            running: todo.status_at(now) == Status::InProgress,
            again: todo.attempts > 0,
        }
    }
}

/// The plan, as far as a decision goes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// The revision they hold for.
    pub revision: u64,
    /// Covered todos that are pending or in progress.
    pub open: u64,
    /// All covered todos.
    pub total: u64,
    /// The todo to continue with; `None` if nothing is actionable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Named>,
    /// Todos that get in its way, half a line each (rule 48).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<Conflict>,
    /// Todos that the session called done, or that are next, and whose check has not passed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unproven: Vec<Unproven>,
    /// The status of a covered todo has changed since the last decision.
    pub progress: bool,
    /// What stands in the way; looked for only if nothing is actionable.
    #[serde(skip_serializing_if = "is_empty")]
    pub roots: Roots,
}

fn is_empty(roots: &Roots) -> bool {
    *roots == Roots::default()
}

/// A todo that waits for the next one to be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conflict {
    /// The one that waits.
    pub id: String,
    /// They touch the same files; otherwise they say the same.
    pub files: bool,
}

/// The todo to continue with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selected {
    /// The todo.
    pub next: Option<Named>,
    /// What waits for it.
    pub conflicts: Vec<Conflict>,
    /// Its check, if the last run of it failed.
    pub failing: Option<Unproven>,
}

/// Chooses among what the owner has in progress, what is ready (best first), and what others have in progress
/// (rules 25, 26, 48): the owner's own first, then the best ready todo that does not conflict with work in progress.
pub fn select(running: &[Todo], ready: &[Todo], owner: Option<&str>, skip_optional: bool, now: i64) -> Selected {
    // What was reported waits for verification.
    let left = |t: &Todo| is_blank(t) || t.flags.reported || (skip_optional && is_optional(t));
    let wanted = |t: &&Todo| !left(t);
    let (others, own): (Vec<&Todo>, Vec<&Todo>) =
        running.iter().filter(|t| t.is_live() && !t.lease_expired(now)).partition(|t| is_elsewhere(t, owner, now));
    let mut own: Vec<&Todo> = own.into_iter().filter(wanted).filter(|t| !t.is_stalled(now)).collect();
    own.sort_by_key(|t| (t.effective_priority(), t.position, t.uid));
    let free = |t: &&Todo| !others.iter().any(|other| clash(t, other).is_some());
    let Some(next) = own.first().copied().or_else(|| ready.iter().filter(wanted).find(free)) else {
        return Selected::default();
    };
    let later = own.iter().copied().chain(ready).filter(|t| t.uid != next.uid);
    let conflicts =
        later.filter_map(|t| Some(Conflict { id: clip(&t.id, CLIPPED).into_owned(), files: clash(next, t)? }));
    let failing = next.failed_check().and_then(|_| Unproven::of(next, false));
    Selected { next: Some(Named::of(next, now)), conflicts: conflicts.take(CONFLICTS).collect(), failing }
}

/// Selects the next todo from all covered ones, see [`select`], and counts them.
pub fn survey<'a>(
    covered: impl IntoIterator<Item = &'a Todo>,
    elsewhere: &[Todo],
    owner: Option<&str>,
    skip_optional: bool,
    now: i64,
) -> (Counts, Selected) {
    let mut counts = Counts::default();
    let (mut running, mut ready) = (elsewhere.to_vec(), Vec::new());
    for todo in covered.into_iter().filter(|t| t.is_live()) {
        *counts.of(todo.status) += 1;
        if todo.is_ready(now) {
            ready.push(todo.clone());
        } else if todo.status_at(now) == Status::InProgress && !elsewhere.iter().any(|t| t.uid == todo.uid) {
            running.push(todo.clone());
        }
    }
    ready.sort_by_key(|t| (t.effective_priority(), t.position, t.uid));
    (counts, select(&running, &ready, owner, skip_optional, now))
}

/// There is nothing in it that could be done (seed 004 skips such todos).
pub fn is_blank(todo: &Todo) -> bool {
    todo.content.trim().is_empty()
}

/// Of the weakest priority, and nothing stronger waits for it (rule 47).
pub(super) fn is_optional(todo: &Todo) -> bool {
    todo.effective_priority() >= 5
}

/// Another owner works on it. A todo in progress without an owner is available to all.
pub(super) fn is_elsewhere(todo: &Todo, owner: Option<&str>, now: i64) -> bool {
    let of_other = todo.owner.is_some() && todo.owner.as_deref() != owner;
    todo.status_at(now) == Status::InProgress && (of_other || todo.leased_by_other(owner, now))
}

/// What two todos clash over, if they do: files, or else content.
fn clash(a: &Todo, b: &Todo) -> Option<bool> {
    let same = normal(&a.content) == normal(&b.content) && !is_blank(a);
    let shared = || a.files.iter().any(|x| b.files.iter().any(|y| files::overlap(x, y)));
    if same { Some(false) } else { shared().then_some(true) }
}

fn normal(content: &str) -> String {
    let lower = content.to_lowercase();
    lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}
