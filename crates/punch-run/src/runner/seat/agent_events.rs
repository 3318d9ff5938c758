//! How a seat reacts to the reports of its agent.

use std::collections::VecDeque;
use std::mem;

use punch_core::HoldKind;
use punch_core::schedule::estimate;
use punch_engine::{GivenAnswer, QuestionReply};
use punch_store::LedgerEntry;

use super::event::SeatEffect;
use super::step::SeatStep;
use super::{AgentConversation, EndReason, SeatJob, SeatState};
use crate::agent::{AgentEvent, AgentPlanEntry, AgentTurnEnd, PermissionRequest, TokenSpending};
use crate::observer::{RunEvent, line};
use crate::permission::{PermissionDecision, described, remedy};
use SeatState::{
    AgentGone, Asking, Checking, Claiming, Continuing, Ending, Failing, Idle, Judging, Preparing, Resting, Starting,
    Working,
};

/// Questions of one agent that may wait for the user; further ones are refused.
const MAX_QUESTIONS: usize = 50;

impl SeatStep<'_, '_> {
    pub(super) fn agent(&mut self, mut state: SeatState, event: AgentEvent) -> SeatState {
        let (Some(conversation), _) = state.parts_mut() else { return state };
        conversation.last_sign = self.conditions.now;
        match event {
            AgentEvent::Started { session } => {
                conversation.session = Some(session);
                self.seat.failed_starts = 0;
            }
            AgentEvent::Text(text) => self.output(line(&text)),
            AgentEvent::ToolUsed { name } => self.output(format!("[{}]", line(&name))),
            AgentEvent::PlanSaid(entries) => self.plan_of_agent(&state, &entries),
            AgentEvent::Usage(spending) => conversation.spending.add(&spending),
            AgentEvent::Permission(request) => return self.permission(state, request),
            AgentEvent::TurnEnded { finish } => return self.turn_ended(state, finish),
            AgentEvent::Exited { code } => return self.exited(state, code),
        }
        state
    }

    pub(super) fn output(&mut self, text: String) {
        self.report(RunEvent::Output { agent: self.seat.number, text });
    }

    /// Reads the part of the agent's own plan that is about its todo.
    pub(super) fn plan_of_agent(&mut self, state: &SeatState, entries: &[AgentPlanEntry]) {
        let Some(job) = state.job_in_work() else { return };
        let done: Vec<&AgentPlanEntry> = entries.iter().filter(|entry| entry.status == "completed").collect();
        if done.iter().any(|entry| entry.content.trim() == job.todo.content.trim()) {
            self.report_done(job, "the agent marked it as completed in its own plan");
        }
        self.output(format!("{} of {} steps of its own plan are done", done.len(), entries.len()));
    }

    pub(super) fn report_done(&mut self, job: &SeatJob, evidence: &'static str) {
        self.effect(SeatEffect::ReportDone { todo: job.todo.clone(), owner: job.owner.clone(), evidence });
    }

    /// Charges what a turn took. An agent that reports no usage is charged the estimate of the todo, once per attempt.
    pub(super) fn charge(&mut self, state: &mut SeatState) {
        let (Some(conversation), Some(job)) = state.parts_mut() else { return };
        conversation.turn_open = false;
        let spending = mem::take(&mut conversation.spending);
        let known = spending.tokens() > 0;
        let guess = match known || job.estimate_charged {
            true => 0,
            false => estimate(&job.todo, self.conditions.rules.calibration).tokens,
        };
        job.estimate_charged |= !known;
        let grown = spending.tokens().saturating_sub(spending.again()).max(spending.tokens_out).max(guess);
        conversation.used = spending.context.unwrap_or_else(|| conversation.used.saturating_add(grown));
        let took = self.conditions.now.saturating_duration_since(conversation.turn_began);
        conversation.turn_began = self.conditions.now;
        let spent = LedgerEntry {
            uid: job.todo.uid,
            attempt: job.todo.attempts + 1,
            run: Some(self.conditions.rules.run),
            agent: self.seat.name.clone(),
            subagent: None,
            tokens_in: if known { spending.tokens_in } else { guess },
            tokens_out: spending.tokens_out,
            again: if known { spending.again() } else { 0 },
            cost: spending.cost_micros,
            ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            turns: spending.turns.max(1),
            estimated: !known,
            at: 0,
        };
        self.effect(SeatEffect::Charge(spent));
    }

    pub(super) fn permission(&mut self, mut state: SeatState, request: PermissionRequest) -> SeatState {
        let decision = self.conditions.rules.policy.judge(&request);
        match state {
            Working { conversation, job } if decision == PermissionDecision::Ask => {
                return self.ask(conversation, job, VecDeque::from([request]));
            }
            // One question at a time: an agent may want several things at once, but not any number.
            Asking { ref mut questions, .. }
                if decision == PermissionDecision::Ask && questions.len() <= MAX_QUESTIONS =>
            {
                questions.push_back(request);
            }
            ref state => {
                if let Some(conversation) = state.conversation() {
                    let allows = matches!(decision, PermissionDecision::Allow(_));
                    let answer = if allows { QuestionReply::Allow } else { QuestionReply::Refuse };
                    if decision == PermissionDecision::Refuse {
                        let (seat, what) = (self.seat.number, line(&described(&request)));
                        let remedy = remedy(&request);
                        let what = format!("[{seat}] was not allowed to do this: {what} (`{remedy}` would allow it)");
                        self.report(RunEvent::Remark { what });
                    }
                    self.answer(conversation, request, answer.into());
                }
            }
        }
        state
    }

