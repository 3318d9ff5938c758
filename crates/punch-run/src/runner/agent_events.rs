//! What agents report, and what people answer.

use punch_core::schedule::estimate;
use punch_core::{Actor, Op, Ref, Status};
use punch_engine::{EngineError, Request};
use punch_store::Spent;

use super::seat::{EndReason, Stage};
use super::{Message, Runner};
use crate::agent::{Event, Finish, Kind, Permission, PlanEntry, Report, Spending};
use crate::error::RunError;
use crate::permission::{self, Decision};
use crate::run_event::{RunEvent, line};

/// Questions of one agent that wait for a person; further ones are refused.
const QUESTIONS: usize = 50;

impl Runner<'_, '_> {
    pub(super) fn reported(&mut self, report: Report) -> Result<(), RunError> {
        let of = |seat: &super::Seat| {
            seat.conversation.as_ref().is_some_and(|conversation| conversation.start == report.from)
        };
        // Of one that was given up nothing is heard any more.
        let Some(at) = self.seats.iter().position(of) else { return Ok(()) };
        let number = self.seats[at].number;
        if let Some(conversation) = &mut self.seats[at].conversation {
            conversation.seen = std::time::Instant::now();
        }
        match report.event {
            Event::Started { session } => {
                self.seats[at].failed_starts = (0, String::new());
                if let Some(conversation) = &mut self.seats[at].conversation {
                    conversation.session = Some(session);
                }
            }
            Event::Text(text) => self.report(&RunEvent::Output { agent: number, text: line(&text) }),
            Event::ToolUsed { name } => {
                self.report(&RunEvent::Output { agent: number, text: format!("[{}]", line(&name)) })
            }
            Event::PlanSaid(entries) => self.plan_said(at, &entries)?,
            Event::Usage(spent) => self.spent(at, &spent),
            Event::Permission(wanted) => self.wants(at, wanted)?,
            Event::TurnEnded { finish } => self.turn_ended(at, finish)?,
            Event::Exited { code } => self.exited(at, code)?,
        }
        Ok(())
    }

    fn spent(&mut self, at: usize, spent: &Spending) {
        let Some(conversation) = &mut self.seats[at].conversation else { return };
        conversation.spending.add(spent);
    }

    /// Writes down what a turn took. What nobody reports counts as what the todo was estimated at, once an attempt.
    pub(super) fn charge(&mut self, at: usize) -> Result<(), RunError> {
        let (run, calibration) = (self.run.id, self.calibration);
        let name = self.options.specs[self.seats[at].spec].name().to_owned();
        let seat = &mut self.seats[at];
        let (Some(conversation), Some(job)) = (&mut seat.conversation, &mut seat.job) else { return Ok(()) };
        let spending = std::mem::take(&mut conversation.spending);
        let known = spending.tokens();
        let guess = if known == 0 && !job.guessed { estimate(&job.todo, calibration).tokens } else { 0 };
        job.guessed |= known == 0;
        let grown = spending.tokens().saturating_sub(spending.again()).max(spending.tokens_out).max(guess);
        conversation.used = spending.context.unwrap_or_else(|| conversation.used.saturating_add(grown));
        let ms = u64::try_from(conversation.turn.elapsed().as_millis()).unwrap_or(u64::MAX);
        conversation.turn = std::time::Instant::now();
        let spent = Spent {
            uid: job.todo.uid,
            attempt: job.todo.attempts + 1,
            run: Some(run),
            agent: name,
            subagent: None,
            tokens_in: if known == 0 { guess } else { spending.tokens_in },
            tokens_out: spending.tokens_out,
            again: if known == 0 { 0 } else { spending.again() },
            cost: spending.cost_micros,
            ms,
            turns: spending.turns.max(1),
            estimated: known == 0,
            at: 0,
        };
        self.persist(|engine| engine.spend(self.world.plan, std::slice::from_ref(&spent)))?;
        self.meter.add(&spent);
        Ok(())
    }

    /// The agent's own plan, as far as it is about the todo that it was given.
    fn plan_said(&mut self, at: usize, entries: &[PlanEntry]) -> Result<(), RunError> {
        let Some(job) = self.seats[at].job.as_ref().filter(|job| job.stage == Stage::Working) else { return Ok(()) };
        let done = |entry: &&PlanEntry| entry.status == "completed";
        let (all, over) = (entries.len(), entries.iter().filter(done).count());
        let ours = entries.iter().filter(done).any(|entry| entry.content.trim() == job.todo.content.trim());
        if ours {
            self.report_done(at, "the agent's own plan has it as completed")?;
        }
        let number = self.seats[at].number;
        self.report(&RunEvent::Output {
            agent: number,
            text: format!("{over} of {all} steps of its own plan are done"),
        });
        Ok(())
    }

