//! The facts about a plan that a decision needs, small enough to be stored with it. They come from a few rows: what the
//! owner has in progress, the head of the ready list, the counts in the plan row.

use serde::{Deserialize, Serialize};

use super::{NextRun, Roots, Unproven};
use crate::reason::{WorkLimits, is_busy, is_empty, is_optional, is_startable, own_work, shared_files};
use crate::text::clip;
use crate::{Counts, Status, Todo, Uid, Verify};

/// Characters of a text that is stored with a decision.
pub(super) const CLIPPED: usize = 240;
/// Conflicts that are named.
const CONFLICTS: usize = 2;

/// The todos that a session is responsible for.
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
pub struct NamedTodo {
    /// The id of the todo.
    pub id: String,
    /// What is to be done.
    pub content: String,
    /// True if the todo is in progress.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub running: bool,
    /// True if the todo was tried before.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
    /// True if no context window can hold the todo.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub oversize: bool,
    /// What else is written down about the work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// When it counts as done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub criteria: Option<String>,
    /// The command that verifies it, on one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verify: Option<String>,
}

impl NamedTodo {
    /// Describes a todo as it is at `now`. Long texts are cut, because facts are stored.
    pub fn of(todo: &Todo, now: i64) -> Self {
        let cut = |text: &str| clip(text, CLIPPED).into_owned();
        Self {
            id: cut(&todo.id),
            content: cut(&todo.content),
            running: todo.status_at(now) == Status::InProgress,
            again: todo.attempts > 0,
            oversize: WorkLimits::USUAL.is_oversize(todo),
            description: todo.description.as_deref().map(cut),
            criteria: todo.criteria.as_deref().map(cut),
            verify: todo.verify.as_ref().map(Verify::line).as_deref().map(cut),
        }
    }
}

/// The facts about a plan that a decision needs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanFacts {
    /// The revision they hold for.
    pub revision: u64,
    /// Covered todos that are open work: pending or in progress, not parked, and not without content.
    pub open: u64,
    /// All covered todos that are not parked.
    pub total: u64,
    /// Covered todos that failed.
    #[serde(skip_serializing_if = "is_zero")]
    pub failed: u64,
    /// The todo to continue with; `None` if nothing is actionable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<NamedTodo>,
    /// Todos that get in its way, half a line each (rule 48).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<FileConflict>,
    /// Todos that the session called done, or that are next, and whose check has not passed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unproven: Vec<Unproven>,
    /// The status of a covered todo has changed since the last decision.
    pub progress: bool,
    /// What blocks the open todos; collected only if nothing is actionable.
    #[serde(skip_serializing_if = "is_default")]
    pub roots: Roots,
}

impl PlanFacts {
    /// How many todos are open, with the right number of the noun and the verb.
    pub fn open_of_total(&self) -> String {
        let (open, total) = (self.open, self.total);
        let todos = if total == 1 { "todo" } else { "todos" };
        let are = if open == 1 { "is" } else { "are" };
        format!("{open} of {total} {todos} {are} open")
    }
}

fn is_default(roots: &Roots) -> bool {
    *roots == Roots::default()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A todo that waits for the next one to be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileConflict {
    /// The one that waits.
    pub id: String,
    /// They touch the same files; otherwise they say the same.
    pub files: bool,
}

/// The todo to continue with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// The todo.
    pub next: Option<NamedTodo>,
    /// The file conflicts of the next todo.
    pub conflicts: Vec<FileConflict>,
    /// Its check, if the last run of it failed.
    pub failing: Option<Unproven>,
}

/// Chooses among what the owner has in progress, what is ready (best first), and what others have in progress
/// (rules 25, 26, 48): the owner's own first, then the best todo that can be started.
pub fn select(running: &[Todo], ready: &[&Todo], owner: Option<&str>, skip_optional: bool, now: i64) -> Selection {
    // What was reported waits for a verdict as long as it is in progress; put back, it can be started like any other.
    let reported = |t: &Todo| t.flags.reported && t.status_at(now) == Status::InProgress;
    let wanted = |t: &&Todo| !(reported(t) || skip_optional && is_optional(t));
    let own: Vec<&Todo> = own_work(running, owner, now).into_iter().filter(wanted).collect();
    let busy: Vec<&Todo> = running.iter().filter(|t| is_busy(t, now)).collect();
    let mut startable = ready.iter().copied().filter(wanted).filter(|t| is_startable(t, busy.iter().copied(), now));
    let Some(next) = own.first().copied().or_else(|| startable.next()) else {
        return Selection::default();
    };
    let later = own.iter().chain(ready).copied().filter(|t| t.uid != next.uid);
    let conflicts =
        later.filter_map(|t| Some(FileConflict { id: clip(&t.id, CLIPPED).into_owned(), files: clash(next, t)? }));
    let failing = next.failed_check().and_then(|_| Unproven::of(next, NextRun::Tool));
    Selection { next: Some(NamedTodo::of(next, now)), conflicts: conflicts.take(CONFLICTS).collect(), failing }
}

/// Selects the next todo from all covered ones, see [`select`], and counts them. Copies none that is ready: a session may
/// answer for hundreds, and asks at every stop.
pub fn survey<'a>(
    covered: impl IntoIterator<Item = &'a Todo>,
    elsewhere: &[Todo],
    owner: Option<&str>,
    skip_optional: bool,
    now: i64,
) -> (Counts, Selection) {
    let mut counts = Counts::default();
    let (mut running, mut ready) = (elsewhere.to_vec(), Vec::new());
    for todo in covered.into_iter().filter(|t| t.is_live()) {
        counts.add(&todo.fields);
        if todo.is_ready(now) {
            ready.push(todo);
        } else if todo.status_at(now) == Status::InProgress && !elsewhere.iter().any(|t| t.uid == todo.uid) {
            running.push(todo.clone());
        }
    }
    ready.sort_by_cached_key(|t| WorkLimits::USUAL.order(t));
    (counts, select(&running, &ready, owner, skip_optional, now))
}

/// What two todos clash over, if they do: files, or else content.
fn clash(a: &Todo, b: &Todo) -> Option<bool> {
    let same = words(&a.content).eq(words(&b.content)) && !is_empty(a);
    if same { Some(false) } else { shared_files(a, b).map(|_| true) }
}

/// The words of a text in lower case. Lazy: most texts differ in the first one.
fn words(content: &str) -> impl Iterator<Item = String> {
    content.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}
