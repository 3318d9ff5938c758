//! A store on a server: its connections, how a transaction begins, and the promises as the engine sees them.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::answer::SqlRow;
use punch_core::PlanRow;
use punch_core::hash::fnv1a;
use punch_store::{
    Ahead, BrowseBody, Changes, Durability, OpenMode, PlanId, ReadBody, Store, StoreAdmin, StoreError, StoreLabel,
    Upgrade, WriteBody,
};

use crate::address::Address;
use crate::clock::ServerClock;
use crate::clone_facts::CloneFile;
use crate::executor::Executor;
use crate::fetch::Fetch;
use crate::link::{ServerLink, ask};
use crate::transport::{GRACE, TransactionBegin, silent};
use crate::value::Columns;
use crate::view::PgTransaction;
use crate::watch::NotificationWatch;
use crate::{Login, fail, schema, settle};

/// How long a writer waits for the others unless told otherwise.
const WAIT: Duration = Duration::from_secs(10);

/// Queues up for the plan. A commit wakes only the first writer of this queue, where it would wake all that wait for the row.
const QUEUE: &str = "SELECT pg_advisory_xact_lock($1)::text";

/// Locks the plan. A statement of its own after the queue, so that the row comes as it is once the lock is held. Programs that
/// do not know the queue meet here.
const LOCK: &str = "SELECT name, created_at, archived, revision, pruned, writes, body FROM punch.plan \
                    WHERE id = $1 AND project = $2 FOR UPDATE";

/// The plan at one moment.
const PLAN: &str = "SELECT name, created_at, archived, revision, pruned, writes, body FROM punch.plan \
                    WHERE id = $1 AND project = $2";

/// A statement of its own after the lock: in the one that locks, functions are called before it waits.
const LOCKED_AT: &str = "SELECT clock_timestamp(), pg_current_xact_id(), pg_backend_pid()::int8";

/// For writes that may be lost in a crash.
const RELAXED: &str = "SET LOCAL synchronous_commit = off";

const READ_AT: &str = "SELECT clock_timestamp()";

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
    pub(crate) clock: ServerClock,
    pub(crate) facts: CloneFile,
    pub(crate) watch: Arc<NotificationWatch>,
    pub(crate) wait: Duration,
    /// The schema has a newer minor: what this program does not know must survive its writes.
    pub(crate) newer: bool,
    pub(crate) upgrade: Option<Upgrade>,
    pub(crate) idle: Arc<Mutex<Vec<ServerLink>>>,
    pub(crate) unprepared: AtomicBool,
    pub(crate) round_trips: AtomicU64,
}

impl PgStore {
    /// How often this handle has waited for an answer of the server in transactions.
    pub fn round_trips(&self) -> u64 {
        self.round_trips.load(Ordering::Relaxed)
    }

    /// Opens a project in a database. Makes the schema and the project if the mode says so; an older schema is brought up
    /// to date.
    pub fn open(options: PgOptions, mode: OpenMode) -> Result<Self, StoreError> {
        let PgOptions { address, project, login, clone_facts, wait } = options;
        let wait = wait.unwrap_or(WAIT);
        let mut address = Address::parse(&address, &login)?;
        let patience = address.config.get_connect_timeout().copied().unwrap_or(wait.max(Duration::from_secs(1)));
        address.config.connect_timeout(patience);
        let address = Arc::new(address);
        let runtime =
            Executor::new().map_err(|e| fail::failed(&address.label, format!("cannot start a runtime: {e}")))?;
        let limit = wait.max(patience) + GRACE;
        let opened = runtime.block_on(async {
            let open = async {
                let mut link = ServerLink::open(&address).await?;
                let found = schema::examine(&mut link, &address, &project, mode).await?;
                Ok((link, found))
            };
            tokio::time::timeout(limit, open).await.unwrap_or_else(|_| Err(silent(&address.label, limit)))
        });
        let (link, found) = opened?;
        let runtime = Arc::new(runtime);
        let idle = Arc::new(Mutex::new(vec![link]));
        let watch =
            NotificationWatch::new(Arc::clone(&runtime), Arc::clone(&address), found.project, Arc::clone(&idle));
        let watch = Arc::new(watch);
        let facts = CloneFile::new(clone_facts, &found.identity, &address.label);
        Ok(Self {
            runtime,
            project: found.project,
            identity: found.identity,
            clock: ServerClock::new(found.now),
            facts,
            watch,
            wait,
            newer: found.newer,
            upgrade: found.upgrade,
            idle,
            unprepared: AtomicBool::new(false),
            round_trips: AtomicU64::new(0),
            address,
        })
    }

    pub(crate) fn label(&self) -> &StoreLabel {
        &self.address.label
    }
}

impl Store for PgStore {
    fn identity(&self) -> Result<String, StoreError> {
        Ok(self.identity.clone())
    }

    fn write(&self, plan: PlanId, durability: Durability, body: WriteBody<'_>) -> Result<(), StoreError> {
        self.write_ahead(plan, durability, Ahead::default(), body)
    }

    fn write_ahead(
        &self,
        plan: PlanId,
        durability: Durability,
        ahead: Ahead<'_>,
        body: WriteBody<'_>,
    ) -> Result<(), StoreError> {
        self.write_view(plan, durability, ahead, &mut |view| body(view))
    }

    fn read(&self, plan: PlanId, body: ReadBody<'_>) -> Result<(), StoreError> {
        self.read_view(plan, |view| body(view))
    }

    fn browse(&self, body: BrowseBody<'_>) -> Result<(), StoreError> {
        self.browse_view(|view| body(view))
    }

