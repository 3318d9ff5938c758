//! Handles an agent that wants to end its turn.

use punch_core::drive::{Decision, DecisionInput, DecisionScene, HostEffect, Reason, decide, early};

use super::listen::{Listener, PlanSession, ReportOutcome};
use super::record::StoredDecision;
use crate::EngineError;

impl Listener<'_> {
    pub(super) fn stop(&self, who: &mut PlanSession, outcome: &mut ReportOutcome) -> Result<(), EngineError> {
        let key = &self.report.key;
        if self.is_driven(who) {
            // The runner decides when the turn is over; a hook that decides too would count twice.
            outcome.record = self.noted("stopping", None, who)?;
            return Ok(());
        }
        if let Some(again) = self.recent()? {
            outcome.effect = effect(&again.decision, &again.input, who);
            outcome.decision = Some(again.decision);
            outcome.facts = again.input.facts;
            return Ok(());
        }
        let scene = DecisionScene {
            named: !key.session_id().is_empty(),
            subagent: key.subagent().is_some(),
            bound: who.bound(),
            foreign: who.foreign,
            switch: super::switch::of(self.snapshot, key)?,
            context: self.report.context,
            host_cap: self.report.host_cap,
            unobserved: self.is_unobserved(who)?,
            words: who.words(self.settings),
        };
        let mut counters = who.state.drive.clone();
        counters.turns.clear();
        let mut input = DecisionInput {
            facts: Default::default(),
            counters,
            event: self.report.event.clone(),
            policy: self.settings.keep_going(),
            scene,
            now: self.now,
        };
        let mut next_id = None;
        if early(&input).is_none() {
            self.informing().take_up_new(&mut who.state)?;
            input.facts = self.facts(who, true)?;
            next_id = input.facts.next.as_ref().filter(|next| !next.running).map(|next| next.id.clone());
            self.in_its_names(&mut input.facts, who)?;
            self.forget_proven(who)?;
            self.await_checks(who)?;
        }
        let decision = decide(&input);
        who.state.drive.decided(&decision, &input.facts);
        outcome.effect = effect(&decision, &input, who);
        outcome.decision = Some(decision.clone());
        outcome.facts = input.facts.clone();
        let next_id = next_id.filter(|_| matches!(decision, Decision::Continue { .. }));
        let next = next_id.map(|id| self.snapshot.find(&id)).transpose()?.flatten();
        outcome.sent = Some((who.owner.clone(), next.map(|todo| todo.uid)));
        let revision = self.snapshot.row()?.revision;
        let record = StoredDecision {
            agent: self.report.agent.clone(),
            plan: self.plan.name.clone(),
            revision,
            input,
            decision,
        };
        outcome.record = serde_json::to_string(&record).ok();
        Ok(())
    }

    /// No one counts what the session's tools do, and it has a todo in progress on which they may have worked.
    fn is_unobserved(&self, who: &PlanSession) -> Result<bool, EngineError> {
        let matters = who.state.drive.untouched && who.state.drive.total > 0 && !self.counts_tools(who);
        Ok(matters && self.current(who)?.is_some())
    }

    /// The last decision, if it is so new that it still holds.
    fn recent(&self) -> Result<Option<StoredDecision>, EngineError> {
        let interval = i64::try_from(self.settings.keep_going_check_interval_ms.value).unwrap_or(i64::MAX);
        if interval == 0 {
            return Ok(None);
        }
        let last = self.snapshot.decisions(Some(&self.report.key), 1)?;
        let revision = self.snapshot.row()?.revision;
        let fresh = |at: i64| (0..interval).contains(&self.now.saturating_sub(at));
        let last = last.first().filter(|last| fresh(last.at));
        let last = last.and_then(|last| serde_json::from_str::<StoredDecision>(&last.body).ok());
        Ok(last.filter(|last| last.revision == revision && last.input.event == self.report.event))
    }
}

/// What the host is asked to do. Agents show the text of a continuation themselves, so that the user needs no second
/// line about it.
fn effect(decision: &Decision, input: &DecisionInput, who: &mut PlanSession) -> HostEffect {
    match decision {
        Decision::Continue { text, .. } => HostEffect { go_on: Some(text.clone()), ..HostEffect::default() },
        Decision::Allow { reason } => {
            HostEffect { tell: who.state.drive.unless_shown(reason.tell(&input.facts)), ..HostEffect::default() }
        }
    }
}

/// Whether a reason concerns a session that punch does not look after.
pub(super) const fn is_nobodys(reason: &Reason) -> bool {
    matches!(reason, Reason::NoSession | Reason::Unbound | Reason::Foreign | Reason::Subagent)
}
