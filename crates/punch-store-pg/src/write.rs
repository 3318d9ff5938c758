//! The writes of a transaction.

use punch_core::{Event, Outcome, Plan, Uid};
use punch_store::{
    ANSWER_LIFETIME_MS, CheckpointRow, DECISION_LIFETIME_MS, DECISIONS_KEPT, SESSION_LIFETIME_MS, SessionKey,
    SessionRow, StoreError, Tx, backend,
};

use crate::link::ask;
use crate::value::Columns;
use crate::view::PgTransaction;
use crate::{activity, control, events, hand_out, ledger, question, reader, todo, worker};

impl PgTransaction<'_> {
    /// Fails if another plan in use has that name.
    fn name_is_free(&self, name: &str) -> Result<(), StoreError> {
        const TAKEN: &str =
            "SELECT id FROM punch.plan WHERE project = $1 AND name = $2 AND archived IS NULL AND id <> $3";
        let taken = ask!("look up the name", TAKEN, self.store.project, name, self.plan.0);
        if self.ask(taken)?.is_empty() { Ok(()) } else { Err(backend::name_taken(name)) }
    }
}

impl Tx for PgTransaction<'_> {
    punch_store::forward_tx!();

    fn put(&mut self, outcome: &Outcome) -> Result<(), StoreError> {
        let before = self.plan_row()?;
        backend::follows(before.revision, outcome)?;
        if !outcome.rows.is_empty() {
            todo::put(self, &outcome.rows, Uid(before.next_uid))?;
        }
        self.put_events(&outcome.events);
        self.closing.extend(backend::closing(outcome));
        if before != outcome.plan {
            self.change_plan(|_, row| row.clone_from(&outcome.plan));
        }
        Ok(())
    }

    fn closing(&self) -> &[Event] {
        &self.closing
    }

    fn begin_at(&mut self, baseline: &Plan) -> Result<(), StoreError> {
        backend::begins(self.plan_row()?.revision)?;
        events::put_baseline(self, baseline, baseline.all())?;
        let revision = baseline.row.revision;
        self.change_plan(|info, row| (info.pruned, row.revision) = (revision, revision));
        Ok(())
    }

    fn rename(&mut self, name: &str) -> Result<(), StoreError> {
        self.name_is_free(name)?;
        self.change_plan(|info, _| name.clone_into(&mut info.name));
        Ok(())
    }

    fn archive(&mut self, archived: Option<i64>) -> Result<(), StoreError> {
        if archived.is_none() {
            self.name_is_free(&self.plan_info()?.name)?;
        }
        self.change_plan(|info, _| info.archived = archived);
        Ok(())
    }

    fn put_answer(&mut self, key: &str, body: &str, now: i64) -> Result<(), StoreError> {
        // What another write is clearing away, or has locked, is left to it.
        const OLD: &str = "DELETE FROM punch.answer WHERE ctid = ANY (ARRAY (SELECT ctid FROM punch.answer \
                           WHERE at <= $1 ORDER BY at LIMIT 500 FOR UPDATE SKIP LOCKED))";
        const PUT: &str = "INSERT INTO punch.answer (plan, key, at, body) VALUES ($1, $2, $3, $4) \
                           ON CONFLICT (plan, key) DO UPDATE SET at = $3, body = $4";
        self.enqueue(ask!("store an answer", OLD, now - ANSWER_LIFETIME_MS));
        self.enqueue(ask!("store an answer", PUT, self.plan.0, key, now, body));
        Ok(())
    }

    fn put_session(&mut self, session: &SessionRow) -> Result<(), StoreError> {
        // A new session forgets old ones. In one statement, because nothing may be asked in between; of a session that is
        // known, the server does not look for any.
        const PUT: &str = "WITH put AS (INSERT INTO punch.session (project, host, subagent, plan, seen_at, body) \
                           VALUES ($1, $2, $3, $4, $5, $6) \
                           ON CONFLICT (project, host, subagent) DO UPDATE SET plan = $4, seen_at = $5, body = $6 \
                           RETURNING xmax = 0 AS is_new) \
                           DELETE FROM punch.session WHERE ctid = ANY (ARRAY (SELECT ctid FROM punch.session \
                           WHERE (SELECT is_new FROM put) AND project = $1 AND seen_at <= $7 \
                           ORDER BY seen_at LIMIT 5000 FOR UPDATE SKIP LOCKED))";
        let (host, subagent) = (session.key.session_id(), session.key.subagent().unwrap_or_default());
        let plan = session.plan.map(|plan| plan.0);
        self.enqueue(ask!(
            "store a session",
            PUT,
            self.store.project,
            host,
            subagent,
            plan,
            session.seen_at,
            &session.body,
            session.seen_at.saturating_sub(SESSION_LIFETIME_MS)
        ));
        Ok(())
    }

    fn put_decision(&mut self, of: &SessionKey, body: &str, now: i64) -> Result<(), StoreError> {
        // Two plans may write decisions of one session: the lock of a plan does not order them.
        const LOCK: &str = "SELECT pg_advisory_xact_lock(hashtextextended($2 || '/' || $3, $1))::text";
        const PUT: &str = "INSERT INTO punch.decision (project, host, subagent, seq, at, body) \
                           SELECT $1, $2, $3, 1 + coalesce(max(seq), 0), $4, $5 FROM punch.decision \
                           WHERE project = $1 AND host = $2 AND subagent = $3 RETURNING seq";
        const OLD: &str = "DELETE FROM punch.decision WHERE ctid = ANY (ARRAY (SELECT ctid FROM punch.decision \
                           WHERE project = $1 AND at <= $2 ORDER BY at LIMIT 5000 FOR UPDATE SKIP LOCKED))";
        const SURPLUS: &str =
            "DELETE FROM punch.decision WHERE project = $1 AND host = $2 AND subagent = $3 AND seq <= $4";
        let what = "store a decision";
        let (project, host, subagent) = (self.store.project, of.session_id(), of.subagent().unwrap_or_default());
        self.enqueue(ask!(what, LOCK, project, host, subagent));
        let seq = self.change(ask!(what, PUT, project, host, subagent, now, body), |row| row.int(0))?.unwrap_or(1);
        let surplus = seq - DECISIONS_KEPT.cast_signed();
        if seq == 1 {
            self.enqueue(ask!(what, OLD, project, now - DECISION_LIFETIME_MS));
        } else if surplus > 0 {
            self.enqueue(ask!(what, SURPLUS, project, host, subagent, surplus));
        }
        Ok(())
    }

    fn put_checkpoint(&mut self, checkpoint: &CheckpointRow) -> Result<(), StoreError> {
        const PUT: &str = "INSERT INTO punch.checkpoint (plan, id, at, body) VALUES ($1, $2, $3, $4) \
                           ON CONFLICT (plan, id) DO UPDATE SET at = $3, body = $4";
        let CheckpointRow { id, at, body } = checkpoint;
        self.enqueue(ask!("store a checkpoint", PUT, self.plan.0, id, *at, body));
        Ok(())
    }

    fn forget_checkpoint(&mut self, id: &str) -> Result<(), StoreError> {
        const FORGET: &str = "DELETE FROM punch.checkpoint WHERE plan = $1 AND id = $2";
        self.enqueue(ask!("delete a checkpoint", FORGET, self.plan.0, id));
        Ok(())
    }
}
