//! How much of the plan a list dialect works on. A plan of up to [`WHOLE`] todos is one list, as those formats think.
//! Of a larger one the list is what the session wrote or was shown, what its call names, and the first open todos: a
//! call then costs what it touches, and cannot touch what nobody was shown.

use std::collections::{BTreeSet, HashSet};

use punch_core::dialect::phases::{PhaseOp, Target};
use punch_core::{Dep, Event, Footprint, Patch, Plan, Status, Todo, Uid};
use punch_store::{ListMark, Snapshot, StoreError, Which};

use super::list::Call;
use super::{Caller, Surface};
use crate::{SessionState, history};

/// Todos up to which a plan is one list.
pub(super) const WHOLE: usize = 200;

/// Open todos of a larger plan that are shown beside those that a call is about.
const WINDOW: usize = 20;

/// Events and todos that are looked through at once.
const STEP: usize = 500;

/// The part of a plan that a call works on.
pub(super) struct Reach {
    /// What is loaded: the list, and what its todos depend on.
    pub part: Plan,
    /// The list is everything there is.
    pub whole: bool,
    /// The todos of the list, if it is not.
    pub listed: HashSet<Uid>,
}

impl Reach {
    /// Loads what a call works on.
    pub fn of(tx: &dyn Snapshot, state: &SessionState, caller: &Caller<'_>, call: &Call) -> Result<Self, StoreError> {
        let row = tx.row()?;
        let whole = row.counts.total() <= WHOLE as u64;
        let mut reach = Self { part: Plan::slice(row), whole, listed: HashSet::new() };
        if whole {
            for todo in tx.list(Which::Live, None, usize::MAX)? {
                reach.part.put(todo);
            }
        }
        let mut wanted = Footprint { ids: call.ids(), ..Footprint::default() };
        if call.replaces() || (!whole && call.surface() != Surface::Cursor && state.scope.len() <= WHOLE) {
            // Also those that others removed meanwhile.
            wanted.todos.extend(state.scope.iter().copied().filter(|uid| reach.part.get(*uid).is_none()));
        }
        if !whole {
            wanted.running.insert(caller.actor.owner().map(str::to_owned));
        }
        tx.load(&wanted, &mut reach.part)?;
        if !whole {
            reach.narrow(tx, state, call)?;
            reach.listed = reach.part.live().iter().map(|t| t.uid).collect();
        }
        if call.surface() == Surface::Cursor {
            reach.load_dependencies(tx)?;
        }
        Ok(reach)
    }

    /// What of a large plan belongs to the list beside named todos and those of the session.
    fn narrow(&mut self, tx: &dyn Snapshot, state: &SessionState, call: &Call) -> Result<(), StoreError> {
        let Call::Phases(ops) = call else { return Ok(()) };
        for todo in tx.saying(&call.contents())? {
            self.part.put(todo);
        }
        let names = ops.iter().filter_map(|op| match op {
            PhaseOp::Done(Target::Phase(name)) | PhaseOp::Drop(Target::Phase(name)) => Some(name),
            PhaseOp::Rm(Target::Phase(name)) => Some(name),
            _ => None,
        });
        let names: BTreeSet<&String> = names.collect();
        let row = &self.part.row;
        let phases: Vec<_> = row.phases.iter().filter(|p| names.contains(&p.name)).map(|p| Some(p.uid)).collect();
        if !phases.is_empty() {
            self.look(tx, Which::Live, usize::MAX, &|todo| phases.contains(&todo.phase))?;
        }
        let scope: HashSet<Uid> = state.scope.iter().copied().collect();
        if scope.len() > WHOLE {
            self.look(tx, Which::Open, WHOLE, &|todo| scope.contains(&todo.uid))?;
        }
        if scope.is_empty() && !call.replaces() {
            self.look(tx, Which::Open, WINDOW, &|_| true)?;
        }
        Ok(())
    }

    /// Puts the first todos in list order that fit into the part; the others are not kept.
    fn look(
        &mut self,
        tx: &dyn Snapshot,
        which: Which,
        limit: usize,
        fits: &dyn Fn(&Todo) -> bool,
    ) -> Result<(), StoreError> {
        let (mut found, mut after) = (0, None);
        while found < limit {
            let step = tx.list(which, after, STEP.min(limit.saturating_add(1)))?;
            let Some(last) = step.last() else { return Ok(()) };
            after = Some(ListMark::of(last));
            for todo in step.into_iter().filter(|todo| fits(todo)).take(limit - found) {
                self.part.put(todo);
                found += 1;
            }
        }
        Ok(())
    }

    /// Names of dependencies are part of what cursor shows.
    fn load_dependencies(&mut self, tx: &dyn Snapshot) -> Result<(), StoreError> {
        let targets = self.part.all().flat_map(|todo| todo.depends_on.iter().filter_map(Dep::target));
        let todos: BTreeSet<Uid> = targets.filter(|uid| self.part.get(*uid).is_none()).collect();
        tx.load(&Footprint { todos, ..Footprint::default() }, &mut self.part)
    }

    /// The part as the session last saw it; `None` where the call acts on the list as it is.
    pub fn before(&self, tx: &dyn Snapshot, state: &SessionState, call: &Call) -> Result<Option<Plan>, StoreError> {
        if !call.replaces() || state.shown == 0 || state.shown >= self.part.row.revision {
            return Ok(None);
        }
        let (mut later, mut since) = (Vec::new(), state.shown);
        loop {
            let events = tx.events(since, STEP)?;
            let Some(last) = events.last() else { break };
            since = last.revision;
            later.extend(events.into_iter().filter(|event| self.concerns(event)));
        }
        Ok(Some(history::taken_back(&self.part, &later, state.shown)))
    }

    fn concerns(&self, event: &Event) -> bool {
        match &event.patch {
            Patch::Todo(uid, _) => self.part.get(*uid).is_some(),
            Patch::Phases(_) | Patch::Policy(_) => true,
        }
    }

    /// Whether a todo is in the list.
    pub fn lists(&self, uid: Option<Uid>) -> bool {
        self.whole || uid.is_some_and(|uid| self.listed.contains(&uid))
    }

    /// What of a large plan is shown beside the list that was worked on: what is in progress, what is open first.
    pub fn show_more(&mut self, tx: &dyn Snapshot, now: i64, plan: &mut Plan) -> Result<(), StoreError> {
        let mut more = Vec::new();
        if plan.row.counts.in_progress > 0 {
            more.extend(tx.list(Which::Running, None, WINDOW)?);
        }
        more.extend(tx.list(Which::Open, None, WINDOW)?);
        for todo in more.into_iter().filter(|todo| todo.status_at(now) != Status::Cancelled) {
            self.listed.insert(todo.uid);
            plan.put(todo);
        }
        let targets = plan.all().flat_map(|todo| todo.depends_on.iter().filter_map(Dep::target));
        let todos: BTreeSet<Uid> = targets.filter(|uid| plan.get(*uid).is_none()).collect();
        tx.load(&Footprint { todos, ..Footprint::default() }, plan)
    }
}