    /// Says for the worker that its todo is done.
    pub(super) fn report_done(&mut self, at: usize, why: &str) -> Result<(), RunError> {
        let Some(job) = &self.seats[at].job else { return Ok(()) };
        let evidence = punch_core::Evidence { text: Some(why.to_owned()), ..Default::default() };
        let ops = [Op::Done { target: Ref::Uid(job.todo.uid), evidence: Some(evidence), fence: Some(job.todo.fence) }];
        let request = Request::of(Actor::worker(self.actor(None).by(), &job.owner));
        match self.persist(|engine| engine.submit(self.world.plan, &request, &ops)) {
            // What has become of it is seen when it is judged.
            Ok(_) | Err(EngineError::Refused(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn wants(&mut self, at: usize, wanted: Permission) -> Result<(), RunError> {
        let decision = self.policy.judge(&wanted);
        if decision != Decision::Ask {
            self.answer(at, &wanted, decision != Decision::Refuse);
            return Ok(());
        }
        let seat = &mut self.seats[at];
        let (Some(conversation), Some(job)) = (&mut seat.conversation, &mut seat.job) else { return Ok(()) };
        if job.stage == Stage::Asking {
            // One question at a time: an agent may want several things at once, but not any number.
            if conversation.more.len() >= QUESTIONS {
                self.answer(at, &wanted, false);
                return Ok(());
            }
            conversation.more.push_back(wanted);
            return Ok(());
        }
        let (start, todo, owner, number) = (conversation.start, job.todo.clone(), job.owner.clone(), seat.number);
        job.stage = Stage::Asking;
        self.report(&RunEvent::Asks { agent: number, todo: line(&todo.id), what: line(&wanted.what) });
        self.hold(number, &todo, Some(&owner), &format!("the agent asks for permission: {}", wanted.what))?;
        let (observer, send) = (self.observer, self.send.clone());
        if let Some(conversation) = &mut self.seats[at].conversation {
            conversation.asks = Some(wanted.clone());
        }
        self.scope.spawn(move || {
            let answer = observer.ask(&todo.id, &wanted);
            let _ = send.send(Message::Answered(start, wanted.id, answer));
        });
        Ok(())
    }

    fn answer(&mut self, at: usize, wanted: &Permission, allowed: bool) {
        let Some(conversation) = &mut self.seats[at].conversation else { return };
        let refusing = || wanted.options.iter().find(|(.., allows)| !allows).map(|(id, ..)| id.as_str());
        let option = if allowed { permission::allowing(wanted) } else { refusing() };
        if let Err(error) = conversation.running.answer(&wanted.id, option) {
            self.remark(format!("an answer did not reach the agent: {error}"));
        }
    }

    /// A person has answered, or there was nobody to ask.
    pub(super) fn answered(&mut self, start: u64, request: &str, allowed: Option<bool>) -> Result<(), RunError> {
        let of = |seat: &super::Seat| {
            seat.conversation.as_ref().is_some_and(|conversation| {
                conversation.start == start && conversation.asks.as_ref().is_some_and(|asks| asks.id == request)
            })
        };
        let Some(at) = self.seats.iter().position(of) else { return Ok(()) };
        let Some(wanted) = self.seats[at].conversation.as_mut().and_then(|conversation| conversation.asks.take())
        else {
            return Ok(());
        };
        let Some(allowed) = allowed else {
            // Nobody is there: it stays on hold, and the agent makes room for others.
            self.seats[at].job = None;
            self.ask_to_end(at, EndReason::TodoLost);
            return Ok(());
        };
        let Some(job) = &self.seats[at].job else { return Ok(()) };
        let (uid, owner) = (job.todo.uid, job.owner.clone());
        let Some(key) = self.seats[at].conversation.as_ref().map(|conversation| conversation.key.clone()) else {
            return Ok(());
        };
        let request = Request::of(self.actor(Some(&owner)));
        let release = [Op::Release(Ref::Uid(uid))];
        match self.persist(|engine| engine.submit(self.world.plan, &request, &release)) {
            Ok(_) | Err(EngineError::Refused(_)) => {}
            Err(error) => return Err(error.into()),
        }
        match self.claim(&owner, Some(&key), uid)? {
            Some(todo) => {
                self.write_session(at, &todo)?;
                if let Some(job) = &mut self.seats[at].job {
                    job.todo = todo;
                    job.stage = Stage::Working;
                }
                self.answer(at, &wanted, allowed);
                if let Some(next) =
                    self.seats[at].conversation.as_mut().and_then(|conversation| conversation.more.pop_front())
                {
                    return self.wants(at, next);
                }
            }
            None => self.lost(at, "somebody else has it by now"),
        }
        Ok(())
    }

    fn turn_ended(&mut self, at: usize, finish: Finish) -> Result<(), RunError> {
        if let (Finish::Failed(why), true) = (&finish, self.never_began(at)) {
            return self.did_not_open(at, why);
        }
        self.charge(at)?;
        let working = self.seats[at].job.as_ref().is_some_and(|job| job.stage == Stage::Working);
        let ending = self.seats[at].conversation.as_ref().is_some_and(|conversation| conversation.ending.is_some());
        // What is asked to end is judged when it has ended.
        if !working || ending {
            return Ok(());
        }
        match finish {
            Finish::Natural => self.judge(at),
            Finish::Limit => self.attempt_failed(at, "the agent's host ended the turn at a limit of its own"),
            Finish::Cancelled => self.attempt_failed(at, "the turn was cancelled"),
            Finish::Failed(why) => self.attempt_failed(at, &why),
        }
    }

    /// No conversation came about: the todo was never told to anybody.
    fn never_began(&self, at: usize) -> bool {
        let silent =
            |conversation: &super::seat::Conversation| conversation.session.is_none() && conversation.ending.is_none();
        self.kind(at) == Kind::Acp && self.seats[at].conversation.as_ref().is_some_and(silent)
    }

    /// A login is missing, or two first starts were in each other's way: no attempt at the todo.
    fn did_not_open(&mut self, at: usize, why: &str) -> Result<(), RunError> {
        let Some(job) = self.seats[at].job.take() else { return Ok(()) };
        self.seats[at].conversation = None;
        self.does_not_start(at, &job.todo, why)
    }

    fn exited(&mut self, at: usize, code: Option<i32>) -> Result<(), RunError> {
        if self.seats[at].conversation.as_ref().is_some_and(|conversation| conversation.spending != Spending::default())
        {
            self.charge(at)?;
        }
        let Some(conversation) = self.seats[at].conversation.take() else { return Ok(()) };
        self.seats[at].done.clear();
        let Some(job) = &self.seats[at].job else { return Ok(()) };
        if let Stage::Checking(_) = job.stage {
            return Ok(());
        }
        match conversation.ending.map(|(_, doom)| doom) {
            Some(EndReason::RunEnds) => self.give_back(at, "the run ends"),
            Some(EndReason::TodoLost) => {
                self.seats[at].job = None;
                Ok(())
            }
            // It said that it is done before it was ended: that is looked at.
            Some(EndReason::Failed(_)) | None if self.is_reported(at)? => self.verify(at),
            Some(EndReason::Failed(why)) => self.attempt_failed(at, &why),
            None => {
                let code = code.map_or_else(|| "nobody knows how".to_owned(), |code| format!("exit code {code}"));
                self.attempt_failed(at, &format!("the agent ended in the middle of its work ({code})"))
            }
        }
    }

    /// Opens a todo again that nobody has finished; what was reported stays so.
    pub(super) fn give_back(&mut self, at: usize, why: &str) -> Result<(), RunError> {
        let number = self.seats[at].number;
        let Some(job) = self.seats[at].job.take() else { return Ok(()) };
        self.persist(|engine| engine.reopen_unreported(self.world.plan, self.run.id, &job.todo))?;
        self.report(&RunEvent::Released { agent: number, todo: line(&job.todo.id), why: line(why) });
        Ok(())
    }

    /// A todo that is not this worker's any more.
    pub(super) fn lost(&mut self, at: usize, why: &str) {
        let number = self.seats[at].number;
        if let Some(job) = self.seats[at].job.take() {
            self.report(&RunEvent::Released { agent: number, todo: line(&job.todo.id), why: line(why) });
        }
        self.ask_to_end(at, EndReason::TodoLost);
    }

    /// How a status reads that makes a todo nobody's business here any more.
    pub(super) const fn closed(status: Status) -> Option<&'static str> {
        match status {
            Status::Completed => Some("somebody has completed it"),
            Status::Cancelled => Some("it was cancelled"),
            Status::Failed => Some("it was marked as failed"),
            Status::Pending | Status::InProgress => None,
        }
    }
}
