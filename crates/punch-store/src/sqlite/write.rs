//! The writes of a transaction.

use punch_core::{Event, Outcome, Plan, PlanRow, Uid};
use rusqlite::{OptionalExtension, params};

use super::view::SqliteTransaction;
use super::{activity, content_index, control, events, hand_out, ledger, question, reader, todo, worker};
use crate::{
    ANSWER_LIFETIME_MS, CheckpointRow, DECISION_LIFETIME_MS, DECISIONS_KEPT, SESSION_LIFETIME_MS, SessionKey,
    SessionRow, Snapshot, StoreError, Tx,
};

impl Tx for SqliteTransaction<'_> {
    crate::forward_tx!();

    fn put(&mut self, outcome: &Outcome) -> Result<(), StoreError> {
        let before = self.plan_row()?;
        crate::store::follows(before.revision, outcome)?;
        if !outcome.rows.is_empty() {
            content_index::refresh(self)?;
            let written =
                todo::put(self.conn, self.plan, &outcome.rows, &outcome.events, Uid(before.next_uid), self.unknown);
            self.sql("write todos", written)?;
            self.changed.set(true);
        }
        events::append(self, &outcome.events)?;
        self.closing.extend(crate::store::closing(outcome));
        if before != outcome.plan {
            self.write_plan_row(&outcome.plan)?;
        }
        Ok(())
    }

    fn closing(&self) -> &[Event] {
        &self.closing
    }

    fn begin_at(&mut self, baseline: &Plan) -> Result<(), StoreError> {
        let before = self.plan_row()?;
        crate::store::begins(before.revision)?;
        events::put_baseline(self, baseline, baseline.row.revision, baseline.all())?;
        self.write_plan_row(&PlanRow { revision: baseline.row.revision, ..before })
    }

    fn rename(&mut self, name: &str) -> Result<(), StoreError> {
        self.name_is_free(name)?;
        let row = params![self.plan.0, name];
        self.execute("rename the plan", "UPDATE plan SET name = ?2 WHERE id = ?1", row).map(|_| ())
    }

    fn archive(&mut self, archived: Option<i64>) -> Result<(), StoreError> {
        if archived.is_none() {
            self.name_is_free(&self.info()?.name)?;
        }
        let row = params![self.plan.0, archived];
        self.execute("archive the plan", "UPDATE plan SET archived = ?2 WHERE id = ?1", row).map(|_| ())
    }

    fn put_answer(&mut self, key: &str, body: &str, now: i64) -> Result<(), StoreError> {
        let what = "store an answer";
        self.execute(what, "DELETE FROM answer WHERE at <= ?1", [now - ANSWER_LIFETIME_MS])?;
        let sql = "INSERT OR REPLACE INTO answer (plan, key, at, body) VALUES (?1, ?2, ?3, ?4)";
        self.execute(what, sql, params![self.plan.0, key, now, body]).map(|_| ())
    }

    fn put_session(&mut self, session: &SessionRow) -> Result<(), StoreError> {
        let what = "store a session";
        let (host, subagent) = (session.key.session_id(), session.key.subagent().unwrap_or_default());
        let row = params![host, subagent, session.plan.map(|plan| plan.0), session.seen_at, session.body];
        // Replaced as a whole, the row would move, and the index of the key with it.
        let known = "UPDATE session SET plan = ?3, seen_at = ?4, body = ?5 WHERE host = ?1 AND subagent = ?2";
        if self.execute(what, known, row)? == 0 {
            let new = "INSERT INTO session (host, subagent, plan, seen_at, body) VALUES (?1, ?2, ?3, ?4, ?5)";
            self.execute(what, new, row)?;
            let old = session.seen_at.saturating_sub(SESSION_LIFETIME_MS);
            self.execute(what, "DELETE FROM session WHERE seen_at <= ?1", [old])?;
        }
        Ok(())
    }

    fn put_decision(&mut self, of: &SessionKey, body: &str, now: i64) -> Result<(), StoreError> {
        let what = "store a decision";
        let (host, subagent) = (of.session_id(), of.subagent().unwrap_or_default());
        let last = "SELECT seq FROM decision WHERE host = ?1 AND subagent = ?2 ORDER BY seq DESC LIMIT 1";
        let last = self.conn.prepare_cached(last);
        let last = last.and_then(|mut s| s.query_row([host, subagent], |row| row.get::<_, i64>(0)).optional());
        let seq = self.sql(what, last)?.unwrap_or(0) + 1;
        let next = "INSERT INTO decision (host, subagent, seq, at, body) VALUES (?1, ?2, ?3, ?4, ?5)";
        self.execute(what, next, params![host, subagent, seq, now, body])?;
        let surplus = seq - DECISIONS_KEPT.cast_signed();
        if seq == 1 {
            self.execute(what, "DELETE FROM decision WHERE at <= ?1", [now - DECISION_LIFETIME_MS])?;
        } else if surplus > 0 {
            let oldest = "DELETE FROM decision WHERE host = ?1 AND subagent = ?2 AND seq <= ?3";
            self.execute(what, oldest, params![host, subagent, surplus])?;
        }
        Ok(())
    }

    fn put_checkpoint(&mut self, checkpoint: &CheckpointRow) -> Result<(), StoreError> {
        let sql = "INSERT OR REPLACE INTO checkpoint (plan, id, at, body) VALUES (?1, ?2, ?3, ?4)";
        let row = params![self.plan.0, checkpoint.id, checkpoint.at, checkpoint.body];
        self.execute("store a checkpoint", sql, row).map(|_| ())
    }

    fn forget_checkpoint(&mut self, id: &str) -> Result<(), StoreError> {
        let sql = "DELETE FROM checkpoint WHERE plan = ?1 AND id = ?2";
        self.execute("delete a checkpoint", sql, params![self.plan.0, id]).map(|_| ())
    }
}
