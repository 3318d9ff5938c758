//! The filter language of lists and boards: `is:ready p:1 by:claude -docs`. Words match id, text and description; a word with
//! a colon is a key with a value; `-` in front negates. What is not understood is refused, never ignored.

mod parse;

use std::collections::HashSet;

use crate::reason::PlanReader;
use crate::{Dep, Plan, Proof, Refusal, ShownStatus, Todo, Uid};

/// A parsed filter: a todo matches if it matches every term.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    terms: Vec<Term>,
}

/// One term, maybe negated.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    negated: bool,
    test: Test,
}

/// What a todo is tested for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Test {
    /// Words in its id, text or description, in lower case.
    Text(String),
    State(FilterState),
    /// Part of the owner's name, in lower case.
    Owner(String),
    Priority(u8),
    /// Depends on this todo.
    Needs(String),
    /// This todo depends on it, directly or not.
    Under(String),
    /// Part of the name of its phase, in lower case.
    Phase(String),
    /// A label, in lower case.
    Label(String),
}

crate::words! {
    /// The states that `is:` takes.
    pub enum FilterState {
        /// Can be started now.
        Ready = "ready",
        /// Open, but cannot be started: waiting, stuck or on hold.
        Blocked = "blocked",
        /// Waiting for other todos.
        Waiting = "waiting",
        /// Depends on something that was cancelled or failed.
        Stuck = "stuck",
        /// On hold.
        Held = "held",
        /// Set aside.
        Parked = "parked",
        /// Todos in progress.
        Working = "working",
        /// Completed.
        Done = "done",
        /// Cancelled.
        Cancelled = "cancelled",
        /// Failed.
        Failed = "failed",
        /// Open work, started or not.
        Open = "open",
        /// Completed, cancelled or failed.
        Closed = "closed",
        /// In progress by the reader.
        Mine = "mine",
        /// Changed since the reader last looked.
        Unseen = "unseen",
        /// Completed, but git no longer vouches for it, or for something it was built on.
        Stale = "stale",
        /// Completed, and a check passed after the last change.
        Checked = "checked",
        /// Completed without a check whose result is known.
        Unchecked = "unchecked",
        /// Completed, and files were changed after the last passing check.
        Outdated = "outdated",
        /// Completed, and the last check failed.
        Failing = "failing",
    }
}

/// A part of a filter that is not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterError {
    term: String,
    what: String,
    hint: String,
}

impl FilterError {
    /// What is wrong, with which term.
    pub fn message(&self) -> String {
        format!("filter `{}`: {}", self.term, self.what)
    }

    /// Returns what to write instead.
    pub fn hint(&self) -> &str {
        &self.hint
    }
}

impl From<FilterError> for Refusal {
    fn from(error: FilterError) -> Self {
        let FilterError { term, what, hint } = error;
        Self::Invalid { at: format!("filter `{term}`"), what: format!("{what} ({hint})") }
    }
}

/// The reader of a list.
#[derive(Clone, Copy, Debug, Default)]
pub struct Viewer<'a> {
    /// The name under which the reader works; `None` is the user.
    pub owner: Option<&'a str>,
    /// When the reader last looked; `None` if it never did, and then everything is new.
    pub seen_at: Option<i64>,
}

impl Filter {
    /// Reads a filter. The refusal says everything in one message, for callers that show no hints.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        Self::read(text).map_err(Refusal::from)
    }

    /// Reads a filter; what is wrong with it comes apart from what to write instead.
    pub fn read(text: &str) -> Result<Self, FilterError> {
        parse::terms(text).map(|terms| Self { terms })
    }

    /// Todos that match both.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.terms.extend(other.terms);
        self
    }

    /// Adds words that a todo must contain, whatever characters they have.
    #[must_use]
    pub fn containing(mut self, words: &str) -> Self {
        self.terms.push(Term { negated: false, test: Test::Text(words.to_lowercase()) });
        self
    }

    /// Adds a state that a todo must be in.
    #[must_use]
    pub fn in_state(mut self, state: FilterState) -> Self {
        self.terms.push(Term { negated: false, test: Test::State(state) });
        self
    }

    /// Returns true if every todo matches.
    pub const fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Returns true if it asks for todos that lists leave out unless they are asked for.
    pub fn asks_for_closed(&self) -> bool {
        let closed = |state: FilterState| {
            matches!(
                state,
                FilterState::Done
                    | FilterState::Cancelled
                    | FilterState::Closed
                    | FilterState::Stale
                    | FilterState::Checked
                    | FilterState::Unchecked
                    | FilterState::Outdated
                    | FilterState::Failing
            )
        };
        self.terms.iter().any(|term| matches!(term.test, Test::State(state) if !term.negated && closed(state)))
    }

    /// Returns true if it follows dependencies, so that the whole plan has to be loaded.
    pub fn follows_dependencies(&self) -> bool {
        self.terms.iter().any(|term| matches!(term.test, Test::Needs(_) | Test::Under(_)))
    }

    /// Returns true if a todo passes or not whatever else is in the plan, so that nothing around it has to be loaded.
    pub fn looks_at_todos_alone(&self) -> bool {
        let alone = |test: &Test| match test {
            Test::State(_) | Test::Needs(_) | Test::Under(_) => false,
            Test::Text(_) | Test::Owner(_) | Test::Priority(_) | Test::Phase(_) | Test::Label(_) => true,
        };
        self.terms.iter().all(|term| alone(&term.test))
    }

    /// The filter over a plan. Refuses ids that the plan does not have.
    pub fn on<'a>(&'a self, reader: PlanReader<'a>, viewer: Viewer<'a>) -> Result<PlanFilter<'a>, Refusal> {
        let mut sets = Vec::with_capacity(self.terms.len());
        for term in &self.terms {
            sets.push(match &term.test {
                Test::Needs(id) => Some(HashSet::from([find(reader.plan, id)?])),
                Test::Under(id) => Some(under(reader.plan, find(reader.plan, id)?)),
                _ => None,
            });
        }
        Ok(PlanFilter { filter: self, sets, reader, viewer })
    }
}

