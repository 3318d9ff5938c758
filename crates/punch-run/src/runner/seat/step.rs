//! The one function that changes a seat.

use std::mem;

use punch_core::drive::again;
use punch_core::{HoldKind, Status, Todo};
use punch_engine::GivenAnswer;

use super::event::{CheckVerdict, Resume, SeatConditions, SeatEffect, SeatEvent};
use super::{AgentConversation, EndReason, LONGEST_PAUSE, Seat, SeatJob, SeatState};
use crate::agent::PermissionRequest;
use crate::observer::{RunEvent, line};
use crate::worktree::Lane;
use SeatState::{
    AgentGone, Asking, Checking, Claiming, Continuing, Ending, Failing, Idle, Judging, Preparing, Resting, Starting,
    Working,
};

pub(super) const SOMEONE_ELSES: &str = "someone else has it now";
pub(super) const REMOVED: &str = "it was removed from the plan";
const RUN_ENDS: &str = "the run ends";

impl Seat {
    /// Moves the seat to its next state and returns what the runner has to do, in order. Pure: no clock, no process and
    /// no store.
    pub fn step(&mut self, event: SeatEvent, conditions: &SeatConditions<'_>) -> Vec<SeatEffect> {
        let state = mem::replace(&mut self.state, Idle { conversation: None });
        let mut step = SeatStep { seat: self, conditions, effects: Vec::new() };
        let next = step.next(state, event);
        let effects = step.effects;
        self.state = next;
        effects
    }
}

pub(super) struct SeatStep<'a, 'c> {
    pub seat: &'a mut Seat,
    pub conditions: &'a SeatConditions<'c>,
    pub effects: Vec<SeatEffect>,
}

