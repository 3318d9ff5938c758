//! What a write transaction can put down.

use std::io::Write;

use punch_core::drive::TodoOffer;
use punch_core::{Event, Outcome, Plan, Uid};
use punch_store::{
    ANSWER_LIFETIME_MS, Activity, CheckpointRow, CompletedFiles, ControlRecord, DECISION_LIFETIME_MS, DECISIONS_KEPT,
    ExpectedCall, HandOut, LedgerEntry, Question, QuestionAnswer, QuestionOutcome, QuestionState, ReadMarker, RunGrant,
    SeatRecord, SessionKey, SessionRow, StoreError, StoredRun, Tx, WorkerRecord, backend,
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
        let taken = ask!("look for the name", TAKEN, self.store.project, name, self.plan.0);
        if self.ask(taken)?.is_empty() { Ok(()) } else { Err(backend::name_taken(name)) }
    }
}

impl Tx for PgTransaction<'_> {
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
        self.enqueue(ask!("keep an answer", OLD, now - ANSWER_LIFETIME_MS));
        self.enqueue(ask!("keep an answer", PUT, self.plan.0, key, now, body));
        Ok(())
    }

    fn put_session(&mut self, session: &SessionRow) -> Result<(), StoreError> {
        const PUT: &str = "INSERT INTO punch.session (project, host, subagent, plan, seen_at, body) \
                           VALUES ($1, $2, $3, $4, $5, $6) \
                           ON CONFLICT (project, host, subagent) DO UPDATE SET plan = $4, seen_at = $5, body = $6";
        let (host, subagent) = (session.key.session_id(), session.key.subagent().unwrap_or_default());
        let plan = session.plan.map(|plan| plan.0);
        self.enqueue(ask!(
            "keep a session",
            PUT,
            self.store.project,
            host,
            subagent,
            plan,
            session.seen_at,
            &session.body
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
        let what = "keep a decision";
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

    fn spend(&mut self, spent: &LedgerEntry) -> Result<(), StoreError> {
        ledger::append(self, spent);
        Ok(())
    }

    fn put_run(&mut self, run: &StoredRun) -> Result<(), StoreError> {
        ledger::put(self, run);
        if run.ended_at.is_some() {
            control::clear(self, run.id);
        }
        Ok(())
    }

    fn put_activity(&mut self, activity: &Activity) -> Result<u64, StoreError> {
        activity::append(self, activity)
    }

    fn put_question(&mut self, question: &Question) -> Result<u64, StoreError> {
        question::append(self, question)
    }

    fn answer_question(&mut self, id: u64, answer: &QuestionAnswer) -> Result<QuestionOutcome, StoreError> {
        question::settle(self, id, &QuestionState::Answered(answer.clone()))
    }

    fn take_answer(&mut self, id: u64, now: i64) -> Result<bool, StoreError> {
        question::take(self, id, now)
    }

    fn close_question(&mut self, id: u64, reason: &str, now: i64) -> Result<QuestionOutcome, StoreError> {
        question::settle(self, id, &QuestionState::Closed { reason: reason.to_owned(), at: now })
    }

    fn put_control(&mut self, control: &ControlRecord) -> Result<(), StoreError> {
        control::put(self, control);
        Ok(())
    }

    fn put_seat(&mut self, seat: &SeatRecord) -> Result<(), StoreError> {
        control::put_seat(self, seat);
        Ok(())
    }

    fn put_read_marker(&mut self, marker: &ReadMarker) -> Result<(), StoreError> {
        reader::put(self, marker);
        Ok(())
    }

    fn take_run(&mut self, holder: &str, lease_ms: i64, now: i64) -> Result<RunGrant, StoreError> {
        control::take(self, holder, lease_ms, now)
    }

    fn renew_run(&mut self, epoch: u64, lease_ms: i64, now: i64) -> Result<bool, StoreError> {
        control::renew(self, epoch, now.saturating_add(lease_ms))
    }

    fn release_run(&mut self, epoch: u64) -> Result<bool, StoreError> {
        control::release(self, epoch)
    }

    fn put_checkpoint(&mut self, checkpoint: &CheckpointRow) -> Result<(), StoreError> {
        const PUT: &str = "INSERT INTO punch.checkpoint (plan, id, at, body) VALUES ($1, $2, $3, $4) \
                           ON CONFLICT (plan, id) DO UPDATE SET at = $3, body = $4";
        let CheckpointRow { id, at, body } = checkpoint;
        self.enqueue(ask!("keep a checkpoint", PUT, self.plan.0, id, *at, body));
        Ok(())
    }

    fn forget_checkpoint(&mut self, id: &str) -> Result<(), StoreError> {
        const FORGET: &str = "DELETE FROM punch.checkpoint WHERE plan = $1 AND id = $2";
        self.enqueue(ask!("forget a checkpoint", FORGET, self.plan.0, id));
        Ok(())
    }

    fn put_batch(&mut self, batch: &HandOut) -> Result<(), StoreError> {
        hand_out::put_batch(self, batch)
    }

    fn forget_batch(&mut self, owner: &str) -> Result<(), StoreError> {
        hand_out::forget_batch(self, owner);
        Ok(())
    }

    fn put_offer(&mut self, offer: &TodoOffer) -> Result<(), StoreError> {
        hand_out::put_offer(self, offer);
        Ok(())
    }

    fn forget_offer(&mut self, owner: &str) -> Result<(), StoreError> {
        hand_out::forget_offer(self, owner);
        Ok(())
    }

    fn put_mirrored(&mut self, todos: &[Uid]) -> Result<(), StoreError> {
        hand_out::put_mirrored(self, todos)
    }

    fn put_completed_files(&mut self, files: &CompletedFiles) -> Result<(), StoreError> {
        hand_out::put_completed_files(self, files)
    }

    fn put_expected_call(&mut self, call: &ExpectedCall) -> Result<(), StoreError> {
        hand_out::put_expected_call(self, call);
        Ok(())
    }

    fn forget_expected_call(&mut self, call: &ExpectedCall) -> Result<(), StoreError> {
        hand_out::forget_expected_call(self, call);
        Ok(())
    }

    fn put_worker(&mut self, worker: &WorkerRecord) -> Result<bool, StoreError> {
        worker::put(self, worker)
    }

    fn prune(&mut self, before: u64, export: &mut dyn Write) -> Result<u64, StoreError> {
        events::prune(self, before, export)
    }
}
