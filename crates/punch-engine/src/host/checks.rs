//! Checks of todos that a session called done: which ones are still undecided, and what the session learns about the
//! others. This module does not run them.

use punch_core::dialect::mirror;
use punch_core::drive::{HostEvent, NextRun, Unproven, explain, quote};
use punch_core::{Footprint, Op, Ref, Status, Todo, Uid, VerifyMode};
use punch_store::{Ahead, Durability, PlanId, SessionKey, Tx};

use super::HostReport;
use super::listen::{Listener, PlanSession};
use super::naming::TodoNaming;
use crate::call::{ToolCaller, is_mirrored};
use crate::config::Settings;
use crate::submit::apply_in_transaction;
use crate::{Engine, EngineError, Role, SessionState, WriteRequest, session};

/// Bytes of an id in a text.
const ID: usize = 40;

/// What a hook knows about the checks of todos that its session called done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookChecks {
    /// The hook starts checks by itself.
    pub starts: bool,
    /// Todos whose check cannot start before the user has approved its command.
    pub unapproved: Vec<Uid>,
}

impl Engine {
    /// Returns the open todos with a check that a session called done, the latest first.
    pub fn called_done(&self, plan: PlanId, key: &SessionKey) -> Result<Vec<Todo>, EngineError> {
        let Some((_, state)) = self.session(key)?.filter(|(bound, _)| bound.is_none_or(|bound| bound == plan)) else {
            return Ok(Vec::new());
        };
        if state.unproven.is_empty() {
            return Ok(Vec::new());
        }
        let part = Footprint { todos: state.unproven.iter().copied().collect(), ..Footprint::default() };
        let part = self.slice(plan, &part)?;
        let open = |todo: &&Todo| todo.is_live() && todo.status.is_open() && todo.verify.is_some();
        Ok(state.unproven.iter().rev().filter_map(|uid| part.get(*uid).filter(open).cloned()).collect())
    }

    /// Reports a todo as done for a session, and remembers that the session waits for its check.
    pub fn report_done(
        &self,
        plan: PlanId,
        report: &HostReport,
        settings: &Settings,
        uid: Uid,
    ) -> Result<(), EngineError> {
        let request = WriteRequest { preset: mirror::policy, ..report.request(settings) };
        self.write_for(plan, &request, Ahead::default(), |tx, now| {
            self::report(tx, now, &request, uid)?;
            let mut state = session::load(tx, &report.key, plan)?;
            state.add_unproven(uid);
            Ok(session::keep(tx, &report.key, state.bound.then_some(plan), &state, now)?)
        })
    }

    /// Reports the check of the whole plan as due for a session that is about to stop, if the plan looks finished. Only a
    /// session that works on the plan, and that no runner drives, answers for it.
    pub fn report_plan_check_for(
        &self,
        plan: PlanId,
        report: &HostReport,
        settings: &Settings,
    ) -> Result<(), EngineError> {
        let bound = |found: Option<(Option<PlanId>, SessionState)>| {
            found.is_some_and(|(of, state)| state.bound && of == Some(plan) && state.role == Role::Owner)
        };
        if settings.plan_check().is_none() || report.key.subagent().is_some() || !bound(self.session(&report.key)?) {
            return Ok(());
        }
        self.report_plan_check(plan, &report.request(settings), settings, Some(&report.key)).map(drop)
    }

    /// Reports a todo as done for a caller of our tools, and remembers that its session waits for the check.
    pub fn report_called_done(&self, plan: PlanId, caller: &ToolCaller<'_>, uid: Uid) -> Result<(), EngineError> {
        let request = caller.request(mirror::policy);
        self.write_for(plan, &request, Ahead::default(), |tx, now| {
            self::report(tx, now, &request, uid)?;
            let mut state = session::load(tx, &caller.session, plan)?;
            state.add_unproven(uid);
            state.await_check(uid);
            Ok(session::keep(tx, &caller.session, state.bound.then_some(plan), &state, now)?)
        })
    }

    /// What a session hears right after it called todos done, once their checks were started; `None` if all of them have
    /// passed. Checks that are not over yet are remembered, and their results follow with a later report.
    pub fn explain_checks(
        &self,
        plan: PlanId,
        report: &HostReport,
        uids: &[Uid],
    ) -> Result<Option<String>, EngineError> {
        let part = self.slice(plan, &Footprint { todos: uids.iter().copied().collect(), ..Footprint::default() })?;
        let one = |uid: &Uid| {
            let one = Unproven::of(part.get(*uid)?, NextRun::ByItself)?;
            Some((*uid, if report.checks.unapproved.contains(uid) { one.awaiting_approval() } else { one }))
        };
        let mut unproven: Vec<(Uid, Unproven)> = uids.iter().filter_map(one).collect();
        unproven.sort_by_key(|(_, one)| one.pending.is_some());
        let pending: Vec<Uid> = unproven.iter().filter(|(_, one)| one.pending.is_some()).map(|(uid, _)| *uid).collect();
        if !pending.is_empty() {
            self.write(plan, Durability::Relaxed, |tx, now| {
                let mut state = session::load(tx, &report.key, plan)?;
                pending.iter().for_each(|uid| state.await_check(*uid));
                Ok(session::keep(tx, &report.key, state.bound.then_some(plan), &state, now)?)
            })?;
        }
        let unproven: Vec<Unproven> = unproven.into_iter().map(|(_, one)| one).collect();
        Ok(Some(explain(&unproven)).filter(|text| !text.is_empty()))
    }
}

