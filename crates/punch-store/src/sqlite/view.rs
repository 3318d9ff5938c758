//! One transaction, seen from one plan.

use std::cell::{Cell, RefCell};
use std::path::Path;

use punch_core::{Event, PlanRow, Todo};
use rusqlite::{Connection, OptionalExtension, Params, Row, params};

use super::commits::PlanMark;
use super::todo::Unknown;
use super::{bulk, fail};
use crate::backend::{Columns, FromColumns, keep_unknown};
use crate::{PlanId, StoreError};

/// Everything reads and writes through this; it lives as long as the transaction.
pub(super) struct SqliteTransaction<'c> {
    pub conn: &'c Connection,
    pub path: &'c Path,
    pub plan: PlanId,
    pub unknown: Unknown,
    /// Something was written.
    pub changed: Cell<bool>,
    /// Events of this transaction that closed a todo.
    pub closing: Vec<Event>,
    row: RefCell<Option<PlanRow>>,
    name: RefCell<String>,
    /// The column `said` is right, as far as the plan was read.
    numbered: Cell<Option<bool>>,
}

impl<'c> SqliteTransaction<'c> {
    pub fn new(conn: &'c Connection, path: &'c Path, plan: PlanId, unknown: Unknown) -> Self {
        Self {
            conn,
            path,
            plan,
            unknown,
            changed: Cell::new(false),
            closing: Vec::new(),
            row: RefCell::new(None),
            name: RefCell::default(),
            numbered: Cell::new(None),
        }
    }

    /// Turns what SQLite reports into an error that says what was tried.
    pub fn sql<T>(&self, what: &str, result: rusqlite::Result<T>) -> Result<T, StoreError> {
        result.map_err(|e| fail::sql(self.path, what, &e))
    }

    /// The plan row, read once a transaction.
    pub fn plan_row(&self) -> Result<PlanRow, StoreError> {
        if let Some(row) = self.row.borrow().as_ref() {
            return Ok(row.clone());
        }
        let row: PlanRow = self.parse("the plan", &self.row_text()?)?;
        *self.row.borrow_mut() = Some(row.clone());
        Ok(row)
    }

    /// Puts another plan row in place.
    pub fn write_plan_row(&self, row: &PlanRow) -> Result<(), StoreError> {
        let json = match self.unknown {
            Unknown::None => serde_json::to_string(row),
            Unknown::Keep => keep_unknown(row, &self.row_text()?, &PlanRow::default()),
        };
        let json = json.map_err(|e| fail::damaged(self.path, format!("the plan cannot be read: {e}")))?;
        let written = self
            .conn
            .prepare_cached(
                "UPDATE plan SET said_revision = iif(said_revision = revision, ?2, said_revision), revision = ?2, \
                 row = ?3 WHERE id = ?1",
            )
            .and_then(|mut s| s.execute(params![self.plan.0, row.revision.cast_signed(), json]));
        self.sql("write the plan", written)?;
        *self.row.borrow_mut() = Some(row.clone());
        self.changed.set(true);
        Ok(())
    }

    /// The plan as it is at the end of a write; `None` if it was never read.
    pub fn mark(&self) -> Option<PlanMark> {
        let revision = self.row.borrow().as_ref()?.revision;
        Some(PlanMark { id: self.plan.0, revision, name: self.name.take() })
    }

    fn row_text(&self) -> Result<String, StoreError> {
        let read = self
            .conn
            .prepare_cached("SELECT row, said_revision = revision, name FROM plan WHERE id = ?1")
            .and_then(|mut s| s.query_row([self.plan.0], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).optional());
        let (text, numbered, name) =
            self.sql("read the plan", read)?.ok_or(StoreError::UnknownPlan { plan: self.plan })?;
        self.numbered.set(Some(numbered));
        *self.name.borrow_mut() = name;
        Ok(text)
    }

    /// Whether the column `said` of the todos is what their contents give.
    pub fn content_numbers_are_current(&self) -> Result<bool, StoreError> {
        if self.numbered.get().is_none() {
            self.row_text()?;
        }
        Ok(self.numbered.get() == Some(true))
    }

    /// Notes that it is.
    pub fn mark_content_numbers_current(&self) -> Result<(), StoreError> {
        self.execute("write the plan", "UPDATE plan SET said_revision = revision WHERE id = ?1", [self.plan.0])?;
        self.numbered.set(Some(true));
        Ok(())
    }

