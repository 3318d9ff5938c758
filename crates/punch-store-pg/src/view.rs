//! One transaction, seen from one plan. What is put is queued and goes out together with the next question, or with the
//! commit: a write that loads what it said it would load takes two round trips.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use crate::answer::SqlRow;
use punch_core::{Event, PlanRow, Todo, Uid};
use punch_store::backend::keep_unknown;
use punch_store::{PlanId, PlanInfo, StoreError};

use crate::clock::millis;
use crate::clone_facts::FactsChange;
use crate::fail;
use crate::known::KnownTodos;
use crate::link::{ServerLink, Statement, ask};
use crate::settle::{PlanReceipt, Receipt};
use crate::store::PgStore;
use crate::todo::StoredVersion;
use crate::transport::TransactionBegin;
use crate::unsent::Unsent;
use crate::value::Columns;

/// A write that makes this many todos, and a tenth of its plan, has the server look at what the tables hold.
const MANY_TODOS: u64 = 200;

/// Everything reads and writes through this; it lives as long as the transaction.
pub struct PgTransaction<'s> {
    pub store: &'s PgStore,
    pub plan: PlanId,
    /// The time of the transaction.
    pub time: Cell<Option<i64>>,
    /// Events of this transaction that closed a todo.
    pub closing: Vec<Event>,
    /// Changes to what is known about the clone, kept once the transaction is committed.
    pub facts: RefCell<Vec<FactsChange>>,
    /// What is known without asking.
    pub known: RefCell<KnownTodos>,
    /// Todos and events that were put and not sent yet.
    pub unsent: RefCell<Unsent>,
    /// The number of the last activity, once it was asked for.
    pub last_activity: Cell<Option<u64>>,
    writes: bool,
    inner: RefCell<Inner>,
}

#[derive(Default)]
struct Inner {
    link: Option<ServerLink>,
    queue: Vec<Statement>,
    /// What was fetched together with the lock, as long as nothing was put into the same table.
    fetched: Vec<FetchedAnswer>,
    head: Option<PlanHead>,
    seen: HashMap<Uid, StoredVersion>,
    changed: bool,
    /// How many todos were made.
    made: u64,
    /// The first statement that failed: the server takes no more of this transaction.
    failed: Option<StoreError>,
    xid: String,
}

/// The answer to a question that was asked ahead.
struct FetchedAnswer {
    ask: Statement,
    rows: Vec<SqlRow>,
    /// The tables that the question is about.
    tables: Vec<&'static str>,
}

/// The plan as this transaction sees it.
#[derive(Clone)]
struct PlanHead {
    info: PlanInfo,
    row: PlanRow,
    /// The stored text, which may hold more than this program knows.
    body: String,
    writes: i64,
    is_dirty: bool,
}

impl<'s> PgTransaction<'s> {
    fn new(store: &'s PgStore, plan: PlanId, inner: Inner, writes: bool) -> Self {
        Self {
            store,
            plan,
            time: Cell::new(None),
            closing: Vec::new(),
            facts: RefCell::default(),
            known: RefCell::default(),
            unsent: RefCell::default(),
            last_activity: Cell::new(None),
            writes,
            inner: RefCell::new(inner),
        }
    }

    /// A write whose plan is locked. Fails if there is no such plan.
    pub fn of_write(
        store: &'s PgStore,
        plan: PlanId,
        link: ServerLink,
        rows: &[Vec<SqlRow>],
    ) -> Result<Self, StoreError> {
        let view = Self::new(store, plan, Inner { link: Some(link), ..Inner::default() }, true);
        view.take_head(rows)?;
        // A number without a sign, which is asked about as text.
        let read = |row: &SqlRow| Ok((row.int(1)?.cast_unsigned().to_string(), row.int(2)?));
        let found = rows.get(1).and_then(|rows| rows.first()).map(read).transpose();
        if let Some((xid, process)) = found.map_err(|e| fail::sql(store.label(), "read the time", &e))? {
            let mut inner = view.inner.borrow_mut();
            inner.xid = xid;
            inner.link.iter_mut().for_each(|link| link.answered_by(process));
        }
        Ok(view)
    }

