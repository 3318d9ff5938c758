//! `punch run` with scripted agents: what they do well, what they do badly, and what is left after everything was
//! killed.

mod belongings;
mod changes;
mod controls;
mod driven;
mod eats_disk;
mod evidence;
mod guards;
mod killed;
mod limits;
mod misbehaves;
mod notify;
mod plan_check;
#[cfg(unix)]
mod questions;
mod repository;
mod setup;
mod talks;
#[cfg(unix)]
pub mod terminal;
mod trees;
mod usage_limits;
mod works;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use punch_testkit::scripted::exec_agent;
use serde_json::Value;

use crate::punch::Run;
use crate::world::{PUNCH, World, finished};

/// Longer than anything that is not broken.
const PATIENCE: Duration = Duration::from_secs(60);

/// A project, an agent, and the traces that it leaves.
pub struct Stage {
    pub world: World,
    pub traces: PathBuf,
    pub spec: String,
}

impl Stage {
    pub fn new() -> Self {
        Self::on(World::new())
    }

    pub fn on(world: World) -> Self {
        let traces = world.root.join("traces");
        fs::create_dir(&traces).unwrap();
        let agent = exec_agent().unwrap();
        Self { spec: format!("exec:'{}'", agent.display()), traces, world }
    }

    /// Sets up a project whose agent plays this script whatever its todo says, and reads no prompt.
    pub fn playing(script: &str) -> Self {
        let mut stage = Self::new();
        stage.spec.push_str(&format!(" '{script}'"));
        stage
    }

    /// Adds todos by content: `T-1`, `T-2`, …
    pub fn add(&self, contents: &[&str]) {
        self.world.ok(&[&["add"], contents].concat());
    }

    /// `punch run` with the scripted agent, quick to give up.
    pub fn command(&self, more: &[&str]) -> Command {
        self.prepared(self.world.command(&[&["run", "--agent", &self.spec], more].concat()))
    }

    /// Gives a command what the scripted agent needs.
    pub fn prepared(&self, mut command: Command) -> Command {
        command.env("TRACES", &self.traces).env("PUNCH", PUNCH);
        command
            .env("PUNCH_RUN_ATTEMPTS", "2")
            .env("PUNCH_RUN_BACKOFF", "10ms")
            .env("PUNCH_RUN_GRACE", "300ms")
            .env("PUNCH_RUN_IDLE", "60s");
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

    /// Lets an agent continue that awaits this.
    pub fn signal(&self, name: &str) {
        fs::write(self.traces.join(name), "").unwrap();
    }

    /// Sizes of the logs of agents.
    pub fn logs(&self) -> Vec<u64> {
        let folder = self.world.store().parent().unwrap().join("runs/1-1");
        let files = fs::read_dir(folder).unwrap().flatten();
        let logs = files.filter(|entry| entry.path().extension().is_some_and(|end| end == "log"));
        logs.map(|entry| entry.metadata().unwrap().len()).collect()
    }

    /// The guards need a moment after a kill.
    pub fn all_gone(&self) {
        self.wait_for("the end of every process", || self.alive().is_empty());
    }
}

/// A test that fails leaves nothing behind either: agents that hang would hang for ever.
impl Drop for Stage {
    fn drop(&mut self) {
        for pid in self.alive() {
            let _ = Command::new("kill").args(["-9", &pid.to_string()]).output();
        }
    }
}
