//! Resolves a commit whose answer was lost because the connection broke after COMMIT was sent. The server knows what
//! happened to the transaction, even after a crash, so nothing is done twice and nothing that was stored is given up.

use std::time::{Duration, Instant};

use punch_store::{PlanId, StoreError, StoreObstacle};

use crate::fail;
use crate::link::{ServerLink, ask};
use crate::store::PgStore;
use crate::value::Columns;

const PAUSE: Duration = Duration::from_millis(100);

/// Why a commit did not answer `Ok`.
pub enum CommitFailure {
    /// A statement was refused; nothing was stored.
    Refused(StoreError),
    /// Nobody knows yet.
    Unanswered(String),
}

/// What identifies a transaction afterwards.
pub struct Receipt {
    /// The number that the server gave to it.
    pub xid: String,
    /// What it left in the row of its plan.
    pub plan: PlanReceipt,
}

/// What a write leaves in the row of its plan.
pub struct PlanReceipt {
    pub plan: PlanId,
    /// How many writes the plan had before; none if it was made.
    pub writes_before: i64,
    /// A random number that this write puts there.
    pub number: i64,
}

enum CommitFate {
    Committed,
    Aborted,
    Open,
}

/// Finds out what became of a transaction. `Ok` if it was committed.
pub fn settle(store: &PgStore, receipt: &Receipt, why: &str, deadline: Instant) -> Result<(), StoreError> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let asked = store.runtime.block_on(async { tokio::time::timeout(left.max(PAUSE), look(store, receipt)).await });
        match asked {
            Ok(Ok(CommitFate::Committed)) => return Ok(()),
            Ok(Ok(CommitFate::Aborted)) => {
                let why = format!("the connection broke before the change was stored: {why}");
                return Err(fail::unavailable(store.label(), StoreObstacle::System, why));
            }
            // Still being committed, or the server is not back yet.
            Ok(Ok(CommitFate::Open) | Err(_)) | Err(_) => {}
        }
        if Instant::now() >= deadline {
            let why = format!("the connection broke while the change was being committed: {why}");
            return Err(fail::unavailable(store.label(), StoreObstacle::Unsure, why));
        }
        std::thread::sleep(PAUSE);
    }
}

async fn look(store: &PgStore, receipt: &Receipt) -> Result<CommitFate, StoreError> {
    let mut link = ServerLink::open(&store.address).await?;
    let fate = status(store, &mut link, &receipt.xid).await?;
    let PlanReceipt { plan, writes_before, number } = &receipt.plan;
    const WRITES: &str = "SELECT writes, receipt FROM punch.plan WHERE id = $1";
    let failed = |error: &crate::answer::WireError| fail::sql(store.label(), "find the change", error);
    let rows = link.send(&[ask!("find the change", WRITES, plan.0)]).await;
    let rows = rows.map_err(|(_, error)| failed(&error))?;
    let Some(row) = rows.first().and_then(|rows| rows.first()) else {
        // It was to make the plan, and its number was given again.
        return Ok(if matches!(fate, CommitFate::Committed) { CommitFate::Aborted } else { fate });
    };
    let read = || Ok((row.int(0)?, row.int(1)?));
    let (writes, last) = read().map_err(|error| failed(&error))?;
    Ok(match fate {
        // The plan was locked: whoever wrote next has counted on from what this write left there.
        CommitFate::Committed | CommitFate::Aborted if writes == writes_before + 1 && last == *number => {
            CommitFate::Committed
        }
        // After a crash a number that never reached the log is given again.
        CommitFate::Committed if writes <= writes_before + 1 => CommitFate::Aborted,
        fate => fate,
    })
}

async fn status(store: &PgStore, link: &mut ServerLink, xid: &str) -> Result<CommitFate, StoreError> {
    const STATUS: &str = "SELECT pg_xact_status($1::text::xid8)";
    match link.send(&[ask!("find the change", STATUS, xid)]).await {
        Ok(rows) => {
            let status = rows.first().and_then(|rows| rows.first()).map(|row| row.maybe_text(0)).transpose();
            let status = status.map_err(|error| fail::sql(store.label(), "find the change", &error))?.flatten();
            Ok(match status.as_deref() {
                Some("committed") => CommitFate::Committed,
                Some("aborted") => CommitFate::Aborted,
                _ => CommitFate::Open,
            })
        }
        // A number that the server has not given yet: it crashed before the transaction reached its log.
        Err((_, error)) if error.code().is_some_and(|code| code == "22023") => Ok(CommitFate::Aborted),
        Err((_, error)) => Err(fail::sql(store.label(), "find the change", &error)),
    }
}
