//! The one function that changes a seat.

use std::collections::VecDeque;
use std::mem;
use std::time::Instant;

use punch_core::drive::again;
use punch_core::schedule::estimate;
use punch_core::{Status, Todo};
use punch_engine::config::print_duration;
use punch_store::Spent;

use super::event::{Conditions, Effect, Resume, SeatEvent, Verdict};
use super::{Conversation, EndReason, Job, LONGEST_PAUSE, Seat, SeatState};
use crate::agent::{Event, Finish, Permission, PlanEntry, Spending};
use crate::permission::Decision;
use crate::run_event::{RunEvent, line};
use crate::worktree::Lane;
use SeatState::{
    AgentGone, Asking, Checking, Claiming, Continuing, Ending, Failing, Idle, Judging, Resting, Starting, Working,
};

/// Questions of one agent that may wait for the user; further ones are refused.
const MAX_QUESTIONS: usize = 50;

const SOMEBODY_ELSES: &str = "somebody else has it by now";
const REMOVED: &str = "it was removed from the plan";
const RUN_ENDS: &str = "the run ends";

impl Seat {
    /// Moves the seat to its next state and returns what the runner has to do, in order. Pure: no clock, no process and no
    /// store.
    pub fn step(&mut self, event: SeatEvent, conditions: &Conditions<'_>) -> Vec<Effect> {
        let state = mem::replace(&mut self.state, Idle { conversation: None });
        let mut step = Step { seat: self, conditions, effects: Vec::new() };
        let next = step.next(state, event);
        let effects = step.effects;
        self.state = next;
        effects
    }
}

struct Step<'a, 'c> {
    seat: &'a mut Seat,
    conditions: &'a Conditions<'c>,
    effects: Vec<Effect>,
}

