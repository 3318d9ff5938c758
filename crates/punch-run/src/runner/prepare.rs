//! Prepares the lane of a todo before its agent starts: copies files that git ignores and runs the setup command. On a
//! thread of its own, because a setup may install dependencies for minutes. A failed setup is not an attempt at the todo.

use std::net::{Ipv4Addr, TcpListener};
use std::time::Duration;

use punch_core::{Todo, Uid, Verify};
use punch_engine::config::{Settings, print_duration};
use punch_engine::{CheckEnd, GIT_ELSEWHERE, run_command};

use super::seat::SeatEvent;
use super::store_retry::StoreRetry;
use super::{Runner, RunnerMessage};
use crate::observer::line;
use crate::permission::listed;
use crate::worktree::{Lane, Lanes};

/// The variable with a port that is free for the todo of a lane: for a development server, a database, a browser test.
const PORT: &str = "PUNCH_PORT";

/// How often a port is looked for that no other lane has.
const LOOKS: usize = 50;

/// What a lane gets before its agent starts.
#[derive(Clone, Debug)]
pub(super) struct LaneSetup {
    command: Option<String>,
    copy: Vec<String>,
    limit: Duration,
}

impl LaneSetup {
    /// Returns the setup that the settings ask for.
    pub fn of(settings: &Settings) -> Self {
        Self {
            command: settings.run_setup.value.clone(),
            copy: settings.run_copy.value.as_deref().map(listed).unwrap_or_default(),
            limit: settings.run_idle.value,
        }
    }

    /// Returns true if there is nothing to do.
    pub const fn is_empty(&self) -> bool {
        self.command.is_none() && self.copy.is_empty()
    }

    /// Opens the lane of a todo and prepares it. The error says why that failed.
    pub(super) fn prepare(
        &self,
        lanes: &Lanes,
        todo: &Todo,
        environment: &[(String, String)],
        store: StoreRetry<'_>,
    ) -> Result<(), String> {
        let lane: Lane = store.with_remote(|| lanes.open(&todo.id)).map_err(|error| error.to_string())?;
        lanes.copy_ignored(&lane, &self.copy).map_err(|error| error.to_string())?;
        let Some(command) = &self.command else { return Ok(()) };
        let stopped = || store.interrupt.is_asked();
        let command = Verify::Shell(command.clone());
        let ran = run_command(&command, &lane.path, self.limit, &stopped, &GIT_ELSEWHERE, environment)
            .map_err(|error| format!("`run.setup` cannot be started: {error}"))?;
        let last = ran.tail.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        match ran.end {
            CheckEnd::Exit(0) => Ok(()),
            CheckEnd::Exit(code) if last.is_empty() => Err(format!("`run.setup` failed with exit code {code}")),
            CheckEnd::Exit(code) => Err(format!("`run.setup` failed with exit code {code}: {last}")),
            CheckEnd::TimedOut => Err(format!("`run.setup` took longer than {}", print_duration(self.limit))),
            CheckEnd::Stopped => Err("`run.setup` was stopped".to_owned()),
        }
    }
}

impl Runner<'_, '_> {
    /// Begins to prepare the lane of a todo; [`RunnerMessage::Prepared`] follows.
    pub(super) fn prepare(&mut self, start: u64, todo: Todo) -> Option<SeatEvent> {
        let Some(lanes) = self.lanes else { return Some(SeatEvent::Prepared(Ok(()))) };
        let (setup, store, send) = (self.setup.clone(), self.store_retry(), self.send.clone());
        let environment = self.lane_environment(todo.uid);
        self.scope.spawn(move || {
            let prepared = setup.prepare(lanes, &todo, &environment, store).map_err(|why| line(&why));
            // The receiver is gone if the run has ended.
            let _ = send.send(RunnerMessage::Prepared(start, prepared));
        });
        None
    }

    /// Returns the variables that everything in the lane of a todo gets; none without lanes.
    pub(super) fn lane_environment(&mut self, uid: Uid) -> Vec<(String, String)> {
        if self.lanes.is_none() {
            return Vec::new();
        }
        if !self.ports.contains_key(&uid)
            && let Some(port) = (0..LOOKS).find_map(|_| free_port().filter(|port| self.is_unused(*port)))
        {
            self.ports.insert(uid, port);
        }
        self.ports.get(&uid).map(|port| (PORT.to_owned(), port.to_string())).into_iter().collect()
    }

    fn is_unused(&self, port: u16) -> bool {
        self.ports.values().all(|used| *used != port)
    }
}

/// Returns a port that no program listens on now.
fn free_port() -> Option<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).ok()?;
    listener.local_addr().ok().map(|address| address.port())
}
