//! What becomes of a todo after a turn: checked, continued, tried again, failed, given up.

use punch_core::drive::{Finish, HostEvent, again};
use punch_core::{Footprint, Op, Ref, Status, Todo};
use punch_engine::config::{Source, Sourced};
use punch_engine::{Choice, EngineError, HostReport, Request};

use super::check::Verdict;
use super::seat::{EndReason, Job, Stage};
use super::{Runner, Stop};
use crate::agent::Kind;
use crate::error::RunError;
use crate::run_event::{RunEvent, line};

impl Runner<'_, '_> {
    /// The agent has ended its turn by itself.
    pub(super) fn judge(&mut self, at: usize) -> Result<(), RunError> {
        let Some(todo) = self.look(at)? else { return Ok(()) };
        if self.kind(at) == Kind::Exec && !todo.flags.reported {
            // Kept before it is checked: after a crash it is checked, not done again.
            self.report_done(at, "the agent ended with exit code 0")?;
            return self.verify(at);
        }
        if todo.flags.reported {
            return self.verify(at);
        }
        match self.keep_going(at)? {
            Some(text) => self.go_on(at, &text),
            // It does not say so, but the command knows.
            None if todo.verify.is_some() => self.verify(at),
            None => self.attempt_failed(at, "the agent stopped without reporting it as done"),
        }
    }

    /// The todo of a seat was reported as done, and is still its own.
    pub(super) fn is_reported(&self, at: usize) -> Result<bool, RunError> {
        let Some(job) = &self.seats[at].job else { return Ok(false) };
        let (uid, fence) = (job.todo.uid, job.todo.fence);
        let part = Footprint { todos: [uid].into(), ..Footprint::default() };
        let part = self.persist(|engine| engine.slice(self.world.plan, &part))?;
        Ok(part.get(uid).is_some_and(|todo| todo.flags.reported && todo.fence == fence && todo.is_live()))
    }

    /// The todo of a seat as it is now; `None` if it is not this worker's any more, which was then seen to.
    fn look(&mut self, at: usize) -> Result<Option<Todo>, RunError> {
        let Some(job) = &self.seats[at].job else { return Ok(None) };
        let (uid, fence) = (job.todo.uid, job.todo.fence);
        let part = Footprint { todos: [uid].into(), ..Footprint::default() };
        let part = self.persist(|engine| engine.slice(self.world.plan, &part))?;
        let Some(todo) = part.get(uid).filter(|todo| todo.is_live()).cloned() else {
            self.lost(at, "it was removed from the plan");
            return Ok(None);
        };
        if todo.status == Status::InProgress && todo.fence == fence {
            return Ok(Some(todo));
        }
        let number = self.seats[at].number;
        let why = || line(todo.last_error.as_deref().unwrap_or("the agent gave no reason"));
        let event = match todo.status {
            // The agent itself has said that it does not work.
            Status::Failed => RunEvent::Failed { agent: number, todo: line(&todo.id), why: why() },
            Status::Pending if todo.attempts > self.attempts(at) => {
                RunEvent::Retrying { agent: number, todo: line(&todo.id), why: why() }
            }
            Status::Pending if todo.hold.is_some() => {
                let why = todo.hold.as_ref().map(|hold| line(&hold.reason)).unwrap_or_default();
                RunEvent::Held { agent: number, todo: line(&todo.id), why }
            }
            status => {
                self.lost(at, Self::closed(status).unwrap_or("somebody else has it by now"));
                return Ok(None);
            }
        };
        self.report(&event);
        self.seats[at].job = None;
        self.leave(at);
        Ok(None)
    }

    fn attempts(&self, at: usize) -> u32 {
        self.seats[at].job.as_ref().map_or(0, |job| job.todo.attempts)
    }

    /// The keep-going decision for the session of a seat.
    fn keep_going(&self, at: usize) -> Result<Option<String>, RunError> {
        let (Some(conversation), Some(job)) = (&self.seats[at].conversation, &self.seats[at].job) else {
            return Ok(None);
        };
        let mut settings = self.world.settings.clone();
        settings.owner = Sourced { value: Some(job.owner.clone()), source: Source::Flag };
        let report = HostReport {
            agent: self.options.specs[self.seats[at].spec].name().to_owned(),
            key: conversation.key.clone(),
            choice: Choice { name: Some(self.world.plan_name.clone()), ..Choice::default() },
            event: HostEvent::Stopping { finish: Finish::default(), background: 0, kept_going: false },
            context: None,
            host_cap: None,
            turn: None,
            tree: Some(self.world.root.clone()),
            earlier: Default::default(),
            by_runner: true,
            upcoming: None,
        };
        let effect = self.persist(|engine| engine.observe(&report, &settings))?;
        Ok(effect.go_on)
    }

