//! The queries of a snapshot. Each names the index it runs on, so a plan of 100,000 todos costs what its answer costs;
//! SQLite refuses the statement if the index cannot serve it.

use std::collections::BTreeSet;

use punch_core::{Event, LONGEST_LEASE, PlanRow, Todo, Uid};
use rusqlite::{Row, params};

use super::bulk::COLUMNS;
use super::view::SqliteTransaction;
use super::{activity, content_index, control, events, hand_out, ledger, load, question, reader, worker};
use crate::backend::count;
use crate::{
    ANSWER_LIFETIME_MS, Catalogue, CheckpointRow, DecisionRow, ListMark, PlanId, PlanInfo, ReadyMark, SessionKey,
    SessionRow, Snapshot, StoreError, Which,
};

const PLAN_INFO: &str = "SELECT id, name, created_at, archived, revision, pruned FROM plan";
const SESSION: &str = "SELECT host, subagent, plan, seen_at, body FROM session";

impl Catalogue for SqliteTransaction<'_> {
    crate::forward_catalogue!();

    fn plans(&self) -> Result<Vec<PlanInfo>, StoreError> {
        let sql = format!("{PLAN_INFO} ORDER BY id");
        self.rows("list the plans", &sql, [])
    }

    fn session(&self, key: &SessionKey) -> Result<Option<SessionRow>, StoreError> {
        let sql = format!("{SESSION} WHERE host = ?1 AND subagent = ?2");
        let key = params![key.session_id(), key.subagent().unwrap_or_default()];
        self.first("read a session", &sql, key)
    }

    fn sessions(&self, plan: Option<PlanId>, seen_after: i64, limit: usize) -> Result<Vec<SessionRow>, StoreError> {
        // Without an index: every hook would have to keep it up to date, and old sessions are forgotten.
        let order = "ORDER BY seen_at DESC, host, subagent LIMIT ?3";
        let sql = format!("{SESSION} WHERE (?1 IS NULL OR plan = ?1) AND seen_at > ?2 {order}");
        self.rows("read the sessions", &sql, params![plan.map(|plan| plan.0), seen_after, count(limit)])
    }

    fn decisions(&self, of: Option<&SessionKey>, limit: usize) -> Result<Vec<DecisionRow>, StoreError> {
        let columns = "SELECT host, subagent, seq, at, body FROM decision";
        match of {
            Some(key) => {
                let sql = format!("{columns} WHERE host = ?1 AND subagent = ?2 ORDER BY seq DESC LIMIT ?3");
                let row = params![key.session_id(), key.subagent().unwrap_or_default(), count(limit)];
                self.rows("read the decisions", &sql, row)
            }
            None => {
                let sql = format!("{columns} ORDER BY at DESC, seq DESC, host, subagent LIMIT ?1");
                self.rows("read the decisions", &sql, [count(limit)])
            }
        }
    }
}

