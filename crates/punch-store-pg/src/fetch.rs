//! What a write fetches together with the lock of its plan, as the caller has announced it.

use std::collections::{BTreeSet, HashMap};

use crate::answer::Row;
use punch_core::{Footprint, Plan, Todo, Uid};
use punch_store::{Ahead, PlanId, ReadyMark, StoreError};

use crate::known::{ReadyWindow, ask_dependents};
use crate::link::Ask;
use crate::store::PgStore;
use crate::value::Columns;
use crate::view::View;
use crate::{fail, hand_out, load, read};

/// The questions of a write, in the order in which they are asked.
pub struct Fetch {
    plan: PlanId,
    /// Questions that the write asks again word by word.
    loads: Vec<Ask>,
    /// The first of `loads` asks for todos by ids.
    has_ids: bool,
    /// Todos that are named by number.
    named: Vec<Uid>,
    dependents: Vec<Ask>,
    ready: Option<ReadyWindow>,
}

impl Fetch {
    /// What to fetch, at about this time of the server.
    pub fn new(store: &PgStore, plan: PlanId, ahead: Ahead<'_>, now: i64) -> Self {
        let footprint = ahead.footprint.filter(|footprint| !footprint.all);
        let mut loads = footprint.map(|footprint| load::asks(plan, footprint)).unwrap_or_default();
        let of = footprint.filter(|_| ahead.dependents);
        if ahead.ready {
            loads.push(hand_out::ask_offers(plan));
        }
        loads.extend(ahead.session.map(|key| read::ask_session(store.project, key, true)));
        loads.extend(ahead.answer.map(|key| read::ask_answer(plan, key)));
        Self {
            plan,
            loads,
            has_ids: footprint.is_some_and(|footprint| !footprint.ids.is_empty()),
            named: of.iter().flat_map(|footprint| footprint.todos.iter().copied()).collect(),
            dependents: of.map(|footprint| ask_dependents(plan, footprint)).unwrap_or_default(),
            ready: ahead.ready.then(|| ReadyWindow::around(now)),
        }
    }

    /// The questions.
    pub fn asks(&self) -> Vec<Ask> {
        let ready = self.ready.iter().flat_map(|window| window.asks(self.plan));
        self.loads.iter().chain(&self.dependents).cloned().chain(ready).collect()
    }

    /// Gives the answers to the transaction.
    pub fn hand_over(self, mut answers: Vec<Vec<Row>>, view: &View<'_>) -> Result<(), StoreError> {
        let mut dependents = answers.split_off(self.loads.len().min(answers.len()));
        let ready = dependents.split_off(self.dependents.len().min(dependents.len()));
        if !self.dependents.is_empty() {
            let by_id = answers.first().filter(|_| self.has_ids).into_iter().flatten();
            let by_id: Result<Vec<Uid>, _> = by_id.map(|row| row.number(0).map(Uid)).collect();
            let by_id = by_id.map_err(|e| fail::sql(view.store.label(), "read todos", &e))?;
            view.know_dependents(
                self.named.into_iter().chain(by_id),
                &dependents.into_iter().flatten().collect::<Vec<_>>(),
            )?;
        }
        view.know_answers(self.loads.into_iter().zip(answers));
        match self.ready {
            Some(window) => view.know_ready(window, &ready),
            None => Ok(()),
        }
    }
}

impl View<'_> {
    /// Takes over all dependents of todos: rows with one more column, which names what they depend on.
    fn know_dependents(&self, of: impl Iterator<Item = Uid>, rows: &[Row]) -> Result<(), StoreError> {
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
    fn know_ready(&self, mut window: ReadyWindow, answers: &[Vec<Row>]) -> Result<(), StoreError> {
        for rows in answers {
            window.take(&self.todos(rows)?);
        }
        self.known.borrow_mut().see_ready(window);
        Ok(())
    }

    /// Loads a part of the plan without asking; false if it must be asked for.
    pub fn load_known(&self, footprint: &Footprint, into: &mut Plan) -> bool {
        self.is_write() && self.known.borrow().load(footprint, into)
    }

    /// What is ready, if that is known.
    pub fn known_ready(&self, now: i64, after: Option<ReadyMark>, limit: usize) -> Option<Vec<Todo>> {
        if self.is_write() { self.known.borrow().ready(now, after, limit) } else { None }
    }
}
