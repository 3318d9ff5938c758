//! A project with a store of its own, and an agent that follows a script.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use super::tmux::Tmux;
use crate::process;

/// An agent in Claude's form. It works for a moment on each todo; one that says `ask` asks for permission first.
const AGENT: &str = include_str!("agent.sh");

/// A project in a temporary folder.
pub struct Stage {
    folder: TempDir,
    punch: PathBuf,
}

impl Stage {
    /// An empty project.
    pub fn new(punch: &Path) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|cause| cause.to_string())?;
        let stage = Self { folder, punch: punch.to_owned() };
        for name in ["project", "home", "traces"] {
            fs::create_dir(stage.path(name)).map_err(|cause| cause.to_string())?;
        }
        fs::write(stage.path("agent.sh"), AGENT).map_err(|cause| cause.to_string())?;
        process::read(&mut stage.command(&["init", "--store", &stage.text("project/.punch")]))?;
        Ok(stage)
    }

    /// A path below the folder of the stage.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    fn variables(&self) -> Vec<(&'static str, String)> {
        vec![
            ("HOME", self.text("home")),
            ("XDG_STATE_HOME", self.text("home/state")),
            ("XDG_CONFIG_HOME", self.text("home/config")),
            ("PUNCH_STORE", self.text("project/.punch")),
            ("PUNCH", self.punch.display().to_string()),
            ("TRACES", self.text("traces")),
            ("PUNCH_RUN_BACKOFF", "10ms".to_owned()),
        ]
    }

    /// `punch` in the project, without anything that marks an agent.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.punch);
        command.args(arguments).current_dir(self.path("project")).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).envs(self.variables());
        command
    }

    /// Runs `punch` to its end.
    pub fn punch(&self, arguments: &[&str]) -> Result<String, String> {
        process::read(&mut self.command(arguments))
    }

    /// A terminal with a shell in the project.
    pub fn terminal(&self, size: (u16, u16)) -> Result<Tmux, String> {
        let variables = self.variables();
        let variables: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
        Tmux::open(size, &self.path("project"), &variables)
    }

    /// A terminal with a board on it.
    pub fn board(&self, size: (u16, u16)) -> Result<Tmux, String> {
        let terminal = self.terminal(size)?;
        terminal.line("\"$PUNCH\" watch")?;
        terminal.wait_for("live")?;
        Ok(terminal)
    }

    /// Starts `punch run` with the scripted agent, without a terminal.
    pub fn run(&self, agents: u32, work: &str) -> Result<Running, String> {
        let agent = format!("claude:sh {}", self.text("agent.sh"));
        let mut command = self.command(&["run", "--agent", &agent, "--agents", &agents.to_string()]);
        command.env("WORK", work).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().map(Running).map_err(|cause| cause.to_string())
    }
}

/// A run; dropping it ends it.
pub struct Running(Child);

impl Running {
    /// Waits for its end.
    pub fn wait(&mut self) -> Result<(), String> {
        let status = self.0.wait().map_err(|cause| cause.to_string())?;
        if status.success() { Ok(()) } else { Err(format!("the run ended with {status}")) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
