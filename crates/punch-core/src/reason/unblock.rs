//! The todos that become ready when a todo is finished.

use std::collections::HashSet;

use super::walk::reach;
use super::{CappedList, PlanReader, is_empty};
use crate::graph::hash::Map;
use crate::graph::kahn::Csr;
use crate::{Dep, Plan, Todo, Uid};

/// The answer of [`unblocks`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unblocks {
    /// The todo asked about.
    pub id: String,
    /// The ids of the todos that become ready at once, in list order.
    pub ready: CappedList<String>,
    /// How many open todos wait for it, however indirectly.
    pub waiting: usize,
}

/// What becomes ready if the todo is completed now; nothing if the plan does not have it.
pub fn unblocks(plan: &Plan, uid: Uid, now: i64) -> Option<Unblocks> {
    let look = PlanReader::new(plan, now);
    let todo = plan.get(uid)?;
    let mut out = Unblocks { id: todo.id.clone(), ready: CappedList::default(), waiting: 0 };
    if !todo.is_live() || look.state(todo).satisfied() {
        return Some(out);
    }
    let mut waiting = Waiting::of(look);
    let only_this = |d: &Todo| look.unmet(d).all(|(dep, _)| dep.target() == Some(uid));
    let mut ready: Vec<&Todo> = waiting
        .dependents(uid)
        .filter(|d| d.uid != uid && look.state(d).eligible() && !is_empty(d) && only_this(d))
        .collect();
    if !ready.is_empty() {
        // It cannot be finished before what it waits for, so it sets nothing of that free.
        let mut before = HashSet::new();
        reach(todo, |todo, next| {
            before.insert(todo.uid);
            next.extend(look.unmet(todo).filter_map(|(_, target)| target));
        });
        ready.retain(|d| !before.contains(&d.uid));
    }
    ready.sort_by_key(|d| (d.position, d.uid));
    ready.dedup_by_key(|d| d.uid);
    ready.into_iter().for_each(|d| out.ready.push(d.id.clone()));
    out.waiting = waiting.count(uid);
    Some(out)
}

/// The live todos that wait for something, numbered: what waits for one todo may be most of a large plan.
pub(super) struct Waiting<'a> {
    numbers: Map<Uid, u32>,
    todos: Vec<&'a Todo>,
    /// Pending or in progress.
    open: Vec<bool>,
    /// What depends on each, over active and suspended edges, without what is satisfied.
    dependents: Csr,
    /// The walk in which each was last visited.
    visited: Vec<u32>,
    walks: u32,
}

impl<'a> Waiting<'a> {
    pub(super) fn of(look: PlanReader<'a>) -> Self {
        let todos: Vec<&Todo> =
            look.plan.all().filter(|todo| todo.is_live() && !look.state(todo).satisfied()).collect();
        let numbers: Map<Uid, u32> = todos.iter().zip(0..).map(|(todo, number)| (todo.uid, number)).collect();
        let mut edges = Vec::new();
        for (number, todo) in (0u32..).zip(&todos) {
            let targets = todo.depends_on.iter().filter_map(Dep::target);
            edges.extend(targets.filter_map(|uid| Some((*numbers.get(&uid)?, number))));
        }
        Self {
            dependents: Csr::from_edges(todos.len(), &edges),
            open: todos.iter().map(|todo| look.state(todo).open()).collect(),
            visited: vec![0; todos.len()],
            walks: 0,
            numbers,
            todos,
        }
    }

    fn dependents(&self, uid: Uid) -> impl Iterator<Item = &'a Todo> {
        let row = self.numbers.get(&uid).map(|number| self.dependents.row(*number)).unwrap_or_default();
        row.iter().map(|number| self.todos[*number as usize])
    }

    /// How many open todos wait for this one, however indirectly.
    pub(super) fn count(&mut self, uid: Uid) -> usize {
        let Some(start) = self.numbers.get(&uid).copied() else { return 0 };
        self.walks += 1;
        self.visited[start as usize] = self.walks;
        let (mut stack, mut count) = (vec![start], 0);
        while let Some(number) = stack.pop() {
            count += usize::from(number != start && self.open[number as usize]);
            for next in self.dependents.row(number) {
                if std::mem::replace(&mut self.visited[*next as usize], self.walks) != self.walks {
                    stack.push(*next);
                }
            }
        }
        count
    }
}
