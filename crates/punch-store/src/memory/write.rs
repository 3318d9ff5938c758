//! Writing to a copy of the state, which replaces it when the body has succeeded.

use std::io::Write;
use std::ops::DerefMut;

use punch_core::drive::TodoOffer;
use punch_core::{Event, Outcome, Plan, Uid};

use super::{MemoryState, MemoryTransaction, failed};
use crate::{
    ANSWER_LIFETIME_MS, Activity, COMPLETED_FILES_KEPT, CheckpointRow, CompletedFiles, ControlRecord, ControlScope,
    DECISION_LIFETIME_MS, DECISIONS_KEPT, DecisionRow, EXPECTED_CALLS_KEPT, ExpectedCall, HandOut, LedgerEntry,
    Question, QuestionAnswer, QuestionOutcome, QuestionState, ReadMarker, RequestedState, RunGrant,
    SESSION_LIFETIME_MS, SeatRecord, SessionKey, SessionRow, StoreError, StoredRun, Tx, WORKER_LIFETIME_MS,
    WorkerRecord, baseline,
};

impl<S: DerefMut<Target = MemoryState>> Tx for MemoryTransaction<S> {
    fn put(&mut self, outcome: &Outcome) -> Result<(), StoreError> {
        let kept = self.state.kept_mut(self.plan)?;
        crate::store::follows(kept.plan.row.revision, outcome)?;
        self.changed |= kept.plan.row != outcome.plan || !outcome.rows.is_empty();
        kept.plan.commit(outcome);
        self.closing.extend(crate::store::closing(outcome));
        kept.info.revision = outcome.plan.revision;
        if !outcome.events.is_empty() {
            kept.events.insert(outcome.plan.revision, outcome.events.clone());
        }
        Ok(())
    }

    fn closing(&self) -> &[Event] {
        &self.closing
    }

    fn begin_at(&mut self, baseline: &Plan) -> Result<(), StoreError> {
        let kept = self.state.kept_mut(self.plan)?;
        crate::store::begins(kept.plan.row.revision)?;
        let revision = baseline.row.revision;
        let mut from = Plan::new();
        from.row = baseline.row.clone();
        baseline.all().cloned().for_each(|todo| from.put(todo));
        kept.baseline = std::sync::Arc::new(from);
        (kept.plan.row.revision, kept.info.revision, kept.info.pruned) = (revision, revision, revision);
        self.changed = true;
        Ok(())
    }

    fn rename(&mut self, name: &str) -> Result<(), StoreError> {
        self.state.name_is_free(name, Some(self.plan))?;
        self.changed = true;
        name.clone_into(&mut self.state.kept_mut(self.plan)?.info.name);
        Ok(())
    }

    fn archive(&mut self, archived: Option<i64>) -> Result<(), StoreError> {
        let name = self.state.kept(self.plan)?.info.name.clone();
        if archived.is_none() {
            self.state.name_is_free(&name, Some(self.plan))?;
        }
        self.changed = true;
        self.state.kept_mut(self.plan)?.info.archived = archived;
        Ok(())
    }

    fn put_answer(&mut self, key: &str, body: &str, now: i64) -> Result<(), StoreError> {
        self.changed = true;
        for kept in self.state.plans.values_mut() {
            if kept.answers.values().any(|(at, _)| *at <= now - ANSWER_LIFETIME_MS) {
                std::sync::Arc::make_mut(kept).answers.retain(|_, (at, _)| *at > now - ANSWER_LIFETIME_MS);
            }
        }
        self.state.kept_mut(self.plan)?.answers.insert(key.to_owned(), (now, body.to_owned()));
        Ok(())
    }

    fn put_session(&mut self, session: &SessionRow) -> Result<(), StoreError> {
        self.changed = true;
        let sessions = std::sync::Arc::make_mut(&mut self.state.sessions);
        if sessions.insert(session.key.clone(), std::sync::Arc::new(session.clone())).is_none() {
            let old = session.seen_at.saturating_sub(SESSION_LIFETIME_MS);
            sessions.retain(|_, known| known.seen_at > old);
        }
        Ok(())
    }

    fn put_decision(&mut self, of: &SessionKey, body: &str, now: i64) -> Result<(), StoreError> {
        self.changed = true;
        let all = &mut self.state.decisions;
        let last = all.iter().filter(|((key, _), _)| key == of).map(|((_, seq), _)| *seq).max();
        let seq = last.map_or(1, |seq| seq + 1);
        all.insert((of.clone(), seq), DecisionRow { key: of.clone(), seq, at: now, body: body.to_owned() });
        all.retain(|(key, number), kept| match seq {
            1 => kept.at > now - DECISION_LIFETIME_MS,
            _ => key != of || number + DECISIONS_KEPT > seq,
        });
        Ok(())
    }

