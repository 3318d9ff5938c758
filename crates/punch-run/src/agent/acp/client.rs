//! The client side of the protocol as a state machine: lines in, events and lines out. Opens a session with our server,
//! resumes an old one if the agent can, and refuses every request that it did not offer to handle.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::spent::AcpMeter;
use super::update::LineAssembler;
use crate::agent::{AgentEvent, AgentStart, AgentTurnEnd, PermissionRequest};
use punch_agents::UsageLimit;
use punch_agents::headless::json::{CountedLines, detail, failed, name, str_of, whole};
use punch_agents::headless::{AgentListener, AgentOutput};

/// Requests for permission that may be open.
const OPEN: usize = 64;
/// Options of one request that are passed on.
const OPTIONS: usize = 10;

/// A method that is not offered.
const UNKNOWN_METHOD: i32 = -32601;
/// The agent requires the user to log in.
const LOGIN: i64 = -32000;

/// The client of one agent.
#[derive(Debug)]
pub(super) struct AcpClient {
    first: String,
    folder: String,
    servers: Value,
    resume: Option<String>,
    /// The number of the last request.
    asked: u64,
    /// What we wait for, with the number of its request.
    waiting: Option<(u64, AcpRequest)>,
    session: Option<String>,
    cancelled: bool,
    permissions: BTreeMap<String, PendingPermission>,
    /// Reasons of denials that the agent has not read yet. The protocol has no field for them, so they precede the next
    /// prompt.
    reasons: Vec<String>,
    pub(super) words: LineAssembler,
    pub(super) meter: AcpMeter,
    lines: CountedLines,
}

/// A request of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AcpRequest {
    Initialize,
    /// `session/resume` or `session/load` was sent.
    GoOn,
    New,
    Prompt,
}

/// A request for permission that waits.
#[derive(Debug)]
struct PendingPermission {
    id: Value,
    /// The requested action.
    what: String,
    /// An option that refuses this once.
    refuse: Option<String>,
}

impl AcpClient {
    /// Creates a client for an assignment.
    pub fn new(assignment: &AgentStart) -> Self {
        let server = |(program, arguments): (&String, &[String])| json!({"name": "punch", "command": program, "args": arguments, "env": []});
        let servers = assignment.server.split_first().map(server).into_iter().collect();
        Self {
            first: assignment.prompt.clone(),
            folder: assignment.folder.to_string_lossy().into_owned(),
            servers,
            resume: assignment.resume.clone(),
            asked: 0,
            waiting: None,
            session: None,
            cancelled: false,
            permissions: BTreeMap::new(),
            reasons: Vec::new(),
            words: LineAssembler::default(),
            meter: AcpMeter::new(assignment.resume.is_some()),
            lines: CountedLines::default(),
        }
    }

    fn ask(&mut self, what: AcpRequest, method: &str, params: &Value) -> String {
        self.asked += 1;
        self.waiting = Some((self.asked, what));
        json!({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params}).to_string()
    }

    fn open(&mut self) -> String {
        let params = json!({"cwd": self.folder, "mcpServers": self.servers});
        self.ask(AcpRequest::New, "session/new", &params)
    }

    /// Takes the answer to a request of ours.
    fn answered(&mut self, what: AcpRequest, said: &Value) -> AgentOutput {
        let result = &said["result"];
        match (what, &said["error"]) {
            (AcpRequest::Initialize, Value::Null) => {
                AgentOutput { replies: vec![self.initialized(result)], ..AgentOutput::default() }
            }
            (AcpRequest::GoOn, Value::Null) => {
                let session = self.resume.take().unwrap_or_default();
                self.opened(session)
            }
            // The session is unknown there, or too old: the prompt says all that is needed.
            (AcpRequest::GoOn, _) => {
                self.resume = None;
                self.meter = AcpMeter::new(false);
                AgentOutput { replies: vec![self.open()], ..AgentOutput::default() }
            }
            (AcpRequest::New, Value::Null) if !str_of(result, "sessionId").is_empty() => {
                self.opened(str_of(result, "sessionId").to_owned())
            }
            (AcpRequest::Prompt, Value::Null) => self.turn_over(result),
            (_, error) => {
                let hint = if error["code"] == LOGIN {
                    "it requires a login: run it once yourself"
                } else {
                    "it did not answer"
                };
                let data = error["data"]["details"].as_str().or_else(|| error["data"]["message"].as_str());
                let text =
                    format!("{}{}", str_of(error, "message"), data.map(|d| format!(": {d}")).unwrap_or_default());
                let finish = if error["code"] == LOGIN {
                    failed(&format!("{hint} ({text})"), hint)
                } else {
                    UsageLimit::of_any_agent(&text).map_or_else(|| failed(&text, hint), AgentTurnEnd::UsageLimit)
                };
                let mut events = self.meter.turn_over(&Value::Null);
                events.push(AgentEvent::TurnEnded { finish });
                AgentOutput { events, ..AgentOutput::default() }
            }
        }
    }

