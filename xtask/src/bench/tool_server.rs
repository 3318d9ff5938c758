//! A client of `punch mcp`, as an agent has one: the tools that are offered and their answers.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use super::tokenizer::tokens;

pub struct ToolServer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: u64,
    /// Tokens of the tool definitions and of the instructions, which every conversation pays.
    pub definitions: usize,
    pub instructions: usize,
}

impl ToolServer {
    /// Starts the server; `words` are its arguments after `mcp`.
    pub fn start(mut command: Command, words: &[&str]) -> Result<Self, String> {
        let pipes = command.arg("mcp").args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = pipes.spawn().map_err(|cause| format!("punch mcp: {cause}"))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("punch mcp has no pipes".to_owned());
        };
        let mut server =
            Self { child, input, output: BufReader::new(output), next: 0, definitions: 0, instructions: 0 };
        let about = json!({"name": "claude-code", "version": "2.1.325"});
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about});
        let hello = server.request("initialize", &hello)?;
        server.line(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        let tools = server.request("tools/list", &json!({}))?;
        server.instructions = tokens(hello["instructions"].as_str().unwrap_or_default());
        server.definitions = definitions(&tools["tools"]);
        Ok(server)
    }

    /// The text of an answer, also of a refusal: the model reads both.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Result<String, String> {
        let answer = self.request("tools/call", &json!({"name": tool, "arguments": arguments}))?;
        let texts = answer["content"].as_array().into_iter().flatten().filter_map(|part| part["text"].as_str());
        Ok(texts.collect::<Vec<_>>().join("\n"))
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        self.next += 1;
        self.line(&json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params}))?;
        loop {
            let mut line = String::new();
            let read = self.output.read_line(&mut line).map_err(|cause| format!("punch mcp: {cause}"))?;
            if read == 0 {
                return Err(format!("punch mcp ended during {method}"));
            }
            let mut answer: Value = serde_json::from_str(&line).map_err(|cause| format!("punch mcp: {cause}"))?;
            if answer["id"] == self.next {
                return match answer.get("error") {
                    Some(error) => Err(format!("{method}: {error}")),
                    None => Ok(answer["result"].take()),
                };
            }
        }
    }

    fn line(&mut self, line: &Value) -> Result<(), String> {
        writeln!(self.input, "{line}").and_then(|()| self.input.flush()).map_err(|cause| format!("punch mcp: {cause}"))
    }
}

/// Tokens of tools as a model gets them: name, description and schema.
fn definitions(tools: &Value) -> usize {
    let priced = |tool: &Value| {
        let tool =
            json!({"name": tool["name"], "description": tool["description"], "inputSchema": tool["inputSchema"]});
        tokens(&tool.to_string())
    };
    tools.as_array().into_iter().flatten().map(priced).sum()
}

impl Drop for ToolServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
