//! Our side as the hosts see it: a program for every hook, and a server on pipes for the tools.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use super::agent::Outside;

/// A hook that prints more is broken.
const MOST_PRINTED: u64 = 1 << 20;

/// `punch hook` and `punch mcp` in a folder.
pub struct PunchPrograms {
    punch: PathBuf,
    folder: PathBuf,
    agent: String,
    env: Vec<(OsString, OsString)>,
    server: Option<McpTools>,
    /// How many hooks were called.
    pub hooks: usize,
}

struct McpTools {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    calls: u64,
}

impl PunchPrograms {
    /// For an agent of this name. Nothing is started yet.
    pub fn new(punch: &Path, folder: &Path, agent: &str) -> Self {
        let (punch, folder, agent) = (punch.to_owned(), folder.to_owned(), agent.to_owned());
        Self { punch, folder, agent, env: Vec::new(), server: None, hooks: 0 }
    }

    /// The only variables that the programs see.
    #[must_use]
    pub fn with_env(mut self, env: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        self.env = env.into_iter().collect();
        self
    }

    /// Starts the server for a session, with more arguments.
    pub fn serve(&mut self, arguments: &[&str]) -> Result<(), String> {
        let mut command = self.command(&[&["mcp"], arguments].concat());
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut child = child.map_err(|cause| cause.to_string())?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("no pipes".to_owned());
        };
        let mut tools = McpTools { child, stdin, stdout: BufReader::new(stdout), calls: 0 };
        let about = json!({"name": "scripted", "version": "1"});
        tools.ask("initialize", &json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about}))?;
        tools.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        self.server = Some(tools);
        Ok(())
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.punch);
        command.args(arguments).current_dir(&self.folder).env_clear().envs(self.env.iter().cloned());
        command
    }
}

impl Outside for PunchPrograms {
    fn hook(&mut self, event: &str, input: &Value) -> Result<String, String> {
        self.hooks += 1;
        let mut input = input.clone();
        input["cwd"] = json!(self.folder);
        let mut command = self.command(&["hook", "--agent", &self.agent, event]);
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = child.map_err(|cause| cause.to_string())?;
        if let Some(mut stdin) = child.stdin.take() {
            // A hook need not read what it does not care for.
            let _ = stdin.write_all(input.to_string().as_bytes());
        }
        let mut printed = String::new();
        if let Some(stdout) = child.stdout.take() {
            stdout.take(MOST_PRINTED).read_to_string(&mut printed).map_err(|cause| cause.to_string())?;
        }
        let output = child.wait_with_output().map_err(|cause| cause.to_string())?;
        if output.status.success() {
            return Ok(printed);
        }
        Err(format!("hook {event} ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr)))
    }

    fn tools(&mut self) -> Result<Vec<String>, String> {
        let Some(server) = &mut self.server else { return Ok(Vec::new()) };
        let list = server.ask("tools/list", &json!({}))?;
        let tools = list["tools"].as_array().map_or(&[][..], Vec::as_slice);
        Ok(tools.iter().filter_map(|tool| tool["name"].as_str()).map(str::to_owned).collect())
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Result<String, String> {
        let server = self.server.as_mut().ok_or("no server was started")?;
        let answer = server.ask("tools/call", &json!({"name": tool, "arguments": arguments}))?;
        let text = answer["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        if answer["isError"] == true { Err(text) } else { Ok(text) }
    }
}

impl McpTools {
    fn say(&mut self, message: &Value) -> Result<(), String> {
        writeln!(self.stdin, "{message}").and_then(|()| self.stdin.flush()).map_err(|cause| cause.to_string())
    }

    fn ask(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        self.calls += 1;
        self.say(&json!({"jsonrpc": "2.0", "id": self.calls, "method": method, "params": params}))?;
        loop {
            let mut line = String::new();
            let read = self.stdout.read_line(&mut line).map_err(|cause| cause.to_string())?;
            if read == 0 {
                return Err(format!("the server left during {method}"));
            }
            let mut answer: Value = serde_json::from_str(&line).map_err(|cause| format!("{cause}: {line}"))?;
            if answer["id"] != self.calls {
                continue;
            }
            if answer["error"].is_object() {
                return Err(answer["error"].to_string());
            }
            return Ok(answer["result"].take());
        }
    }
}

impl Drop for McpTools {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
