//! The questions of a snapshot. Each names the index it runs on, so that a plan of 100,000 todos costs what its
//! answer costs; SQLite refuses the statement if the index cannot serve it.

use std::collections::BTreeSet;

use punch_core::drive::TodoOffer;
use punch_core::{Event, Footprint, LONGEST_LEASE, Plan, PlanRow, Todo, Uid};
use rusqlite::{OptionalExtension, Row, params};

use super::bulk::COLUMNS;
use super::view::SqliteTransaction;
use super::{activity, content_index, control, events, hand_out, ledger, load, question, reader, worker};
use crate::{
    ANSWER_LIFETIME_MS, Activity, ActivitySpan, AttemptUsage, Catalogue, CheckpointRow, CompletedFiles, ControlRecord,
    ControlScope, DecisionRow, ExpectedCall, HandOut, LedgerEntry, ListMark, PlanId, PlanInfo, Question,
    QuestionFilter, ReadMarker, ReadyMark, RunLease, SeatRecord, SessionKey, SessionRow, Snapshot, StoreError,
    StoredRun, Which, WorkerRecord,
};

const PLAN_INFO: &str = "SELECT id, name, created_at, archived, revision, pruned FROM plan";
const SESSION: &str = "SELECT host, subagent, plan, seen_at, body FROM session";

impl Catalogue for SqliteTransaction<'_> {
    fn plans(&self) -> Result<Vec<PlanInfo>, StoreError> {
        let sql = format!("{PLAN_INFO} ORDER BY id");
        let read = self.conn.prepare_cached(&sql).and_then(|mut s| s.query_map([], plan_info)?.collect());
        self.sql("list the plans", read)
    }

    fn session(&self, key: &SessionKey) -> Result<Option<SessionRow>, StoreError> {
        let sql = format!("{SESSION} WHERE host = ?1 AND subagent = ?2");
        let key = params![key.session_id(), key.subagent().unwrap_or_default()];
        let read = self.conn.prepare_cached(&sql).and_then(|mut s| s.query_row(key, session).optional());
        self.sql("read a session", read)
    }

    fn sessions(&self) -> Result<Vec<SessionRow>, StoreError> {
        let sql = format!("{SESSION} ORDER BY seen_at DESC, host, subagent");
        let read = self.conn.prepare_cached(&sql).and_then(|mut s| s.query_map([], session)?.collect());
        self.sql("read the sessions", read)
    }

    fn decisions(&self, of: Option<&SessionKey>, limit: usize) -> Result<Vec<DecisionRow>, StoreError> {
        let columns = "SELECT host, subagent, seq, at, body FROM decision";
        let read = match of {
            Some(key) => {
                let sql = format!("{columns} WHERE host = ?1 AND subagent = ?2 ORDER BY seq DESC LIMIT ?3");
                let row = params![key.session_id(), key.subagent().unwrap_or_default(), count(limit)];
                self.conn.prepare_cached(&sql).and_then(|mut s| s.query_map(row, decision)?.collect())
            }
            None => {
                let sql = format!("{columns} ORDER BY at DESC, seq DESC, host, subagent LIMIT ?1");
                self.conn.prepare_cached(&sql).and_then(|mut s| s.query_map([count(limit)], decision)?.collect())
            }
        };
        self.sql("read the decisions", read)
    }

    fn control(&self, scope: &ControlScope) -> Result<Option<ControlRecord>, StoreError> {
        control::one(self, scope)
    }

    fn expected_calls(&self) -> Result<Vec<ExpectedCall>, StoreError> {
        hand_out::expected_calls(self)
    }

    fn workers(&self) -> Result<Vec<WorkerRecord>, StoreError> {
        worker::all(self)
    }
}

