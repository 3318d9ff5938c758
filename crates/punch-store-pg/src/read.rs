//! The queries of a snapshot. Each runs on an index, so a large plan costs what its answer costs.

use std::collections::BTreeSet;

use punch_core::{LONGEST_LEASE, PlanRow, Todo, Uid};
use punch_store::backend::FromColumns;
use punch_store::backend::content_number;
use punch_store::{
    ANSWER_LIFETIME_MS, Catalogue, CheckpointRow, DecisionRow, ListMark, PlanId, PlanInfo, ReadyMark, SessionKey,
    SessionRow, Snapshot, StoreError, Which,
};

use crate::link::{Statement, ask};
use crate::todo::columns;
use crate::value::{Columns, SqlValue, count};
use crate::view::PgTransaction;
use crate::{activity, control, events, hand_out, ledger, load, question, reader, worker};

impl Catalogue for PgTransaction<'_> {
    punch_store::forward_catalogue!();

    fn now(&self) -> Option<i64> {
        self.time.get().or_else(|| Some(self.store.clock.now()))
    }

    fn plans(&self) -> Result<Vec<PlanInfo>, StoreError> {
        const PLANS: &str = "SELECT id, name, created_at, archived, revision, pruned FROM punch.plan \
                             WHERE project = $1 ORDER BY id";
        self.flush_plan()?;
        self.rows(ask!("list the plans", PLANS, self.store.project), PlanInfo::read)
    }

    fn session(&self, key: &SessionKey) -> Result<Option<SessionRow>, StoreError> {
        self.first(ask_session(self.store.project, key, self.is_write()), SessionRow::read)
    }

    fn sessions(&self, plan: Option<PlanId>, seen_after: i64, limit: usize) -> Result<Vec<SessionRow>, StoreError> {
        const SOME: &str = "SELECT host, subagent, plan, seen_at, body FROM punch.session WHERE project = $1 \
                            AND ($2::int8 IS NULL OR plan = $2) AND seen_at > $3 \
                            ORDER BY seen_at DESC, host, subagent LIMIT $4";
        let plan = plan.map(|plan| plan.0);
        self.rows(ask!("read the sessions", SOME, self.store.project, plan, seen_after, count(limit)), SessionRow::read)
    }

    fn decisions(&self, of: Option<&SessionKey>, limit: usize) -> Result<Vec<DecisionRow>, StoreError> {
        const ONE: &str = "SELECT host, subagent, seq, at, body FROM punch.decision WHERE project = $1 AND host = $2 \
                           AND subagent = $3 ORDER BY seq DESC LIMIT $4";
        const ALL: &str = "SELECT host, subagent, seq, at, body FROM punch.decision WHERE project = $1 \
                           ORDER BY at DESC, seq DESC, host, subagent LIMIT $2";
        let (what, project) = ("read the decisions", self.store.project);
        let ask = match of {
            Some(key) => {
                ask!(what, ONE, project, key.session_id(), key.subagent().unwrap_or_default(), count(limit))
            }
            None => ask!(what, ALL, project, count(limit)),
        };
        self.rows(ask, DecisionRow::read)
    }
}

/// The question for a session. It belongs to no plan: the lock of the plan does not keep others from writing it.
pub fn ask_session(project: i64, key: &SessionKey, locked: bool) -> Statement {
    const ONE: &str = "SELECT host, subagent, plan, seen_at, body FROM punch.session \
                       WHERE project = $1 AND host = $2 AND subagent = $3";
    const LOCKED: &str = "SELECT host, subagent, plan, seen_at, body FROM punch.session \
                          WHERE project = $1 AND host = $2 AND subagent = $3 FOR UPDATE";
    let (sql, subagent) = (if locked { LOCKED } else { ONE }, key.subagent().unwrap_or_default());
    ask!("read a session", sql, project, key.session_id(), subagent)
}

/// The question for the answer under a key.
pub fn ask_answer(plan: PlanId, key: &str) -> Statement {
    ask!("read an answer", "SELECT body, at FROM punch.answer WHERE plan = $1 AND key = $2", plan.0, key)
}

