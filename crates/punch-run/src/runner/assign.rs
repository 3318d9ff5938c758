//! Giving out: the best todo that can be started goes to the seat that suits it best.

use std::collections::HashSet;

use punch_core::drive::{Reporting, brief, is_blank};
use punch_core::schedule::{Ask, Order, budget, estimate};
use punch_core::{Dep, Footprint, Hold, HoldKind, Op, Ref, Todo, Uid, WorkerId};
use punch_engine::{EngineError, GIT_ELSEWHERE, Request, Role, SessionFile, assigned_name};
use punch_store::SessionKey;

use super::seat::{Conversation, Job, Seat, Stage};
use super::{Runner, Stop};
use crate::agent::{Assignment, Kind, Sink, Spending};
use crate::error::RunError;
use crate::run_event::{RunEvent, line};
use crate::runner::Message;

/// Starts in a row that may come to nothing before a seat is given up.
pub(super) const MAX_FAILED_STARTS: u32 = 3;

impl Runner<'_, '_> {
    /// Gives out all that can be given out now.
    pub(super) fn fill(&mut self) -> Result<(), RunError> {
        let mut refused: HashSet<Uid> = HashSet::new();
        while self.stop.is_none()
            && self.seats.iter().any(|seat| seat.is_free() && seat.failed_starts.0 < MAX_FAILED_STARTS)
        {
            let Some(uid) = self.best(&refused)? else { break };
            if let Some(why) = self.meter.stops_run() {
                self.stop = Some(Stop::Budget(why));
                break;
            }
            if !self.start(uid)? {
                refused.insert(uid);
            }
        }
        Ok(())
    }

    /// What to start next.
    pub(super) fn best(&mut self, refused: &HashSet<Uid>) -> Result<Option<Uid>, RunError> {
        let (context, calibration) = (self.world.settings.run_context.value, self.calibration);
        let ask =
            Ask { order: Order::List, agents: 1, context, calibration, skip_optional: self.options.skip_optional };
        let now = self.world.engine.now();
        let leaving = self.seats.iter().filter_map(Seat::leaving);
        let busy: Vec<Uid> = self.jobs().map(|job| job.todo.uid).chain(leaving).collect();
        self.catch_up()?;
        Ok(self.cache.best(&ask, &busy, now, |todo| !refused.contains(&todo.uid) && !is_blank(todo)))
    }

    /// Everything that is under way.
    pub(super) fn jobs(&self) -> impl Iterator<Item = &Job> {
        self.seats.iter().filter_map(|seat| seat.job.as_ref()).chain(&self.loose)
    }

    /// False if it could not be started after all.
    fn start(&mut self, uid: Uid) -> Result<bool, RunError> {
        let Some(todo) = self.plan()?.get(uid).cloned() else { return Ok(false) };
        if todo.flags.reported {
            return self.adopt(&todo);
        }
        if let Some(why) = self.meter.stops_todo(uid) {
            self.hold(0, &todo, None, &format!("its limit is reached: {why}"))?;
            return Ok(false);
        }
        let Some(at) = self.seat_for(&todo) else { return Ok(false) };
        match self.seats[at].conversation.is_some() {
            true => self.go_on_with(at, uid),
            false => self.begin_with(at, uid),
        }
    }

    /// Whoever knows what it builds on and has room; then whoever has room; then whoever begins anew.
    fn seat_for(&mut self, todo: &Todo) -> Option<usize> {
        let window = budget(self.world.settings.run_context.value);
        let needs = estimate(todo, self.calibration).tokens;
        let before: Vec<Uid> = todo.depends_on.iter().filter_map(Dep::target).collect();
        let free = self
            .seats
            .iter()
            .enumerate()
            .filter(|(_, seat)| seat.is_free() && seat.failed_starts.0 < MAX_FAILED_STARTS);
        let best = free.min_by_key(|(at, seat)| {
            let room = seat
                .conversation
                .as_ref()
                .is_some_and(|conversation| conversation.used.saturating_add(needs) <= window);
            let knows = seat.done.iter().any(|uid| before.contains(uid));
            (seat.conversation.is_some() && !room, !(room && knows), !room, *at)
        });
        let at = best.map(|(at, _)| at)?;
        let seat = &mut self.seats[at];
        // No room: a new window.
        if seat.conversation.as_ref().is_some_and(|conversation| conversation.used.saturating_add(needs) > window) {
            seat.conversation = None;
            seat.done.clear();
            self.checkpoint("an agent's context window is full");
        }
        Some(at)
    }