impl Step<'_, '_> {
    fn next(&mut self, state: SeatState, event: SeatEvent) -> SeatState {
        use SeatEvent as E;
        match (state, event) {
            (state, E::Agent(event)) => self.agent(state, event),
            (state, E::StopRequested) => self.stop(state),
            (state, E::Tick { printed, todo_time_over }) => self.tick(state, printed, todo_time_over),
            (state, E::TodoChanged(todo)) => self.todo_changed(state, &todo),

            (Idle { conversation }, E::Assign { uid, fresh }) if !self.seat.stop_requested => {
                let mut conversation = conversation;
                if let Some(full) = conversation.take_if(|_| fresh) {
                    self.end_agent(&full);
                    self.effect(Effect::Checkpoint("an agent's context window is full"));
                }
                let worker = conversation.as_ref().map(|conversation| conversation.worker.clone());
                self.effect(Effect::Claim { uid, worker });
                Claiming { conversation, uid }
            }
            (Idle { conversation: None }, E::CheckReported { todo, owner }) => {
                let job = Job::new(todo, owner, None, self.conditions.now);
                self.check(None, job)
            }

            (Claiming { conversation, .. }, E::NotClaimed) => Idle { conversation },
            (Claiming { conversation, .. }, E::Claimed { worker, todo }) => {
                if self.seat.stop_requested {
                    self.effect(Effect::Reopen(todo));
                    return self.leave(conversation, None, false);
                }
                let job = Job::new(todo.clone(), worker.owner.clone(), None, self.conditions.now);
                self.effect(match &conversation {
                    Some(_) => Effect::Prompt { start: worker.start, todo, text: None },
                    None => Effect::Launch { worker, todo, resume: None },
                });
                Starting { conversation, job }
            }
            (Starting { conversation: Some(mut conversation), job }, E::Prompted) => {
                self.begin_turn(&mut conversation);
                self.started(conversation, job)
            }
            (Starting { conversation: Some(conversation), job }, E::NotPrompted(_)) => {
                // The agent takes no more todos: this one gets a conversation of its own.
                self.end_agent(&conversation);
                let uid = job.todo.uid;
                self.effect(Effect::Reopen(job.todo));
                self.effect(Effect::Claim { uid, worker: None });
                Claiming { conversation: None, uid }
            }
            (Starting { conversation: None, job }, E::Launched { worker, lane }) => {
                if !self.seat.opens_conversation {
                    self.seat.failed_starts = 0;
                }
                self.started(Conversation::new(worker, self.conditions.now), Job { lane, ..job })
            }
            (Starting { conversation: None, job }, E::NotLaunched(why)) => self.does_not_start(job.todo, &why),

            (Asking { conversation, job, questions, answer: None }, E::Answered { request, allowed })
                if questions.front().is_some_and(|question| question.id == request) =>
            {
                let Some(allowed) = allowed else {
                    // The todo stays on hold, and the agent makes room for others.
                    return self.ask_to_end(conversation, EndReason::TodoLost(job.todo.uid));
                };
                let (uid, worker) = (job.todo.uid, Some(conversation.worker.clone()));
                self.effect(Effect::Release { uid, owner: job.owner.clone() });
                self.effect(Effect::Claim { uid, worker });
                Asking { conversation, job, questions, answer: Some(allowed) }
            }
            (Asking { conversation, job, mut questions, answer: Some(allowed) }, E::Claimed { todo, .. }) => {
                if let Some(question) = questions.pop_front() {
                    self.answer(&conversation, question, allowed);
                }
                let job = Job { todo, ..job };
                if conversation.asked_to_end.is_some() {
                    return self.ask_to_end(conversation, EndReason::RunEnds(job));
                }
                if questions.is_empty() {
                    self.working(conversation, job)
                } else {
                    self.ask(conversation, job, questions)
                }
            }
            (Asking { conversation, job, answer: Some(_), .. }, E::NotClaimed) => {
                self.lost(conversation, &job, SOMEBODY_ELSES)
            }

            (Judging { conversation, job, .. }, E::Inspected(todo)) => self.judge(conversation, job, todo),
            (Judging { conversation, job, can_check }, E::Continuation(text)) => match text {
                Some(text) => self.continue_with(conversation, job, text),
                // The agent does not report it, but the check knows.
                None if can_check => self.check(Some(conversation), job),
                None => self.fail(Some(conversation), job, "the agent stopped without reporting it as done", false),
            },
            (AgentGone { job, why }, E::Inspected(todo)) => {
                let reported = |todo: &Todo| todo.flags.reported && todo.fence == job.todo.fence && todo.is_live();
                if todo.as_ref().is_some_and(reported) {
                    self.check(None, job)
                } else {
                    self.fail(None, job, &why, false)
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
                self.effect(Effect::Launch { worker, todo, resume: Some(resume) });
                Continuing { conversation, job, text }
            }
            (Continuing { conversation, job, .. }, E::NotPrompted(Some(error))) => {
                let why = format!("the agent takes no further prompt: {error}");
                self.fail(Some(conversation), job, &why, false)
            }
            (Continuing { conversation, job, .. }, E::Launched { worker, lane }) => {
                let Conversation { used, done, .. } = conversation;
                let conversation = Conversation { used, done, ..Conversation::new(worker, self.conditions.now) };
                self.continued(conversation, Job { lane, ..job })
            }
            (Continuing { job, .. }, E::NotLaunched(why)) => {
                self.fail(None, job, &format!("the agent cannot go on: {why}"), false)
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
                        self.effect(Effect::Claim { uid: job.todo.uid, worker });
                        Failing { conversation: Some(conversation), job, why, checked }
                    }
                    conversation => self.leave(conversation, job.lane, !checked),
                }
            }
            (Failing { conversation: Some(conversation), job, why, .. }, E::Claimed { todo, .. }) => {
                let text = again(&todo, &why);
                self.continue_with(conversation, Job::new(todo, job.owner, job.lane, self.conditions.now), text)
            }
            (Failing { conversation, job, .. }, E::NotClaimed) => self.leave(conversation, job.lane, false),

            (Checking { conversation, job }, E::Checked(verdict)) => self.checked(conversation, job, verdict),

            // A result that the seat no longer waits for: whatever was started is undone.
            (state, E::Claimed { todo, .. }) => {
                self.effect(Effect::Reopen(todo));
                state
            }
            (state, E::Launched { worker, .. }) => {
                self.effect(Effect::EndAgent(worker.start));
                state
            }
            (state, _) => state,
        }
    }

    fn effect(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    fn report(&mut self, event: RunEvent) {
        self.effect(Effect::Report(event));
    }

    fn end_agent(&mut self, conversation: &Conversation) {
        self.effect(Effect::EndAgent(conversation.worker.start));
    }

    fn answer(&mut self, conversation: &Conversation, request: Permission, allowed: bool) {
        self.effect(Effect::Answer { start: conversation.worker.start, request, allowed });
    }

    const fn is_stopping(&self) -> bool {
        self.conditions.stopping || self.seat.stop_requested
    }

    const fn begin_turn(&self, conversation: &mut Conversation) {
        (conversation.last_sign, conversation.turn_began) = (self.conditions.now, self.conditions.now);
    }

    fn started(&mut self, conversation: Conversation, job: Job) -> SeatState {
        self.report(RunEvent::Started {
            agent: self.seat.number,
            name: self.seat.name.clone(),
            todo: line(&job.todo.id),
            content: line(&job.todo.content),
            attempt: job.todo.attempts + 1,
        });
        let now = self.conditions.now;
        self.working(conversation, Job { since: now, renewed: now, ..job })
    }

    fn continued(&mut self, conversation: Conversation, job: Job) -> SeatState {
        self.report(RunEvent::Continued { agent: self.seat.number, todo: line(&job.todo.id) });
        self.working(conversation, job)
    }

    fn working(&mut self, conversation: Conversation, job: Job) -> SeatState {
        match self.seat.stop_requested {
            true => self.ask_to_end(conversation, EndReason::RunEnds(job)),
            false => Working { conversation, job },
        }
    }

    /// Counts a failed start. It is no attempt at the todo: nobody was told about it.
    fn does_not_start(&mut self, todo: Todo, why: &str) -> SeatState {
        let why = format!("{} does not start: {}", line(&self.seat.label), line(why));
        self.effect(Effect::Reopen(todo));
        self.report(RunEvent::Remark { what: why.clone() });
        self.seat.failed_starts += 1;
        self.seat.start_error = why;
        self.leave(None, None, true)
    }

    /// Gives the agent a further prompt about its todo, unless a limit is reached.
    fn continue_with(&mut self, conversation: Conversation, job: Job, text: String) -> SeatState {
        if let Some(why) = &self.conditions.run_limit {
            self.effect(Effect::StopRun(why.clone()));
            return self.ask_to_end(conversation, EndReason::RunEnds(job));
        }
        if let Some(why) = &self.conditions.todo_limit {
            return self.fail(Some(conversation), job, &format!("its limit is reached: {why}"), false);
        }
        if self.is_stopping() {
            return self.ask_to_end(conversation, EndReason::RunEnds(job));
        }
        let (start, todo) = (conversation.worker.start, job.todo.clone());
        self.effect(Effect::Prompt { start, todo, text: Some(text.clone()) });
        Continuing { conversation, job, text }
    }

    fn agent(&mut self, mut state: SeatState, event: Event) -> SeatState {
        let (Some(conversation), _) = state.parts_mut() else { return state };
        conversation.last_sign = self.conditions.now;
        match event {
            Event::Started { session } => {
                conversation.session = Some(session);
                self.seat.failed_starts = 0;
            }
            Event::Text(text) => self.output(line(&text)),
            Event::ToolUsed { name } => self.output(format!("[{}]", line(&name))),
            Event::PlanSaid(entries) => self.plan_of_agent(&state, &entries),
            Event::Usage(spending) => conversation.spending.add(&spending),
            Event::Permission(request) => return self.permission(state, request),
            Event::TurnEnded { finish } => return self.turn_ended(state, finish),
            Event::Exited { code } => return self.exited(state, code),
        }
        state
    }

    fn output(&mut self, text: String) {
        self.report(RunEvent::Output { agent: self.seat.number, text });
    }

    /// Reads the agent's own plan, as far as it is about the todo that it was given.
    fn plan_of_agent(&mut self, state: &SeatState, entries: &[PlanEntry]) {
        let Some(job) = state.job_in_work() else { return };
        let done: Vec<&PlanEntry> = entries.iter().filter(|entry| entry.status == "completed").collect();
        if done.iter().any(|entry| entry.content.trim() == job.todo.content.trim()) {
            self.report_done(job, "the agent's own plan has it as completed");
        }
        self.output(format!("{} of {} steps of its own plan are done", done.len(), entries.len()));
    }

    fn report_done(&mut self, job: &Job, evidence: &'static str) {
        self.effect(Effect::ReportDone { todo: job.todo.clone(), owner: job.owner.clone(), evidence });
    }

    /// Charges what a turn took. An agent that reports no usage is charged the estimate of the todo, once per attempt.
    fn charge(&mut self, state: &mut SeatState) {
        let (Some(conversation), Some(job)) = state.parts_mut() else { return };
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
        let spent = Spent {
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
        self.effect(Effect::Charge(spent));
    }

    fn permission(&mut self, mut state: SeatState, request: Permission) -> SeatState {
        let decision = self.conditions.rules.policy.judge(&request);
        match state {
            Working { conversation, job } if decision == Decision::Ask => {
                return self.ask(conversation, job, VecDeque::from([request]));
            }
            // One question at a time: an agent may want several things at once, but not any number.
            Asking { ref mut questions, .. } if decision == Decision::Ask && questions.len() <= MAX_QUESTIONS => {
                questions.push_back(request);
            }
            ref state => {
                if let Some(conversation) = state.conversation() {
                    self.answer(conversation, request, matches!(decision, Decision::Allow(_)));
                }
            }
        }
        state
    }

    /// Asks the user about the first of these questions. The todo is on hold until then.
    fn ask(&mut self, conversation: Conversation, job: Job, questions: VecDeque<Permission>) -> SeatState {
        if let Some(request) = questions.front().cloned() {
            let (todo, owner, id) = (job.todo.clone(), job.owner.clone(), job.todo.id.clone());
            let what = line(&request.what);
            self.report(RunEvent::Asks { agent: self.seat.number, todo: line(&id), what });
            let why = format!("the agent asks for permission: {}", request.what);
            self.effect(Effect::Hold { todo, owner, why });
            self.effect(Effect::AskUser { start: conversation.worker.start, todo: id, request });
        }
        Asking { conversation, job, questions, answer: None }
    }

    fn turn_ended(&mut self, mut state: SeatState, finish: Finish) -> SeatState {
        let opening = self.seat.opens_conversation && state.conversation().is_some_and(|open| open.session.is_none());
        match (state, finish) {
            // A login is missing, or two first starts were in each other's way.
            (Working { conversation, job }, Finish::Failed(why)) if opening => {
                self.end_agent(&conversation);
                self.does_not_start(job.todo, &why)
            }
            (mut state @ Working { .. }, finish) => {
                self.charge(&mut state);
                let Working { conversation, job } = state else { return state };
                let why = match finish {
                    Finish::Natural => {
                        self.effect(Effect::Inspect(job.todo.uid));
                        return Judging { conversation, job, can_check: false };
                    }
                    Finish::Limit => "the agent's host ended the turn at a limit of its own".to_owned(),
                    Finish::Cancelled => "the turn was cancelled".to_owned(),
                    Finish::Failed(why) => why,
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

    fn exited(&mut self, mut state: SeatState, code: Option<i32>) -> SeatState {
        if state.conversation().is_some_and(|conversation| conversation.spending != Spending::default()) {
            self.charge(&mut state);
        }
        let code = code.map_or_else(|| "nobody knows how".to_owned(), |code| format!("exit code {code}"));
        let why = format!("the agent ended in the middle of its work ({code})");
        match state {
            Idle { .. } => Idle { conversation: None },
            Resting { until, .. } => Resting { until, conversation: None },
            Claiming { uid, .. } => Claiming { conversation: None, uid },
            Checking { job, .. } => Checking { conversation: None, job },
            Failing { job, why, checked, .. } => Failing { conversation: None, job, why, checked },
            Ending { reason: EndReason::RunEnds(job), .. } => self.give_back(job),
            Asking { conversation, job, .. } if conversation.asked_to_end.is_some() => self.give_back(job),
            Ending { reason: EndReason::TodoLost(_), .. } => Idle { conversation: None },
            Ending { reason: EndReason::Failed(job, why), .. } | AgentGone { job, why } => self.agent_gone(job, why),
            Starting { job, .. }
            | Working { job, .. }
            | Asking { job, .. }
            | Judging { job, .. }
            | Continuing { job, .. } => self.agent_gone(job, why),
        }
    }

    /// Looks whether the agent reported its todo before it exited.
    fn agent_gone(&mut self, job: Job, why: String) -> SeatState {
        self.effect(Effect::Inspect(job.todo.uid));
        AgentGone { job, why }
    }

    fn give_back(&mut self, job: Job) -> SeatState {
        let id = line(&job.todo.id);
        self.effect(Effect::Reopen(job.todo));
        self.released(id, RUN_ENDS);
        Idle { conversation: None }
    }

    fn released(&mut self, todo: String, why: &str) {
        self.report(RunEvent::Released { agent: self.seat.number, todo, why: line(why) });
    }

    /// The claim no longer holds: the agent is to end.
    fn lost(&mut self, conversation: Conversation, job: &Job, why: &str) -> SeatState {
        self.released(line(&job.todo.id), why);
        self.ask_to_end(conversation, EndReason::TodoLost(job.todo.uid))
    }

    fn ask_to_end(&mut self, mut conversation: Conversation, reason: EndReason) -> SeatState {
        self.cancel(&mut conversation);
        Ending { conversation, reason }
    }

    fn cancel(&mut self, conversation: &mut Conversation) {
        if conversation.asked_to_end.is_none() {
            conversation.asked_to_end = Some(self.conditions.now);
            self.effect(Effect::Cancel(conversation.worker.start));
        }
    }

    /// Decides what comes after a turn that the agent ended by itself.
    fn judge(&mut self, conversation: Conversation, job: Job, todo: Option<Todo>) -> SeatState {
        let Some(todo) = todo.filter(Todo::is_live) else { return self.lost(conversation, &job, REMOVED) };
        if todo.status == Status::InProgress && todo.fence == job.todo.fence {
            if !todo.flags.reported && !self.seat.exit_reports_done {
                let (key, owner) = (conversation.worker.key.clone(), job.owner.clone());
                self.effect(Effect::DecideContinuation { key, owner });
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
            (status, _) => return self.lost(conversation, &job, closed(status).unwrap_or(SOMEBODY_ELSES)),
        };
        self.report(event);
        self.leave(Some(conversation), job.lane, false)
    }

    fn check(&mut self, conversation: Option<Conversation>, job: Job) -> SeatState {
        self.report(RunEvent::Verifying { agent: self.seat.number, todo: line(&job.todo.id) });
        self.effect(Effect::Check { todo: job.todo.clone(), owner: job.owner.clone(), lane: job.lane.clone() });
        Checking { conversation, job }
    }

    fn checked(&mut self, mut conversation: Option<Conversation>, job: Job, verdict: Verdict) -> SeatState {
        let Job { todo, owner, lane, .. } = job;
        match verdict {
            Verdict::Failed(why) => {
                return self.fail(conversation, Job { todo, owner, lane, ..job }, &why, true);
            }
            Verdict::Done => {
                self.seat.failed_turns = 0;
                if let Some(conversation) = &mut conversation {
                    conversation.done.push(todo.uid);
                }
                self.effect(Effect::Completed(todo));
            }
            Verdict::Hold(why) => self.effect(Effect::Hold { todo, owner, why }),
            Verdict::Lost(why) => self.released(line(&todo.id), &why),
            Verdict::Stopped => self.released(line(&todo.id), RUN_ENDS),
        }
        self.leave(conversation, lane, false)
    }

    fn fail(&mut self, conversation: Option<Conversation>, job: Job, why: &str, checked: bool) -> SeatState {
        let why = why.to_owned();
        self.effect(Effect::Fail { todo: job.todo.clone(), owner: job.owner.clone(), why: why.clone() });
        Failing { conversation, job, why, checked }
    }

    /// Leaves a todo. An agent whose lane belongs to the todo ends; others wait for their next todo.
    fn leave(&mut self, mut conversation: Option<Conversation>, lane: Option<Lane>, pause: bool) -> SeatState {
        let ends = self.conditions.rules.lanes || self.is_stopping();
        if let Some(conversation) = conversation.take_if(|open| ends || open.asked_to_end.is_some()) {
            self.end_agent(&conversation);
        }
        if let Some(lane) = lane {
            self.effect(Effect::CloseLane(lane));
        }
        if !pause {
            return Idle { conversation };
        }
        let pause = self.conditions.rules.backoff.saturating_mul(1 << self.seat.failed_turns.min(16));
        self.seat.failed_turns = self.seat.failed_turns.saturating_add(1);
        Resting { until: self.conditions.now + pause.min(LONGEST_PAUSE), conversation }
    }

    fn stop(&mut self, mut state: SeatState) -> SeatState {
        self.seat.stop_requested = true;
        match state {
            Idle { conversation } | Resting { conversation, .. } => self.leave(conversation, None, false),
            Working { conversation, job } => self.ask_to_end(conversation, EndReason::RunEnds(job)),
            Asking { ref mut conversation, .. } | Checking { conversation: Some(ref mut conversation), .. } => {
                self.cancel(conversation);
                state
            }
            // The result of a pending effect leads to a state that heeds the request.
            state => state,
        }
    }

    fn todo_changed(&mut self, state: SeatState, todo: &Todo) -> SeatState {
        let Some(job) = state.job_in_work().filter(|job| job.todo.uid == todo.uid) else { return state };
        let why = match todo.status {
            _ if !todo.is_live() => REMOVED,
            Status::InProgress if todo.fence != job.todo.fence => SOMEBODY_ELSES,
            // What its own agent did to it, a hold or a failure, is read when the turn ends.
            Status::InProgress | Status::Pending | Status::Failed => return state,
            status => closed(status).unwrap_or_default(),
        };
        match state {
            Working { conversation, job }
            | Ending { conversation, reason: EndReason::RunEnds(job) | EndReason::Failed(job, _) } => {
                self.lost(conversation, &job, why)
            }
            state => state,
        }
    }

    fn tick(&mut self, mut state: SeatState, printed: Option<Instant>, todo_time_over: bool) -> SeatState {
        let (now, rules) = (self.conditions.now, self.conditions.rules);
        let since = |then: Instant| now.saturating_duration_since(then);
        if let Some(conversation) = state.conversation()
            && let Some(asked) = conversation.asked_to_end
            && (self.conditions.urgent || since(asked) >= rules.grace)
        {
            self.effect(Effect::Kill(conversation.worker.start));
        }
        // While the user is asked, the todo is on hold and not claimed.
        if !matches!(state, Asking { .. })
            && let (_, Some(job)) = state.parts_mut()
            && since(job.renewed) >= rules.lease / 3
        {
            job.renewed = now;
            self.effect(Effect::Renew { uid: job.todo.uid, owner: job.owner.clone() });
        }
        match state {
            Idle { conversation } | Resting { conversation, .. } if self.is_stopping() => {
                self.leave(conversation, None, false)
            }
            Resting { until, conversation } if until <= now => Idle { conversation },
            Working { conversation, job } => {
                let last_sign = printed.map_or(conversation.last_sign, |printed| printed.max(conversation.last_sign));
                let why = if since(last_sign) >= rules.idle {
                    format!("the agent gave no sign of life for {}", print_duration(rules.idle))
                } else if todo_time_over {
                    "the time for one todo is over".to_owned()
                } else {
                    return Working { conversation, job };
                };
                self.ask_to_end(conversation, EndReason::Failed(job, why))
            }
            state => state,
        }
    }
}

/// Returns how to report that somebody else closed a todo.
const fn closed(status: Status) -> Option<&'static str> {
    match status {
        Status::Completed => Some("somebody has completed it"),
        Status::Cancelled => Some("it was cancelled"),
        Status::Failed => Some("it was marked as failed"),
        Status::Pending | Status::InProgress => None,
    }
}
