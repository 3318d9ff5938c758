//! `punch run` with scripted agents: what they do well, what they do badly, and what is left after everything was killed.

mod driven;
mod killed;
mod limits;
mod misbehaves;
mod talks;
#[cfg(unix)]
mod terminal;
mod trees;
mod works;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use punch_testkit::scripted::SHELL_AGENT;
use serde_json::Value;

use crate::punch::Run;
use crate::world::{PUNCH, World, finished};

/// Longer than anything that is not broken.
const PATIENCE: Duration = Duration::from_secs(60);

/// A project, an agent, and the traces that it leaves.
pub struct Stage {
    pub world: World,
    pub traces: PathBuf,
    spec: String,
}

impl Stage {
    pub fn new() -> Self {
        Self::on(World::new())
    }

    pub fn on(world: World) -> Self {
        let traces = world.root.join("traces");
        fs::create_dir(&traces).unwrap();
        let script = world.root.join("agent.sh");
        fs::write(&script, SHELL_AGENT).unwrap();
        Self { spec: format!("exec:sh {}", script.display()), traces, world }
    }

    /// Adds todos by content: `T-1`, `T-2`, …
    pub fn add(&self, contents: &[&str]) {
        self.world.ok(&[&["add"], contents].concat());
    }

    /// `punch run` with the scripted agent, quick to give up.
    pub fn command(&self, more: &[&str]) -> Command {
        let mut command = self.world.command(&[&["run", "--agent", &self.spec], more].concat());
        command.env("TRACES", &self.traces).env("PUNCH", PUNCH);
        command.env("PUNCH_RUN_BACKOFF", "10ms").env("PUNCH_RUN_GRACE", "300ms");
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn run(&self, more: &[&str]) -> Run {
        finished(self.command(more).output().unwrap())
    }

    /// Runs to an end with this exit code, and leaves nothing behind.
    pub fn ends(&self, more: &[&str], exit: i32) -> Run {
        let run = self.run(more);
        assert_eq!(run.exit, Some(exit), "{}", run.render());
        assert_eq!(self.alive(), [0; 0], "{}", run.render());
        run
    }

    /// The lines of a trace.
    pub fn trace(&self, name: &str) -> Vec<String> {
        let text = fs::read_to_string(self.traces.join(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    pub fn todo(&self, id: &str) -> Value {
        self.world.json(&["show", id])["todo"].clone()
    }

    pub fn status(&self, id: &str) -> String {
        self.todo(id)["status"].as_str().unwrap_or_default().to_owned()
    }

    /// Processes that descend from a run of this stage: they have inherited the name of its traces.
    pub fn alive(&self) -> Vec<u32> {
        let mark = format!("TRACES={}", self.traces.display());
        let carries = |pid: &u32| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes())
        };
        let names = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().into_string().ok());
        names.filter_map(|name| name.parse().ok()).filter(carries).collect()
    }

    /// Waits for something that other processes do.
    pub fn wait_for(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let begun = Instant::now();
        while !holds() {
            assert!(begun.elapsed() < PATIENCE, "waited in vain for {what}");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// The guards need a moment after a kill.
    pub fn all_gone(&self) {
        self.wait_for("the end of every process", || self.alive().is_empty());
    }
}