impl SeatStep<'_, '_> {
    pub(super) fn next(&mut self, state: SeatState, event: SeatEvent) -> SeatState {
        use SeatEvent as E;
        match (state, event) {
            (state, E::Agent(event)) => self.agent(state, event),
            (state, E::StopRequested) => self.stop(state),
            (state, E::Tick { printed, todo_time_over }) => self.tick(state, printed, todo_time_over),
            (state, E::TodoChanged(todo)) => self.todo_changed(state, &todo),
            (state, E::AgentLimited(sleep)) => {
                self.seat.sleep = Some(sleep);
                state
            }

            (Idle { conversation }, E::Assign { uid, fresh }) if !self.seat.stop_requested => {
                let mut conversation = conversation;
                if let Some(full) = conversation.take_if(|_| fresh) {
                    self.end_agent(&full);
                    self.effect(SeatEffect::Checkpoint("an agent's context window is full"));
                }
                let worker = conversation.as_ref().map(|conversation| conversation.worker.clone());
                self.effect(SeatEffect::Claim { uid, worker });
                Claiming { conversation, uid }
            }
            (Idle { conversation: None }, E::CheckReported { todo, owner }) => {
                let job = SeatJob::new(todo, owner, None, self.conditions.now);
                self.check(None, job)
            }

            (Claiming { conversation, .. }, E::NotClaimed) => Idle { conversation },
            (Claiming { conversation, .. }, E::Claimed { worker, todo }) => {
                if self.seat.stop_requested {
                    self.effect(SeatEffect::Reopen(todo));
                    return self.leave(conversation, None, false);
                }
                let job = SeatJob::new(todo.clone(), worker.owner.clone(), None, self.conditions.now);
                if conversation.is_none() && self.conditions.rules.prepares {
                    self.effect(SeatEffect::Prepare { start: worker.start, todo });
                    return Preparing { worker, job, inspecting: false };
                }
                self.effect(match &conversation {
                    Some(_) => SeatEffect::Prompt { start: worker.start, todo, text: None },
                    None => SeatEffect::Launch { worker, todo, resume: None },
                });
                Starting { conversation, job }
            }
            (Preparing { worker, job, inspecting: false }, E::Prepared(Ok(()))) => {
                // A setup may take long, and the user may have changed the todo in the meantime.
                self.effect(SeatEffect::Inspect(job.todo.uid));
                Preparing { worker, job, inspecting: true }
            }
            (Preparing { job, inspecting: false, .. }, E::Prepared(Err(why))) => {
                let what = format!("cannot prepare the worktree for {}: {why}", line(&job.todo.id));
                self.failed_start(job.todo, &what)
            }
            (Preparing { worker, job, inspecting: true }, E::Inspected(todo)) => match todo {
                _ if self.is_stopping() => self.give_back(job),
                Some(todo) if todo.is_live() && todo.status == Status::InProgress && todo.fence == job.todo.fence => {
                    self.effect(SeatEffect::Launch { worker, todo: todo.clone(), resume: None });
                    Starting { conversation: None, job: SeatJob { todo, ..job } }
                }
                _ => {
                    self.released(line(&job.todo.id), SOMEONE_ELSES);
                    Idle { conversation: None }
                }
            },
            (Starting { conversation: Some(mut conversation), job }, E::Prompted) => {
                self.begin_turn(&mut conversation);
                self.started(conversation, job)
            }
            (Starting { conversation: Some(conversation), job }, E::NotPrompted(_)) => {
                // The agent takes no more todos: this one gets a new conversation.
                self.end_agent(&conversation);
                let uid = job.todo.uid;
                self.effect(SeatEffect::Reopen(job.todo));
                self.effect(SeatEffect::Claim { uid, worker: None });
                Claiming { conversation: None, uid }
            }
            (Starting { conversation: None, job }, E::Launched { worker, lane }) => {
                if !self.seat.opens_conversation {
                    self.seat.failed_starts = 0;
                }
                self.started(AgentConversation::new(worker, self.conditions.now), SeatJob { lane, ..job })
            }
            (Starting { conversation: None, job }, E::NotLaunched(why)) => self.does_not_start(job.todo, &why),

            (Asking { conversation, job, mut questions }, E::Answered { request, answer }) => {
                match questions.pop_front_if(|question| question.id == request) {
                    Some(question) => self.answered(conversation, job, question, answer, questions),
                    None => Asking { conversation, job, questions },
                }
            }

            (Judging { conversation, job, .. }, E::Inspected(todo)) => self.judge(conversation, job, todo),
            (Judging { conversation, job, can_check }, E::Continuation(text)) => match text {
                Some(text) => self.continue_with(conversation, job, text),
                // The agent does not report it, but the check knows.
                None if can_check => self.check(Some(conversation), job),
                None => self.fail(Some(conversation), job, "the agent stopped without reporting it as done", false),
            },
            (AgentGone { job, failure }, E::Inspected(todo)) => {
                let reported = |todo: &Todo| todo.flags.reported && todo.fence == job.todo.fence && todo.is_live();
                match failure {
                    _ if todo.as_ref().is_some_and(reported) => self.check(None, job),
                    Some(why) => self.fail(None, job, &why, false),
                    None => self.return_for_later(job),
                }
            }

            (Continuing { mut conversation, job, .. }, E::Prompted) => {
                self.begin_turn(&mut conversation);
                self.continued(conversation, job)
            }
            (Continuing { conversation, job, text }, E::NotPrompted(None)) => {
                self.end_agent(&conversation);
                let resume = Resume { session: conversation.session.clone(), text: text.clone() };
                let (worker, todo) = (conversation.worker.clone(), job.todo.clone());
                self.effect(SeatEffect::Launch { worker, todo, resume: Some(resume) });
                Continuing { conversation, job, text }
            }
            (Continuing { conversation, job, .. }, E::NotPrompted(Some(error))) => {
                let why = format!("the agent accepts no further prompts: {error}");
                self.fail(Some(conversation), job, &why, false)
            }
            (Continuing { conversation, job, .. }, E::Launched { worker, lane }) => {
                let AgentConversation { used, done, .. } = conversation;
                let conversation =
                    AgentConversation { used, done, ..AgentConversation::new(worker, self.conditions.now) };
                self.continued(conversation, SeatJob { lane, ..job })
            }
            (Continuing { job, .. }, E::NotLaunched(why)) => {
                self.fail(None, job, &format!("the agent cannot continue: {why}"), false)
            }

            (Failing { conversation, job, why, checked }, E::AttemptFailed(todo)) => {
                // Only after a failed check, and only in the conversation that did the work.
                let retries = checked
                    && !self.seat.exit_reports_done
                    && !self.is_stopping()
                    && self.conditions.run_limit.is_none()
                    && todo.is_some_and(|todo| todo.status == Status::Pending);
                match conversation {
                    Some(conversation) if retries && conversation.asked_to_end.is_none() => {
                        let worker = Some(conversation.worker.clone());
                        self.effect(SeatEffect::Claim { uid: job.todo.uid, worker });
                        Failing { conversation: Some(conversation), job, why, checked }
                    }
                    conversation => self.leave(conversation, job.lane, !checked),
                }
            }
            (Failing { conversation: Some(conversation), job, why, .. }, E::Claimed { todo, .. }) => {
                let text = again(&todo, &why, self.conditions.rules.attempts.saturating_sub(todo.attempts));
                self.continue_with(conversation, SeatJob::new(todo, job.owner, job.lane, self.conditions.now), text)
            }
            (Failing { conversation, job, .. }, E::NotClaimed) => self.leave(conversation, job.lane, false),

            (Checking { conversation, job }, E::Checked(verdict)) => self.checked(conversation, job, verdict),

            // A result that the seat no longer waits for: whatever was started is undone.
            (state, E::Claimed { todo, .. }) => {
                self.effect(SeatEffect::Reopen(todo));
                state
            }
            (state, E::Launched { worker, .. }) => {
                self.effect(SeatEffect::EndAgent(worker.start));
                state
            }
            (state, _) => state,
        }
    }

