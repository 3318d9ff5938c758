//! The index of a stored plan.

use super::{Edge, Index, Spec, State};
use crate::{CancelledDep, Dep, Plan, Status, Todo, Uid};

/// Which handle is which todo.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uids {
    /// Sorted: plans are read in uid order, and a new todo has the highest.
    uids: Vec<Uid>,
}

impl Uids {
    /// The todo of a handle.
    pub fn uid(&self, n: u32) -> Uid {
        self.uids[n as usize]
    }

    /// The handle of a todo.
    pub fn handle(&self, uid: Uid) -> Option<u32> {
        self.uids.binary_search(&uid).ok().map(|n| n as u32)
    }

    /// Every todo, in order of handles.
    pub fn all(&self) -> &[Uid] {
        &self.uids
    }

    /// Takes the uid of the todo that was appended to the index last.
    pub fn push(&mut self, uid: Uid) {
        debug_assert!(self.uids.last().is_none_or(|last| *last < uid));
        self.uids.push(uid);
    }
}

impl State {
    /// How the graph sees a todo at `now` under the plan's policy.
    pub fn of(todo: &Todo, cancelled: CancelledDep, now: i64) -> Self {
        match todo.status_at(now) {
            Status::Pending if todo.hold_at(now).is_none() => Self::PENDING,
            Status::Pending | Status::InProgress => Self::BUSY,
            Status::Completed => Self::DONE,
            Status::Cancelled | Status::Failed if cancelled == CancelledDep::Satisfy => Self::DONE,
            Status::Cancelled | Status::Failed => Self::DROPPED,
        }
    }
}

impl Index {
    /// The index of a whole plan. Removed todos are no nodes: an edge to one is satisfied or was detached. An edge
    /// to a todo that the plan does not have at all counts as dangling. A cycle of active edges, which no write
    /// leaves behind, is answered as its path.
    pub fn of(plan: &Plan, now: i64) -> Result<(Self, Uids), Vec<Uid>> {
        let uids = Uids { uids: plan.all().filter(|t| t.is_live()).map(|t| t.uid).collect() };
        let mut specs = Vec::with_capacity(uids.uids.len());
        let mut edges = Vec::new();
        for todo in plan.all().filter(|t| t.is_live()) {
            let from = specs.len() as u32;
            let mut dangling = 0;
            for dep in &todo.depends_on {
                let target = dep.target();
                match target.and_then(|uid| uids.handle(uid)) {
                    Some(to) => edges.push(Edge { from, to, suspended: matches!(dep, Dep::Suspended(_)) }),
                    None if target.is_some_and(|uid| plan.get(uid).is_some()) => {}
                    None => dangling += 1,
                }
            }
            specs.push(Spec {
                position: todo.position,
                priority: todo.priority,
                state: State::of(todo, plan.row.policy.cancelled_dep, now),
                dangling,
            });
        }
        match Self::build(&specs, &edges) {
            Ok(index) => Ok((index, uids)),
            Err(path) => Err(path.into_iter().map(|n| uids.uid(n)).collect()),
        }
    }
}