    /// Fails if another plan in use has that name.
    pub fn name_is_free(&self, name: &str) -> Result<(), StoreError> {
        let sql = "SELECT 1 FROM plan WHERE name = ?1 AND archived IS NULL AND id <> ?2";
        let taken = self.conn.prepare_cached(sql).and_then(|mut s| s.exists(params![name, self.plan.0]));
        if self.sql("look up the name", taken)? { Err(crate::store::name_taken(name)) } else { Ok(()) }
    }

    /// Runs a query whose columns are [`bulk::COLUMNS`].
    pub fn todos<T: From<Todo> + Send>(
        &self,
        sql: &str,
        params: impl Params,
        each: &mut dyn FnMut(T),
    ) -> Result<(), StoreError> {
        self.todos_each(sql, [params], each)
    }

    /// Reads todos with one statement that is asked again and again, which is cheaper than looking for it each time.
    pub fn todos_each<P: Params, T: From<Todo> + Send>(
        &self,
        sql: &str,
        params: impl IntoIterator<Item = P>,
        each: &mut dyn FnMut(T),
    ) -> Result<(), StoreError> {
        let run = || -> rusqlite::Result<Result<(), String>> {
            let mut params = params.into_iter().peekable();
            if params.peek().is_none() {
                return Ok(Ok(()));
            }
            let mut statement = self.conn.prepare_cached(sql)?;
            for params in params {
                let read = bulk::read(self.conn, self.plan, statement.query(params)?, each)?;
                if read.is_err() {
                    return Ok(read);
                }
            }
            Ok(Ok(()))
        };
        let read = run();
        self.sql("read todos", read)?.map_err(|why| fail::damaged(self.path, why))
    }

    /// Reads records.
    pub fn rows<T: FromColumns>(&self, what: &str, sql: &str, params: impl Params) -> Result<Vec<T>, StoreError> {
        let read = self.conn.prepare_cached(sql).and_then(|mut s| s.query_map(params, |row| T::read(row))?.collect());
        self.sql(what, read)
    }

    /// Reads at most one record.
    pub fn first<T: FromColumns>(&self, what: &str, sql: &str, params: impl Params) -> Result<Option<T>, StoreError> {
        let read = self.conn.prepare_cached(sql).and_then(|mut s| s.query_row(params, |row| T::read(row)).optional());
        self.sql(what, read)
    }

    /// Adds a row and returns the number that it got.
    pub fn add(&self, what: &str, sql: &str, params: impl Params) -> Result<u64, StoreError> {
        let added = self.conn.prepare_cached(sql).and_then(|mut s| s.query_row(params, |row| row.number(0)));
        self.changed.set(true);
        self.sql(what, added)
    }

    /// Executes a statement that writes.
    pub fn execute(&self, what: &str, sql: &str, params: impl Params) -> Result<usize, StoreError> {
        let done = self.conn.prepare_cached(sql).and_then(|mut s| s.execute(params));
        self.changed.set(true);
        self.sql(what, done)
    }

    /// Writes JSON.
    pub fn to_json(&self, what: &str, value: &impl serde::Serialize) -> Result<String, StoreError> {
        serde_json::to_string(value).map_err(|e| fail::failed(self.path, format!("cannot write {what}: {e}")))
    }

    /// Reads JSON that this crate has written.
    pub fn parse<T: serde::de::DeserializeOwned>(&self, what: &str, json: &str) -> Result<T, StoreError> {
        serde_json::from_str(json).map_err(|e| fail::damaged(self.path, format!("{what} cannot be read: {e}")))
    }
}

impl Columns for Row<'_> {
    type Error = rusqlite::Error;

    fn int(&self, at: usize) -> rusqlite::Result<i64> {
        self.get(at)
    }

    fn maybe_int(&self, at: usize) -> rusqlite::Result<Option<i64>> {
        self.get(at)
    }

    fn text(&self, at: usize) -> rusqlite::Result<String> {
        self.get(at)
    }

    fn maybe_text(&self, at: usize) -> rusqlite::Result<Option<String>> {
        self.get(at)
    }

    fn flag(&self, at: usize) -> rusqlite::Result<bool> {
        self.get(at)
    }
}