    pub(super) fn effect(&mut self, effect: SeatEffect) {
        self.effects.push(effect);
    }

    pub(super) fn report(&mut self, event: RunEvent) {
        self.effect(SeatEffect::Report(event));
    }

    pub(super) fn end_agent(&mut self, conversation: &AgentConversation) {
        self.effect(SeatEffect::EndAgent(conversation.worker.start));
    }

    pub(super) fn answer(&mut self, conversation: &AgentConversation, request: PermissionRequest, answer: GivenAnswer) {
        self.effect(SeatEffect::Answer { start: conversation.worker.start, request, answer });
    }

    pub(super) const fn is_stopping(&self) -> bool {
        self.conditions.stopping || self.seat.stop_requested
    }

    pub(super) const fn begin_turn(&self, conversation: &mut AgentConversation) {
        (conversation.last_sign, conversation.turn_began) = (self.conditions.now, self.conditions.now);
        conversation.turn_open = true;
    }

    pub(super) fn started(&mut self, conversation: AgentConversation, job: SeatJob) -> SeatState {
        self.report(RunEvent::Started {
            agent: self.seat.number,
            name: self.seat.name.clone(),
            todo: line(&job.todo.id),
            content: line(&job.todo.content),
            attempt: job.todo.attempts + 1,
        });
        let now = self.conditions.now;
        self.working(conversation, SeatJob { since: now, renewed: now, ..job })
    }

    pub(super) fn continued(&mut self, conversation: AgentConversation, job: SeatJob) -> SeatState {
        self.report(RunEvent::Continued { agent: self.seat.number, todo: line(&job.todo.id) });
        self.working(conversation, job)
    }

    pub(super) fn working(&mut self, conversation: AgentConversation, job: SeatJob) -> SeatState {
        match self.seat.stop_requested {
            true => self.ask_to_end(conversation, EndReason::RunEnds(job)),
            false => Working { conversation, job },
        }
    }