    /// A read of one moment. Fails if there is no such plan.
    pub fn of_read(
        store: &'s PgStore,
        plan: PlanId,
        link: ServerLink,
        rows: &[Vec<SqlRow>],
    ) -> Result<Self, StoreError> {
        let view = Self::new(store, plan, Inner { link: Some(link), ..Inner::default() }, false);
        view.take_head(rows)?;
        Ok(view)
    }

    /// A read of what belongs to no plan. It begins with its first question.
    pub fn of_browse(store: &'s PgStore) -> Self {
        Self::new(store, PlanId(0), Inner::default(), false)
    }

    fn take_head(&self, rows: &[Vec<SqlRow>]) -> Result<(), StoreError> {
        let failed = |e: crate::answer::WireError| fail::sql(self.store.label(), "read the plan", &e);
        let time = rows.get(1).and_then(|rows| rows.first()).map(|row| row.int(0)).transpose().map_err(failed)?;
        self.time.set(time.map(|time| self.store.clock.heard(millis(time))));
        let Some(row) = rows.first().and_then(|rows| rows.first()) else {
            self.end();
            return Err(StoreError::UnknownPlan { plan: self.plan });
        };
        let read = || -> Result<(PlanInfo, i64, String), crate::answer::WireError> {
            let info = PlanInfo {
                id: self.plan,
                name: row.text(0)?,
                created_at: row.int(1)?,
                archived: row.maybe_int(2)?,
                revision: row.number(3)?,
                pruned: row.number(4)?,
            };
            Ok((info, row.int(5)?, row.text(6)?))
        };
        let (info, writes, body) = read().map_err(failed)?;
        let row = self.parse("the plan", &body)?;
        self.inner.borrow_mut().head = Some(PlanHead { info, row, body, writes, is_dirty: false });
        Ok(())
    }

    /// Name, age and state of the plan, with what this transaction has changed.
    pub fn plan_info(&self) -> Result<PlanInfo, StoreError> {
        let inner = self.inner.borrow();
        let head = inner.head.as_ref().ok_or(StoreError::UnknownPlan { plan: self.plan })?;
        Ok(PlanInfo { revision: head.row.revision, ..head.info.clone() })
    }

    /// The plan row.
    pub fn plan_row(&self) -> Result<PlanRow, StoreError> {
        let inner = self.inner.borrow();
        let head = inner.head.as_ref().ok_or(StoreError::UnknownPlan { plan: self.plan })?;
        Ok(head.row.clone())
    }

    /// Changes the plan; it is written once, with the commit.
    pub fn change_plan(&self, change: impl FnOnce(&mut PlanInfo, &mut PlanRow)) {
        let mut inner = self.inner.borrow_mut();
        inner.changed = true;
        if let Some(head) = &mut inner.head {
            change(&mut head.info, &mut head.row);
            head.is_dirty = true;
        }
    }

    /// Asks one question.
    pub fn ask(&self, ask: Statement) -> Result<Vec<SqlRow>, StoreError> {
        Ok(self.ask_all(vec![ask])?.pop().unwrap_or_default())
    }