    fn spend(&mut self, spent: &LedgerEntry) -> Result<(), StoreError> {
        self.changed = true;
        let most = |n: u64| n.min(i64::MAX.unsigned_abs());
        let (tokens_in, tokens_out, again) = (most(spent.tokens_in), most(spent.tokens_out), most(spent.again));
        let spent = LedgerEntry {
            tokens_in,
            tokens_out,
            again,
            cost: spent.cost.map(most),
            ms: most(spent.ms),
            ..spent.clone()
        };
        self.state.kept_mut(self.plan)?.ledger.push(spent);
        Ok(())
    }

    fn put_run(&mut self, run: &StoredRun) -> Result<(), StoreError> {
        self.changed = true;
        let of = self.plan;
        let kept = self.state.kept_mut(of)?;
        kept.runs.insert(run.id, run.clone());
        if run.ended_at.is_some() {
            kept.live.seats.retain(|(number, _), _| *number != run.id);
            self.state.controls.retain(|scope, _| match scope {
                ControlScope::Run { plan, run: number } | ControlScope::Seat { plan, run: number, .. } => {
                    (*plan, *number) != (of, run.id)
                }
                ControlScope::Session(_) | ControlScope::Sessions => true,
            });
        }
        Ok(())
    }

    fn put_activity(&mut self, activity: &Activity) -> Result<u64, StoreError> {
        self.changed = true;
        Ok(self.state.kept_mut(self.plan)?.live.put_activity(activity))
    }

    fn put_question(&mut self, question: &Question) -> Result<u64, StoreError> {
        self.changed = true;
        Ok(self.state.kept_mut(self.plan)?.live.put_question(question))
    }

    fn answer_question(&mut self, id: u64, answer: &QuestionAnswer) -> Result<QuestionOutcome, StoreError> {
        let outcome = self.state.kept_mut(self.plan)?.live.settle(id, QuestionState::Answered(answer.clone()));
        self.changed |= outcome == QuestionOutcome::Settled;
        Ok(outcome)
    }

    fn take_answer(&mut self, id: u64, now: i64) -> Result<bool, StoreError> {
        let taken = self.state.kept_mut(self.plan)?.live.take_answer(id, now);
        self.changed |= taken;
        Ok(taken)
    }

    fn close_question(&mut self, id: u64, reason: &str, now: i64) -> Result<QuestionOutcome, StoreError> {
        let closed = QuestionState::Closed { reason: reason.to_owned(), at: now };
        let outcome = self.state.kept_mut(self.plan)?.live.settle(id, closed);
        self.changed |= outcome == QuestionOutcome::Settled;
        Ok(outcome)
    }

    fn put_control(&mut self, control: &ControlRecord) -> Result<(), StoreError> {
        self.changed = true;
        match control.wanted {
            RequestedState::Go => self.state.controls.remove(&control.scope),
            RequestedState::Pause | RequestedState::Stop => {
                self.state.controls.insert(control.scope.clone(), control.clone())
            }
        };
        Ok(())
    }

    fn put_seat(&mut self, seat: &SeatRecord) -> Result<(), StoreError> {
        self.changed = true;
        self.state.kept_mut(self.plan)?.live.seats.insert((seat.run, seat.n), seat.clone());
        Ok(())
    }

    fn put_read_marker(&mut self, marker: &ReadMarker) -> Result<(), StoreError> {
        self.changed = true;
        self.state.kept_mut(self.plan)?.live.put_read_marker(marker);
        Ok(())
    }

    fn take_run(&mut self, holder: &str, lease_ms: i64, now: i64) -> Result<RunGrant, StoreError> {
        let grant = self.state.kept_mut(self.plan)?.live.take_run(holder, lease_ms, now);
        self.changed |= matches!(grant, RunGrant::Granted { .. });
        Ok(grant)
    }

    fn renew_run(&mut self, epoch: u64, lease_ms: i64, now: i64) -> Result<bool, StoreError> {
        let own = self.state.kept_mut(self.plan)?.live.runner.as_mut().filter(|lease| lease.epoch == epoch);
        let Some(until) = own.and_then(|lease| lease.until.as_mut()) else { return Ok(false) };
        *until = now.saturating_add(lease_ms);
        self.changed = true;
        Ok(true)
    }

    fn release_run(&mut self, epoch: u64) -> Result<bool, StoreError> {
        let own = self.state.kept_mut(self.plan)?.live.runner.as_mut().filter(|lease| lease.epoch == epoch);
        let Some(lease) = own else { return Ok(false) };
        lease.until = None;
        self.changed = true;
        Ok(true)
    }

