//! Writing to a copy of the state, which replaces it when the body has succeeded.

use std::io::Write;
use std::ops::DerefMut;

use punch_core::{Event, Outcome};

use super::{State, View, failed};
use crate::{
    ANSWER_LIFETIME_MS, Checkpoint, DECISION_LIFETIME_MS, DECISIONS_KEPT, Decision, Run, Session, SessionKey, Spent,
    StoreError, Tx, baseline,
};

impl<S: DerefMut<Target = State>> Tx for View<S> {
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

    fn put_session(&mut self, session: &Session) -> Result<(), StoreError> {
        self.changed = true;
        self.state.sessions.insert(session.key.clone(), session.clone());
        Ok(())
    }

    fn put_decision(&mut self, of: &SessionKey, body: &str, now: i64) -> Result<(), StoreError> {
        self.changed = true;
        let all = &mut self.state.decisions;
        let last = all.keys().filter(|(key, _)| key == of).map(|(_, seq)| *seq).max();
        let seq = last.map_or(1, |seq| seq + 1);
        all.insert((of.clone(), seq), Decision { key: of.clone(), seq, at: now, body: body.to_owned() });
        all.retain(|(key, number), kept| match seq {
            1 => kept.at > now - DECISION_LIFETIME_MS,
            _ => key != of || number + DECISIONS_KEPT > seq,
        });
        Ok(())
    }

    fn spend(&mut self, spent: &Spent) -> Result<(), StoreError> {
        self.changed = true;
        let most = |n: u64| n.min(i64::MAX.unsigned_abs());
        let (tokens_in, tokens_out, again) = (most(spent.tokens_in), most(spent.tokens_out), most(spent.again));
        let spent =
            Spent { tokens_in, tokens_out, again, cost: spent.cost.map(most), ms: most(spent.ms), ..spent.clone() };
        self.state.kept_mut(self.plan)?.ledger.push(spent);
        Ok(())
    }

    fn put_run(&mut self, run: &Run) -> Result<(), StoreError> {
        self.changed = true;
        self.state.kept_mut(self.plan)?.runs.insert(run.id, run.clone());
        Ok(())
    }

    fn put_checkpoint(&mut self, checkpoint: &Checkpoint) -> Result<(), StoreError> {
        self.changed = true;
        self.state.kept_mut(self.plan)?.checkpoints.insert(checkpoint.id.clone(), checkpoint.clone());
        Ok(())
    }

    fn forget_checkpoint(&mut self, id: &str) -> Result<(), StoreError> {
        self.changed = true;
        self.state.kept_mut(self.plan)?.checkpoints.remove(id);
        Ok(())
    }

    fn put_setting(&mut self, name: &str, value: Option<&str>) -> Result<(), StoreError> {
        self.changed = true;
        match value {
            Some(value) => self.state.settings.insert(name.to_owned(), value.to_owned()),
            None => self.state.settings.remove(name),
        };
        Ok(())
    }

    fn prune(&mut self, before: u64, export: &mut dyn Write) -> Result<u64, StoreError> {
        let kept = self.state.kept_mut(self.plan)?;
        let rest = kept.events.split_off(&before);
        let old: Vec<_> = std::mem::replace(&mut kept.events, rest).into_values().flatten().collect();
        for event in &old {
            baseline::export(event, export).map_err(|cause| failed(format!("cannot export events: {cause}")))?;
            baseline::advance(&mut kept.baseline, event);
        }
        export.flush().map_err(|cause| failed(format!("cannot export events: {cause}")))?;
        if let Some(last) = old.last() {
            kept.info.pruned = last.revision;
            self.changed = true;
        }
        Ok(old.len() as u64)
    }
}
