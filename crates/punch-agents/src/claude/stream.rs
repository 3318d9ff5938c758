//! Claude Code without a terminal. One process takes prompt after prompt; tools that need permission are asked for on the
//! same pipes, as its own SDK does.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value, json};

use crate::headless::json::{
    CountedLines, count_of, detail, entries, entry, failed, line, micros, name, str_of, whole,
};
use crate::headless::{
    AgentEvent, AgentListener, AgentOutput, AgentTurnEnd, Contexts, Headless, HeadlessStart, PermissionRequest,
    TokenSpending,
};
use crate::usage_limit::{Reset, UsageLimit};

/// Messages that are remembered, so that each is counted once: one comes as several lines, one after the other.
const MESSAGES: usize = 64;
/// Requests for permission that may be open.
const OPEN: usize = 64;

/// Claude Code in `-p` mode.
pub(super) struct Print;

impl Headless for Print {
    fn arguments(&self, start: &HeadlessStart<'_>) -> Vec<String> {
        let plain = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"];
        let mut out: Vec<String> = plain.map(str::to_owned).to_vec();
        out.extend(["--permission-prompt-tool", "stdio"].map(str::to_owned));
        if let Some((program, arguments)) = start.server.split_first() {
            // Otherwise the model learns only the names of the tools.
            let server = json!({"command": program, "args": arguments, "alwaysLoad": true});
            out.push("--mcp-config".to_owned());
            out.push(json!({"mcpServers": {"punch": server}}).to_string());
            // The agent reports with our tools, so these calls need no permission.
            out.extend(["--allowedTools", "mcp__punch"].map(str::to_owned));
        }
        out.extend(start.resume.iter().flat_map(|session| ["--resume".to_owned(), (*session).to_owned()]));
        out
    }

    fn listener(&self, start: &HeadlessStart<'_>) -> Box<dyn AgentListener> {
        Box::new(ClaudeStream { first: start.prompt.to_owned(), ..ClaudeStream::new(start.resume.is_some()) })
    }
}

/// What it prints, understood.
#[derive(Debug, Default)]
struct ClaudeStream {
    first: String,
    session: String,
    /// A turn has begun that has not ended.
    in_turn: bool,
    cancelled: bool,
    /// Messages of which the usage was reported.
    counted: VecDeque<String>,
    /// What was reported of this turn.
    reported: TokenSpending,
    /// What contexts held in this turn.
    contexts: Contexts,
    /// Dollars since the beginning of the conversation, in millionths; unknown before the first result of a
    /// resumed one, whose sum includes what it had cost before.
    cost: Option<u64>,
    /// The last word on the usage limit in this turn: if rejected, the time of the reset in seconds since the epoch.
    rejected: Option<Option<i64>>,
    /// What it wants to do, by request.
    asked: BTreeMap<String, Value>,
    lines: CountedLines,
}

impl ClaudeStream {
    fn new(resumed: bool) -> Self {
        Self { cost: (!resumed).then_some(0), ..Self::default() }
    }

    fn assistant(&mut self, said: &Value) -> Vec<AgentEvent> {
        let mut out = Vec::new();
        let message = &said["message"];
        let id = str_of(message, "id");
        if !id.is_empty() && !self.counted.iter().any(|counted| counted == id) {
            if self.counted.len() == MESSAGES {
                self.counted.pop_front();
            }
            self.counted.push_back(id.to_owned());
            // The output is only known at the end of the turn.
            let spent = TokenSpending { turns: 1, tokens_out: 0, ..usage(&message["usage"]) };
            self.contexts.read(str_of(said, "parent_tool_use_id"), spent.tokens_in);
            self.reported.add(&spent);
            out.push(AgentEvent::Usage(spent));
        }
        let subagent = !said["parent_tool_use_id"].is_null();
        for part in message["content"].as_array().map_or(&[][..], Vec::as_slice) {
            match str_of(part, "type") {
                "text" if !subagent => out.extend(shown(str_of(part, "text"))),
                "tool_use" => {
                    let tool = name(str_of(part, "name"));
                    if tool == "TodoWrite" && !subagent {
                        let read = |todo: &Value| entry(str_of(todo, "content"), str_of(todo, "status"));
                        out.push(AgentEvent::PlanSaid(entries(&part["input"]["todos"], read)));
                    }
                    out.push(AgentEvent::ToolUsed { name: tool });
                }
                _ => {}
            }
        }
        out
    }