    /// Asks questions in one round trip, after what was queued.
    pub fn ask_all(&self, asks: Vec<Statement>) -> Result<Vec<Vec<SqlRow>>, StoreError> {
        let inner = self.inner.borrow();
        if let Some(error) = &inner.failed {
            return Err(error.clone());
        }
        let fetched =
            |ask: &Statement| inner.fetched.iter().find(|fetched| fetched.ask == *ask).map(|fetched| &fetched.rows);
        if let Some(answers) = asks.iter().map(fetched).collect::<Option<Vec<_>>>() {
            return Ok(answers.into_iter().cloned().collect());
        }
        drop(inner);
        self.flush_unsent()?;
        let mut inner = self.inner.borrow_mut();
        let queued = inner.queue.len();
        let mut all = std::mem::take(&mut inner.queue);
        all.extend(asks);
        let sent = match inner.link.take() {
            Some(mut link) => {
                let sent = self.store.send(&mut link, &all);
                inner.link = Some(link);
                sent
            }
            None => self.store.begin(&TransactionBegin::read(), &all).map(|(link, rows)| {
                inner.link = Some(link);
                rows
            }),
        };
        match sent {
            Ok(mut rows) => Ok(rows.split_off(queued)),
            Err(error) => {
                inner.failed = Some(error.clone());
                Err(error)
            }
        }
    }

    /// Puts a statement into the queue.
    pub fn enqueue(&self, ask: Statement) {
        self.will_change(&[ask.sql]);
        self.inner.borrow_mut().queue.push(ask);
    }

    /// Notes that todos are made.
    pub fn will_make(&self, todos: usize) {
        self.inner.borrow_mut().made += todos as u64;
    }

