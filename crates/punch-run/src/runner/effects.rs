//! Performs the effects of seats and feeds the results back as events.

use std::collections::VecDeque;
use std::time::Instant;

use punch_core::drive::{Finish, HostEvent};
use punch_core::schedule::estimate;
use punch_core::{Actor, Evidence, Footprint, Hold, HoldKind, Op, Ref, Refusal, Status, Todo, Uid};
use punch_engine::config::{SettingSource, SettingValue};
use punch_engine::{
    EngineError, GivenAnswer, HostReport, OpenTurn, PlanChoice, QuestionReply, WriteRequest, worker_key,
};
use punch_store::{Durability, LedgerEntry, SessionKey};

use super::seat::{SeatConditions, SeatEffect, SeatEvent, WorkerIdentity};
use super::{Runner, StopCause};
use crate::agent::{AgentEvent, AgentReport, PermissionRequest};
use crate::error::RunError;
use crate::observer::{RunEvent, line};
use crate::permission;

impl Runner<'_, '_> {
    /// Lets something happen to a seat, with all that follows from it.
    pub(super) fn dispatch(&mut self, at: usize, event: SeatEvent) -> Result<(), RunError> {
        let mut events = VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            let seat = &mut self.seats[at];
            let conditions = SeatConditions {
                now: Instant::now(),
                wall: self.world.engine.now(),
                stopping: self.stop.is_some(),
                urgent: self.interrupt.is_urgent(),
                run_limit: self.meter.stops_run(),
                todo_limit: seat.state.todo().and_then(|uid| self.meter.stops_todo(uid)),
                rules: &self.rules,
            };
            for effect in seat.step(event, &conditions) {
                events.extend(self.perform(at, effect)?);
            }
        }
        Ok(())
    }

    /// Passes on the reports of an agent. Reports of an agent that was dropped are ignored.
    pub(super) fn agent_reported(&mut self, report: AgentReport) -> Result<(), RunError> {
        let Some(at) = self.seat_of(report.from) else { return Ok(()) };
        if let AgentEvent::Exited { .. } = report.event {
            self.processes.remove(&report.from);
        }
        self.dispatch(at, SeatEvent::Agent(report.event))
    }

    /// Returns the seat whose conversation is with this process.
    pub(super) fn seat_of(&self, start: u64) -> Option<usize> {
        self.seats.iter().position(|seat| seat.state.conversation().is_some_and(|open| open.worker.start == start))
    }

    fn perform(&mut self, at: usize, effect: SeatEffect) -> Result<Option<SeatEvent>, RunError> {
        match effect {
            SeatEffect::Claim { uid, worker } => return self.claim(uid, worker).map(Some),
            SeatEffect::Prepare { start, todo } => return Ok(self.prepare(start, todo)),
            SeatEffect::Launch { worker, todo, resume } => {
                self.begin_turn(at, &todo)?;
                let launched = self.launch(at, worker, &todo, resume).unwrap_or_else(SeatEvent::NotLaunched);
                if let SeatEvent::NotLaunched(_) = launched {
                    self.end_turn(at, None)?;
                }
                return Ok(Some(launched));
            }
            SeatEffect::Prompt { start, todo, text } => {
                self.begin_turn(at, &todo)?;
                let prompted = self.prompt(at, start, &todo, text)?;
                if let SeatEvent::NotPrompted(_) = prompted {
                    self.end_turn(at, None)?;
                }
                return Ok(Some(prompted));
            }
            SeatEffect::Inspect(uid) => return Ok(Some(SeatEvent::Inspected(self.inspect(uid)?))),
            SeatEffect::DecideContinuation { key, owner } => {
                return Ok(Some(SeatEvent::Continuation(self.decide_continuation(at, key, owner)?)));
            }
            SeatEffect::Fail { todo, owner, why } => {
                return Ok(Some(SeatEvent::AttemptFailed(self.fail(at, &todo, &owner, &why)?)));
            }
            SeatEffect::Answer { start, request, answer } => self.answer(start, &request, &answer),
            SeatEffect::AskUser { start, todo, request } => return self.ask_user(at, start, &todo, request),
            SeatEffect::Cancel(start) => self.processes.get_mut(&start).into_iter().for_each(|agent| agent.cancel()),
            SeatEffect::Kill(start) => self.processes.get_mut(&start).into_iter().for_each(|agent| agent.kill()),
            SeatEffect::EndAgent(start) => {
                drop(self.processes.remove(&start));
                // Open only if the agent failed before it got the prompt.
                self.end_turn(at, None)?;
            }
            SeatEffect::ReportDone { todo, owner, evidence } => {
                let request = WriteRequest::of(Actor::worker(self.actor(None).by(), &owner));
                let evidence = Some(Evidence { text: Some(evidence.to_owned()), ..Evidence::default() });
                let op = Op::Done { target: Ref::Uid(todo.uid), evidence, fence: Some(todo.fence) };
                self.submit_if_allowed(&request, op)?;
            }
            SeatEffect::Check { todo, owner, lane } => {
                let environment = self.lane_environment(todo.uid);
                self.check(todo, owner, lane, environment);
            }
            SeatEffect::Completed(todo) => {
                self.completed += 1;
                let (agent, spent) = (self.seats[at].number, self.meter.of(todo.uid));
                self.report(&RunEvent::Completed { agent, todo: line(&todo.id), content: line(&todo.content), spent });
            }
            SeatEffect::HandedIn(todo) => self.count_handed_in(&todo),
            SeatEffect::Hold { todo, owner, kind, why } => {
                self.hold(self.seats[at].number, &todo, Some(&owner), (kind, &why))?;
            }
            SeatEffect::Reopen(todo) => self.reopen(&todo)?,
            // A worker of a fleet renews all its claims together.
            SeatEffect::Renew { .. } if self.is_worker() => {}
            SeatEffect::Renew { uid, owner } => {
                let until = self.world.engine.now().saturating_add(self.claim_lease_ms());
                let request =
                    WriteRequest { durability: Durability::Relaxed, ..WriteRequest::of(self.actor(Some(&owner))) };
                self.submit_if_allowed(&request, Op::Renew(Ref::Uid(uid), until))?;
            }
            SeatEffect::Charge(spent) => self.end_turn(at, Some(&spent))?,
            SeatEffect::CloseLane(lane) => {
                if let Some(lanes) = self.lanes
                    && let Err(error) = lanes.close(&lane, "Work that was not merged\n")
                {
                    self.remark(format!("a worktree was kept: {error}"));
                }
            }
            SeatEffect::ShareLimit(sleep) => {
                let spec = self.seats[at].spec;
                for other in (0..self.seats.len()).filter(|other| *other != at) {
                    if self.seats[other].number > 0 && self.seats[other].spec == spec {
                        self.dispatch(other, SeatEvent::AgentLimited(sleep.clone()))?;
                    }
                }
            }
            SeatEffect::Checkpoint(notes) => self.checkpoint(notes),
            SeatEffect::StopRun(why) => {
                self.stop.get_or_insert(StopCause::Budget(why));
            }
            SeatEffect::Report(event) => self.report(&event),
        }
        Ok(None)
    }

    /// Submits an op whose refusal needs no handling, because the state of the todo is read later.
    pub(super) fn submit_if_allowed(&self, request: &WriteRequest<'_>, op: Op) -> Result<(), RunError> {
        match self.persist(|engine| engine.submit(self.world.plan, request, std::slice::from_ref(&op))) {
            Ok(_) | Err(EngineError::Refused(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn claim(&mut self, uid: Uid, worker: Option<WorkerIdentity>) -> Result<SeatEvent, RunError> {
        let known = worker.is_some();
        let worker = worker.unwrap_or_else(|| {
            let id = self.next_owner();
            WorkerIdentity { start: id.number, owner: id.to_string(), key: worker_key(self.world.plan, &id) }
        });
        let Some(todo) = self.claim_for(&worker.owner, Some(&worker.key), uid)? else {
            return Ok(SeatEvent::NotClaimed);
        };
        if known {
            self.write_session(&worker, &todo)?;
        }
        Ok(SeatEvent::Claimed { worker, todo })
    }

    /// Claims a todo for a worker; `None` if another worker was faster or the todo is not ready any more.
    pub(super) fn claim_for(
        &self,
        owner: &str,
        session: Option<&SessionKey>,
        uid: Uid,
    ) -> Result<Option<Todo>, RunError> {
        let request = WriteRequest { settings: Some(self.world.settings), ..WriteRequest::of(self.actor(Some(owner))) };
        let nobody = SessionKey::new("", None);
        let key = session.unwrap_or(&nobody);
        match self.persist(|engine| engine.claim_for_worker(self.world.plan, &request, key, uid, self.claim_lease_ms()))
        {
            Ok(todo) => Ok(Some(todo)),
            Err(EngineError::Refused(_) | EngineError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns how long claims last unless renewed, in milliseconds.
    pub(super) fn claim_lease_ms(&self) -> i64 {
        let lease = self.world.settings.lease_ms();
        self.fleet.map_or(lease, |part| part.fleet.claim_lease_ms(lease))
    }

    pub(super) fn inspect(&self, uid: Uid) -> Result<Option<Todo>, RunError> {
        let part = Footprint { todos: [uid].into(), ..Footprint::default() };
        let part = self.persist(|engine| engine.slice(self.world.plan, &part))?;
        Ok(part.get(uid).cloned())
    }

    fn decide_continuation(&self, at: usize, key: SessionKey, owner: String) -> Result<Option<String>, RunError> {
        let mut settings = self.world.settings.clone();
        settings.owner = SettingValue { value: Some(owner), source: SettingSource::Flag };
        let report = HostReport {
            agent: self.seats[at].name.clone(),
            key,
            choice: PlanChoice { name: Some(self.world.plan_name.clone()), ..PlanChoice::default() },
            event: HostEvent::Stopping { finish: Finish::default(), background: 0, kept_going: false },
            context: None,
            host_cap: None,
            turn: None,
            tree: Some(self.world.root.clone()),
            earlier: Default::default(),
            by_runner: true,
            upcoming: None,
            checks: Default::default(),
            agent_process: || None,
        };
        Ok(self.persist(|engine| engine.observe(&report, &settings))?.go_on)
    }

    /// Records that an attempt failed. Returns the todo as it is then, if the claim still held.
    fn fail(&self, at: usize, todo: &Todo, owner: &str, why: &str) -> Result<Option<Todo>, RunError> {
        let (settings, tree) = (Some(self.world.settings), Some(self.world.root.as_path()));
        let attempts = Some(self.rules.attempts);
        let request = WriteRequest { settings, tree, attempts, ..WriteRequest::of(self.actor(Some(owner))) };
        let (uid, fence) = (todo.uid, todo.fence);
        let first = Footprint { todos: [uid].into(), ..Footprint::default() };
        let error = punch_core::text::clip(why, 4_000).into_owned();
        let done = self.persist(|engine| {
            engine.submit_with(self.world.plan, &request, &first, &mut |part, _| {
                let todo = part.need(uid)?;
                let ours = todo.status == Status::InProgress && todo.fence == fence && todo.is_live();
                Ok(if ours { vec![Op::Fail(Ref::Uid(uid), error.clone())] } else { Vec::new() })
            })
        });
        let failed = match done {
            Ok(changed) if !changed.outcome.events.is_empty() => changed.plan.get(uid).cloned(),
            Ok(_) | Err(EngineError::Refused(_)) => None,
            Err(error) => return Err(error.into()),
        };
        let (agent, todo, why) = (self.seats[at].number, line(&todo.id), line(why));
        self.report(&match &failed {
            Some(failed) if failed.status == Status::Failed => RunEvent::Failed { agent, todo, why },
            Some(_) => RunEvent::Retrying { agent, todo, why },
            None => RunEvent::Released { agent, todo, why: "someone else has it now".to_owned() },
        });
        Ok(failed)
    }

    /// Puts a todo on hold for the user.
    pub(super) fn hold(
        &self,
        agent: usize,
        todo: &Todo,
        owner: Option<&str>,
        (kind, why): (HoldKind, &str),
    ) -> Result<(), RunError> {
        let hold = Hold { kind, reason: line(why), until: None, by: String::new(), at: 0 };
        let request = WriteRequest::of(self.actor(owner));
        let ops = [Op::Hold(Ref::Uid(todo.uid), hold)];
        match self.persist(|engine| engine.submit(self.world.plan, &request, &ops)) {
            Ok(_) => self.report(&RunEvent::Held { agent, todo: line(&todo.id), why: line(why) }),
            Err(EngineError::Refused(refusals)) => {
                let why = refusals.first().map(Refusal::message).unwrap_or_default();
                self.report(&RunEvent::Released { agent, todo: line(&todo.id), why: line(&why) });
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Opens a todo again that a worker has not finished. What was reported stays reported.
    pub(super) fn reopen(&self, todo: &Todo) -> Result<(), RunError> {
        self.persist(|engine| engine.reopen_unreported(self.world.plan, self.run.id, todo))?;
        Ok(())
    }

    /// Stores that a turn begins before the agent gets the prompt: if this runner is killed, the next one charges it.
    fn begin_turn(&mut self, at: usize, todo: &Todo) -> Result<(), RunError> {
        let seat = &self.seats[at];
        let turn = OpenTurn {
            seat: seat.number,
            uid: todo.uid,
            attempt: todo.attempts + 1,
            agent: seat.name.clone(),
            estimate: estimate(todo, self.rules.calibration).tokens,
            began: 0,
        };
        self.persist(|engine| engine.begin_turn(self.world.plan, self.run.id, &turn))?;
        self.meter.begin_turn(turn.seat);
        Ok(())
    }

    /// Ends the turn of a seat and charges what it took. Without `spent`, the agent never got the prompt.
    fn end_turn(&mut self, at: usize, spent: Option<&LedgerEntry>) -> Result<(), RunError> {
        let seat = self.seats[at].number;
        if self.meter.end_turn(seat) || spent.is_some() {
            self.persist(|engine| engine.end_turn(self.world.plan, self.run.id, seat, spent))?;
        }
        spent.into_iter().for_each(|spent| self.meter.add(spent));
        Ok(())
    }

    fn answer(&mut self, start: u64, request: &PermissionRequest, given: &GivenAnswer) {
        let Some(agent) = self.processes.get_mut(&start) else { return };
        let option = match &given.answer {
            QuestionReply::Allow => permission::allowing(request),
            QuestionReply::Option(id) => Some(id.as_str()),
            // Whatever does not allow it refuses it.
            _ => request.options.iter().find(|(.., allows)| !allows).map(|(id, ..)| id.as_str()),
        };
        if let Err(error) = agent.answer(&request.id, option, given.reason.as_deref()) {
            self.remark(format!("an answer did not reach the agent: {error}"));
        }
    }
}