    /// Asks the user about the first of these questions. The claim of the todo stays, and is renewed as usual.
    pub(super) fn ask(
        &mut self,
        conversation: AgentConversation,
        job: SeatJob,
        questions: VecDeque<PermissionRequest>,
    ) -> SeatState {
        if let Some(request) = questions.front().cloned() {
            let (todo, what) = (line(&job.todo.id), line(&described(&request)));
            self.report(RunEvent::Asks { agent: self.seat.number, todo, what });
            self.effect(SeatEffect::AskUser { start: conversation.worker.start, todo: job.todo.clone(), request });
        }
        Asking { conversation, job, questions }
    }

    /// Passes an answer on and asks the next question. Without an answer, the todo waits for the user and the agent makes
    /// room for others.
    pub(super) fn answered(
        &mut self,
        conversation: AgentConversation,
        job: SeatJob,
        question: PermissionRequest,
        answer: Option<GivenAnswer>,
        others: VecDeque<PermissionRequest>,
    ) -> SeatState {
        let Some(answer) = answer else {
            // Lists cut the end of a long reason.
            let (what, remedy) = (described(&question), remedy(&question));
            let why = format!("permission was not answered (`punch run {remedy}` allows it): {what}");
            let (todo, owner) = (job.todo.clone(), job.owner.clone());
            self.effect(SeatEffect::Hold { todo, owner, kind: HoldKind::Human, why });
            return self.ask_to_end(conversation, EndReason::TodoLost(job.todo.uid));
        };
        self.answer(&conversation, question, answer);
        if conversation.asked_to_end.is_some() {
            return self.ask_to_end(conversation, EndReason::RunEnds(job));
        }
        match others.is_empty() {
            true => self.working(conversation, job),
            false => self.ask(conversation, job, others),
        }
    }

    pub(super) fn turn_ended(&mut self, mut state: SeatState, finish: AgentTurnEnd) -> SeatState {
        let opening = self.seat.opens_conversation && state.conversation().is_some_and(|open| open.session.is_none());
        let is_ending = state.conversation().is_some_and(|open| open.asked_to_end.is_some());
        match (state, finish) {
            // A login is missing, or two first starts were in each other's way.
            (Working { conversation, job }, AgentTurnEnd::Failed(why)) if opening => {
                self.end_agent(&conversation);
                self.does_not_start(job.todo, &why)
            }
            (state @ (Working { .. } | Asking { .. }), AgentTurnEnd::UsageLimit(limit)) if !is_ending => {
                self.usage_limit_reached(state, &limit)
            }
            // An agent that ends its turn no longer waits for an answer.
            (mut state @ (Working { .. } | Asking { .. }), finish) if !is_ending => {
                self.seat.limited_since = None;
                self.charge(&mut state);
                let (Working { conversation, job } | Asking { conversation, job, .. }) = state else { return state };
                let why = match finish {
                    AgentTurnEnd::Natural => {
                        self.effect(SeatEffect::Inspect(job.todo.uid));
                        return Judging { conversation, job, can_check: false };
                    }
                    AgentTurnEnd::UsageLimit(limit) => limit.message,
                    AgentTurnEnd::Limit => "the agent ended the turn at a limit of its own".to_owned(),
                    AgentTurnEnd::Cancelled => "the turn was cancelled".to_owned(),
                    AgentTurnEnd::Failed(why) => why,
                };
                self.fail(Some(conversation), job, &why, false)
            }
            // An agent that was asked to end is judged when it has exited.
            (other, _) => {
                state = other;
                self.charge(&mut state);
                state
            }
        }
    }

    pub(super) fn exited(&mut self, mut state: SeatState, code: Option<i32>) -> SeatState {
        let unpaid = |open: &AgentConversation| open.turn_open || open.spending != TokenSpending::default();
        if state.conversation().is_some_and(unpaid) {
            self.charge(&mut state);
        }
        let code = code.map_or_else(|| "exit code unknown".to_owned(), |code| format!("exit code {code}"));
        let why = format!("the agent exited in the middle of its work ({code})");
        match state {
            Idle { .. } => Idle { conversation: None },
            Resting { until, .. } => Resting { until, conversation: None },
            Claiming { uid, .. } => Claiming { conversation: None, uid },
            state @ Preparing { .. } => state,
            Checking { job, .. } => Checking { conversation: None, job },
            Failing { job, why, checked, .. } => Failing { conversation: None, job, why, checked },
            Ending { reason: EndReason::RunEnds(job), .. } => self.give_back(job),
            Asking { conversation, job, .. } if conversation.asked_to_end.is_some() => {
                // The run ends: when it is resumed, an agent asks again.
                self.give_back(job)
            }
            Ending { reason: EndReason::TodoLost(_), .. } => Idle { conversation: None },
            Ending { reason: EndReason::Failed(job, why), .. } => self.agent_gone(job, Some(why)),
            AgentGone { job, failure } => self.agent_gone(job, failure),
            Starting { job, .. }
            | Working { job, .. }
            | Asking { job, .. }
            | Judging { job, .. }
            | Continuing { job, .. } => self.agent_gone(job, Some(why)),
        }
    }
}