    fn result(&mut self, said: &Value) -> Vec<AgentEvent> {
        self.in_turn = false;
        // Everything since the last result, that of subagents and of other models too; older versions have only the
        // turn of the main one.
        let since = said["model_usage_since_last_result"].as_object();
        let mut spent = usage(&said["usage"]);
        if let Some(models) = since {
            spent = TokenSpending::default();
            models.values().for_each(|model| spent.add(&model_usage(model)));
        }
        let sum = micros(&said["total_cost_usd"]);
        let cost = match (since, sum, self.cost) {
            (Some(models), ..) => models.values().map(|model| micros(&model["costUSD"])).sum(),
            (None, Some(sum), Some(before)) => Some(sum.saturating_sub(before)),
            _ => None,
        };
        self.cost = sum.or(self.cost);
        let reported = std::mem::take(&mut self.reported);
        // It counts its own way; what was seen is right, unless nothing was.
        let turns = if reported.turns == 0 { count_of(said, "num_turns") } else { 0 };
        let turns = u32::try_from(turns).unwrap_or(u32::MAX);
        let rest = TokenSpending {
            tokens_in: spent.tokens_in.saturating_sub(reported.tokens_in),
            tokens_out: spent.tokens_out.saturating_sub(reported.tokens_out),
            cached: spent.cached.saturating_sub(reported.cached),
            context: self.contexts.main(),
            grown: self.contexts.grown().map(|grown| grown.max(spent.tokens_out)),
            cost_micros: cost,
            turns,
        };
        let limit = self.usage_limit(said);
        let finish = match (limit, str_of(said, "subtype"), said["is_error"].as_bool().unwrap_or_default()) {
            (Some(limit), ..) if !self.cancelled => AgentTurnEnd::UsageLimit(limit),
            (_, "success", false) => AgentTurnEnd::Natural,
            _ if std::mem::take(&mut self.cancelled) => AgentTurnEnd::Cancelled,
            (_, "error_max_turns" | "error_max_budget_usd", _) => AgentTurnEnd::Limit,
            (_, kind, _) => failed(str_of(said, "result"), said["errors"][0].as_str().unwrap_or(kind)),
        };
        vec![AgentEvent::Usage(rest), AgentEvent::TurnEnded { finish }]
    }

    /// Returns the usage limit that ended a turn. A turn that did not fail counts only if it was rejected or its whole
    /// answer is the message: an agent may write about usage limits.
    fn usage_limit(&mut self, said: &Value) -> Option<UsageLimit> {
        let rejected = self.rejected.take();
        let failed = said["is_error"].as_bool().unwrap_or_default();
        let result = str_of(said, "result");
        let message = if result.is_empty() { said["errors"][0].as_str().unwrap_or_default() } else { result };
        let found = UsageLimit::in_text(message, super::ADAPTER.usage_limits);
        let whole = result.starts_with("Claude AI usage limit reached|");
        let limit = match found {
            Some(limit) if failed || whole || rejected.is_some() => limit,
            None if failed && rejected.is_some() => UsageLimit::of(message),
            _ => return None,
        };
        let at = rejected.flatten().map(|seconds| Reset::At(seconds.saturating_mul(1_000)));
        Some(UsageLimit { reset: at.unwrap_or(limit.reset), ..limit })
    }

    fn request(&mut self, said: &Value) -> AgentOutput {
        let id = str_of(said, "request_id").to_owned();
        let request = &said["request"];
        if str_of(request, "subtype") != "can_use_tool" || self.asked.len() >= OPEN {
            let answer = json!({"subtype": "error", "request_id": id, "error": "not possible here"});
            return AgentOutput { replies: vec![response(answer)], ..AgentOutput::default() };
        }
        let (tool, input) = (str_of(request, "tool_name"), &request["input"]);
        let options = vec![("allow".into(), "Allow".into(), true), ("deny".into(), "Refuse".into(), false)];
        let (what, detail) = (what(input), detail(tool, input));
        let permission = PermissionRequest { id: name(&id), what, detail, tool: Some(name(tool)), options };
        self.asked.insert(id, input.clone());
        AgentOutput { events: vec![AgentEvent::Permission(permission)], ..AgentOutput::default() }
    }
}

