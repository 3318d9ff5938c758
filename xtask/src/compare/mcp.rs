//! A client of the Model Context Protocol over standard input and output, as small as it can be.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wait4::Wait4;

/// A server that takes longer for one answer is given up.
const LIMIT: Duration = Duration::from_secs(60);

/// A running server. It is killed when this is dropped.
pub struct McpProcess {
    child: Option<Child>,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    limit: Duration,
    last: u64,
    /// What the server says about itself to the model.
    pub instructions: String,
}

impl McpProcess {
    /// Starts a server and shakes hands.
    pub fn open(command: &mut Command) -> Result<Self, String> {
        Self::open_with(command, LIMIT)
    }

    fn open_with(command: &mut Command, limit: Duration) -> Result<Self, String> {
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut child = child.map_err(|cause| format!("`{command:?}` does not start: {cause}"))?;
        let (input, output) = child.stdin.take().zip(child.stdout.take()).ok_or("no pipes")?;
        // A thread reads, so that a server which never answers can be given up.
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            BufReader::new(output).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        let (child, input) = (Some(child), Some(input));
        let mut connection = Self { child, input, lines, limit, last: 0, instructions: String::new() };
        let hello = json!({
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "compare", "version": "1"},
        });
        let answer = connection.request("initialize", hello)?;
        connection.instructions = answer["instructions"].as_str().unwrap_or_default().to_owned();
        connection.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(connection)
    }

    /// Sends a request and waits for its result.
    pub fn request(&mut self, method: &str, params: Value) -> Result<Value, String> {
        self.last += 1;
        let id = self.last;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        let end = Instant::now() + self.limit;
        loop {
            let line = match self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) => {
                    return Err(format!("no answer to {method} within {} s", self.limit.as_secs_f64()));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(format!("the server ended before it answered {method}"));
                }
            };
            // Some servers print other things in between.
            let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
            if message.get("method").is_some() && message.get("id").is_some() {
                self.send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": {"roots": []}}))?;
            } else if message["id"] == id {
                return match message.get("error") {
                    Some(error) => Err(format!("{method}: {error}")),
                    None => Ok(message["result"].clone()),
                };
            }
        }
    }

    /// Calls a tool: the text of its answer.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Result<String, String> {
        let result = self.request("tools/call", json!({"name": tool, "arguments": arguments}))?;
        let texts = result["content"].as_array().into_iter().flatten().filter_map(|part| part["text"].as_str());
        let text = texts.collect::<Vec<_>>().join("\n");
        if result["isError"] == true { Err(format!("{tool}: {text}")) } else { Ok(text) }
    }

    /// Ends the server: its CPU time.
    pub fn close(mut self) -> Result<Duration, String> {
        drop(self.input.take());
        // Node servers may wait for more than their input.
        thread::sleep(Duration::from_millis(100));
        let mut child = self.child.take().ok_or("the connection is closed")?;
        let _ = child.kill();
        let used = child.wait4().map_err(|cause| cause.to_string())?;
        Ok(used.rusage.utime + used.rusage.stime)
    }

    fn send(&mut self, message: &Value) -> Result<(), String> {
        let input = self.input.as_mut().ok_or("the connection is closed")?;
        writeln!(input, "{message}")
            .and_then(|()| input.flush())
            .map_err(|cause| format!("the server is gone: {cause}"))
    }
}

impl Drop for McpProcess {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(script: &str) -> Result<McpProcess, String> {
        McpProcess::open_with(Command::new("sh").args(["-c", script]), Duration::from_millis(300))
    }

    #[test]
    fn a_server_that_hangs_or_ends_is_an_error_and_not_a_wait() {
        assert_eq!(opened("sleep 60").err().unwrap_or_default(), "no answer to initialize within 0.3 s");
        let ended = opened("read line").err().unwrap_or_default();
        assert_eq!(ended, "the server ended before it answered initialize");
        // A server that talks without end, but never answers.
        let endless = opened("while :; do echo '{}'; sleep 0.01; done").err().unwrap_or_default();
        assert_eq!(endless, "no answer to initialize within 0.3 s");
    }

    #[test]
    fn other_lines_between_answers_are_skipped() {
        let script = r#"echo starting; echo '{"id":1,"result":{"instructions":"hello"}}'; cat >/dev/null"#;
        assert_eq!(opened(script).map(|server| server.instructions.clone()), Ok("hello".to_owned()));
    }
}
