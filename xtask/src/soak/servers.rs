//! Writers behind an MCP server on standard input and output, killed in the middle of calls and between them.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::LEASE;
use super::journal::TryOutcome;
use super::soak_plan::outcome_of;
use super::writer::Writer;

/// Longer than anything takes that is not broken.
const PATIENCE: Duration = Duration::from_secs(60);

/// Of a hundred calls, how many end with a killed server.
const KILLED: u64 = 6;

/// Of a hundred calls, how many have arguments that no tool wants.
const ODD: u64 = 6;

/// Starts a server, calls it until it is killed, and starts the next one.
pub fn calls(writer: &mut Writer<'_>) -> Result<(), String> {
    while writer.goes_on() {
        let mut server = match McpServer::start(writer) {
            // The database was away.
            Err(_) if writer.shared.place.server.is_some() => {
                thread::sleep(Duration::from_millis(200));
                continue;
            }
            started => started?,
        };
        while writer.goes_on() {
            let killed = writer.random.percent(KILLED);
            let moment = killed.then(|| Duration::from_micros(writer.random.below(20_000)));
            if writer.random.percent(ODD) {
                odd(writer, &mut server, moment)?;
            } else {
                call(writer, &mut server, moment)?;
            }
            writer.shared.journal.count(killed);
            if killed {
                break;
            }
        }
    }
    Ok(())
}

fn call(writer: &mut Writer<'_>, server: &mut McpServer, moment: Option<Duration>) -> Result<(), String> {
    let write = |op: Value| json!({"ops": [op]});
    match writer.random.below(100) {
        0..40 => {
            let contents = writer.contents(3);
            let ops: Vec<Value> = contents.iter().map(|content| json!({"op": "add", "content": content})).collect();
            let answer = server.tool("todo_write", &json!({"ops": ops}), moment)?;
            writer.added(contents, answer.outcome, answer.times);
        }
        40..60 => {
            let arguments = json!({"owner": writer.name, "leaseMs": LEASE});
            let ToolReply { content, times, .. } = server.tool("todo_claim", &arguments, moment)?;
            if let (Some(id), Some(fence)) = (content["id"].as_str(), content["fence"].as_u64()) {
                writer.claimed(id, fence, times);
            }
        }
        60..80 => {
            let id = writer.id();
            let answer = server.tool("todo_write", &write(json!({"op": "done", "id": id})), moment)?;
            writer.completed(id, answer.content["revision"].as_u64(), answer.times);
        }
        choice => {
            let id = writer.id();
            let op = match choice {
                80..84 => json!({"op": "reopen", "id": id}),
                84..88 => json!({"op": "note", "id": id, "text": "seen"}),
                88..91 => json!({"op": "hold", "id": id, "reason": "waiting"}),
                91..93 => json!({"op": "rm", "id": id}),
                93..96 => json!({"op": "undo"}),
                96..98 => json!({"op": "redo"}),
                _ => json!({"op": "start", "id": id}),
            };
            server.tool("todo_write", &write(op), moment)?;
        }
    }
    Ok(())
}

/// A call with values of the wrong type in known and unknown places: any answer will do, but there must be one.
fn odd(writer: &mut Writer<'_>, server: &mut McpServer, moment: Option<Duration>) -> Result<(), String> {
    let keys = ["op", "id", "ids", "content", "dependsOn", "priority", "revision", "any", "ops", "view", "nobody"];
    let values = [json!(null), json!(-1), json!(1e300), json!(true), json!([[]]), json!({"op": "add"}), json!("add")];
    let long = json!("odd ".repeat(5_000));
    let mut op = serde_json::Map::new();
    for _ in 0..=writer.random.below(4) {
        let key = pick(writer, &keys);
        let value = if writer.random.percent(10) { long.clone() } else { pick(writer, &values) };
        op.insert(key.to_owned(), value);
    }
    let arguments = if writer.random.percent(70) { json!({"ops": [op]}) } else { Value::Object(op) };
    let tool = pick(writer, &["todo_write", "todo_read", "todo_claim", "todo_nothing"]);
    let id = server.send("tools/call", &json!({"name": tool, "arguments": arguments}));
    server.kill_at(moment);
    match server.answer(id)? {
        None if moment.is_none() => Err(format!("punch mcp ended during {tool} {arguments}")),
        _ => Ok(()),
    }
}

fn pick<T: Clone>(writer: &mut Writer<'_>, from: &[T]) -> T {
    from[usize::try_from(writer.random.below(from.len() as u64)).unwrap_or(0)].clone()
}

/// What a tool answered.
struct ToolReply {
    /// The structured content of a good answer, else nothing.
    content: Value,
    outcome: TryOutcome,
    times: (Instant, Instant),
}

struct McpServer {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
    next: u64,
}

impl McpServer {
    /// Starts a server and shakes hands.
    fn start(writer: &Writer<'_>) -> Result<Self, String> {
        let owner = ["mcp", "--structured", "--tools", "claim", "--owner", &writer.name];
        let mut command = writer.command(&owner);
        let child = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut child = child.map_err(|cause| format!("cannot start punch mcp: {cause}"))?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("punch mcp has no pipes".into());
        };
        let (send, lines) = channel();
        thread::spawn(move || {
            BufReader::new(stdout).lines().map_while(Result::ok).try_for_each(|line| send.send(line))
        });
        let mut server = Self { child, stdin, lines, next: 0 };
        let about = json!({"name": writer.name, "version": "1"});
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about});
        let id = server.send("initialize", &hello);
        server.answer(id)?.ok_or("punch mcp ended before its first answer")?;
        server.line(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        Ok(server)
    }

    /// Calls a tool; the server is killed at the moment, if one is given.
    fn tool(&mut self, name: &str, arguments: &Value, moment: Option<Duration>) -> Result<ToolReply, String> {
        let asked = Instant::now();
        let id = self.send("tools/call", &json!({"name": name, "arguments": arguments}));
        self.kill_at(moment);
        let (outcome, content) = match self.answer(id)? {
            None if moment.is_none() => return Err(format!("punch mcp ended during {name} {arguments}")),
            None => (TryOutcome::Unknown, Value::Null),
            Some(answer) if answer.get("error").is_some() => return Err(format!("{name} {arguments}: {answer}")),
            Some(answer) if answer["result"]["isError"] == true => {
                let code = answer["result"]["structuredContent"]["error"]["code"].as_str();
                (outcome_of(false, code), Value::Null)
            }
            Some(mut answer) => (TryOutcome::Acknowledged, answer["result"]["structuredContent"].take()),
        };
        Ok(ToolReply { content, outcome, times: (asked, Instant::now()) })
    }

    fn kill_at(&mut self, moment: Option<Duration>) {
        if let Some(moment) = moment {
            thread::sleep(moment);
            let _ = self.child.kill();
        }
    }

    fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.next += 1;
        self.line(&json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params}));
        self.next
    }

    /// A server that is gone takes no lines; the missing answer says so.
    fn line(&mut self, line: &Value) {
        let _ = writeln!(self.stdin, "{line}").and_then(|()| self.stdin.flush());
    }

    /// The answer to a request; `None` if the server ended without it.
    fn answer(&self, id: u64) -> Result<Option<Value>, String> {
        use std::sync::mpsc::RecvTimeoutError;
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                // Half a line is not an answer.
                Ok(line) => match serde_json::from_str::<Value>(&line) {
                    Ok(answer) if answer["id"] == id => return Ok(Some(answer)),
                    _ => {}
                },
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => return Err(format!("punch mcp: no answer in {PATIENCE:?}")),
            }
        }
    }
}

impl Drop for McpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
