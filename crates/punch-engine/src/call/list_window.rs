//! How much of the plan is loaded for a call of a list dialect. The list itself is what the session wrote, was shown or
//! was assigned, and what its call names. A plan of up to [`WHOLE`] todos is loaded as a whole; of a larger one a call
//! loads what it touches.

use std::collections::BTreeSet;

use punch_core::dialect::phases::{PhaseOp, PhasesTarget};
use punch_core::{Dep, Event, Footprint, Patch, Plan, Status, Todo, Uid};
use punch_store::{ListMark, Snapshot, StoreError, Which};

use super::list::ListCall;
use super::names::SessionNames;
use super::{Dialect, ToolCaller};
use crate::{SessionState, history};

/// Todos up to which a plan is loaded as a whole.
pub(super) const WHOLE: usize = 200;

/// Open todos of the plan that are shown beside those that a call is about.
const WINDOW: usize = 20;

/// Events and todos that are looked through at once.
const STEP: usize = 500;

/// The part of a plan that a call works on.
pub(super) struct ListWindow {
    /// What is loaded: the list, and what its todos depend on.
    pub part: Plan,
    /// Everything there is, is loaded.
    pub whole: bool,
}

/// What a session last saw of that part.
pub(super) struct LastSeen {
    /// The part as it was.
    pub plan: Plan,
    /// What happened to it since, oldest first.
    pub later: Vec<Event>,
}

impl ListWindow {
    /// Loads what a call works on.
    pub fn of(
        tx: &dyn Snapshot,
        state: &SessionState,
        names: &SessionNames,
        caller: &ToolCaller<'_>,
        call: &ListCall,
    ) -> Result<Self, StoreError> {
        let row = tx.row()?;
        let whole = row.counts.total() <= WHOLE as u64;
        let mut window = Self { part: Plan::slice(row), whole };
        if whole {
            tx.load_live(&mut window.part)?;
        }
        let mut wanted = Footprint { ids: call.ids(), ..Footprint::default() };
        wanted.ids.extend(call.ids().iter().map(|name| names.id(name).to_owned()));
        if call.replaces() || whole || (call.dialect() != Dialect::Cursor && state.scope.len() <= WHOLE) {
            // Includes todos that others removed since.
            wanted.todos.extend(state.scope.iter().copied().filter(|uid| window.part.get(*uid).is_none()));
        }
        if !whole {
            wanted.todos.extend(state.beyond.iter().take(WHOLE).copied());
            wanted.running.insert(caller.actor.owner().map(str::to_owned));
        }
        tx.load(&wanted, &mut window.part)?;
        if !whole {
            window.narrow(tx, state, call)?;
        }
        if call.dialect() == Dialect::Cursor {
            window.load_dependencies(tx)?;
        }
        Ok(window)
    }

    /// What of a large plan belongs to the list beside named todos and those of the session.
    fn narrow(&mut self, tx: &dyn Snapshot, state: &SessionState, call: &ListCall) -> Result<(), StoreError> {
        let ListCall::Phases(ops) = call else { return Ok(()) };
        for todo in tx.find_open_by_content(&call.contents())? {
            self.part.put(todo);
        }
        let names = ops.iter().filter_map(|op| match op {
            PhaseOp::Done(PhasesTarget::Phase(name)) | PhaseOp::Drop(PhasesTarget::Phase(name)) => Some(name),
            PhaseOp::Rm(PhasesTarget::Phase(name)) => Some(name),
            _ => None,
        });
        let names: BTreeSet<&String> = names.collect();
        let row = &self.part.row;
        let phases: Vec<_> = row.phases.iter().filter(|p| names.contains(&p.name)).map(|p| Some(p.uid)).collect();
        if state.scope.len() > WHOLE {
            let scope: BTreeSet<Uid> = state.scope.iter().copied().collect();
            if !phases.is_empty() {
                let own = |todo: &Todo| phases.contains(&todo.phase) && scope.contains(&todo.uid);
                self.look(tx, Which::Live, usize::MAX, &own)?;
            }
            self.look(tx, Which::Open, WHOLE, &|todo| scope.contains(&todo.uid))?;
        }
        Ok(())
    }

    /// Adds the first todos in list order that fit into the part; the others are not stored.
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
    pub fn before(
        &self,
        tx: &dyn Snapshot,
        state: &SessionState,
        call: &ListCall,
    ) -> Result<Option<LastSeen>, StoreError> {
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
        Ok(Some(LastSeen { plan: history::taken_back(&self.part, &later, state.shown), later }))
    }

    fn concerns(&self, event: &Event) -> bool {
        match &event.patch {
            Patch::Todo(uid, _) => self.part.get(*uid).is_some(),
            Patch::Phases(_) | Patch::Policy(_) => true,
        }
    }

    /// What is shown beside the list that was worked on: what is in progress, what is open first. Loads it.
    pub fn window(tx: &dyn Snapshot, now: i64, plan: &mut Plan) -> Result<BTreeSet<Uid>, StoreError> {
        let (mut more, mut shown) = (Vec::new(), BTreeSet::new());
        if plan.row.counts.in_progress > 0 {
            more.extend(tx.list(Which::Running, None, WINDOW)?);
        }
        more.extend(tx.list(Which::Open, None, WINDOW)?);
        for todo in more.into_iter().filter(|todo| todo.status_at(now) != Status::Cancelled) {
            shown.insert(todo.uid);
            plan.put(todo);
        }
        let targets = plan.all().flat_map(|todo| todo.depends_on.iter().filter_map(Dep::target));
        let todos: BTreeSet<Uid> = targets.filter(|uid| plan.get(*uid).is_none()).collect();
        tx.load(&Footprint { todos, ..Footprint::default() }, plan)?;
        Ok(shown)
    }
}