    /// Notes that statements will be queued: what was fetched from the tables that they change is of no use.
    pub fn will_change(&self, statements: &[&'static str]) {
        let mut inner = self.inner.borrow_mut();
        inner.changed = true;
        statements.iter().for_each(|sql| inner.forget_fetched(sql));
    }

    /// Reads rows of any kind.
    pub fn rows<T>(
        &self,
        ask: Statement,
        read: impl Fn(&SqlRow) -> Result<T, crate::answer::WireError>,
    ) -> Result<Vec<T>, StoreError> {
        let what = ask.what;
        let rows = self.ask(ask)?;
        rows.iter().map(|row| read(row).map_err(|e| fail::sql(self.store.label(), what, &e))).collect()
    }

    /// Reads at most one row.
    pub fn first<T>(
        &self,
        ask: Statement,
        read: impl Fn(&SqlRow) -> Result<T, crate::answer::WireError>,
    ) -> Result<Option<T>, StoreError> {
        Ok(self.rows(ask, read)?.pop())
    }

    /// Runs a statement that changes something and answers with at most one row.
    pub fn change<T>(
        &self,
        ask: Statement,
        read: impl Fn(&SqlRow) -> Result<T, crate::answer::WireError>,
    ) -> Result<Option<T>, StoreError> {
        self.will_change(&[ask.sql]);
        self.first(ask, read)
    }

    /// Whether this transaction may write.
    pub const fn is_write(&self) -> bool {
        self.writes
    }

    /// What is known of the stored version of a todo, if it was read in this write.
    pub fn stored(&self, uid: Uid) -> Option<StoredVersion> {
        self.inner.borrow().seen.get(&uid).cloned()
    }

    /// Notes what is stored about a todo: a write compares with it.
    pub fn note(&self, todo: &Todo, body: &str) {
        if self.writes {
            let stored = StoredVersion::of(todo, self.store.newer.then(|| body.to_owned()));
            self.known.borrow_mut().read(todo);
            self.inner.borrow_mut().seen.insert(todo.uid, stored);
        }
    }

    /// Keeps answers for questions that will be asked.
    pub fn know_answers(&self, fetched: impl Iterator<Item = (Statement, Vec<SqlRow>)>) {
        let fetched = fetched.map(|(ask, rows)| FetchedAnswer { tables: tables(ask.sql).collect(), ask, rows });
        self.inner.borrow_mut().fetched.extend(fetched);
    }

    /// Sends the plan row before its time, for a question about all plans.
    pub fn flush_plan(&self) -> Result<(), StoreError> {
        let update = self.plan_update(0)?;
        let mut inner = self.inner.borrow_mut();
        if inner.head.as_ref().is_some_and(|head| head.is_dirty) {
            inner.queue.extend(update);
        }
        Ok(())
    }

    /// The statement that writes the plan row and counts the write.
    fn plan_update(&self, receipt: i64) -> Result<Option<Statement>, StoreError> {
        const UPDATE: &str = "UPDATE punch.plan SET name = $2, archived = $3, revision = $4, pruned = $5, body = $6, \
                              receipt = $7, writes = $8 WHERE id = $1";
        let inner = self.inner.borrow();
        let Some(head) = &inner.head else { return Ok(None) };
        let body = if self.store.newer {
            keep_unknown(&head.row, &head.body, &PlanRow::default())
        } else {
            serde_json::to_string(&head.row)
        };
        let body = body.map_err(|e| fail::failed(self.store.label(), format!("cannot write the plan: {e}")))?;
        let PlanInfo { name, archived, pruned, .. } = &head.info;
        let (revision, pruned) = (head.row.revision.cast_signed(), pruned.cast_signed());
        Ok(Some(ask!(
            "write the plan",
            UPDATE,
            self.plan.0,
            name,
            *archived,
            revision,
            pruned,
            body,
            receipt,
            head.writes + 1
        )))
    }

    /// Commits what was put. A write that changed nothing leaves no trace.
    pub fn commit(self) -> Result<(), StoreError> {
        if let Some(error) = self.inner.borrow().failed.clone() {
            self.end();
            return Err(error);
        }
        if !self.inner.borrow().changed {
            self.end();
            return Ok(());
        }
        self.flush_unsent()?;
        let number = self.store.watch.random();
        let update = self.plan_update(number)?;
        let (link, mut queue, writes, xid, is_import) = {
            let mut inner = self.inner.borrow_mut();
            let (writes, size) = inner.head.as_ref().map_or((0, 0), |head| (head.writes, head.row.next_uid));
            let is_import = inner.made >= MANY_TODOS && inner.made >= size / 10;
            (inner.link.take(), std::mem::take(&mut inner.queue), writes, std::mem::take(&mut inner.xid), is_import)
        };
        let Some(mut link) = link else { return Err(fail::failed(self.store.label(), "the connection is gone")) };
        queue.extend(update);
        let done = self.store.commit(&mut link, &queue);
        if done.is_ok() && is_import {
            self.store.refresh_statistics(&mut link);
        }
        let receipt = Receipt { xid, plan: PlanReceipt { plan: self.plan, writes_before: writes, number } };
        self.store.committed(link, done, &receipt)?;
        self.store.facts.change(&self.facts.take())
    }

    /// Ends the transaction; nothing that was put is kept.
    pub fn rollback(self) {
        self.end();
    }

    fn end(&self) {
        let mut inner = self.inner.borrow_mut();
        // A connection that may be in the middle of an answer is closed and not used again.
        if inner.failed.is_none()
            && let Some(link) = inner.link.take()
        {
            drop(inner);
            self.store.rollback(link);
        }
    }

    /// Writes JSON.
    pub fn to_json(&self, what: &str, value: &impl serde::Serialize) -> Result<String, StoreError> {
        serde_json::to_string(value).map_err(|e| fail::failed(self.store.label(), format!("cannot write {what}: {e}")))
    }

    /// Reads JSON that this crate has written.
    pub fn parse<T: serde::de::DeserializeOwned>(&self, what: &str, json: &str) -> Result<T, StoreError> {
        serde_json::from_str(json).map_err(|e| fail::damaged(self.store.label(), format!("{what} cannot be read: {e}")))
    }
}

impl Inner {
    /// Forgets what was fetched from the table that a statement changes.
    fn forget_fetched(&mut self, sql: &'static str) {
        if !self.fetched.is_empty()
            && let Some(table) = tables(sql).next()
        {
            self.fetched.retain(|fetched| !fetched.tables.contains(&table));
        }
    }
}

/// The tables that a statement names.
fn tables(sql: &'static str) -> impl Iterator<Item = &'static str> {
    sql.split_whitespace().filter(|word| word.starts_with("punch."))
}