impl Snapshot for SqliteTransaction<'_> {
    fn info(&self) -> Result<PlanInfo, StoreError> {
        let sql = format!("{PLAN_INFO} WHERE id = ?1");
        let read = self.conn.prepare_cached(&sql).and_then(|mut s| s.query_row([self.plan.0], plan_info).optional());
        self.sql("read the plan", read)?.ok_or(StoreError::UnknownPlan { plan: self.plan })
    }

    fn row(&self) -> Result<PlanRow, StoreError> {
        self.plan_row()
    }

    fn load(&self, footprint: &Footprint, into: &mut Plan) -> Result<(), StoreError> {
        load::load(self, footprint, into)
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

    fn events(&self, since: u64, limit: usize) -> Result<Vec<Event>, StoreError> {
        events::since(self, since, limit)
    }

    fn events_of(&self, revision: u64) -> Result<Vec<Event>, StoreError> {
        events::of(self, revision)
    }

    fn events_head(&self, revision: u64, limit: usize) -> Result<(Vec<Event>, u64), StoreError> {
        events::head(self, revision, limit)
    }

    fn baseline(&self) -> Result<Plan, StoreError> {
        events::baseline(self)
    }

    fn answer(&self, key: &str, now: i64) -> Result<Option<String>, StoreError> {
        let sql = "SELECT body FROM answer WHERE plan = ?1 AND key = ?2 AND at > ?3";
        let params = params![self.plan.0, key, now - ANSWER_LIFETIME_MS];
        let read = self.conn.prepare_cached(sql).and_then(|mut s| s.query_row(params, |row| row.get(0)).optional());
        self.sql("read an answer", read)
    }

    fn checkpoint(&self, id: &str) -> Result<Option<CheckpointRow>, StoreError> {
        let sql = "SELECT id, at, body FROM checkpoint WHERE plan = ?1 AND id = ?2";
        let params = params![self.plan.0, id];
        let read = self.conn.prepare_cached(sql).and_then(|mut s| s.query_row(params, checkpoint).optional());
        self.sql("read a checkpoint", read)
    }

    fn usage(&self, of: Option<Uid>) -> Result<Vec<AttemptUsage>, StoreError> {
        ledger::usage(self, of)
    }

    fn ledger(&self, run: u64) -> Result<Vec<LedgerEntry>, StoreError> {
        ledger::entries(self, run)
    }

    fn spent_on(&self, todo: Uid) -> Result<Vec<LedgerEntry>, StoreError> {
        ledger::of_todo(self, todo)
    }

    fn spending(&self, skip: usize, limit: usize) -> Result<Vec<LedgerEntry>, StoreError> {
        ledger::all(self, skip, limit)
    }

    fn runs(&self, limit: usize) -> Result<Vec<StoredRun>, StoreError> {
        ledger::runs(self, limit)
    }

    fn run(&self, id: u64) -> Result<Option<StoredRun>, StoreError> {
        ledger::one(self, id)
    }

    fn checkpoints(&self, limit: usize) -> Result<Vec<CheckpointRow>, StoreError> {
        let sql = "SELECT id, at, body FROM checkpoint WHERE plan = ?1 ORDER BY at DESC, id DESC LIMIT ?2";
        let params = params![self.plan.0, count(limit)];
        let read = self.conn.prepare_cached(sql).and_then(|mut s| s.query_map(params, checkpoint)?.collect());
        self.sql("read the checkpoints", read)
    }

    fn activity(&self, since: u64, limit: usize) -> Result<Vec<Activity>, StoreError> {
        activity::since(self, since, limit)
    }

    fn activity_of(&self, todo: Uid, limit: usize) -> Result<Vec<Activity>, StoreError> {
        activity::of(self, todo, limit)
    }

    fn activity_span(&self) -> Result<ActivitySpan, StoreError> {
        activity::span(self)
    }

    fn questions(&self, which: QuestionFilter, limit: usize) -> Result<Vec<Question>, StoreError> {
        question::list(self, which, limit)
    }

    fn question(&self, id: u64) -> Result<Option<Question>, StoreError> {
        question::one(self, id)
    }

    fn run_controls(&self, run: u64) -> Result<Vec<ControlRecord>, StoreError> {
        control::of_run(self, run)
    }

    fn seats(&self, run: u64) -> Result<Vec<SeatRecord>, StoreError> {
        control::seats(self, run)
    }

    fn batches(&self) -> Result<Vec<HandOut>, StoreError> {
        hand_out::batches(self)
    }

    fn offers(&self) -> Result<Vec<TodoOffer>, StoreError> {
        hand_out::offers(self)
    }

    fn mirrored(&self) -> Result<Vec<Uid>, StoreError> {
        hand_out::mirrored(self)
    }

    fn completed_files(&self, todo: Uid) -> Result<Option<CompletedFiles>, StoreError> {
        hand_out::completed_files(self, todo)
    }

    fn read_marker(&self, reader: &str) -> Result<Option<ReadMarker>, StoreError> {
        reader::one(self, reader)
    }

    fn read_markers(&self) -> Result<Vec<ReadMarker>, StoreError> {
        reader::all(self)
    }

    fn run_lease(&self) -> Result<Option<RunLease>, StoreError> {
        control::lease(self)
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

pub(super) fn count(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

fn plan_info(row: &Row<'_>) -> rusqlite::Result<PlanInfo> {
    Ok(PlanInfo {
        id: PlanId(row.get(0)?),
        name: row.get(1)?,
        created_at: row.get(2)?,
        archived: row.get(3)?,
        revision: row.get::<_, i64>(4)?.cast_unsigned(),
        pruned: row.get::<_, i64>(5)?.cast_unsigned(),
    })
}

fn session(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
    let (host, subagent): (String, String) = (row.get(0)?, row.get(1)?);
    Ok(SessionRow {
        key: SessionKey::new(host, Some(&subagent)),
        plan: row.get::<_, Option<i64>>(2)?.map(PlanId),
        seen_at: row.get(3)?,
        body: row.get(4)?,
    })
}

fn decision(row: &Row<'_>) -> rusqlite::Result<DecisionRow> {
    let (host, subagent): (String, String) = (row.get(0)?, row.get(1)?);
    Ok(DecisionRow {
        key: SessionKey::new(host, Some(&subagent)),
        seq: row.get::<_, i64>(2)?.cast_unsigned(),
        at: row.get(3)?,
        body: row.get(4)?,
    })
}

fn checkpoint(row: &Row<'_>) -> rusqlite::Result<CheckpointRow> {
    Ok(CheckpointRow { id: row.get(0)?, at: row.get(1)?, body: row.get(2)? })
}