    /// Another todo in a conversation that goes on.
    fn go_on_with(&mut self, at: usize, uid: Uid) -> Result<bool, RunError> {
        let Some(conversation) = &self.seats[at].conversation else { return Ok(false) };
        let (owner, key) = (conversation.owner.clone(), conversation.key.clone());
        let Some(todo) = self.claim(&owner, Some(&key), uid)? else { return Ok(false) };
        self.write_session(at, &todo)?;
        let prompt = self.prompt(at, &todo)?;
        let Some(conversation) = &mut self.seats[at].conversation else { return Ok(false) };
        match conversation.running.say(&prompt) {
            Ok(true) => {
                conversation.begin_turn();
                self.started(at, todo, owner);
                Ok(true)
            }
            // It takes no more: a conversation of its own.
            Ok(false) | Err(_) => {
                self.seats[at].conversation = None;
                self.persist(|engine| engine.reopen_unreported(self.world.plan, self.run.id, &todo))?;
                self.begin_with(at, uid)
            }
        }
    }

    /// A new conversation.
    fn begin_with(&mut self, at: usize, uid: Uid) -> Result<bool, RunError> {
        self.count += 1;
        let (run, epoch, start) = (self.run.id, self.run.body.epoch, self.count);
        let owner = WorkerId { run, epoch, number: start }.to_string();
        let tag = format!("run-{}-{run}-{epoch}-{start}", self.world.plan.0);
        let key = SessionKey::new(assigned_name(&tag), None);
        let Some(todo) = self.claim(&owner, Some(&key), uid)? else { return Ok(false) };
        match self.launch(at, &todo, (start, &owner, &key), None) {
            Ok(conversation) => {
                let opens = self.kind(at) == Kind::Acp;
                let seat = &mut self.seats[at];
                seat.conversation = Some(conversation);
                // Where a conversation has to be opened first, a process is not yet a good start.
                if !opens {
                    seat.failed_starts = (0, String::new());
                }
                self.started(at, todo, owner);
                Ok(true)
            }
            Err(why) => {
                self.does_not_start(at, &todo, &why)?;
                Ok(false)
            }
        }
    }

    /// Starts the agent of a seat; the error says why it does not start.
    pub(super) fn launch(
        &mut self,
        at: usize,
        todo: &Todo,
        (start, owner, key): (u64, &str, &SessionKey),
        resume: Option<(String, String)>,
    ) -> Result<Conversation, String> {
        let folder = match self.lanes {
            Some(lanes) => {
                let lane = lanes.open(&todo.id).map_err(|error| error.to_string())?;
                let path = lane.path.clone();
                self.seats[at].lane = Some(lane);
                path
            }
            None => self.world.root.clone(),
        };
        let name = format!("{}.{start}", self.run.body.epoch);
        let session = self.folder.session(&name);
        let file = self.session_file(owner, key, todo);
        file.write(&session).map_err(|error| error.to_string())?;
        let (prompt, resume) = match resume {
            Some((session, prompt)) => (prompt, Some(session)),
            None => (self.prompt(at, todo).map_err(|error| error.message())?, None),
        };
        let text = |path: &std::path::Path| path.display().to_string();
        let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let assignment = Assignment {
            prompt,
            folder,
            log: self.folder.log(&name),
            server: vec![text(&self.world.punch), "mcp".into(), "--session".into(), text(&session)],
            resume,
            environment: vec![
                variable("PUNCH_STORE", &text(self.world.store.parent().unwrap_or(&self.world.store))),
                variable("PUNCH_PLAN", &self.world.plan_name),
                variable("PUNCH_OWNER", owner),
                variable("PUNCH_ASSIGNED", key.host()),
                variable("PUNCH_SESSION_FILE", &text(&session)),
            ],
            without: self.without(),
            session,
        };
        let sink = Sink::new(start, self.send.clone(), Message::Agent);
        let running = self.agents[self.seats[at].spec].start(&assignment, sink).map_err(|error| error.to_string())?;
        Ok(Conversation::new(start, name, running, owner.to_owned(), key.clone()))
    }

    /// What an agent must not inherit. In a lane, nothing may lead its git to the user's index or branch.
    fn without(&self) -> Vec<String> {
        let git = GIT_ELSEWHERE.iter().filter(|_| self.lanes.is_some()).map(|name| (*name).to_owned());
        self.world.without.iter().cloned().chain(git).collect()
    }

    pub(super) fn does_not_start(&mut self, at: usize, todo: &Todo, why: &str) -> Result<(), RunError> {
        let spec = &self.options.specs[self.seats[at].spec];
        let why = format!("{} does not start: {}", line(&spec.to_string()), line(why));
        self.persist(|engine| engine.reopen_unreported(self.world.plan, self.run.id, todo))?;
        self.remark(&why);
        let seat = &mut self.seats[at];
        seat.pause(self.world.settings.run_backoff.value);
        seat.failed_starts = (seat.failed_starts.0 + 1, why);
        Ok(())
    }

