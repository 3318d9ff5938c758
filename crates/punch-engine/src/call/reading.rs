//! Read calls: the plan and the caller are determined when the call runs, and what it displayed is recorded afterwards.

use std::cell::RefCell;

use punch_core::Uid;
use punch_store::{Catalogue, Durability, PlanId, SessionKey, SessionRow, Snapshot, StoreError};
use serde_json::Value;

use super::names::SessionNames;
use super::read::{self, Display};
use super::{Dialect, ReadCall, ReadView, ToolAnswer, ToolCaller, render};
use crate::config::Batches;
use crate::{Engine, EngineError, PlanChoice, SessionState, UnnamedCall, expected_call, link, session};

/// The answer to a reading, and for how long it holds without a write.
#[derive(Clone, Debug, PartialEq)]
pub struct CachedRead {
    /// The plan that was meant.
    pub plan: PlanId,
    /// The answer.
    pub answer: ToolAnswer,
    /// The answer holds from this time on.
    pub from: i64,
    /// The answer holds before this time; `None` if time alone changes nothing.
    pub until: Option<i64>,
}

impl CachedRead {
    /// Returns true if the answer still holds at `now`.
    pub fn holds(&self, now: i64) -> bool {
        self.from <= now && self.until.is_none_or(|until| now < until)
    }
}

impl Engine {
    /// Runs a reading call on the plan that is meant; see `Engine::read_meant`. `None` if there is no plan. `who`
    /// makes the caller and the choice of plan from the session that calls: the one named (or what it was linked to),
    /// or the one that an unnamed call belongs to.
    pub fn call_read<'a>(
        &self,
        session: &SessionKey,
        unnamed: Option<&UnnamedCall<'_>>,
        guess: Option<PlanId>,
        dialect: Dialect,
        arguments: &Value,
        who: impl Fn(&SessionKey) -> (PlanChoice, ToolCaller<'a>),
    ) -> Result<Option<CachedRead>, EngineError> {
        let from = self.now();
        let call = ReadCall::parse(arguments);
        let calibration = self.calibration_for(call.as_ref().ok())?;
        let (caller, announced) = (RefCell::new(None), RefCell::new(None));
        let choose = |catalogue: &dyn Catalogue| {
            let session = match unnamed {
                Some(call) => {
                    let (session, expected) = expected_call::resolve(catalogue, call, from)?;
                    announced.replace(expected);
                    session
                }
                None => link::linked(catalogue, session)?.unwrap_or_else(|| session.clone()),
            };
            let (choice, found) = who(&session);
            caller.replace(Some(found));
            Ok(choice)
        };
        let found = self.read_meant(guess, choose, |snapshot| {
            let caller = caller.borrow();
            let Some(caller) = caller.as_ref() else { return Err(StoreError::Abort.into()) };
            let read = match &call {
                Ok(call) => self.reading(snapshot, caller, dialect, call, calibration)?,
                Err(refusal) => {
                    let refused =
                        render::refused(&refusal.clone().into(), caller.words(dialect), snapshot.row()?.revision);
                    (refused, Vec::new())
                }
            };
            // Silence and approvals change the inbox without a write.
            let is_lasting = !matches!(&call, Ok(call) if call.view == ReadView::Inbox);
            let until = if is_lasting { snapshot.next_moment(from)? } else { Some(from) };
            Ok((read, until))
        })?;
        if let Some(call) = unnamed {
            self.met(call.server, announced.into_inner().as_ref());
        }
        Ok(found.map(|(plan, ((answer, displayed), until))| {
            let (answer, informed) = match (caller.borrow().as_ref(), &call) {
                (Some(caller), Ok(call)) => self.after_reading(plan, caller, dialect, call, answer, &displayed),
                _ => (answer, false),
            };
            // The user's changes are reported once.
            CachedRead { plan, answer, from, until: if informed { Some(from) } else { until } }
        }))
    }

