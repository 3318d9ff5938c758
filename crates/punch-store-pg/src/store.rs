//! A store on a server: its connections, how a transaction begins, and the promises as the engine sees them.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use punch_core::PlanRow;
use punch_store::{
    Ahead, Catalogue, Changes, Durability, OpenMode, PlanId, Reason, Snapshot, Store, StoreAdmin, StoreError,
    StoreLabel, Tx, Upgrade,
};
use tokio_postgres::Row;

use crate::address::Address;
use crate::clock::Clock;
use crate::clone_facts::CloneFile;
use crate::executor::Executor;
use crate::link::{Ask, Link, ask};
use crate::value::Columns;
use crate::view::View;
use crate::watch::Watch;
use crate::{Login, fail, load, schema, settle};

/// How long a writer waits for the others unless told otherwise.
const WAIT: Duration = Duration::from_secs(10);

/// How long a server may take for an answer beyond the time that others may keep it waiting.
const GRACE: Duration = Duration::from_secs(5);

/// How many idle connections a store keeps.
const IDLE: usize = 4;

/// A transaction whose client says nothing for this long is ended by the server, so that a stopped process does not keep a
/// plan for itself. Large imports compute for some seconds inside of one.
const SILENCE: Duration = Duration::from_secs(15);

/// Locks the plan. The row comes as it is once the lock is held.
const LOCK: &str = "SELECT name, created_at, archived, revision, pruned, writes, body FROM punch.plan \
                    WHERE id = $1 AND project = $2 FOR UPDATE";

/// The plan at one moment.
const PLAN: &str = "SELECT name, created_at, archived, revision, pruned, writes, body FROM punch.plan \
                    WHERE id = $1 AND project = $2";

/// A statement of its own after the lock: in the one that locks, functions are called before it waits.
const LOCKED_AT: &str = "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::int8, pg_current_xact_id()::text";

/// Readers see one moment for as long as their body runs. A long one keeps the server from clearing away old rows.
const BEGIN_READ: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 60000; \
                          SET LOCAL idle_in_transaction_session_timeout = 60000; \
                          SET LOCAL plan_cache_mode = force_generic_plan";

const READ_AT: &str = "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::int8";

/// What it takes to open a store.
#[derive(Clone, Default)]
pub struct PgOptions {
    /// `postgres://…`, without a password.
    pub address: String,
    /// The project in that database.
    pub project: String,
    /// What the environment says about logging in.
    pub login: Login,
    /// The file for facts about this clone; in memory if there is none.
    pub clone_facts: Option<PathBuf>,
    /// The longest time that a write waits for other processes.
    pub wait: Option<Duration>,
}

/// Opens a store on a server: the way in for whatever does not care which backend it gets.
pub fn open(options: PgOptions, mode: OpenMode) -> Result<Box<dyn StoreAdmin>, StoreError> {
    Ok(Box::new(PgStore::open(options, mode)?))
}

/// A project in a PostgreSQL database.
pub struct PgStore {
    pub(crate) runtime: Arc<Executor>,
    pub(crate) address: Arc<Address>,
    pub(crate) project: i64,
    pub(crate) identity: String,
    pub(crate) clock: Clock,
    pub(crate) facts: CloneFile,
    pub(crate) watch: Arc<Watch>,
    pub(crate) wait: Duration,
    /// The schema has a newer minor: what this program does not know must survive its writes.
    pub(crate) newer: bool,
    pub(crate) upgrade: Option<Upgrade>,
    idle: Mutex<Vec<Link>>,
    unprepared: AtomicBool,
}