    fn started(&mut self, at: usize, todo: Todo, owner: String) {
        let seat = &mut self.seats[at];
        let event = RunEvent::Started {
            agent: seat.number,
            name: self.options.specs[seat.spec].name().to_owned(),
            todo: line(&todo.id),
            content: line(&todo.content),
            attempt: todo.attempts + 1,
        };
        seat.last = Some(todo.uid);
        seat.job = Some(Job::new(todo, owner, Stage::Working));
        self.report(&event);
    }

    /// Claims for a worker; `None` if somebody was faster or it is not ready any more.
    pub(super) fn claim(&self, owner: &str, session: Option<&SessionKey>, uid: Uid) -> Result<Option<Todo>, RunError> {
        let request = Request { settings: Some(self.world.settings), ..Request::of(self.actor(Some(owner))) };
        let nobody = SessionKey::new("", None);
        let key = session.unwrap_or(&nobody);
        match self.persist(|engine| engine.claim_for_worker(self.world.plan, &request, key, uid, self.lease())) {
            Ok(todo) => Ok(Some(todo)),
            Err(EngineError::Refused(_) | EngineError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Puts a todo on hold for a person.
    pub(super) fn hold(&mut self, agent: usize, todo: &Todo, owner: Option<&str>, why: &str) -> Result<(), RunError> {
        let hold = Hold { kind: HoldKind::Human, reason: line(why), until: None, by: String::new(), at: 0 };
        let request = Request::of(self.actor(owner));
        let ops = [Op::Hold(Ref::Uid(todo.uid), hold)];
        match self.persist(|engine| engine.submit(self.world.plan, &request, &ops)) {
            Ok(_) => self.report(&RunEvent::Held { agent, todo: line(&todo.id), why: line(why) }),
            Err(EngineError::Refused(refusals)) => {
                let why = refusals.first().map(punch_core::Refusal::message).unwrap_or_default();
                self.report(&RunEvent::Released { agent, todo: line(&todo.id), why: line(&why) });
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// What the agent of a seat is told about a todo.
    pub(super) fn prompt(&self, at: usize, todo: &Todo) -> Result<String, EngineError> {
        let mut todos: std::collections::BTreeSet<Uid> = todo.depends_on.iter().filter_map(Dep::target).collect();
        todos.insert(todo.uid);
        let footprint = Footprint { todos, ..Footprint::default() };
        let part = self.persist(|engine| engine.slice(self.world.plan, &footprint))?;
        let reporting = match self.kind(at) {
            Kind::Exec => Reporting::Exit,
            Kind::Claude | Kind::Codex | Kind::Acp => Reporting::Tools,
        };
        Ok(brief(&part, todo.uid, reporting))
    }

    pub(super) fn kind(&self, at: usize) -> Kind {
        self.options.specs[self.seats[at].spec].kind
    }

    pub(super) fn session_file(&self, owner: &str, key: &SessionKey, todo: &Todo) -> SessionFile {
        SessionFile {
            session: key.host().to_owned(),
            plan: self.world.plan_name.clone(),
            owner: owner.to_owned(),
            role: Role::Worker,
            driver: "runner".to_owned(),
            todos: vec![todo.id.clone()],
            fences: vec![todo.fence],
        }
    }

    /// Tells server and hooks of a conversation what it is on now.
    pub(super) fn write_session(&self, at: usize, todo: &Todo) -> Result<(), RunError> {
        let Some(conversation) = &self.seats[at].conversation else { return Ok(()) };
        let file = self.session_file(&conversation.owner, &conversation.key, todo);
        Ok(file.write(&self.folder.session(&conversation.name))?)
    }
}

impl Conversation {
    /// A conversation that begins with a turn.
    pub fn new(
        start: u64,
        name: String,
        running: Box<dyn crate::agent::Running>,
        owner: String,
        key: SessionKey,
    ) -> Self {
        let now = std::time::Instant::now();
        Self {
            start,
            name,
            running,
            owner,
            key,
            session: None,
            used: 0,
            seen: now,
            turn: now,
            spending: Spending::default(),
            asks: None,
            more: std::collections::VecDeque::new(),
            ending: None,
        }
    }

    /// It was told something.
    pub fn begin_turn(&mut self) {
        (self.seen, self.turn) = (std::time::Instant::now(), std::time::Instant::now());
    }
}
