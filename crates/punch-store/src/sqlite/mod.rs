//! Plans in one SQLite file, shared by many processes. A write waits for its turn, then runs in one immediate
//! transaction; readers see one moment and never wait.

mod activity;
mod backup;
mod bulk;
mod check;
mod clone_facts;
mod commits;
mod connection;
mod content_index;
mod control;
mod events;
mod fail;
mod hand_out;
mod ledger;
mod load;
mod lock;
mod notes;
mod open;
mod question;
mod read;
mod reader;
mod schema;
mod todo;
mod tools;
mod usage_note;
mod view;
mod watch;
mod worker;
mod write;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use punch_core::PlanRow;
use rusqlite::{Connection, params};

pub use tools::{name_of, restore, revisions_in};

use crate::{
    BrowseBody, Changes, Durability, LostWrites, OpenMode, PlanId, ReadBody, Store, StoreAdmin, StoreError, Upgrade,
    WriteBody,
};
use commits::{CommitRecord, Counter, PlanMark};
use connection::Pool;
use lock::WriteTurn;
use todo::Unknown;
use view::SqliteTransaction;
use watch::StoreWatch;

/// How long a writer waits for the others unless told otherwise.
const WAIT: Duration = Duration::from_secs(10);

/// Opens a store in a file: the one way in for whatever does not care which backend it gets. `wait` is the longest time that
/// a write waits for other processes.
pub fn open_file(path: &Path, mode: OpenMode, wait: Option<Duration>) -> Result<Box<dyn StoreAdmin>, StoreError> {
    Ok(Box::new(SqliteStore::open_waiting(path, mode, wait.unwrap_or(WAIT))?))
}

/// A store in a SQLite file. Beside `store.db` lie `store.lock` (whose turn it is, and a
/// record of what was committed), `store.use` (who is here), SQLite's
/// `-wal` and `-shm`, and `backups/`.
pub struct SqliteStore {
    pool: Pool,
    watch: Arc<StoreWatch>,
    unknown: Unknown,
    /// Why it can only be read, if so.
    obstacle: Option<StoreError>,
    lost: Option<LostWrites>,
    upgrade: Option<Upgrade>,
}

/// What the body of a write transaction has done.
struct WriteOutcome<T> {
    answer: T,
    wrote: bool,
    /// The plan that it wrote to, as it is now.
    plan: Option<PlanMark>,
}

/// What to do about a store that has lost writes.
enum Loss {
    /// Fail: a new write would take the number of a lost one.
    Refuse,
    /// Continue with what is left, and count from there on. The counter continues above this number, which belongs to a
    /// write that is lost.
    Accept(u64),
}

impl SqliteStore {
    /// Opens a store, or makes one if the mode says so. An older schema is brought up to date, after a copy was put
    /// into `backups/`. A newer minor schema works: what this program does not know is kept as it is.
    pub fn open(path: &Path, mode: OpenMode) -> Result<Self, StoreError> {
        Self::open_waiting(path, mode, WAIT)
    }

    /// Opens the store, with the longest time that a write waits for other processes.
    pub fn open_waiting(path: &Path, mode: OpenMode, wait: Duration) -> Result<Self, StoreError> {
        let opened = open::open(path, mode, wait)?;
        let log_mismatch = opened.log_mismatch;
        let (obstacle, lost, upgrade) = (opened.obstacle.clone(), opened.lost.clone(), opened.upgrade.clone());
        let unknown = if opened.newer { Unknown::Keep } else { Unknown::None };
        let pool = Pool::new(opened, wait);
        let watch = Arc::new(StoreWatch::new(pool.path.clone(), pool.identity, pool.access));
        let store = Self { pool, watch, unknown, obstacle, lost, upgrade };
        if log_mismatch { store.if_sound() } else { Ok(store) }
    }

    /// The file is not what it was when its log was left; together they may still make sense, as after a power loss.
    fn if_sound(mut self) -> Result<Self, StoreError> {
        // Whatever comes of this, nothing is noted about the file before it is known to be sound.
        let usage_note = self.pool.usage_note.take();
        if let Some(found) = self.check()?.first() {
            return Err(fail::exchanged(self.path(), found));
        }
        self.pool.usage_note = usage_note;
        self.pool.invalidate();
        Ok(self)
    }

    /// The file, links in its folder resolved.
    pub fn path(&self) -> &Path {
        &self.pool.path
    }

    /// Records the store as it is, with a counter above `number`.
    fn count_from(&self, number: u64) -> Result<(), StoreError> {
        self.transact(Durability::Full, Loss::Accept(number), |_| {
            Ok(WriteOutcome { answer: (), wrote: true, plan: None })
        })
    }

    /// Runs `body` in a write transaction, committed if it answers `Ok`.
    fn commit<T>(
        &self,
        durability: Durability,
        body: impl FnOnce(&Connection) -> Result<WriteOutcome<T>, StoreError>,
    ) -> Result<T, StoreError> {
        self.transact(durability, Loss::Refuse, body)
    }