impl PgStore {
    /// Opens a project in a database. Makes the schema and the project if the mode says so; an older schema is brought up
    /// to date.
    pub fn open(options: PgOptions, mode: OpenMode) -> Result<Self, StoreError> {
        let PgOptions { address, project, login, clone_facts, wait } = options;
        let wait = wait.unwrap_or(WAIT);
        let mut address = Address::parse(&address, &login)?;
        address.config.connect_timeout(wait.max(Duration::from_secs(1)));
        let address = Arc::new(address);
        let runtime =
            Executor::new().map_err(|e| fail::failed(&address.label, format!("cannot start a runtime: {e}")))?;
        let limit = wait + GRACE;
        let opened = runtime.block_on(async {
            let open = async {
                let mut link = Link::open(&address).await?;
                let found = schema::examine(&mut link, &address, &project, mode).await?;
                Ok((link, found))
            };
            tokio::time::timeout(limit, open).await.unwrap_or_else(|_| Err(silent(&address.label, limit)))
        });
        let (link, found) = opened?;
        let runtime = Arc::new(runtime);
        let watch = Arc::new(Watch::new(Arc::clone(&runtime), Arc::clone(&address), found.project));
        let facts = CloneFile::new(clone_facts, &found.identity, &address.label);
        Ok(Self {
            runtime,
            project: found.project,
            identity: found.identity,
            clock: Clock::new(found.now),
            facts,
            watch,
            wait,
            newer: found.newer,
            upgrade: found.upgrade,
            idle: Mutex::new(vec![link]),
            unprepared: AtomicBool::new(false),
            address,
        })
    }

    pub(crate) fn label(&self) -> &StoreLabel {
        &self.address.label
    }

    fn links(&self) -> MutexGuard<'_, Vec<Link>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a connection for the next transaction; its own must have ended.
    pub(crate) fn give(&self, link: Link) {
        let mut idle = self.links();
        if idle.len() < IDLE && !link.is_closed() {
            idle.push(link);
        }
    }

    /// Sends the first statements of a transaction, on an idle connection or a new one. Nothing has happened yet, so an idle
    /// connection that turns out to be dead is replaced without a word.
    pub(crate) fn begin(&self, begin: Option<&str>, asks: &[Ask]) -> Result<(Link, Vec<Vec<Row>>), StoreError> {
        let limit = self.wait + GRACE;
        for attempt in 0.. {
            let idle = self.links().pop().filter(|link| !link.is_closed());
            let was_idle = idle.is_some();
            let sent = self.runtime.block_on(async {
                let send = async {
                    let mut link = match idle {
                        Some(link) => link,
                        None => Link::open(&self.address).await.map_err(Begin::Refused)?,
                    };
                    link.unprepared = self.unprepared.load(Ordering::Relaxed);
                    link.prepare().await.map_err(|error| Begin::Failed("prepare a statement", error))?;
                    let what = |n: usize| asks.get(n).map_or("begin a transaction", |ask| ask.what);
                    match link.send(begin, asks, None).await {
                        Ok(rows) => Ok((link, rows)),
                        Err((n, error)) => Err(Begin::Failed(what(n), error)),
                    }
                };
                tokio::time::timeout(limit, send).await
            });
            match sent {
                Ok(Ok(begun)) => return Ok(begun),
                Ok(Err(Begin::Refused(error))) => return Err(error),
                Ok(Err(Begin::Failed(_, error))) if fail::is_unprepared(&error) && attempt < 3 => {
                    self.unprepared.store(true, Ordering::Relaxed);
                }
                Ok(Err(Begin::Failed(_, error))) if was_idle && fail::is_connection(&error) && attempt < 8 => {}
                Ok(Err(Begin::Failed(what, error))) => return Err(fail::sql(self.label(), what, &error)),
                Err(_) => return Err(silent(self.label(), limit)),
            }
        }
        Err(silent(self.label(), limit))
    }

    /// Sends statements in a transaction that has begun.
    pub(crate) fn send(&self, link: &mut Link, asks: &[Ask]) -> Result<Vec<Vec<Row>>, StoreError> {
        let limit = self.wait + GRACE;
        let sent = self.runtime.block_on(async { tokio::time::timeout(limit, link.send(None, asks, None)).await });
        match sent {
            Ok(Ok(rows)) => Ok(rows),
            Ok(Err((n, error))) => Err(self.refusal(asks, n, &error)),
            Err(_) => Err(silent(self.label(), limit)),
        }
    }

    /// Sends the last statements of a transaction and commits it.
    pub(crate) fn commit(&self, link: &mut Link, asks: &[Ask]) -> Result<(), settle::CommitFailure> {
        let limit = self.wait + GRACE;
        let sent =
            self.runtime.block_on(async { tokio::time::timeout(limit, link.send(None, asks, Some("COMMIT"))).await });
        match sent {
            Ok(Ok(_)) => Ok(()),
            Ok(Err((_, error))) if fail::is_connection(&error) => {
                Err(settle::CommitFailure::Unanswered(fail::words(&error)))
            }
            Ok(Err((n, error))) => Err(settle::CommitFailure::Refused(self.refusal(asks, n, &error))),
            Err(_) => Err(settle::CommitFailure::Unanswered(format!("no answer for {} s", limit.as_secs()))),
        }
    }

