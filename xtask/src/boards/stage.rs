//! A project with a store of its own, and an agent that follows a script.

use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use super::tmux::Tmux;
use crate::process;

/// An agent in Claude's form. It works for a moment on each todo; one that says `ask` asks for permission first, and one
/// that says `wait` takes until the scenario lets it continue, and those that `QUICK` names take a second. `COST` and `TOKENS`
/// are what each todo takes; `SAY` and `COMMAND`, escaped for JSON, what it says and asks.
const AGENT: &str = include_str!("agent.sh");

/// An agent that todos are given to: it keeps what it was asked to do.
const ASSIGNED: &str = "#!/bin/sh\nprintf '%s\\n' \"$*\" >> \"$TRACES/assigned\"\n";

/// How an agent greets a server.
const HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"agent","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// A project in a temporary folder.
pub struct BoardProject {
    folder: TempDir,
    punch: PathBuf,
}

impl BoardProject {
    /// An empty project.
    pub fn new(punch: &Path) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|cause| cause.to_string())?;
        let stage = Self { folder, punch: punch.to_owned() };
        for name in ["project", "home", "traces", "bin"] {
            fs::create_dir(stage.path(name)).map_err(|cause| cause.to_string())?;
        }
        fs::write(stage.path("agent.sh"), AGENT).map_err(|cause| cause.to_string())?;
        fs::write(stage.path("bin/claude"), ASSIGNED).map_err(|cause| cause.to_string())?;
        process::run(Command::new("chmod").arg("+x").arg(stage.path("bin/claude")))?;
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
            ("PATH", format!("{}:{}", self.text("bin"), std::env::var("PATH").unwrap_or_default())),
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
        command.args(arguments).current_dir(self.path("project")).env_clear().envs(self.variables());
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

    /// A call of an agent to the todo tool, over MCP.
    pub fn call(&self, arguments: &str) -> Result<(), String> {
        let failed = |cause: io::Error| cause.to_string();
        let mut server = self.command(&["mcp"]);
        let mut server = server.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(failed)?;
        let (input, output) = (server.stdin.take(), server.stdout.take());
        let (Some(mut input), Some(output)) = (input, output) else { return Err("no pipes".to_owned()) };
        writeln!(input, "{HELLO}").map_err(failed)?;
        writeln!(
            input,
            r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"todo_write","arguments":{arguments}}}}}"#
        )
        .map_err(failed)?;
        // Until the answers to the greeting and to the call have come.
        let answers = BufReader::new(output).lines().map_while(Result::ok);
        let answered = answers.filter(|line| line.contains("\"id\"")).take(2).count();
        drop(input);
        server.wait().map_err(failed)?;
        if answered == 2 { Ok(()) } else { Err("the server did not answer".to_owned()) }
    }

    /// A report of a session in Claude's form, as its hooks make it.
    pub fn report(&self, event: &str, fields: &str) -> Result<(), String> {
        let failed = |cause: io::Error| cause.to_string();
        let mut hook = self.command(&["hook", "--agent", "claude", event]);
        let mut hook = hook.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().map_err(failed)?;
        let (session, folder) = ("1a2b3c4d", self.text("project"));
        if let Some(mut input) = hook.stdin.take() {
            write!(input, r#"{{"session_id":"{session}","hook_event_name":"{event}","cwd":"{folder}",{fields}}}"#)
                .map_err(failed)?;
        }
        hook.wait().map_err(failed).map(drop)
    }

    /// Starts `punch run` with the scripted agent, without a terminal.
    pub fn run(&self, agents: u32, work: &str) -> Result<BoardRun, String> {
        self.run_with(agents, &[], &[("WORK", work)])
    }

    /// Starts `punch run` with more options, and with variables for its agent.
    pub fn run_with(&self, agents: u32, options: &[&str], variables: &[(&str, &str)]) -> Result<BoardRun, String> {
        let agent = format!("claude:sh {}", self.text("agent.sh"));
        let mut command = self.command(&["run", "--agent", &agent, "--agents", &agents.to_string()]);
        command.args(options).envs(variables.iter().copied());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().map(BoardRun).map_err(|cause| cause.to_string())
    }
}

/// A run; dropping it ends it.
pub struct BoardRun(Child);

impl BoardRun {
    /// Waits for its end.
    pub fn wait(&mut self) -> Result<(), String> {
        let status = self.0.wait().map_err(|cause| cause.to_string())?;
        if status.success() { Ok(()) } else { Err(format!("the run ended with {status}")) }
    }

    /// Waits for its end, whether it has finished the plan or not.
    pub fn end(&mut self) -> Result<(), String> {
        self.0.wait().map(drop).map_err(|cause| cause.to_string())
    }
}

impl Drop for BoardRun {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