    fn create_plan(&self, name: &str, now: i64) -> Result<PlanId, StoreError> {
        const TAKEN: &str = "SELECT 1::int8 FROM punch.plan WHERE project = $1 AND name = $2 AND archived IS NULL";
        const INSERT: &str = "INSERT INTO punch.plan (project, name, created_at, body, receipt) VALUES ($1, $2, $3, $4, $5) \
                              RETURNING id, pg_current_xact_id()::text";
        let row = serde_json::to_string(&PlanRow::default())
            .map_err(|e| fail::failed(self.label(), format!("cannot create a plan: {e}")))?;
        let taken = [ask!("look up the name", TAKEN, self.project, name)];
        let (mut link, rows) = self.begin(&self.begin_write(), &taken)?;
        if rows.iter().any(|rows| !rows.is_empty()) {
            self.rollback(link);
            return Err(punch_store::backend::name_taken(name));
        }
        let number = self.watch.random();
        let insert = [ask!("create a plan", INSERT, self.project, name, now, row, number)];
        let made = self.send(&mut link, &insert)?;
        let made = made.first().and_then(|rows| rows.first());
        let read = |row: &SqlRow| Ok((row.int(0)?, row.text(1)?));
        let failed = |e: crate::answer::WireError| fail::sql(self.label(), "create a plan", &e);
        let (id, xid) = made
            .ok_or_else(|| fail::failed(self.label(), "no plan was made"))
            .and_then(|row| read(row).map_err(failed))?;
        let done = self.commit(&mut link, &[]);
        let receipt = settle::PlanReceipt { plan: PlanId(id), writes_before: 0, number };
        self.committed(link, done, &settle::Receipt { xid, plan: receipt })?;
        Ok(PlanId(id))
    }

    fn stamp(&self, plan: Option<PlanId>) -> Result<Option<u64>, StoreError> {
        const ONE: &str = "SELECT writes FROM punch.plan WHERE id = $1 AND project = $2";
        const ALL: &str = "SELECT coalesce(sum(writes), 0)::int8 FROM punch.plan WHERE project = $1";
        let asked = match plan {
            Some(plan) => ask!("read the number of writes", ONE, plan.0, self.project),
            None => ask!("read the number of writes", ALL, self.project),
        };
        let (link, rows) = self.begin(&TransactionBegin::Alone, &[asked])?;
        self.give(link);
        let row = rows.first().and_then(|rows| rows.first());
        row.map(|row| row.number(0).map_err(|e| fail::sql(self.label(), "read the number of writes", &e))).transpose()
    }

    fn now(&self) -> Option<i64> {
        Some(self.clock.now())
    }

    fn changes(&self) -> Box<dyn Changes> {
        Box::new(crate::watch::NotificationWaiter::new(&self.watch))
    }
}

impl PgStore {
    /// Runs `body` in one write transaction on a plan. Only once, whatever happens: it may have had effects elsewhere.
    pub(crate) fn write_view(
        &self,
        plan: PlanId,
        durability: Durability,
        ahead: Ahead<'_>,
        body: &mut dyn FnMut(&mut PgTransaction<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let queue = queue_key(&self.address.schema, plan);
        let mut asks = vec![
            ask!("lock the plan", QUEUE, queue),
            ask!("lock the plan", LOCK, plan.0, self.project),
            ask!("read the time", LOCKED_AT),
        ];
        let fetch = Fetch::new(self, plan, ahead, self.clock.now());
        asks.extend(fetch.asks());
        if durability == Durability::Relaxed {
            asks.push(ask!("begin a transaction", RELAXED));
        }
        let (link, mut rows) = self.begin(&self.begin_write(), &asks)?;
        let fetched = rows.split_off(3);
        let head = rows.split_off(1);
        let mut view = PgTransaction::of_write(self, plan, link, &head)?;
        fetch.hand_over(fetched, &view)?;
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
        body: impl FnOnce(&PgTransaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let asks = [ask!("read the plan", PLAN, plan.0, self.project), ask!("read the time", READ_AT)];
        let (link, rows) = self.begin(&TransactionBegin::read(), &asks)?;
        let view = PgTransaction::of_read(self, plan, link, &rows)?;
        let done = body(&view);
        view.rollback();
        done
    }

    /// Runs `body` on one moment of what belongs to no plan.
    pub(crate) fn browse_view<T>(
        &self,
        body: impl FnOnce(&PgTransaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let view = PgTransaction::of_browse(self);
        let done = body(&view);
        view.rollback();
        done
    }

    /// What follows a commit: the answer that was lost is asked for, waiters are woken, the connection is kept.
    pub(crate) fn committed(
        &self,
        mut link: ServerLink,
        done: Result<(), settle::CommitFailure>,
        receipt: &settle::Receipt,
    ) -> Result<(), StoreError> {
        match done {
            Ok(()) => {
                self.watch.committed(&mut link);
                self.give(link);
                Ok(())
            }
            Err(settle::CommitFailure::Refused(error)) => {
                self.rollback(link);
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

/// The key of the queue for a plan. Advisory locks have one namespace in a database, which other programs use too: keys of
/// 64 bits that start from a text of our own meet by chance only, and then two plans share a queue.
fn queue_key(schema: &str, plan: PlanId) -> i64 {
    fnv1a(format!("punch plan {schema} {}", plan.0).into_bytes()).cast_signed()
}

impl Drop for PgStore {
    /// Writes in quick succession leave one notification for the end.
    fn drop(&mut self) {
        let link = self.links().pop();
        self.watch.flush(link);
    }
}