const READY: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM punch.todo t WHERE t.plan = $1 AND t.queue = 1 AND (t.effective, t.pos, t.uid) > ($2, $3, $4) \
     ORDER BY t.plan, t.queue, t.effective, t.pos, t.uid LIMIT $5"
);
/// Bounded by what has run out and was not touched since.
const READY_TIMER: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM punch.todo t WHERE t.plan = $1 AND t.queue = 2 AND t.held_until <= $6 \
     AND (t.effective, t.pos, t.uid) > ($2, $3, $4) ORDER BY t.effective, t.pos, t.uid LIMIT $5"
);
const READY_LEASE: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM punch.todo t WHERE t.plan = $1 AND t.queue = 3 AND t.unmet = 0 AND t.lease_until IS NOT NULL \
     AND (t.lease_until <= $6 OR t.lease_until > $7) AND coalesce(t.held_until, $6) <= $6 \
     AND (t.effective, t.pos, t.uid) > ($2, $3, $4) ORDER BY t.effective, t.pos, t.uid LIMIT $5"
);

impl Snapshot for PgTransaction<'_> {
    punch_store::forward_snapshot!();

    fn info(&self) -> Result<PlanInfo, StoreError> {
        self.plan_info()
    }

    fn row(&self) -> Result<PlanRow, StoreError> {
        self.plan_row()
    }

    fn ready(&self, now: i64, after: Option<ReadyMark>, limit: usize) -> Result<Vec<Todo>, StoreError> {
        if let Some(known) = self.known_ready(now, after, limit)? {
            return Ok(known);
        }
        let (effective, position, uid) = match after {
            Some(mark) => (i64::from(mark.priority), mark.position, mark.uid.0.cast_signed()),
            None => (-1, 0, 0),
        };
        let (what, plan, limited) = ("read todos", self.plan.0, count(limit));
        let mut asks = vec![
            ask!(what, READY, plan, effective, position, uid, limited),
            ask!(what, READY_TIMER, plan, effective, position, uid, limited, now),
        ];
        if self.plan_row()?.counts.in_progress > 0 {
            asks.push(ask!(
                what,
                READY_LEASE,
                plan,
                effective,
                position,
                uid,
                limited,
                now,
                now.saturating_add(LONGEST_LEASE)
            ));
        }
        let mut out = Vec::new();
        for rows in self.ask_all(asks)? {
            out.append(&mut self.todos(&rows)?);
        }
        out.sort_by_key(ReadyMark::of);
        out.truncate(limit);
        Ok(out)
    }

    fn list(&self, which: Which, after: Option<ListMark>, limit: usize) -> Result<Vec<Todo>, StoreError> {
        if which == Which::Running
            && let Some(mut known) = self.known_running()
        {
            known.retain(|todo| after.is_none_or(|after| ListMark::of(todo) > after));
            known.truncate(limit);
            return Ok(known);
        }
        let mark = after.unwrap_or(ListMark { position: i64::MIN, uid: Uid(0) });
        let (position, uid) = (mark.position, mark.uid.0.cast_signed());
        self.ask_todos(ask!("read todos", listing(which), self.plan.0, position, uid, count(limit), 0))
    }

    fn page(&self, which: Which, skip: usize, limit: usize) -> Result<Vec<Todo>, StoreError> {
        self.ask_todos(ask!("read todos", listing(which), self.plan.0, i64::MIN, 0, count(limit), count(skip)))
    }

    fn find(&self, id: &str) -> Result<Option<Todo>, StoreError> {
        Ok(load::by_ids(self, &[id.to_owned()].into())?.pop())
    }

    fn next_moment(&self, now: i64) -> Result<Option<i64>, StoreError> {
        // One that also waits for todos stays blocked when its time comes.
        const TIMES: &str = "SELECT (SELECT min(lease_until) FROM punch.todo WHERE plan = $1 AND queue = 3 \
                             AND lease_until > $2 AND lease_until <= $2 + $3), \
                             (SELECT min(held_until) FROM punch.todo WHERE plan = $1 AND queue = 2 AND held_until > $2)";
        let times = self.first(ask!("read times", TIMES, self.plan.0, now, LONGEST_LEASE), |row| {
            Ok([row.maybe_int(0)?, row.maybe_int(1)?])
        })?;
        Ok(times.into_iter().flatten().flatten().min())
    }

    fn ended(&self, after: i64, until: i64, limit: usize) -> Result<Vec<Todo>, StoreError> {
        const LEASES: &str = concat!(
            "SELECT ",
            columns!(),
            " FROM punch.todo t WHERE t.plan = $1 AND t.queue = 3 AND t.lease_until > $2 AND t.lease_until <= $3 \
             ORDER BY t.plan, t.lease_until, t.uid LIMIT $4"
        );
        const TIMERS: &str = concat!(
            "SELECT ",
            columns!(),
            " FROM punch.todo t WHERE t.plan = $1 AND t.queue = 2 AND t.held_until > $2 AND t.held_until <= $3 \
             ORDER BY t.plan, t.held_until, t.uid LIMIT $4"
        );
        let ask = |sql| ask!("read todos", sql, self.plan.0, after, until, count(limit));
        let mut out = Vec::new();
        for rows in self.ask_all(vec![ask(LEASES), ask(TIMERS)])? {
            out.append(&mut self.todos(&rows)?);
        }
        out.sort_by_key(|todo| (todo.ends_at(), todo.uid));
        out.truncate(limit);
        Ok(out)
    }

    fn find_open_by_content(&self, contents: &BTreeSet<String>) -> Result<Vec<Todo>, StoreError> {
        const SAYING: &str = concat!(
            "SELECT ",
            columns!(),
            " FROM punch.todo t WHERE t.plan = $1 AND t.removed IS NULL AND t.queue >= 0 AND t.said = ANY($2)"
        );
        if contents.is_empty() {
            return Ok(Vec::new());
        }
        let numbers: BTreeSet<i64> = contents.iter().map(|content| content_number(content).into()).collect();
        let numbers = SqlValue::Ints(numbers.into_iter().map(Some).collect());
        let params = vec![self.plan.0.into(), numbers];
        let mut out = self.ask_todos(Statement { params, ..ask!("read todos", SAYING) })?;
        out.retain(|todo| contents.contains(&todo.content));
        out.sort_by_key(ListMark::of);
        Ok(out)
    }

    fn answer(&self, key: &str, now: i64) -> Result<Option<String>, StoreError> {
        let found = self.first(ask_answer(self.plan, key), |row| Ok((row.text(0)?, row.int(1)?)))?;
        Ok(found.filter(|(_, at)| *at > now - ANSWER_LIFETIME_MS).map(|(body, _)| body))
    }

    fn checkpoint(&self, id: &str) -> Result<Option<CheckpointRow>, StoreError> {
        const ONE: &str = "SELECT id, at, body FROM punch.checkpoint WHERE plan = $1 AND id = $2";
        self.first(ask!("read a checkpoint", ONE, self.plan.0, id), CheckpointRow::read)
    }

    fn checkpoints(&self, limit: usize) -> Result<Vec<CheckpointRow>, StoreError> {
        const ALL: &str =
            "SELECT id, at, body FROM punch.checkpoint WHERE plan = $1 ORDER BY at DESC, id DESC LIMIT $2";
        self.rows(ask!("read the checkpoints", ALL, self.plan.0, count(limit)), CheckpointRow::read)
    }
}

/// A listing in list order, with a page of it.
macro_rules! listing {
    ($condition:literal) => {
        concat!(
            "SELECT ",
            columns!(),
            " FROM punch.todo t WHERE t.plan = $1 AND ",
            $condition,
            " AND (t.pos, t.uid) > ($2, $3) ORDER BY t.plan, t.pos, t.uid LIMIT $4 OFFSET $5"
        )
    };
}

const fn listing(which: Which) -> &'static str {
    match which {
        Which::Live => listing!("t.removed IS NULL"),
        Which::Open => listing!("t.queue >= 0"),
        Which::Unfinished => listing!("t.removed IS NULL AND t.queue <> -1"),
        Which::Running => listing!("t.queue = 3"),
        Which::Held => listing!("t.queue = 2"),
    }
}