    fn refusal(&self, asks: &[Ask], n: usize, error: &tokio_postgres::Error) -> StoreError {
        let constraint = error.as_db_error().and_then(|error| error.constraint());
        if constraint == Some("plan_name") {
            return StoreError::Conflict { what: "a plan with this name already exists".into() };
        }
        let what = asks.get(n).map_or("commit", |ask| ask.what);
        fail::sql(self.label(), what, error)
    }

    /// Ends a transaction without keeping anything, and keeps the connection. Nobody waits for the answer.
    pub(crate) fn rollback(&self, link: Link) {
        self.runtime.block_on(link.post("ROLLBACK"));
        self.give(link);
    }

    pub(crate) fn begin_write_sql(&self, durability: Durability) -> String {
        let (wait, silence) = (self.wait.as_millis().max(1), SILENCE.as_millis());
        let statement = (self.wait + GRACE).as_millis().max(60_000);
        let relaxed = match durability {
            Durability::Full => "",
            Durability::Relaxed => "; SET LOCAL synchronous_commit = off",
        };
        format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = {wait}; \
             SET LOCAL statement_timeout = {statement}; SET LOCAL idle_in_transaction_session_timeout = {silence}; \
             SET LOCAL plan_cache_mode = force_generic_plan{relaxed}"
        )
    }
}

enum Begin {
    Refused(StoreError),
    Failed(&'static str, tokio_postgres::Error),
}

/// The server does not answer.
pub(crate) fn silent(store: &StoreLabel, waited: Duration) -> StoreError {
    fail::unavailable(store, Reason::Busy, format!("the server did not answer within {} s", waited.as_secs()))
}

impl Store for PgStore {
    fn identity(&self) -> Result<String, StoreError> {
        Ok(self.identity.clone())
    }

    fn write(
        &self,
        plan: PlanId,
        durability: Durability,
        body: &mut dyn FnMut(&mut dyn Tx) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.write_ahead(plan, durability, Ahead::default(), body)
    }

    fn write_ahead(
        &self,
        plan: PlanId,
        durability: Durability,
        ahead: Ahead<'_>,
        body: &mut dyn FnMut(&mut dyn Tx) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.write_view(plan, durability, ahead, &mut |view| body(view))
    }

    fn read(
        &self,
        plan: PlanId,
        body: &mut dyn FnMut(&dyn Snapshot) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.read_view(plan, |view| body(view))
    }

    fn browse(&self, body: &mut dyn FnMut(&dyn Catalogue) -> Result<(), StoreError>) -> Result<(), StoreError> {
        self.browse_view(|view| body(view))
    }

    fn create_plan(&self, name: &str, now: i64) -> Result<PlanId, StoreError> {
        const TAKEN: &str = "SELECT 1::int8 FROM punch.plan WHERE project = $1 AND name = $2 AND archived IS NULL";
        const INSERT: &str = "INSERT INTO punch.plan (project, name, created_at, body) VALUES ($1, $2, $3, $4) \
                              RETURNING id, pg_current_xact_id()::text";
        let row = serde_json::to_string(&PlanRow::default())
            .map_err(|e| fail::failed(self.label(), format!("cannot make a plan: {e}")))?;
        let begin = self.begin_write_sql(Durability::Full);
        let taken = [ask!("look for the name", TAKEN, self.project, name)];
        let (mut link, rows) = self.begin(Some(&begin), &taken)?;
        if rows.iter().any(|rows| !rows.is_empty()) {
            self.rollback(link);
            return Err(punch_store::backend::name_taken(name));
        }
        let insert = [ask!("make a plan", INSERT, self.project, name, now, row)];
        let made = self.send(&mut link, &insert)?;
        let made = made.first().and_then(|rows| rows.first());
        let read = |row: &Row| Ok((row.int(0)?, row.text(1)?));
        let failed = |e: tokio_postgres::Error| fail::sql(self.label(), "make a plan", &e);
        let (id, xid) = made
            .ok_or_else(|| fail::failed(self.label(), "no plan was made"))
            .and_then(|row| read(row).map_err(failed))?;
        let done = self.commit(&mut link, &[]);
        self.committed(link, done, &settle::Receipt { xid, plan: None })?;
        Ok(PlanId(id))
    }