    /// Runs a reading call on a plan.
    pub(super) fn call_reading(
        &self,
        plan: PlanId,
        caller: &ToolCaller<'_>,
        dialect: Dialect,
        call: &ReadCall,
    ) -> Result<ToolAnswer, EngineError> {
        let calibration = self.calibration_for(Some(call))?;
        let read = |snapshot: &dyn Snapshot| self.reading(snapshot, caller, dialect, call, calibration);
        let (answer, displayed) = self.read(plan, read)?;
        Ok(self.after_reading(plan, caller, dialect, call, answer, &displayed).0)
    }

    /// Records what a reading displayed and that a batch was given out, and informs the caller of what the user changed.
    /// Failing to record is not a reason to withhold the answer. Returns also whether the caller was informed of something.
    fn after_reading(
        &self,
        plan: PlanId,
        caller: &ToolCaller<'_>,
        dialect: Dialect,
        call: &ReadCall,
        mut answer: ToolAnswer,
        displayed: &[Uid],
    ) -> (ToolAnswer, bool) {
        self.note_display(plan, caller, dialect, displayed);
        let informed = self.inform_caller(plan, caller, &mut answer);
        if answer.is_error || !call.is_calibrated() {
            return (answer, informed);
        }
        let given = answer.structured["todos"].as_array().into_iter().flatten();
        let ids: Vec<String> = given.filter_map(Value::as_str).map(str::to_owned).collect();
        let off = caller.settings.is_some_and(|settings| settings.checkpoint_batches.value == Batches::Off);
        let who = caller.actor.owner().unwrap_or(caller.session.session_id());
        if !off && let Err(error) = self.give_batch(plan, who, &ids) {
            self.trouble(&error);
        }
        if !caller.structured {
            answer.structured = Value::Null;
        }
        (answer, informed)
    }

    /// The calibration of estimates for a call whose answer depends on it. A reading sees one plan, so what all plans
    /// teach is read before.
    fn calibration_for(&self, call: Option<&ReadCall>) -> Result<f64, EngineError> {
        if call.is_some_and(ReadCall::is_calibrated) { self.calibration() } else { Ok(1.0) }
    }

    fn reading(
        &self,
        snapshot: &dyn Snapshot,
        caller: &ToolCaller<'_>,
        dialect: Dialect,
        call: &ReadCall,
        calibration: f64,
    ) -> Result<(ToolAnswer, Vec<Uid>), EngineError> {
        // Ops of the native tools name todos by their ids, in any session.
        let state = match dialect {
            Dialect::Extended => session::load(snapshot, &caller.session, snapshot.info()?.id)?,
            _ => SessionState::default(),
        };
        let mut display = Display { names: SessionNames::of(&state), todos: Vec::new() };
        match read::answer(snapshot, caller, dialect, call, &mut display, (calibration, self.now())) {
            Err(EngineError::Store(error)) => Err(EngineError::Store(error)),
            Err(error) => Ok((render::refused(&error, caller.words(dialect), snapshot.row()?.revision), display.todos)),
            Ok(answer) => Ok((answer, display.todos)),
        }
    }

    /// Notes what a reading displayed: the next list may name it. A session that has it noted already is not written.
    fn note_display(&self, plan: PlanId, caller: &ToolCaller<'_>, dialect: Dialect, displayed: &[Uid]) {
        if dialect != Dialect::Extended || displayed.is_empty() || caller.session.session_id().is_empty() {
            return;
        }
        let note = |session: &mut SessionState| session.displayed(displayed.iter().copied());
        let elsewhere = |session: &SessionRow| session.plan.is_some_and(|bound| bound != plan);
        let known = self.browse(|catalogue| catalogue.session(&caller.session));
        let noted = known.and_then(|known| {
            if known.as_ref().is_some_and(elsewhere) {
                return Ok(());
            }
            let mut state = known.as_ref().map(session::read).unwrap_or_default();
            if !note(&mut state) {
                return Ok(());
            }
            self.write(plan, Durability::Relaxed, |tx, now| {
                let found = tx.session(&caller.session)?;
                let bound = found.as_ref().and_then(|session| session.plan);
                let mut state = found.as_ref().map(session::read).unwrap_or_default();
                note(&mut state);
                Ok(session::keep(tx, &caller.session, bound, &state, now)?)
            })
        });
        if let Err(error) = noted {
            self.trouble(&error);
        }
    }
}
