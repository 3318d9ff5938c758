//! Sends the statements of transactions on idle or new connections, within a deadline.

use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

use punch_store::{StoreError, StoreLabel, StoreObstacle};

use crate::answer::{SqlRow, WireError};
use crate::link::{ServerLink, Statement, TransactionKind, TransactionLimits, qualified};
use crate::store::PgStore;
use crate::{fail, settle};

/// How long a server may take for an answer beyond the time that others may keep it waiting.
pub const GRACE: Duration = Duration::from_secs(5);

/// How many idle connections a store keeps.
const IDLE: usize = 4;

/// A transaction whose client says nothing for this long is ended by the server, so that a stopped process does not keep a
/// plan for itself. Large imports compute for some seconds inside of one.
const SILENCE: Duration = Duration::from_secs(15);

/// How long a statement of a reader, and its silence, may last, in milliseconds.
const READING: u128 = 60_000;

impl PgStore {
    pub(crate) fn links(&self) -> MutexGuard<'_, Vec<ServerLink>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a connection for the next transaction; its own must have ended.
    pub(crate) fn give(&self, link: ServerLink) {
        let mut idle = self.links();
        if idle.len() < IDLE && !link.is_closed() {
            idle.push(link);
        }
    }

    /// Sends the first statements of a transaction, on an idle connection or a new one. Nothing has happened yet, so an idle
    /// connection that turns out to be dead is replaced without a word.
    pub(crate) fn begin(
        &self,
        begin: &TransactionBegin,
        asks: &[Statement],
    ) -> Result<(ServerLink, Vec<Vec<SqlRow>>), StoreError> {
        let limit = self.wait + GRACE;
        self.round_trips.fetch_add(1, Ordering::Relaxed);
        for attempt in 0.. {
            let idle = self.links().pop().filter(|link| !link.is_closed());
            let was_idle = idle.is_some();
            let sent = self.runtime.block_on(async {
                let send = async {
                    let mut link = match idle {
                        Some(link) => link,
                        None => ServerLink::open(&self.address).await.map_err(BeginFailure::Refused)?,
                    };
                    link.unprepared = self.unprepared.load(Ordering::Relaxed);
                    let what = |n: usize| asks.get(n).map_or("begin a transaction", |ask| ask.what);
                    let done = match begin {
                        TransactionBegin::Alone => link.send(asks).await,
                        TransactionBegin::Transaction(kind, settings) => link.begin(*kind, settings, asks).await,
                    };
                    match done {
                        Ok(rows) => Ok((link, rows)),
                        Err((n, error)) => Err(BeginFailure::Failed(what(n), error)),
                    }
                };
                tokio::time::timeout(limit, send).await
            });
            match sent {
                Ok(Ok(begun)) => return Ok(begun),
                Ok(Err(BeginFailure::Refused(error))) => return Err(error),
                Ok(Err(BeginFailure::Failed(_, error))) if fail::is_unprepared(&error) && attempt < 3 => {
                    self.unprepared.store(true, Ordering::Relaxed);
                }
                Ok(Err(BeginFailure::Failed(_, error))) if was_idle && fail::is_connection(&error) && attempt < 8 => {}
                Ok(Err(BeginFailure::Failed(what, error))) => return Err(fail::sql(self.label(), what, &error)),
                Err(_) => return Err(silent(self.label(), limit)),
            }
        }
        Err(silent(self.label(), limit))
    }

    /// Sends statements in a transaction that has begun.
    pub(crate) fn send(&self, link: &mut ServerLink, asks: &[Statement]) -> Result<Vec<Vec<SqlRow>>, StoreError> {
        let limit = self.wait + GRACE;
        self.round_trips.fetch_add(1, Ordering::Relaxed);
        let sent = self.runtime.block_on(async { tokio::time::timeout(limit, link.send(asks)).await });
        match sent {
            Ok(Ok(rows)) => Ok(rows),
            Ok(Err((n, error))) => Err(self.refusal(asks, n, &error)),
            Err(_) => Err(silent(self.label(), limit)),
        }
    }

    /// Sends the last statements of a transaction and commits it.
    pub(crate) fn commit(&self, link: &mut ServerLink, asks: &[Statement]) -> Result<(), settle::CommitFailure> {
        let limit = self.wait + GRACE;
        self.round_trips.fetch_add(1, Ordering::Relaxed);
        let sent = self.runtime.block_on(async { tokio::time::timeout(limit, link.commit(asks)).await });
        match sent {
            Ok(Ok(_)) => Ok(()),
            Ok(Err((_, error))) if fail::is_connection(&error) => {
                Err(settle::CommitFailure::Unanswered(error.to_string()))
            }
            Ok(Err((n, error))) => Err(settle::CommitFailure::Refused(self.refusal(asks, n, &error))),
            Err(_) => Err(settle::CommitFailure::Unanswered(format!("no answer for {} s", limit.as_secs()))),
        }
    }

    fn refusal(&self, asks: &[Statement], n: usize, error: &crate::answer::WireError) -> StoreError {
        if error.constraint() == Some("plan_name") {
            return StoreError::Conflict { what: "a plan with this name already exists".into() };
        }
        let what = asks.get(n).map_or("commit", |ask| ask.what);
        fail::sql(self.label(), what, error)
    }

    /// Has the server look at what the tables hold, as it does by itself after a minute. Until then it plans for tables as they
    /// were before an import. Nobody waits for it; it does nothing for a role that does not own the tables.
    pub(crate) fn refresh_statistics(&self, link: &mut ServerLink) {
        let analyze = qualified("ANALYZE (SKIP_LOCKED) punch.todo, punch.edge", &self.address.schema);
        self.runtime.block_on(link.post(&analyze));
    }

    /// Ends a transaction without keeping anything, and keeps the connection. Nobody waits for the answer.
    pub(crate) fn rollback(&self, mut link: ServerLink) {
        self.runtime.block_on(link.post("ROLLBACK"));
        self.give(link);
    }

    /// How a write begins.
    pub(crate) fn begin_write(&self) -> TransactionBegin {
        let settings = TransactionLimits {
            lock: self.wait.as_millis().max(1),
            statement: (self.wait + GRACE).as_millis().max(60_000),
            silence: SILENCE.as_millis(),
        };
        TransactionBegin::Transaction(TransactionKind::Write, settings)
    }
}

/// How the first statements of a transaction are sent.
pub(crate) enum TransactionBegin {
    /// Outside of a transaction.
    Alone,
    /// In a transaction of a kind, with its settings.
    Transaction(TransactionKind, TransactionLimits),
}

impl TransactionBegin {
    /// Readers see one moment for as long as their body runs. A long one keeps the server from clearing away old rows.
    pub(crate) fn read() -> Self {
        Self::Transaction(
            TransactionKind::Read,
            TransactionLimits { lock: READING, statement: READING, silence: READING },
        )
    }
}

enum BeginFailure {
    Refused(StoreError),
    Failed(&'static str, WireError),
}

/// The server does not answer.
pub(crate) fn silent(store: &StoreLabel, waited: Duration) -> StoreError {
    fail::unavailable(store, StoreObstacle::Busy, format!("the server did not answer within {} s", waited.as_secs()))
}