    /// Returns true for a call of the server that was passed with the session: the agent reports with it, which needs
    /// no permission. It is recognized by the tool's name (Claude Code, Qwen Code) or by a title that the host builds
    /// from server and tool (Gemini CLI); neither contains what a model writes.
    fn is_ours(&self, call: &Value) -> bool {
        if str_of(call, "kind") != "other" || self.servers.as_array().is_none_or(Vec::is_empty) {
            return false;
        }
        let meta = &call["_meta"];
        let named = [str_of(call, "name"), str_of(meta, "toolName"), str_of(&meta["claudeCode"], "toolName")];
        if let Some(name) = named.into_iter().find(|name| !name.is_empty()) {
            return name.starts_with("mcp__punch__");
        }
        let title = str_of(call, "title");
        let plain = title.len() < 80 && title.chars().all(|c| c.is_ascii_alphanumeric() || " _-().".contains(c));
        plain && (title.starts_with("mcp__punch__") || title.ends_with(" (punch MCP Server)"))
    }

    fn initialized(&mut self, result: &Value) -> String {
        let able = &result["agentCapabilities"];
        let method = match (&self.resume, able["loadSession"] == true) {
            (Some(_), _) if able["sessionCapabilities"]["resume"].is_object() => "session/resume",
            (Some(_), true) => "session/load",
            _ => {
                self.meter = AcpMeter::new(false);
                return self.open();
            }
        };
        let params = json!({"sessionId": self.resume, "cwd": self.folder, "mcpServers": self.servers});
        self.ask(AcpRequest::GoOn, method, &params)
    }

    fn opened(&mut self, session: String) -> AgentOutput {
        let events = vec![AgentEvent::Started { session: name(&session) }];
        self.session = Some(session);
        let first = std::mem::take(&mut self.first);
        AgentOutput { events, replies: self.prompt(&first).unwrap_or_default() }
    }

    fn turn_over(&mut self, result: &Value) -> AgentOutput {
        let finish = match str_of(result, "stopReason") {
            "end_turn" => AgentTurnEnd::Natural,
            "max_tokens" | "max_turn_requests" => AgentTurnEnd::Limit,
            "cancelled" => AgentTurnEnd::Cancelled,
            "refusal" => AgentTurnEnd::Failed("the model refused to continue".into()),
            other => failed("", &format!("the turn ended with `{other}`")),
        };
        let mut events: Vec<AgentEvent> = self.words.flush().into_iter().collect();
        events.extend(self.meter.turn_over(result));
        events.push(AgentEvent::TurnEnded { finish });
        // Nothing waits for these any more.
        self.permissions.clear();
        AgentOutput { events, ..AgentOutput::default() }
    }

    /// Takes a request of the agent.
    fn requested(&mut self, method: &str, said: &Value) -> AgentOutput {
        let id = said["id"].clone();
        if method != "session/request_permission" || self.permissions.len() >= OPEN {
            let error = json!({"code": UNKNOWN_METHOD, "message": "not offered"});
            let reply = json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string();
            return AgentOutput { replies: vec![reply], ..AgentOutput::default() };
        }
        let (permission, refuse) = permission(&id, &said["params"]);
        if self.is_ours(&said["params"]["toolCall"])
            && let Some((option, ..)) = permission.options.iter().find(|(.., allows)| *allows)
        {
            let outcome = json!({"outcome": {"outcome": "selected", "optionId": option}});
            let reply = json!({"jsonrpc": "2.0", "id": id, "result": outcome}).to_string();
            return AgentOutput { replies: vec![reply], ..AgentOutput::default() };
        }
        self.permissions.insert(permission.id.clone(), PendingPermission { id, what: permission.what.clone(), refuse });
        let mut events: Vec<AgentEvent> = self.words.flush().into_iter().collect();
        events.push(AgentEvent::Permission(permission));
        AgentOutput { events, ..AgentOutput::default() }
    }
}

impl AgentListener for AcpClient {
    fn begin(&mut self) -> Vec<String> {
        let able = json!({"fs": {"readTextFile": false, "writeTextFile": false}, "terminal": false});
        let own = json!({"name": "punch", "title": "Punchlist", "version": env!("CARGO_PKG_VERSION")});
        let params = json!({"protocolVersion": 1, "clientCapabilities": able, "clientInfo": own});
        vec![self.ask(AcpRequest::Initialize, "initialize", &params)]
    }