    fn transact<T>(
        &self,
        durability: Durability,
        loss: Loss,
        body: impl FnOnce(&Connection) -> Result<WriteOutcome<T>, StoreError>,
    ) -> Result<T, StoreError> {
        if let Some(obstacle) = &self.obstacle {
            return Err(obstacle.clone());
        }
        let deadline = Instant::now() + self.pool.wait;
        let mut connection = self.pool.take()?;
        open::writable(&connection.conn, self.path())?;
        let turn = WriteTurn::take(self.path(), deadline)?;
        let failed = |e: rusqlite::Error| fail::sql(self.path(), "be written", &e);
        let left = deadline.saturating_duration_since(Instant::now());
        connection.begin_write(durability, left).map_err(failed)?;
        self.pool.invalidate();
        let done = (|| {
            run(&connection.conn, "BEGIN IMMEDIATE").map_err(failed)?;
            let done = self.count(&connection.conn, &turn, durability, loss, body);
            if done.is_err() && !connection.conn.is_autocommit() {
                let _ = run(&connection.conn, "ROLLBACK");
            }
            done
        })();
        drop(turn);
        self.pool.give(connection);
        let WriteOutcome { answer, wrote, .. } = done?;
        if wrote {
            self.watch.committed();
        }
        Ok(answer)
    }

    /// Runs `body` and the commit, and keeps count of what was written: inside the transaction, and outside the log once
    /// the transaction is committed.
    fn count<T>(
        &self,
        conn: &Connection,
        turn: &WriteTurn,
        durability: Durability,
        loss: Loss,
        body: impl FnOnce(&Connection) -> Result<WriteOutcome<T>, StoreError>,
    ) -> Result<WriteOutcome<T>, StoreError> {
        let failed = |e: rusqlite::Error| fail::sql(self.path(), "be written", &e);
        let number = self.pool.number();
        let counter = Counter::read(conn).map_err(failed)?;
        let record = CommitRecord::read(&turn.file, number);
        let (record, at_least) = match loss {
            Loss::Refuse => {
                commits::refuse(conn, self.path(), record.as_ref(), &counter)?;
                (record, 0)
            }
            Loss::Accept(number) => (None, number),
        };
        let mut done = body(conn)?;
        let counter = match done.wrote {
            true => Some(counter.advance(conn, at_least).map_err(failed)?),
            false => None,
        };
        run(conn, "COMMIT").map_err(failed)?;
        if let Some(counter) = counter {
            // Without a record the write is as safe as before, only its loss would go unnoticed.
            let _ = CommitRecord::after(record, number, &counter, durability, done.plan.take()).write(&turn.file);
        }
        Ok(done)
    }

    /// Runs `body` on one moment.
    fn look<T>(&self, body: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let connection = self.pool.take()?;
        let done = match run(&connection.conn, "BEGIN") {
            Ok(()) => {
                let done = body(&connection.conn);
                // One that cannot be ended is not given to anyone else.
                let _ = run(&connection.conn, "ROLLBACK");
                done
            }
            Err(e) => Err(fail::sql(self.path(), "be read", &e)),
        };
        self.pool.give(connection);
        done
    }

    fn view<'c>(&'c self, conn: &'c Connection, plan: PlanId) -> SqliteTransaction<'c> {
        SqliteTransaction::new(conn, self.path(), plan, self.unknown)
    }
}

/// A statement without an answer, prepared once for each connection. A body that panics takes its connection with it,
/// and with that its transaction.
fn run(conn: &Connection, sql: &str) -> rusqlite::Result<()> {
    conn.prepare_cached(sql)?.execute([]).map(|_| ())
}

impl Store for SqliteStore {
    fn write(&self, plan: PlanId, durability: Durability, body: WriteBody<'_>) -> Result<(), StoreError> {
        self.commit(durability, |conn| {
            let mut view = self.view(conn, plan);
            view.plan_row()?;
            body(&mut view)?;
            Ok(WriteOutcome { answer: (), wrote: view.changed.get(), plan: view.mark() })
        })
    }

    fn read(&self, plan: PlanId, body: ReadBody<'_>) -> Result<(), StoreError> {
        self.look(|conn| {
            let view = self.view(conn, plan);
            view.plan_row()?;
            body(&view)
        })
    }

    fn browse(&self, body: BrowseBody<'_>) -> Result<(), StoreError> {
        self.look(|conn| body(&self.view(conn, PlanId(0))))
    }

    fn create_plan(&self, name: &str, now: i64) -> Result<PlanId, StoreError> {
        let row = serde_json::to_string(&PlanRow::default())
            .map_err(|e| fail::failed(self.path(), format!("cannot create a plan: {e}")))?;
        self.commit(Durability::Full, |conn| {
            let view = self.view(conn, PlanId(0));
            view.name_is_free(name)?;
            let sql = "INSERT INTO plan (name, created_at, revision, row) VALUES (?1, ?2, 0, ?3)";
            view.execute("create a plan", sql, params![name, now, row])?;
            let id = conn.last_insert_rowid();
            let mark = PlanMark { id, revision: 0, name: name.to_owned() };
            Ok(WriteOutcome { answer: PlanId(id), wrote: true, plan: Some(mark) })
        })
    }

    fn identity(&self) -> Result<String, StoreError> {
        self.look(|conn| {
            let read = conn.query_row("SELECT store FROM meta", [], |row| row.get(0));
            read.map_err(|e| fail::sql(self.path(), "be read", &e))
        })
    }

    fn stamp(&self, _plan: Option<PlanId>) -> Result<Option<u64>, StoreError> {
        self.pool.check()?;
        self.watch.stamp()
    }

    fn changes(&self) -> Box<dyn Changes> {
        Box::new(watch::StoreWaiter::new(&self.watch))
    }
}
