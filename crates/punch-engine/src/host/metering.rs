//! Attributes usage to the todos that a session had in progress since the last measurement, split evenly. Recorded when
//! one of them begins or ends, and when a turn ends; usage before the first todo begins, or between two, belongs to
//! none.

use punch_core::drive::{Cover, HostEvent};
use punch_core::{Footprint, Plan, Status, Todo, Uid, WorkerId};
use punch_store::{LedgerEntry, SessionKey};

use super::listen::{Listener, PlanSession, ReportOutcome};
use super::meter::{ConversationMark, ConversationReading, RunningTodo, SessionMeter, share};
use crate::{EngineError, Role, SessionState, session};

/// Todos of one session between which something is split.
const SPLIT: usize = 16;

/// What was read, and from where on.
pub(super) struct MeteredSpan {
    pub from: ConversationMark,
    pub reading: Option<ConversationReading>,
}

impl Listener<'_> {
    /// From where on the conversation has to be read now; `None` while nothing has to be entered.
    pub(super) fn due(&self, who: &PlanSession) -> Result<Option<ConversationMark>, EngineError> {
        if who.foreign || self.is_runners(who) {
            return Ok(None);
        }
        let stops = matches!(self.report.event, HostEvent::Stopping { .. });
        if let (Some(name), true) = (self.report.key.subagent(), stops) {
            return Ok(self.main()?.map(|main| main.meter.subagent(name)));
        }
        if !who.bound() || matches!(self.report.event, HostEvent::ToolStarting { .. }) {
            return Ok(None);
        }
        let meter = &who.state.meter;
        let over = stops || matches!(self.report.event, HostEvent::SessionEnded | HostEvent::Compacting);
        let due = (over && !meter.running.is_empty()) || !same(&meter.running, &self.works_on(who)?);
        Ok(due.then(|| meter.mark.clone()))
    }

    /// Enters what was used since the last look.
    pub(super) fn enter(
        &self,
        measured: &MeteredSpan,
        who: &mut PlanSession,
        outcome: &mut ReportOutcome,
    ) -> Result<(), EngineError> {
        if self.due(who)?.is_none() {
            return Ok(());
        }
        match self.report.key.subagent() {
            Some(name) if matches!(self.report.event, HostEvent::Stopping { .. }) => {
                self.enter_subagent(name, measured, who, outcome)
            }
            _ => self.enter_own(measured, who, outcome),
        }
    }

    fn enter_own(
        &self,
        measured: &MeteredSpan,
        who: &mut PlanSession,
        outcome: &mut ReportOutcome,
    ) -> Result<(), EngineError> {
        let works = self.works_on(who)?;
        let meter = &mut who.state.meter;
        let grown = advance(&mut meter.mark, measured);
        let before = std::mem::take(&mut meter.running);
        let todos = self.load(before.iter().map(|one| one.uid))?;
        let count = before.len();
        for (n, mut one) in before.into_iter().enumerate() {
            let goes_on = works.iter().any(|t| (t.uid, attempt(t)) == (one.uid, one.attempt));
            let tokens = share(grown, n, count);
            if !goes_on || tokens > 0 {
                let ended = todos.get(one.uid).and_then(|t| t.finished_at).filter(|_| !goes_on);
                let until = ended.filter(|at| (one.since..=self.now).contains(at)).unwrap_or(self.now);
                let ms = u64::try_from(until.saturating_sub(one.since)).unwrap_or(0);
                outcome.spent.extend(self.spent(one.uid, one.attempt, tokens, ms));
                one.since = self.now;
            }
            if goes_on {
                meter.running.push(one);
            }
        }
        for todo in &works {
            if !meter.running.iter().any(|one| one.uid == todo.uid) {
                // Not before the last entry: what was entered once, a lease that ran out and came back, is not again.
                let since = todo.started_at.unwrap_or(self.now).max(meter.at).min(self.now);
                meter.running.push(RunningTodo { uid: todo.uid, attempt: attempt(todo), since });
            }
        }
        meter.at = self.now;
        Ok(())
    }

    /// A subagent works on its own todos, or on what its main agent has in progress.
    fn enter_subagent(
        &self,
        name: &str,
        measured: &MeteredSpan,
        who: &PlanSession,
        outcome: &mut ReportOutcome,
    ) -> Result<(), EngineError> {
        let Some(mut main) = outcome.main.take().map_or_else(|| self.main(), |main| Ok(Some(main)))? else {
            return Ok(());
        };
        let mut mark = main.meter.subagent(name);
        let grown = advance(&mut mark, measured);
        main.meter.keep_subagent(name, mark);
        let own: Vec<Uid> = match (who.bound(), who.state.role) {
            (true, Role::Worker) => who.state.scope.iter().copied().take(SPLIT).collect(),
            _ => Vec::new(),
        };
        let own: Vec<(Uid, u32)> = {
            let todos = self.load(own.iter().copied())?;
            let worked = |todo: &&Todo| todo.started_at.is_some();
            own.iter().filter_map(|uid| todos.get(*uid)).filter(worked).map(|t| (t.uid, attempt(t))).collect()
        };
        let of_main = || main.meter.running.iter().map(|one| (one.uid, one.attempt)).collect();
        let targets: Vec<(Uid, u32)> = if own.is_empty() { of_main() } else { own };
        for (n, (uid, attempt)) in targets.iter().enumerate() {
            outcome.spent.extend(self.spent(*uid, *attempt, share(grown, n, targets.len()), 0));
        }
        outcome.main = Some(main);
        Ok(())
    }

    fn spent(&self, uid: Uid, attempt: u32, tokens: u64, ms: u64) -> Option<LedgerEntry> {
        (tokens > 0 || ms > 0).then(|| LedgerEntry {
            uid,
            attempt,
            run: None,
            agent: self.report.agent.clone(),
            subagent: self.report.key.subagent().map(str::to_owned),
            tokens_in: tokens,
            tokens_out: 0,
            again: 0,
            cost: None,
            ms,
            turns: 0,
            estimated: false,
            at: self.now,
        })
    }

    /// The session of the main agent, if it works on this plan.
    pub(super) fn main(&self) -> Result<Option<SessionState>, EngineError> {
        let found = self.snapshot.session(&SessionKey::new(self.report.key.session_id(), None))?;
        let here = found.filter(|session| session.plan == Some(self.plan.id));
        Ok(here.map(|found| session::read(&found)).filter(|state| state.bound))
    }

    /// What agents of a runner use is entered by the runner.
    fn is_runners(&self, who: &PlanSession) -> bool {
        self.report.by_runner || WorkerId::of(&who.owner).is_some()
    }

    fn works_on(&self, who: &PlanSession) -> Result<Vec<Todo>, EngineError> {
        let scope = match who.cover() {
            Cover::List(scope) => scope,
            Cover::Plan => Vec::new(),
        };
        let mine = |t: &Todo| match t.owner.as_deref() {
            Some(owner) => owner == who.owner,
            None => scope.contains(&t.uid),
        };
        let works = self.running()?.iter().filter(|t| t.status_at(self.now) == Status::InProgress && mine(t));
        Ok(works.take(SPLIT).cloned().collect())
    }

    fn load(&self, todos: impl Iterator<Item = Uid>) -> Result<Plan, EngineError> {
        let mut part = Plan::slice(self.snapshot.row()?);
        self.snapshot.load(&Footprint { todos: todos.collect(), ..Footprint::default() }, &mut part)?;
        Ok(part)
    }
}

/// Advances to where the conversation was read to. Another process that read it at the same time may have recorded it
/// already.
fn advance(mark: &mut ConversationMark, measured: &MeteredSpan) -> u64 {
    match &measured.reading {
        Some(reading) if *mark == measured.from => {
            *mark = reading.to.clone();
            reading.grown
        }
        _ => 0,
    }
}

/// Returns the attempt a todo is in, or ended with; a failed attempt is included.
fn attempt(todo: &Todo) -> u32 {
    if todo.status == Status::Failed { todo.attempts.max(1) } else { todo.attempts + 1 }
}

fn same(before: &[RunningTodo], now: &[Todo]) -> bool {
    let known = |t: &Todo| before.iter().any(|one| (one.uid, one.attempt) == (t.uid, attempt(t)));
    before.len() == now.len() && now.iter().all(known)
}

/// A meter that was never used is not stored.
pub(crate) fn is_unused(meter: &SessionMeter) -> bool {
    *meter == SessionMeter::default()
}