impl AgentListener for ClaudeStream {
    fn begin(&mut self) -> Vec<String> {
        let first = std::mem::take(&mut self.first);
        self.prompt(&first).unwrap_or_default()
    }

    fn hear(&mut self, said: &str) -> AgentOutput {
        let Some(said) = self.lines.read(said) else { return AgentOutput::default() };
        let events = match str_of(&said, "type") {
            "system" if str_of(&said, "subtype") == "init" => {
                let session = name(str_of(&said, "session_id"));
                let new = !session.is_empty() && session != self.session;
                self.session.clone_from(&session);
                new.then_some(AgentEvent::Started { session }).into_iter().collect()
            }
            "assistant" => self.assistant(&said),
            "result" => self.result(&said),
            "rate_limit_event" => {
                let about = &said["rate_limit_info"];
                self.rejected = (str_of(about, "status") == "rejected").then(|| about["resetsAt"].as_i64());
                Vec::new()
            }
            "control_request" => return self.request(&said),
            "control_cancel_request" => {
                self.asked.remove(str_of(&said, "request_id"));
                Vec::new()
            }
            _ => Vec::new(),
        };
        AgentOutput { events, ..AgentOutput::default() }
    }

    fn prompt(&mut self, prompt: &str) -> Option<Vec<String>> {
        self.in_turn = true;
        let message = json!({"role": "user", "content": [{"type": "text", "text": prompt}]});
        Some(vec![json!({"type": "user", "message": message}).to_string()])
    }

    fn answer(&mut self, request: &str, option: Option<&str>, reason: Option<&str>) -> Vec<String> {
        let Some(input) = self.asked.remove(request) else { return Vec::new() };
        let answer = match option {
            Some("allow") => json!({"behavior": "allow", "updatedInput": input}),
            _ => {
                let reason = reason.map(str::trim).filter(|reason| !reason.is_empty());
                let message = match reason {
                    Some(reason) => format!("The user refused this: {reason}"),
                    None => "This is not allowed here. Continue without it.".to_owned(),
                };
                json!({"behavior": "deny", "message": message})
            }
        };
        vec![response(json!({"subtype": "success", "request_id": request, "response": answer}))]
    }

    fn cancel(&mut self) -> Vec<String> {
        if !self.in_turn {
            return Vec::new();
        }
        self.cancelled = true;
        let request = json!({"subtype": "interrupt"});
        vec![json!({"type": "control_request", "request_id": "punch-cancel", "request": request}).to_string()]
    }

    fn gone(&mut self, code: Option<i32>) -> Option<AgentTurnEnd> {
        let cut = if self.cancelled { AgentTurnEnd::Cancelled } else { self.lines.cut_off(code) };
        self.in_turn.then_some(cut)
    }
}

fn response(answer: Value) -> String {
    json!({"type": "control_response", "response": answer}).to_string()
}

fn shown(text: &str) -> Option<AgentEvent> {
    Some(line(text)).filter(|line| !line.is_empty()).map(AgentEvent::Text)
}

/// The part of a tool's input that says what it would do.
fn what(input: &Value) -> String {
    let told = ["command", "file_path", "notebook_path", "path", "url", "query", "pattern"];
    match told.iter().find_map(|key| input[*key].as_str()) {
        Some(what) => whole(what),
        None => whole(&input.to_string()),
    }
}

/// Here `input_tokens` are those that no cache had.
fn usage(usage: &Value) -> TokenSpending {
    let cached = count_of(usage, "cache_read_input_tokens");
    let tokens_in = count_of(usage, "input_tokens")
        .saturating_add(count_of(usage, "cache_creation_input_tokens"))
        .saturating_add(cached);
    TokenSpending { tokens_in, tokens_out: count_of(usage, "output_tokens"), cached, ..TokenSpending::default() }
}

fn model_usage(usage: &Value) -> TokenSpending {
    let cached = count_of(usage, "cacheReadInputTokens");
    let tokens_in = count_of(usage, "inputTokens")
        .saturating_add(count_of(usage, "cacheCreationInputTokens"))
        .saturating_add(cached);
    TokenSpending { tokens_in, tokens_out: count_of(usage, "outputTokens"), cached, ..TokenSpending::default() }
}

#[cfg(test)]
mod tests;