    fn put_checkpoint(&mut self, checkpoint: &CheckpointRow) -> Result<(), StoreError> {
        self.changed = true;
        self.state.kept_mut(self.plan)?.checkpoints.insert(checkpoint.id.clone(), checkpoint.clone());
        Ok(())
    }

    fn forget_checkpoint(&mut self, id: &str) -> Result<(), StoreError> {
        self.changed = true;
        self.state.kept_mut(self.plan)?.checkpoints.remove(id);
        Ok(())
    }

    fn put_batch(&mut self, batch: &HandOut) -> Result<(), StoreError> {
        self.changed = true;
        self.state.kept_mut(self.plan)?.handed_out.put_batch(batch);
        Ok(())
    }

    fn forget_batch(&mut self, owner: &str) -> Result<(), StoreError> {
        self.changed = true;
        self.state.kept_mut(self.plan)?.handed_out.batches.retain(|batch| batch.owner != owner);
        Ok(())
    }

    fn put_offer(&mut self, offer: &TodoOffer) -> Result<(), StoreError> {
        self.changed = true;
        self.state.kept_mut(self.plan)?.handed_out.put_offer(offer);
        Ok(())
    }

    fn forget_offer(&mut self, owner: &str) -> Result<(), StoreError> {
        self.changed = true;
        self.state.kept_mut(self.plan)?.handed_out.offers.retain(|offer| offer.owner != owner);
        Ok(())
    }

    fn put_mirrored(&mut self, todos: &[Uid]) -> Result<(), StoreError> {
        self.changed = true;
        self.state.kept_mut(self.plan)?.handed_out.mirrored = todos.to_vec();
        Ok(())
    }

    fn put_completed_files(&mut self, files: &CompletedFiles) -> Result<(), StoreError> {
        self.changed = true;
        let (of, all) = (self.plan, &mut self.state.completed_files);
        let seq = all.last_key_value().map_or(1, |(seq, _)| seq + 1);
        all.retain(|known, (plan, kept)| {
            (*plan, kept.todo) != (of, files.todo) && known.saturating_add(COMPLETED_FILES_KEPT) > seq
        });
        all.insert(seq, (of, files.clone()));
        Ok(())
    }

    fn put_expected_call(&mut self, call: &ExpectedCall) -> Result<(), StoreError> {
        self.changed = true;
        let all = &mut self.state.expected_calls;
        let seq = all.last_key_value().map_or(1, |(seq, _)| seq + 1);
        all.insert(seq, ExpectedCall { seq, ..call.clone() });
        all.retain(|known, _| known.saturating_add(EXPECTED_CALLS_KEPT) > seq);
        Ok(())
    }

    fn forget_expected_call(&mut self, call: &ExpectedCall) -> Result<(), StoreError> {
        let all = &mut self.state.expected_calls;
        let before = all.len();
        all.retain(|_, known| known != call);
        self.changed |= all.len() != before;
        Ok(())
    }

    fn put_worker(&mut self, worker: &WorkerRecord) -> Result<bool, StoreError> {
        let all = &mut self.state.workers;
        if all.get(&worker.name).is_some_and(|known| known.epoch > worker.epoch) {
            return Ok(false);
        }
        self.changed = true;
        all.insert(worker.name.clone(), worker.clone());
        let old = worker.seen_at.saturating_sub(WORKER_LIFETIME_MS);
        all.retain(|name, known| known.seen_at >= old || *name == worker.name);
        Ok(true)
    }

    fn prune(&mut self, before: u64, export: &mut dyn Write) -> Result<u64, StoreError> {
        let kept = self.state.kept_mut(self.plan)?;
        let old: Vec<_> = kept.events.take_before(&before).into_values().flatten().collect();
        for event in &old {
            baseline::export(event, export).map_err(|cause| failed(format!("cannot export events: {cause}")))?;
            baseline::advance(std::sync::Arc::make_mut(&mut kept.baseline), event);
        }
        export.flush().map_err(|cause| failed(format!("cannot export events: {cause}")))?;
        if let Some(last) = old.last() {
            kept.info.pruned = last.revision;
            self.changed = true;
            let of = self.plan;
            let removed: Vec<Uid> = kept.plan.all().filter(|todo| !todo.is_live()).map(|todo| todo.uid).collect();
            self.state
                .completed_files
                .retain(|_, (plan, files)| *plan != of || (files.at > last.at && !removed.contains(&files.todo)));
        }
        Ok(old.len() as u64)
    }
}
