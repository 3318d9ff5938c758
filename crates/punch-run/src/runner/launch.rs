//! Starts agents and prompts them.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use punch_core::drive::{Reporting, Workplace, brief};
use punch_core::{Dep, Footprint, Todo, Uid};
use punch_engine::{EngineError, GIT_ELSEWHERE, Role, SessionFile};

use super::seat::{Resume, SeatEvent, WorkerIdentity};
use super::{Runner, RunnerMessage};
use crate::agent::{AgentStart, Sink};
use crate::error::RunError;

impl Runner<'_, '_> {
    /// Starts the agent of a seat on a todo; the error says why it does not start.
    pub(super) fn launch(
        &mut self,
        at: usize,
        mut worker: WorkerIdentity,
        todo: &Todo,
        resume: Option<Resume>,
    ) -> Result<SeatEvent, String> {
        if resume.is_some() {
            worker.start = self.next_number();
        }
        let lane = self.lanes.map(|lanes| lanes.open_known(&todo.id)).transpose().map_err(|error| error.to_string())?;
        self.write_session(&worker, todo).map_err(|error| error.to_string())?;
        let (prompt, resume) = match resume {
            Some(Resume { session: Some(session), text }) => (text, Some(session)),
            _ => (self.description(at, todo).map_err(|error| error.message())?, None),
        };
        let text = |path: &Path| path.display().to_string();
        let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let name = self.start_name(worker.start);
        let session = self.folder.session(&name);
        // In a lane, nothing may lead the agent's git to the user's index or branch.
        let git = GIT_ELSEWHERE.iter().filter(|_| lane.is_some()).map(|name| (*name).to_owned());
        let mut environment = self.lane_environment(todo.uid);
        environment.extend([
            variable("PUNCH_PLAN", &self.world.plan_name),
            variable("PUNCH_OWNER", &worker.owner),
            variable("PUNCH_ASSIGNED", worker.key.session_id()),
            variable("PUNCH_SESSION_FILE", &text(&session)),
        ]);
        environment.extend(self.world.store_variables.iter().cloned());
        if self.seats[at].exit_reports_done {
            // Such a process has one todo. A prompt quotes the id, and cuts a long one.
            environment.push(variable("PUNCH_TODO", &todo.id));
        }
        let assignment = AgentStart {
            prompt,
            folder: lane.as_ref().map_or_else(|| self.world.root.clone(), |lane| lane.path.clone()),
            log: self.folder.log(&name),
            server: vec![text(&self.world.punch), "mcp".into(), "--session".into(), text(&session)],
            resume,
            environment,
            without: self.world.without.iter().cloned().chain(git).collect(),
            session,
        };
        let sink = Sink::new(worker.start, self.send.clone(), RunnerMessage::Agent);
        let process = self.agents[self.seats[at].spec].start(&assignment, sink).map_err(|error| error.to_string())?;
        self.processes.insert(worker.start, process);
        Ok(SeatEvent::Launched { worker, lane })
    }

    /// Prompts an agent in its open conversation.
    pub(super) fn prompt(
        &mut self,
        at: usize,
        start: u64,
        todo: &Todo,
        text: Option<String>,
    ) -> Result<SeatEvent, RunError> {
        let text = text.map_or_else(|| self.description(at, todo), Ok)?;
        let Some(process) = self.processes.get_mut(&start) else { return Ok(SeatEvent::NotPrompted(None)) };
        Ok(match process.say(&text) {
            Ok(true) => SeatEvent::Prompted,
            Ok(false) => SeatEvent::NotPrompted(None),
            Err(error) => SeatEvent::NotPrompted(Some(error.to_string())),
        })
    }

    /// Returns the prompt that describes a todo and what it depends on.
    fn description(&self, at: usize, todo: &Todo) -> Result<String, EngineError> {
        let mut todos: BTreeSet<Uid> = todo.depends_on.iter().filter_map(Dep::target).collect();
        todos.insert(todo.uid);
        let footprint = Footprint { todos, ..Footprint::default() };
        let part = self.persist(|engine| engine.slice(self.world.plan, &footprint))?;
        let reporting = if self.seats[at].exit_reports_done { Reporting::Exit } else { Reporting::Tools };
        let workplace = if self.lanes.is_some() { Workplace::Lane } else { Workplace::Project };
        Ok(brief(&part, todo.uid, reporting, workplace))
    }

    /// Tells the server and the hooks of a conversation which todo it is on.
    pub(super) fn write_session(&self, worker: &WorkerIdentity, todo: &Todo) -> io::Result<()> {
        let file = SessionFile {
            session: worker.key.session_id().to_owned(),
            plan: self.world.plan_name.clone(),
            owner: worker.owner.clone(),
            role: Role::Worker,
            driver: "runner".to_owned(),
            todos: vec![todo.id.clone()],
            fences: vec![todo.fence],
        };
        file.write(&self.folder.session(&self.start_name(worker.start)))
    }

    /// Names the files of one start of an agent.
    fn start_name(&self, start: u64) -> String {
        match self.fleet {
            Some(part) => format!("{}.{start}", part.fleet.worker.epoch),
            None => format!("{}.{start}", self.run.body.epoch),
        }
    }
}
