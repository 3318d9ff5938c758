//! What a write fetches together with the lock of its plan, as the caller has announced it.

use std::collections::{BTreeSet, HashMap};

use crate::answer::SqlRow;
use punch_core::{Footprint, Plan, Todo, Uid};
use punch_store::{Ahead, PlanId, ReadyMark, StoreError};

use crate::known::{ReadyLookup, ReadyWindow, ask_dependents, ask_running};
use crate::link::Statement;
use crate::store::PgStore;
use crate::value::Columns;
use crate::view::PgTransaction;
use crate::{control, fail, hand_out, ledger, load, read};

/// The questions of a write, in the order in which they are asked.
pub struct Fetch {
    plan: PlanId,
    /// Questions that the write asks again word by word.
    loads: Vec<Statement>,
    /// The question for todos by ids, if the one for their dependents answers it too.
    by_ids: Option<Statement>,
    /// Todos that are named by number.
    named: Vec<Uid>,
    dependents: Vec<Statement>,
    /// Whether todos in progress are asked for.
    running: bool,
    ready: Option<ReadyWindow>,
}

impl Fetch {
    /// What to fetch, at about this time of the server.
    pub fn new(store: &PgStore, plan: PlanId, ahead: Ahead<'_>, now: i64) -> Self {
        let footprint = ahead.footprint.filter(|footprint| !footprint.all);
        let mut loads = footprint.map(|footprint| load::asks(plan, footprint)).unwrap_or_default();
        let of = footprint.filter(|_| ahead.dependents);
        let by_ids = of.filter(|of| !of.ids.is_empty() && !loads.is_empty()).map(|_| loads.remove(0));
        if ahead.ready {
            loads.push(hand_out::ask_offers(plan));
        }
        loads.extend(ahead.session.map(|key| read::ask_session(store.project, key, true)));
        loads.extend(ahead.answer.map(|key| read::ask_answer(plan, key)));
        loads.extend(ahead.run_lease.then(|| control::ask_lease(plan)));
        loads.extend(ahead.run.map(|run| ledger::ask_one(plan, run)));
        Self {
            plan,
            loads,
            by_ids,
            named: of.iter().flat_map(|footprint| footprint.todos.iter().copied()).collect(),
            dependents: of.map(|footprint| ask_dependents(plan, footprint)).unwrap_or_default(),
            running: ahead.running,
            ready: ahead.ready.then(|| ReadyWindow::around(now)),
        }
    }

    /// The questions.
    pub fn asks(&self) -> Vec<Statement> {
        let ready = self.ready.iter().map(|window| window.ask(self.plan));
        let running = self.running.then(|| ask_running(self.plan));
        self.loads.iter().chain(&self.dependents).cloned().chain(running).chain(ready).collect()
    }

    /// Gives the answers to the transaction.
    pub fn hand_over(self, mut answers: Vec<Vec<SqlRow>>, view: &PgTransaction<'_>) -> Result<(), StoreError> {
        let mut dependents = answers.split_off(self.loads.len().min(answers.len()));
        let mut running = dependents.split_off(self.dependents.len().min(dependents.len()));
        let ready = running.split_off(usize::from(self.running).min(running.len()));
        if !self.dependents.is_empty() {
            let failed = |e: crate::answer::WireError| fail::sql(view.store.label(), "read todos", &e);
            let (mut todos, mut by_id, mut others) = (self.named, Vec::new(), Vec::new());
            for row in dependents.into_iter().flatten() {
                match row.maybe_int(7).map_err(failed)? {
                    Some(_) => others.push(row),
                    None => {
                        todos.push(Uid(row.number(0).map_err(failed)?));
                        by_id.push(row);
                    }
                }
            }
            view.know_dependents(todos.into_iter(), &others)?;
            view.know_answers(self.by_ids.into_iter().zip([by_id]));
        }
        view.know_answers(self.loads.into_iter().zip(answers));
        if let Some(rows) = running.first() {
            let running = view.todos(rows)?;
            view.known.borrow_mut().see_running(&running);
        }
        match self.ready {
            Some(window) => view.know_ready(window, ready.first().map_or(&[], Vec::as_slice)),
            None => Ok(()),
        }
    }
}

impl PgTransaction<'_> {
    /// Takes over all dependents of todos: rows with one more column, which names what they depend on.
    fn know_dependents(&self, of: impl Iterator<Item = Uid>, rows: &[SqlRow]) -> Result<(), StoreError> {
        let mut lists: HashMap<Uid, BTreeSet<Uid>> = of.map(|uid| (uid, BTreeSet::new())).collect();
        for (todo, row) in self.todos(rows)?.iter().zip(rows) {
            let dep = row.number(7).map_err(|e| fail::sql(self.store.label(), "read todos", &e))?;
            lists.entry(Uid(dep)).or_default().insert(todo.uid);
        }
        let mut known = self.known.borrow_mut();
        lists.into_iter().for_each(|(uid, dependents)| known.depend_on(uid, dependents));
        Ok(())
    }

    /// Takes over ready todos that were fetched with the lock.
    fn know_ready(&self, mut window: ReadyWindow, rows: &[SqlRow]) -> Result<(), StoreError> {
        window.take(rows).map_err(|e| fail::sql(self.store.label(), "read todos", &e))?;
        self.known.borrow_mut().see_ready(window);
        Ok(())
    }

    /// Loads a part of the plan without asking; false if it must be asked for.
    pub fn load_known(&self, footprint: &Footprint, into: &mut Plan) -> bool {
        self.is_write() && self.known.borrow().load(footprint, into)
    }

    /// All todos in progress in the order of the list, if they are known.
    pub fn known_running(&self) -> Option<Vec<Todo>> {
        if self.is_write() { self.known.borrow().running() } else { None }
    }

    /// What is ready, if that is known.
    pub fn known_ready(
        &self,
        now: i64,
        after: Option<ReadyMark>,
        limit: usize,
    ) -> Result<Option<Vec<Todo>>, StoreError> {
        while self.is_write() {
            let known = self.known.borrow_mut().ready(now, after, limit);
            match known {
                ReadyLookup::Todos(todos) => return Ok(Some(todos)),
                ReadyLookup::Unread(rows) => drop(self.todos(&rows)?),
                ReadyLookup::Unknown => break,
            }
        }
        Ok(None)
    }
}