/// Reports a todo as done inside a transaction, begun first if it has to be. A todo that the rules do not let the session
/// have stays as it is.
pub(crate) fn report(tx: &mut dyn Tx, now: i64, request: &WriteRequest<'_>, uid: Uid) -> Result<(), EngineError> {
    let target = Ref::Uid(uid);
    let ops = vec![Op::Start(target.clone()), Op::Report { target, evidence: None, fence: None }];
    let first = Footprint { todos: [uid].into(), ..Footprint::default() };
    match apply_in_transaction(tx, now, request, &first, &mut |_, _| Ok(ops.clone())) {
        Ok(_) | Err(EngineError::Refused(_) | EngineError::NotFound { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

impl Listener<'_> {
    /// How a check gets to run again.
    pub(super) fn next_run(&self, who: &PlanSession) -> Result<NextRun, EngineError> {
        let policy = self.settings.policy_over(self.snapshot.row()?.policy);
        // Without that policy a tool completes whatever the check says.
        Ok(match (policy.verify == VerifyMode::Command, is_mirrored(&who.state)) {
            (true, true) if self.report.checks.starts => NextRun::ByItself,
            (true, false) => NextRun::Tool,
            (true, true) | (false, _) => NextRun::Shell,
        })
    }

    /// Returns for the model the results of checks that the session waits for, if the agent passes on what it reads. A
    /// stop names failed checks separately.
    pub(super) fn ended_checks(&self, who: &mut PlanSession) -> Result<Option<String>, EngineError> {
        let is_heard = matches!(
            self.report.event,
            HostEvent::ToolEnded { .. } | HostEvent::Prompted { by_person: true } | HostEvent::SessionStarted { .. }
        );
        if who.state.awaited.is_empty() || !is_heard || !who.bound() {
            return Ok(None);
        }
        let ended = self.take_ended(who)?;
        let next_run = self.next_run(who)?;
        let naming = TodoNaming::of(&who.state, self.settings);
        let passed = ended.iter().filter(|todo| todo.status == Status::Completed);
        let mut lines: Vec<String> =
            passed.map(|todo| format!("{} is done: its check passed.", quote(&naming.name(todo), ID))).collect();
        let named = |todo: &Todo| Unproven::of(todo, next_run).map(|one| Unproven { id: naming.name(todo), ..one });
        let failed: Vec<Unproven> = ended.iter().rev().filter_map(named).collect();
        lines.extend(Some(explain(&failed)).filter(|text| !text.is_empty()));
        Ok((!lines.is_empty()).then(|| lines.join("\n")))
    }

    /// Forgets the checks that are over, and remembers those that are not for a session that is about to stop.
    pub(super) fn await_checks(&self, who: &mut PlanSession) -> Result<(), EngineError> {
        if who.state.unproven.is_empty() && who.state.awaited.is_empty() {
            return Ok(());
        }
        self.take_ended(who)?;
        let part = self.part(&who.state.unproven)?;
        let pending = who.state.unproven.iter().filter(|uid| part.get(**uid).is_some_and(is_pending));
        let pending: Vec<Uid> = pending.copied().collect();
        pending.into_iter().for_each(|uid| who.state.await_check(uid));
        Ok(())
    }

    /// Takes the todos out of those that the session waits for whose checks are over.
    fn take_ended(&self, who: &mut PlanSession) -> Result<Vec<Todo>, EngineError> {
        let part = self.part(&who.state.awaited)?;
        let (pending, ended): (Vec<Uid>, Vec<Uid>) =
            who.state.awaited.iter().partition(|uid| part.get(**uid).is_some_and(is_pending));
        who.state.awaited = pending;
        Ok(ended.iter().filter_map(|uid| part.get(*uid).filter(|todo| todo.is_live()).cloned()).collect())
    }
}

/// Returns true while a todo is reported as done and nothing has decided about it.
fn is_pending(todo: &Todo) -> bool {
    todo.is_live() && todo.flags.reported && todo.status == Status::InProgress
}