    fn hear(&mut self, said: &str) -> AgentOutput {
        let Some(said) = self.lines.read(said) else { return AgentOutput::default() };
        match (said["method"].as_str(), &said["id"]) {
            // A session that is being loaded repeats everything that has happened in it.
            (Some("session/update"), _) if self.session.is_none() => AgentOutput::default(),
            (Some("session/update"), _) => {
                AgentOutput { events: self.updated(&said["params"]["update"]), ..AgentOutput::default() }
            }
            (Some(_), Value::Null) => AgentOutput::default(),
            (Some(method), _) => self.requested(method, &said),
            (None, id) => match self.waiting {
                Some((asked, what)) if *id == asked => {
                    self.waiting = None;
                    self.answered(what, &said)
                }
                _ => AgentOutput::default(),
            },
        }
    }

    fn prompt(&mut self, prompt: &str) -> Option<Vec<String>> {
        let session = self.session.clone().filter(|_| self.waiting.is_none())?;
        let reasons: String = self.reasons.drain(..).map(|reason| reason + "\n\n").collect();
        let params = json!({"sessionId": session, "prompt": [{"type": "text", "text": format!("{reasons}{prompt}")}]});
        Some(vec![self.ask(AcpRequest::Prompt, "session/prompt", &params)])
    }

    fn answer(&mut self, request: &str, option: Option<&str>, reason: Option<&str>) -> Vec<String> {
        let Some(open) = self.permissions.remove(request) else { return Vec::new() };
        if let Some(reason) = reason.filter(|reason| !reason.trim().is_empty() && self.reasons.len() < OPEN) {
            self.reasons.push(format!("The user answered your request `{}`: {}", open.what, reason.trim()));
        }
        let outcome = match option.map(str::to_owned).or(open.refuse) {
            Some(option) => json!({"outcome": "selected", "optionId": option}),
            None => json!({"outcome": "cancelled"}),
        };
        vec![json!({"jsonrpc": "2.0", "id": open.id, "result": {"outcome": outcome}}).to_string()]
    }

    fn cancel(&mut self) -> Vec<String> {
        self.cancelled = true;
        let (Some(session), Some((_, AcpRequest::Prompt))) = (&self.session, self.waiting) else { return Vec::new() };
        let cancel =
            json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}}).to_string();
        let outcome = json!({"outcome": {"outcome": "cancelled"}});
        let reply = |open: PendingPermission| json!({"jsonrpc": "2.0", "id": open.id, "result": outcome}).to_string();
        let open = std::mem::take(&mut self.permissions).into_values().map(reply);
        std::iter::once(cancel).chain(open).collect()
    }

    fn gone(&mut self, code: Option<i32>) -> Option<AgentTurnEnd> {
        let cut = || if self.cancelled { AgentTurnEnd::Cancelled } else { self.lines.cut_off(code) };
        self.waiting.is_some().then(cut)
    }
}

/// What is asked, and the option that refuses it once.
fn permission(id: &Value, params: &Value) -> (PermissionRequest, Option<String>) {
    let call = &params["toolCall"];
    let command = call["rawInput"]["command"].as_str();
    let place = || call["locations"][0]["path"].as_str();
    let what = command.or_else(place).unwrap_or_else(|| str_of(call, "title"));
    let mut options: Vec<(u8, (String, String, bool))> = Vec::new();
    for option in params["options"].as_array().map_or(&[][..], Vec::as_slice).iter().take(OPTIONS) {
        let (order, allows) = match str_of(option, "kind") {
            "allow_once" => (0, true),
            "reject_once" => (1, false),
            // Nobody can allow something forever (decision 0017).
            "allow_always" => continue,
            _ => (2, false),
        };
        options.push((order, (str_of(option, "optionId").to_owned(), name(str_of(option, "name")), allows)));
    }
    options.sort_by_key(|(order, _)| *order);
    let refuse = options.iter().find(|(order, _)| *order == 1).map(|(_, (id, ..))| id.clone());
    let tool = Some(name(str_of(call, "kind"))).filter(|kind| !kind.is_empty());
    let options = options.into_iter().map(|(_, option)| option).collect();
    let title = Some(str_of(call, "title")).filter(|title| !title.is_empty()).unwrap_or(what);
    let detail = detail(title, &call["rawInput"]);
    (PermissionRequest { id: id.to_string(), what: whole(what), detail, tool, options }, refuse)
}

#[cfg(test)]
mod tests;