    /// A further prompt about the same todo, if there is something left to spend.
    fn go_on(&mut self, at: usize, text: &str) -> Result<(), RunError> {
        let Some(job) = &self.seats[at].job else { return Ok(()) };
        let (uid, todo) = (job.todo.uid, job.todo.clone());
        if let Some(why) = self.meter.stops_run() {
            self.stop.get_or_insert(Stop::Budget(why));
            self.ask_to_end(at, EndReason::RunEnds);
            return Ok(());
        }
        if let Some(why) = self.meter.stops_todo(uid) {
            return self.attempt_failed(at, &format!("its limit is reached: {why}"));
        }
        if self.stop.is_some() {
            self.ask_to_end(at, EndReason::RunEnds);
            return Ok(());
        }
        let Some(conversation) = &mut self.seats[at].conversation else { return Ok(()) };
        match conversation.running.say(text) {
            Ok(true) => {
                conversation.begin_turn();
                let number = self.seats[at].number;
                self.report(&RunEvent::Continued { agent: number, todo: line(&todo.id) });
                Ok(())
            }
            Ok(false) => self.resume(at, &todo, text),
            Err(error) => self.attempt_failed(at, &format!("the agent takes no further prompt: {error}")),
        }
    }

    /// The same conversation in a new process.
    fn resume(&mut self, at: usize, todo: &Todo, text: &str) -> Result<(), RunError> {
        let Some(conversation) = self.seats[at].conversation.take() else { return Ok(()) };
        let (owner, key, used, session) =
            (conversation.owner.clone(), conversation.key.clone(), conversation.used, conversation.session.clone());
        drop(conversation);
        self.count += 1;
        let start = self.count;
        let resume = session.map(|session| (session, text.to_owned()));
        match self.launch(at, todo, (start, &owner, &key), resume) {
            Ok(mut conversation) => {
                conversation.used = used;
                self.seats[at].conversation = Some(conversation);
                let number = self.seats[at].number;
                self.report(&RunEvent::Continued { agent: number, todo: line(&todo.id) });
                Ok(())
            }
            Err(why) => self.attempt_failed(at, &format!("the agent cannot go on: {why}")),
        }
    }

    /// Begins the check of what a seat is on.
    pub(super) fn verify(&mut self, at: usize) -> Result<(), RunError> {
        let Some(job) = &self.seats[at].job else { return Ok(()) };
        let (todo, owner) = (job.todo.clone(), job.owner.clone());
        let (number, lane) = (self.seats[at].number, self.seats[at].lane.clone());
        let check = self.check(number, &todo, &owner, Ok(lane));
        if let Some(job) = &mut self.seats[at].job {
            job.stage = Stage::Checking(check);
        }
        Ok(())
    }

    /// A check is over.
    pub(super) fn checked(&mut self, number: u64, verdict: Verdict) -> Result<(), RunError> {
        let is = |job: &Job| job.stage == Stage::Checking(number);
        if let Some(at) = self.loose.iter().position(is) {
            let job = self.loose.swap_remove(at);
            return self.settled(0, &job, verdict).map(|_| ());
        }
        let Some(at) = self.seats.iter().position(|seat| seat.job.as_ref().is_some_and(is)) else { return Ok(()) };
        if let Verdict::Failed(why) = verdict {
            return self.attempt_failed(at, &why);
        }
        let seat = &mut self.seats[at];
        let Some(job) = seat.job.take() else { return Ok(()) };
        let agent = seat.number;
        if self.settled(agent, &job, verdict)? {
            let seat = &mut self.seats[at];
            seat.failures = 0;
            seat.done.push(job.todo.uid);
        }
        self.leave(at);
        Ok(())
    }

    /// What a verdict does to a todo; true if it is done.
    fn settled(&mut self, agent: usize, job: &Job, verdict: Verdict) -> Result<bool, RunError> {
        let todo = line(&job.todo.id);
        match verdict {
            Verdict::Done => {
                self.completed += 1;
                let spent = self.meter.of(job.todo.uid);
                self.report(&RunEvent::Completed { agent, todo, spent });
                return Ok(true);
            }
            Verdict::Failed(why) => {
                self.fail(agent, job, &why)?;
            }
            Verdict::Hold(why) => self.hold(agent, &job.todo, Some(&job.owner), &why)?,
            Verdict::Lost(why) => self.report(&RunEvent::Released { agent, todo, why: line(&why) }),
            Verdict::Stopped => self.report(&RunEvent::Released { agent, todo, why: "the run ends".to_owned() }),
            Verdict::Broken(error) => return Err(error.into()),
        }
        Ok(false)
    }