/// A filter with everything it needs of a plan.
pub struct PlanFilter<'a> {
    filter: &'a Filter,
    /// The todos that a term names, for terms that name some.
    sets: Vec<Option<HashSet<Uid>>>,
    reader: PlanReader<'a>,
    viewer: Viewer<'a>,
}

impl<'a> PlanFilter<'a> {
    /// Returns true if the todo matches every term.
    pub fn matches(&self, todo: &'a Todo) -> bool {
        let terms = self.filter.terms.iter().zip(&self.sets);
        terms.into_iter().all(|(term, set)| self.passes(&term.test, set.as_ref(), todo) != term.negated)
    }

    fn passes(&self, test: &Test, set: Option<&HashSet<Uid>>, todo: &'a Todo) -> bool {
        let contains = |text: &str, words: &str| text.to_lowercase().contains(words);
        match test {
            Test::Text(words) => {
                let texts = [todo.id.as_str(), todo.content.as_str(), todo.description.as_deref().unwrap_or_default()];
                texts.iter().any(|text| contains(text, words))
            }
            Test::State(state) => self.is(*state, todo),
            Test::Owner(name) if name == "me" => self.is(FilterState::Mine, todo),
            Test::Owner(name) => todo.owner.as_deref().is_some_and(|owner| contains(owner, name)),
            Test::Priority(priority) => todo.priority == *priority,
            Test::Needs(_) => {
                let on = |dep: &Dep| dep.target().is_some_and(|uid| set.is_some_and(|set| set.contains(&uid)));
                todo.depends_on.iter().any(on)
            }
            Test::Under(_) => set.is_some_and(|set| set.contains(&todo.uid)),
            Test::Phase(name) => {
                let phases = &self.reader.plan.row.phases;
                let phase = todo.phase.and_then(|uid| phases.iter().find(|phase| phase.uid == uid));
                phase.is_some_and(|phase| contains(&phase.name, name))
            }
            Test::Label(name) => todo.labels.iter().any(|label| label.as_str().to_lowercase() == *name),
        }
    }

    fn is(&self, state: FilterState, todo: &'a Todo) -> bool {
        let shown = self.reader.shown(todo);
        match state {
            FilterState::Ready => shown == ShownStatus::Ready,
            FilterState::Blocked => matches!(shown, ShownStatus::Waiting | ShownStatus::Stuck | ShownStatus::Held),
            FilterState::Waiting => shown == ShownStatus::Waiting,
            FilterState::Stuck => shown == ShownStatus::Stuck,
            FilterState::Held => shown == ShownStatus::Held,
            FilterState::Parked => shown == ShownStatus::Parked,
            FilterState::Working => shown.is_running(),
            FilterState::Done => shown == ShownStatus::Completed,
            FilterState::Cancelled => shown == ShownStatus::Cancelled,
            FilterState::Failed => shown == ShownStatus::Failed,
            FilterState::Open => shown.is_open(),
            FilterState::Closed => {
                matches!(shown, ShownStatus::Completed | ShownStatus::Cancelled | ShownStatus::Failed)
            }
            FilterState::Mine => match self.viewer.owner {
                Some(owner) => shown.is_running() && todo.owner.as_deref() == Some(owner),
                None => todo.is_claimed_by_user(),
            },
            FilterState::Unseen => self.viewer.seen_at.is_none_or(|seen| todo.updated_at > seen),
            FilterState::Stale => todo.flags.stale || todo.flags.stale_dependency,
            FilterState::Checked => todo.proof() == Some(Proof::Checked),
            FilterState::Unchecked => todo.proof() == Some(Proof::Unchecked),
            FilterState::Outdated => todo.proof() == Some(Proof::Outdated),
            FilterState::Failing => todo.proof() == Some(Proof::Failing),
        }
    }
}

fn find(plan: &Plan, id: &str) -> Result<Uid, Refusal> {
    let same = |todo: &&Todo| todo.id.eq_ignore_ascii_case(id) || todo.id.strip_prefix("T-") == Some(id);
    let found = plan.by_id(id).or_else(|| plan.live().into_iter().find(same));
    found.map(|todo| todo.uid).ok_or_else(|| {
        let near = crate::text::nearest(id, plan.live().into_iter().map(|todo| todo.id.as_str()), 3);
        Refusal::UnknownTodo { id: id.to_owned(), near }
    })
}

/// Everything that a todo depends on, directly or not.
fn under(plan: &Plan, top: Uid) -> HashSet<Uid> {
    let (mut found, mut open) = (HashSet::new(), vec![top]);
    while let Some(uid) = open.pop() {
        let Some(todo) = plan.get(uid) else { continue };
        open.extend(todo.depends_on.iter().filter_map(Dep::target).filter(|uid| found.insert(*uid)));
    }
    found
}
