//! Starts an agent on an assignment in an empty folder and listens.

use std::path::PathBuf;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use punch_run::agent::{AgentEvent, AgentReport, AgentStart, AgentTurnEnd, RunningAgent, agent, reports};

/// Only something that hangs takes it.
const PATIENCE: Duration = Duration::from_secs(30);

pub struct Stage {
    pub folder: tempfile::TempDir,
    pub running: Box<dyn RunningAgent>,
    reports: Receiver<AgentReport>,
}

impl Stage {
    /// The agent's script is a file, so that any text can be in it.
    pub fn new(kind: &str, script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("host.sh");
        std::fs::write(&path, script).unwrap();
        let spec = format!("{kind}:sh {}", path.display()).parse().unwrap();
        let (sinks, reports) = reports();
        let assignment = AgentStart {
            prompt: "T-1\nDo it.".into(),
            folder: folder.path().into(),
            log: folder.path().join("log"),
            session: folder.path().join("session"),
            server: vec!["/bin/punch".into(), "mcp".into()],
            resume: None,
            environment: vec![("TOLD".into(), "yes".into())],
            without: Vec::new(),
        };
        let running =
            agent(&spec, &punch_run::agent::LimitSigns::default()).unwrap().start(&assignment, sinks(1)).unwrap();
        Self { folder, running, reports }
    }

    pub fn next(&self) -> AgentEvent {
        self.reports.recv_timeout(PATIENCE).unwrap().event
    }

    /// How the turn ends; everything before is passed over.
    pub fn turn_over(&self) -> AgentTurnEnd {
        loop {
            if let AgentEvent::TurnEnded { finish } = self.next() {
                return finish;
            }
        }
    }

    /// Everything until it is gone, which must be the last word.
    pub fn rest(&mut self) -> Vec<AgentEvent> {
        let mut out = Vec::new();
        while !matches!(out.last(), Some(AgentEvent::Exited { .. })) {
            out.push(self.next());
        }
        self.running.kill();
        // All senders go with the threads of the agent.
        assert!(self.reports.recv_timeout(Duration::from_millis(50)).is_err(), "nothing comes after the end");
        out
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(self.path("log")).unwrap_or_default()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// Whether a process is there and has not ended.
pub fn is_alive(pid: &str) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    state.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.trim_start().starts_with(['Z', 'X']))
}
