//! A client of the Model Context Protocol over standard input and output, as small as it can be.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use wait4::Wait4;

/// A running server.
pub struct McpProcess {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last: u64,
    /// What the server says about itself to the model.
    pub instructions: String,
}

impl McpProcess {
    /// Starts a server and shakes hands.
    pub fn open(command: &mut Command) -> Result<Self, String> {
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut child = child.map_err(|cause| format!("`{command:?}` does not start: {cause}"))?;
        let (input, output) = child.stdin.take().zip(child.stdout.take()).ok_or("no pipes")?;
        let mut connection =
            Self { child, input: Some(input), output: BufReader::new(output), last: 0, instructions: String::new() };
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
        loop {
            let mut line = String::new();
            let read = self.output.read_line(&mut line).map_err(|cause| cause.to_string())?;
            if read == 0 {
                return Err(format!("the server ended before it answered {method}"));
            }
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
        std::thread::sleep(Duration::from_millis(100));
        let _ = self.child.kill();
        let used = self.child.wait4().map_err(|cause| cause.to_string())?;
        Ok(used.rusage.utime + used.rusage.stime)
    }

    fn send(&mut self, message: &Value) -> Result<(), String> {
        let input = self.input.as_mut().ok_or("the connection is closed")?;
        writeln!(input, "{message}")
            .and_then(|()| input.flush())
            .map_err(|cause| format!("the server is gone: {cause}"))
    }
}