impl Snapshot for SqliteTransaction<'_> {
    crate::forward_snapshot!();

    fn info(&self) -> Result<PlanInfo, StoreError> {
        let sql = format!("{PLAN_INFO} WHERE id = ?1");
        self.first("read the plan", &sql, [self.plan.0])?.ok_or(StoreError::UnknownPlan { plan: self.plan })
    }

    fn row(&self) -> Result<PlanRow, StoreError> {
        self.plan_row()
    }

    fn ready(&self, now: i64, after: Option<ReadyMark>, limit: usize) -> Result<Vec<Todo>, StoreError> {
        let (effective, position, uid) = match after {
            Some(mark) => (i64::from(mark.priority), mark.position, mark.uid.0.cast_signed()),
            None => (-1, 0, 0),
        };
        let mut out = Vec::new();
        let running = self.plan_row()?.counts.in_progress > 0;
        for (index, condition) in [
            ("todo_ready", "status = 'pending' AND held_until IS NULL AND ?6 = ?6 AND ?7 = ?7"),
            // Bounded by what has run out and was not touched since.
            ("todo_timer", "status = 'pending' AND held_until <= ?6 AND ?7 = ?7"),
            (
                "todo_lease",
                "status = 'in_progress' AND lease_until IS NOT NULL AND \
                 (lease_until <= ?6 OR lease_until > ?6 + ?7) AND ifnull(held_until, ?6) <= ?6",
            ),
        ] {
            if index == "todo_lease" && !running {
                continue;
            }
            let sql = format!(
                "SELECT {COLUMNS} FROM todo INDEXED BY {index} WHERE plan = ?1 AND removed IS NULL AND unmet = 0 AND \
                 {condition} AND (effective, position, uid) > (?2, ?3, ?4) ORDER BY effective, position, uid LIMIT ?5"
            );
            let params = params![self.plan.0, effective, position, uid, count(limit), now, LONGEST_LEASE];
            self.todos(&sql, params, &mut |todo| out.push(todo))?;
        }
        out.sort_by_key(ReadyMark::of);
        out.truncate(limit);
        Ok(out)
    }

    fn list(&self, which: Which, after: Option<ListMark>, limit: usize) -> Result<Vec<Todo>, StoreError> {
        let (index, condition) = index_of(which);
        let mark = after.unwrap_or(ListMark { position: i64::MIN, uid: Uid(0) });
        let sql = format!(
            "SELECT {COLUMNS} FROM todo INDEXED BY {index} WHERE plan = ?1 AND removed IS NULL {condition} AND \
             (position, uid) > (?2, ?3) ORDER BY position, uid LIMIT ?4"
        );
        let mut out = Vec::new();
        let params = params![self.plan.0, mark.position, mark.uid.0.cast_signed(), count(limit)];
        self.todos(&sql, params, &mut |todo| out.push(todo))?;
        Ok(out)
    }

    fn page(&self, which: Which, skip: usize, limit: usize) -> Result<Vec<Todo>, StoreError> {
        let (index, condition) = index_of(which);
        // Rows that are skipped are entries of the index: SQLite looks a row up when a column of it is wanted.
        let sql = format!(
            "SELECT {COLUMNS} FROM todo INDEXED BY {index} WHERE plan = ?1 AND removed IS NULL {condition} \
             ORDER BY position, uid LIMIT ?3 OFFSET ?2"
        );
        let mut out = Vec::new();
        self.todos(&sql, params![self.plan.0, count(skip), count(limit)], &mut |todo| out.push(todo))?;
        Ok(out)
    }

    fn find(&self, id: &str) -> Result<Option<Todo>, StoreError> {
        let mut found = None;
        self.todos(&load::by_id(), params![self.plan.0, id], &mut |todo| found = Some(todo))?;
        Ok(found)
    }

    fn next_moment(&self, now: i64) -> Result<Option<i64>, StoreError> {
        // One that also waits for todos stays blocked when its time comes.
        let sql = "SELECT (SELECT min(lease_until) FROM todo INDEXED BY todo_lease WHERE plan = ?1 AND removed IS NULL \
                   AND status = 'in_progress' AND lease_until IS NOT NULL AND lease_until > ?2 AND lease_until <= ?2 + ?3), \
                   (SELECT min(held_until) FROM todo INDEXED BY todo_timer WHERE plan = ?1 AND removed IS NULL \
                   AND status = 'pending' AND unmet = 0 AND held_until IS NOT NULL AND held_until > ?2)";
        let times = |row: &Row<'_>| Ok([row.get::<_, Option<i64>>(0)?, row.get(1)?]);
        let read = self
            .conn
            .prepare_cached(sql)
            .and_then(|mut s| s.query_row(params![self.plan.0, now, LONGEST_LEASE], times));
        Ok(self.sql("read times", read)?.into_iter().flatten().min())
    }

    fn ended(&self, after: i64, until: i64, limit: usize) -> Result<Vec<Todo>, StoreError> {
        let mut out = Vec::new();
        for (index, condition, time) in [
            ("todo_lease", "status = 'in_progress'", "lease_until"),
            ("todo_timer", "status = 'pending' AND unmet = 0", "held_until"),
        ] {
            let sql = format!(
                "SELECT {COLUMNS} FROM todo INDEXED BY {index} WHERE plan = ?1 AND removed IS NULL AND {condition} \
                 AND {time} > ?2 AND {time} <= ?3 ORDER BY {time}, uid LIMIT ?4"
            );
            self.todos(&sql, params![self.plan.0, after, until, count(limit)], &mut |todo: Todo| out.push(todo))?;
        }
        out.sort_by_key(|todo| (todo.ends_at(), todo.uid));
        out.truncate(limit);
        Ok(out)
    }

    fn find_open_by_content(&self, contents: &BTreeSet<String>) -> Result<Vec<Todo>, StoreError> {
        content_index::find(self, contents)
    }

    fn events_head(&self, revision: u64, limit: usize) -> Result<(Vec<Event>, u64), StoreError> {
        events::head(self, revision, limit)
    }

    fn answer(&self, key: &str, now: i64) -> Result<Option<String>, StoreError> {
        let sql = "SELECT body FROM answer WHERE plan = ?1 AND key = ?2 AND at > ?3";
        let params = params![self.plan.0, key, now - ANSWER_LIFETIME_MS];
        self.first("read an answer", sql, params)
    }

    fn checkpoint(&self, id: &str) -> Result<Option<CheckpointRow>, StoreError> {
        let sql = "SELECT id, at, body FROM checkpoint WHERE plan = ?1 AND id = ?2";
        let params = params![self.plan.0, id];
        self.first("read a checkpoint", sql, params)
    }

    fn checkpoints(&self, limit: usize) -> Result<Vec<CheckpointRow>, StoreError> {
        let sql = "SELECT id, at, body FROM checkpoint WHERE plan = ?1 ORDER BY at DESC, id DESC LIMIT ?2";
        let params = params![self.plan.0, count(limit)];
        self.rows("read the checkpoints", sql, params)
    }
}

/// The index for a listing, and the condition that it stands for.
const fn index_of(which: Which) -> (&'static str, &'static str) {
    match which {
        Which::Live => ("todo_position", ""),
        Which::Open => ("todo_open", "AND status IN ('pending', 'in_progress')"),
        Which::Unfinished => ("todo_position", "AND status IN ('pending', 'in_progress', 'failed')"),
        Which::Running => ("todo_running", "AND status = 'in_progress'"),
        Which::Held => ("todo_timer", "AND status = 'pending' AND unmet = 0 AND held_until IS NOT NULL"),
    }
}