    fn stamp(&self, plan: Option<PlanId>) -> Result<Option<u64>, StoreError> {
        const ONE: &str = "SELECT writes FROM punch.plan WHERE id = $1 AND project = $2";
        const ALL: &str = "SELECT coalesce(sum(writes), 0)::int8 FROM punch.plan WHERE project = $1";
        let asked = match plan {
            Some(plan) => ask!("read the number of writes", ONE, plan.0, self.project),
            None => ask!("read the number of writes", ALL, self.project),
        };
        let (link, rows) = self.begin(None, &[asked])?;
        self.give(link);
        let row = rows.first().and_then(|rows| rows.first());
        row.map(|row| row.number(0).map_err(|e| fail::sql(self.label(), "read the number of writes", &e))).transpose()
    }

    fn now(&self) -> Option<i64> {
        Some(self.clock.now())
    }

    fn changes(&self) -> Box<dyn Changes> {
        Box::new(crate::watch::Waiter::new(&self.watch))
    }
}

impl PgStore {
    /// Runs `body` in one write transaction on a plan. Only once, whatever happens: it may have had effects elsewhere.
    pub(crate) fn write_view(
        &self,
        plan: PlanId,
        durability: Durability,
        ahead: Ahead<'_>,
        body: &mut dyn FnMut(&mut View<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut asks = vec![ask!("lock the plan", LOCK, plan.0, self.project), ask!("read the time", LOCKED_AT)];
        let footprint = ahead.footprint.filter(|footprint| !footprint.all);
        asks.extend(footprint.map(|footprint| load::asks(plan, footprint)).unwrap_or_default());
        let (link, mut rows) = self.begin(Some(&self.begin_write_sql(durability)), &asks)?;
        let fetched: Vec<(Ask, Vec<Row>)> = asks.drain(2..).zip(rows.drain(2..)).collect();
        let mut view = View::of_write(self, plan, link, &rows, fetched)?;
        match body(&mut view) {
            Ok(()) => view.commit(),
            Err(error) => {
                view.rollback();
                Err(error)
            }
        }
    }

    /// Runs `body` on one moment of a plan.
    pub(crate) fn read_view<T>(
        &self,
        plan: PlanId,
        body: impl FnOnce(&View<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let asks = [ask!("read the plan", PLAN, plan.0, self.project), ask!("read the time", READ_AT)];
        let (link, rows) = self.begin(Some(BEGIN_READ), &asks)?;
        let view = View::of_read(self, plan, link, &rows)?;
        let done = body(&view);
        view.rollback();
        done
    }

    /// Runs `body` on one moment of what belongs to no plan.
    pub(crate) fn browse_view<T>(
        &self,
        body: impl FnOnce(&View<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let view = View::of_browse(self, BEGIN_READ);
        let done = body(&view);
        view.rollback();
        done
    }

    /// What follows a commit: the answer that was lost is asked for, waiters are woken, the connection is kept.
    pub(crate) fn committed(
        &self,
        link: Link,
        done: Result<(), settle::CommitFailure>,
        receipt: &settle::Receipt,
    ) -> Result<(), StoreError> {
        match done {
            Ok(()) => {
                self.watch.committed(&link);
                self.give(link);
                Ok(())
            }
            Err(settle::CommitFailure::Refused(error)) => {
                // The commit behind the refused statement has ended the transaction.
                self.give(link);
                Err(error)
            }
            Err(settle::CommitFailure::Unanswered(why)) => {
                drop(link);
                let deadline = Instant::now() + self.wait;
                settle::settle(self, receipt, &why, deadline).inspect(|()| self.watch.committed_elsewhere())
            }
        }
    }
}

impl Drop for PgStore {
    /// Writes in quick succession leave one notification for the end.
    fn drop(&mut self) {
        if let Some(link) = self.links().pop() {
            self.watch.flush(&link);
        }
    }
}