    /// Counts a failed start. It is not an attempt at the todo: no agent got the prompt.
    pub(super) fn does_not_start(&mut self, todo: Todo, why: &str) -> SeatState {
        let why = format!("{} could not be started: {}", line(&self.seat.label), line(why));
        self.failed_start(todo, &why)
    }

    fn failed_start(&mut self, todo: Todo, why: &str) -> SeatState {
        let why = line(why);
        self.effect(SeatEffect::Reopen(todo));
        self.report(RunEvent::Remark { what: why.clone() });
        self.seat.failed_starts += 1;
        self.seat.start_error = why;
        self.leave(None, None, true)
    }

    /// Gives the agent a further prompt about its todo, unless a limit is reached.
    pub(super) fn continue_with(&mut self, conversation: AgentConversation, job: SeatJob, text: String) -> SeatState {
        if let Some(why) = &self.conditions.run_limit {
            self.effect(SeatEffect::StopRun(why.clone()));
            return self.ask_to_end(conversation, EndReason::RunEnds(job));
        }
        if let Some(why) = &self.conditions.todo_limit {
            return self.fail(Some(conversation), job, &format!("its limit is reached: {why}"), false);
        }
        if self.is_stopping() {
            return self.ask_to_end(conversation, EndReason::RunEnds(job));
        }
        let (start, todo) = (conversation.worker.start, job.todo.clone());
        self.effect(SeatEffect::Prompt { start, todo, text: Some(text.clone()) });
        Continuing { conversation, job, text }
    }

    /// Looks whether the agent reported its todo before it exited.
    pub(super) fn agent_gone(&mut self, job: SeatJob, failure: Option<String>) -> SeatState {
        self.effect(SeatEffect::Inspect(job.todo.uid));
        AgentGone { job, failure }
    }

    pub(super) fn give_back(&mut self, job: SeatJob) -> SeatState {
        let id = line(&job.todo.id);
        self.effect(SeatEffect::Reopen(job.todo));
        self.released(id, RUN_ENDS);
        Idle { conversation: None }
    }

    pub(super) fn released(&mut self, todo: String, why: &str) {
        self.report(RunEvent::Released { agent: self.seat.number, todo, why: line(why) });
    }

    /// The claim no longer holds: the agent is to end.
    pub(super) fn lost(&mut self, conversation: AgentConversation, job: &SeatJob, why: &str) -> SeatState {
        self.released(line(&job.todo.id), why);
        self.ask_to_end(conversation, EndReason::TodoLost(job.todo.uid))
    }

    pub(super) fn ask_to_end(&mut self, mut conversation: AgentConversation, reason: EndReason) -> SeatState {
        self.cancel(&mut conversation);
        Ending { conversation, reason }
    }

    pub(super) fn cancel(&mut self, conversation: &mut AgentConversation) {
        if conversation.asked_to_end.is_none() {
            conversation.asked_to_end = Some(self.conditions.now);
            self.effect(SeatEffect::Cancel(conversation.worker.start));
        }
    }

    /// Decides what comes after a turn that the agent ended by itself.
    pub(super) fn judge(&mut self, conversation: AgentConversation, job: SeatJob, todo: Option<Todo>) -> SeatState {
        let Some(todo) = todo.filter(Todo::is_live) else { return self.lost(conversation, &job, REMOVED) };
        if todo.status == Status::InProgress && todo.fence == job.todo.fence {
            if !todo.flags.reported && !self.seat.exit_reports_done {
                let (key, owner) = (conversation.worker.key.clone(), job.owner.clone());
                self.effect(SeatEffect::DecideContinuation { key, owner });
                return Judging { conversation, job, can_check: todo.verify.is_some() };
            }
            if !todo.flags.reported {
                // Recorded before the check: after a crash the todo is checked, not worked on again.
                self.report_done(&job, "the agent ended with exit code 0");
            }
            return self.check(Some(conversation), job);
        }
        let (agent, id) = (self.seat.number, line(&todo.id));
        let why = line(todo.last_error.as_deref().unwrap_or("the agent gave no reason"));
        let event = match (todo.status, &todo.hold) {
            // The agent itself has given up on it.
            (Status::Failed, _) => RunEvent::Failed { agent, todo: id, why },
            (Status::Pending, _) if todo.attempts > job.todo.attempts => RunEvent::Retrying { agent, todo: id, why },
            (Status::Pending, Some(hold)) => RunEvent::Held { agent, todo: id, why: line(&hold.reason) },
            (status, _) => return self.lost(conversation, &job, closed(status).unwrap_or(SOMEONE_ELSES)),
        };
        self.report(event);
        self.leave(Some(conversation), job.lane, false)
    }