    /// Writes down that an attempt failed. Answers the todo as it is then, if it was still ours.
    fn fail(&mut self, agent: usize, job: &Job, why: &str) -> Result<Option<Todo>, RunError> {
        let (settings, tree) = (Some(self.world.settings), Some(self.world.root.as_path()));
        let request = Request { settings, tree, ..Request::of(self.actor(Some(&job.owner))) };
        let (uid, fence) = (job.todo.uid, job.todo.fence);
        let first = Footprint { todos: [uid].into(), ..Footprint::default() };
        let error = punch_core::text::clip(why, 4_000).into_owned();
        let done = self.persist(|engine| {
            engine.submit_with(self.world.plan, &request, &first, &mut |part, _| {
                let todo = part.need(uid)?;
                let ours = todo.status == Status::InProgress && todo.fence == fence && todo.is_live();
                Ok(if ours { vec![Op::Fail(Ref::Uid(uid), error.clone())] } else { Vec::new() })
            })
        });
        let todo = match done {
            Ok(changed) if !changed.outcome.events.is_empty() => changed.plan.get(uid).cloned(),
            Ok(_) | Err(EngineError::Refused(_)) => None,
            Err(error) => return Err(error.into()),
        };
        let (id, why) = (line(&job.todo.id), line(why));
        self.report(&match &todo {
            Some(todo) if todo.status == Status::Failed => RunEvent::Failed { agent, todo: id, why },
            Some(_) => RunEvent::Retrying { agent, todo: id, why },
            None => RunEvent::Released { agent, todo: id, why: "it is somebody else's by now".to_owned() },
        });
        Ok(todo)
    }

    /// An attempt came to nothing: once more if there is another one, in the same conversation where that can be.
    pub(super) fn attempt_failed(&mut self, at: usize, why: &str) -> Result<(), RunError> {
        let Some(job) = self.seats[at].job.take() else { return Ok(()) };
        let number = self.seats[at].number;
        let todo = self.fail(number, &job, why)?;
        let talks = self.seats[at].conversation.as_ref().is_some_and(|conversation| conversation.ending.is_none());
        let checked = matches!(job.stage, Stage::Checking(_));
        let base = self.world.settings.run_backoff.value;
        match todo.filter(|todo| todo.status == Status::Pending && talks && checked && self.kind(at) != Kind::Exec) {
            Some(todo) if self.stop.is_none() && self.meter.stops_run().is_none() => self.once_more(at, &todo, why),
            _ => {
                if !checked {
                    self.seats[at].pause(base);
                }
                self.leave(at);
                Ok(())
            }
        }
    }

    /// The failure is told where the work was done.
    fn once_more(&mut self, at: usize, todo: &Todo, why: &str) -> Result<(), RunError> {
        let Some((owner, key)) = self.seats[at]
            .conversation
            .as_ref()
            .map(|conversation| (conversation.owner.clone(), conversation.key.clone()))
        else {
            return Ok(());
        };
        let Some(todo) = self.claim(&owner, Some(&key), todo.uid)? else { return Ok(()) };
        self.write_session(at, &todo)?;
        self.seats[at].job = Some(Job::new(todo.clone(), owner, Stage::Working));
        self.go_on(at, &again(&todo, why))
    }

    /// After a todo: an agent whose work tree belongs to the todo, or that is over, goes.
    fn leave(&mut self, at: usize) {
        let seat = &mut self.seats[at];
        if self.lanes.is_some() || self.stop.is_some() {
            seat.conversation = None;
            seat.done.clear();
        }
        if let (Some(lanes), Some(lane)) = (self.lanes, seat.lane.take())
            && let Err(error) = lanes.close(&lane, "Work that was not taken in\n")
        {
            self.remark(format!("a work tree stays: {error}"));
        }
    }

    /// Asks an agent to end.
    pub(super) fn ask_to_end(&mut self, at: usize, reason: EndReason) {
        if let Some(conversation) = &mut self.seats[at].conversation
            && conversation.ending.is_none()
        {
            conversation.ending = Some((std::time::Instant::now(), reason));
            conversation.running.cancel();
        }
    }
}
