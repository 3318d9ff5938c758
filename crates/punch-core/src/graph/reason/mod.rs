//! Reasons in words: why a todo waits, what finishing one sets free, which todos get in each other's way.
//!
//! All of it reads a whole plan, walks with explicit stacks, and answers capped lists with full counts.

mod conflict;
mod standstill;
mod unblock;
mod why;

use std::collections::HashSet;

pub use conflict::{Clash, Conflict, Conflicts, conflicts, conflicts_of};
pub use standstill::{Root, Standstill, standstill};
pub use unblock::{Unblocks, unblocks};
pub use why::{Blocker, Cause, Explanation, Readiness, why};

use super::NodeState;
use crate::text::{clip, neutral};
use crate::{Dep, Plan, Todo, Uid};

/// Entries kept of a list.
pub const LISTED: usize = 20;
/// Entries written out in a text.
const WRITTEN: usize = 5;

/// The first [`LISTED`] of something, and how many there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capped<T> {
    /// The first of them.
    pub list: Vec<T>,
    /// All of them.
    pub total: usize,
}

impl<T> Default for Capped<T> {
    fn default() -> Self {
        Self { list: Vec::new(), total: 0 }
    }
}

impl<T> Capped<T> {
    fn push(&mut self, item: T) {
        self.total += 1;
        if self.list.len() < LISTED {
            self.list.push(item);
        }
    }

    /// The first few in words, and how many more there are.
    fn words(&self, word: impl Fn(&T) -> String) -> String {
        let mut out: Vec<String> = self.list.iter().take(WRITTEN).map(word).collect();
        if self.total > out.len() {
            out.push(format!("{} more", self.total - out.len()));
        }
        out.join(", ")
    }
}

/// An id that is safe to print: dialects take ids of any text.
fn shown(id: &str) -> String {
    if id.is_empty() {
        return "(no id)".to_owned();
    }
    neutral(&clip(id, 60)).into_owned()
}

/// A plan at a time, under its own policy.
#[derive(Clone, Copy)]
struct PlanAtTime<'a> {
    plan: &'a Plan,
    now: i64,
}

impl<'a> PlanAtTime<'a> {
    fn state(self, todo: &Todo) -> NodeState {
        NodeState::of(todo, self.plan.row.policy.cancelled_dep, self.now)
    }

    /// Returns the unmet dependencies, each with its todo unless no todo has that id. A removed todo counts as met.
    fn unmet(self, todo: &'a Todo) -> impl Iterator<Item = (&'a Dep, Option<&'a Todo>)> {
        let known = move |dep: &'a Dep| (dep, dep.target().and_then(|uid| self.plan.get(uid)));
        todo.depends_on
            .iter()
            .map(known)
            .filter(move |(_, target)| target.is_none_or(|t| t.is_live() && !self.state(t).satisfied()))
    }

    /// Live dependents, over active and suspended edges.
    fn dependents(self, uid: Uid) -> impl Iterator<Item = &'a Todo> {
        let uids = self.plan.dependents_of(uid).ok().into_iter().flatten();
        uids.filter_map(move |d| self.plan.get(*d)).filter(|d| d.is_live())
    }
}

/// Calls `next` for every todo reachable from `start`, nearest first, each once, `start` included; what it adds to
/// the list is visited later.
fn walk<'a>(start: &'a Todo, mut next: impl FnMut(&'a Todo, &mut Vec<&'a Todo>)) {
    let mut seen = HashSet::from([start.uid]);
    let mut layer = vec![start];
    let mut found = Vec::new();
    while !layer.is_empty() {
        for todo in layer.drain(..) {
            next(todo, &mut found);
        }
        found.retain(|todo| seen.insert(todo.uid));
        std::mem::swap(&mut layer, &mut found);
    }
}