    pub(super) fn check(&mut self, conversation: Option<AgentConversation>, job: SeatJob) -> SeatState {
        self.report(RunEvent::Verifying { agent: self.seat.number, todo: line(&job.todo.id) });
        self.effect(SeatEffect::Check { todo: job.todo.clone(), owner: job.owner.clone(), lane: job.lane.clone() });
        Checking { conversation, job }
    }

    pub(super) fn checked(
        &mut self,
        mut conversation: Option<AgentConversation>,
        job: SeatJob,
        verdict: CheckVerdict,
    ) -> SeatState {
        let SeatJob { todo, owner, lane, .. } = job;
        match verdict {
            CheckVerdict::Failed(why) => {
                return self.fail(conversation, SeatJob { todo, owner, lane, ..job }, &why, true);
            }
            CheckVerdict::Done => {
                self.seat.failed_turns = 0;
                if let Some(conversation) = &mut conversation {
                    conversation.done.push(todo.uid);
                }
                self.effect(SeatEffect::Completed(todo));
            }
            CheckVerdict::HandedIn => {
                self.seat.failed_turns = 0;
                self.effect(SeatEffect::HandedIn(todo));
            }
            CheckVerdict::Hold(why) => self.effect(SeatEffect::Hold { todo, owner, kind: HoldKind::Human, why }),
            CheckVerdict::Conflict(why) => self.effect(SeatEffect::Hold { todo, owner, kind: HoldKind::Conflict, why }),
            CheckVerdict::Lost(why) => self.released(line(&todo.id), &why),
            CheckVerdict::Stopped => self.released(line(&todo.id), RUN_ENDS),
        }
        self.leave(conversation, lane, false)
    }

    pub(super) fn fail(
        &mut self,
        conversation: Option<AgentConversation>,
        job: SeatJob,
        why: &str,
        checked: bool,
    ) -> SeatState {
        let why = why.to_owned();
        self.effect(SeatEffect::Fail { todo: job.todo.clone(), owner: job.owner.clone(), why: why.clone() });
        Failing { conversation, job, why, checked }
    }

    /// Leaves a todo. An agent whose lane belongs to the todo ends; others wait for their next todo.
    pub(super) fn leave(
        &mut self,
        mut conversation: Option<AgentConversation>,
        lane: Option<Lane>,
        pause: bool,
    ) -> SeatState {
        let ends = self.conditions.rules.lanes || self.is_stopping();
        if let Some(conversation) = conversation.take_if(|open| ends || open.asked_to_end.is_some()) {
            self.end_agent(&conversation);
        }
        if let Some(lane) = lane {
            self.effect(SeatEffect::CloseLane(lane));
        }
        if !pause {
            return Idle { conversation };
        }
        let pause = self.conditions.rules.backoff.saturating_mul(1 << self.seat.failed_turns.min(16));
        self.seat.failed_turns = self.seat.failed_turns.saturating_add(1);
        Resting { until: self.conditions.now + pause.min(LONGEST_PAUSE), conversation }
    }
}

/// Returns how to report that another actor closed a todo.
pub(super) const fn closed(status: Status) -> Option<&'static str> {
    match status {
        Status::Completed => Some("someone has completed it"),
        Status::Cancelled => Some("it was cancelled"),
        Status::Failed => Some("it was marked as failed"),
        Status::Pending | Status::InProgress => None,
    }
}
