//! Codex without a terminal: `codex exec` for every turn, `codex exec resume` to continue. It asks for no permission:
//! what it may do is decided before it starts.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use crate::headless::json::{CountedLines, count_of, entries, entry, failed_or_limited, line, name, str_of};
use crate::headless::{AgentEvent, AgentListener, AgentOutput, AgentTurnEnd, Headless, HeadlessStart, TokenSpending};

/// Conversations whose sums are remembered.
const THREADS: usize = 256;

/// Codex in `exec` mode.
#[derive(Default)]
pub(super) struct CodexExec {
    sums: ConversationSums,
}

/// What each conversation has spent so far: Codex tells sums, also those of a conversation that is resumed.
type ConversationSums = Arc<Mutex<BTreeMap<String, TokenSpending>>>;

impl Headless for CodexExec {
    fn arguments(&self, start: &HeadlessStart<'_>) -> Vec<String> {
        let mut out = vec!["exec".to_owned()];
        out.extend(start.resume.iter().flat_map(|thread| ["resume".to_owned(), (*thread).to_owned()]));
        out.push("--json".to_owned());
        let mut set = |setting: String| out.extend(["-c".to_owned(), setting]);
        if !start.is_customized {
            // In a folder that the user has not trusted, Codex may only read and could not do any work.
            set(r#"sandbox_mode="workspace-write""#.to_owned());
        }
        if let Some((program, arguments)) = start.server.split_first() {
            // Strings of JSON are strings of TOML.
            set(format!("mcp_servers.punch.command={}", json!(program)));
            set(format!("mcp_servers.punch.args={}", json!(arguments)));
            set("mcp_servers.punch.startup_timeout_sec=30".to_owned());
            // The agent reports with our tools. Without this setting every such call fails, because Codex cannot ask a user.
            set(r#"mcp_servers.punch.default_tools_approval_mode="approve""#.to_owned());
        }
        // A lane is a worktree, but a folder without git is none of Codex's business either.
        out.extend(["--skip-git-repo-check".to_owned(), "-".to_owned()]);
        out
    }

    fn listener(&self, start: &HeadlessStart<'_>) -> Box<dyn AgentListener> {
        let stream = CodexStream::new(self.sums.clone(), start.resume.is_some());
        Box::new(CodexStream { first: start.prompt.to_owned(), ..stream })
    }
}

/// What it prints, understood.
#[derive(Debug)]
struct CodexStream {
    first: String,
    thread: String,
    sums: ConversationSums,
    /// What the conversation spent before this start; unknown for one that continues and was not ours.
    before: Option<TokenSpending>,
    finish: Option<AgentTurnEnd>,
    cancelled: bool,
    lines: CountedLines,
}

impl CodexStream {
    fn new(sums: ConversationSums, resumed: bool) -> Self {
        let before = (!resumed).then(TokenSpending::default);
        let (first, thread) = (String::new(), String::new());
        Self { first, thread, sums, before, finish: None, cancelled: false, lines: CountedLines::default() }
    }

    fn started(&mut self, said: &Value) -> Vec<AgentEvent> {
        self.thread = name(str_of(said, "thread_id"));
        if self.before.is_none() {
            self.before = self.sums.lock().unwrap_or_else(PoisonError::into_inner).get(&self.thread).copied();
        }
        vec![AgentEvent::Started { session: self.thread.clone() }]
    }

    fn completed(&mut self, usage: &Value) -> Vec<AgentEvent> {
        self.finish = Some(AgentTurnEnd::Natural);
        if !usage.is_object() {
            return Vec::new();
        }
        let sum = TokenSpending {
            tokens_in: count_of(usage, "input_tokens"),
            tokens_out: count_of(usage, "output_tokens"),
            cached: count_of(usage, "cached_input_tokens"),
            ..TokenSpending::default()
        };
        {
            let mut sums = self.sums.lock().unwrap_or_else(PoisonError::into_inner);
            if sums.len() >= THREADS {
                sums.pop_first();
            }
            sums.insert(self.thread.clone(), sum);
        }
        let Some(before) = self.before.replace(sum) else { return Vec::new() };
        vec![AgentEvent::Usage(TokenSpending {
            tokens_in: sum.tokens_in.saturating_sub(before.tokens_in),
            tokens_out: sum.tokens_out.saturating_sub(before.tokens_out),
            cached: sum.cached.saturating_sub(before.cached),
            turns: 1,
            ..TokenSpending::default()
        })]
    }
}

impl AgentListener for CodexStream {
    fn begin(&mut self) -> Vec<String> {
        vec![std::mem::take(&mut self.first)]
    }

    fn hear(&mut self, said: &str) -> AgentOutput {
        let Some(said) = self.lines.read(said) else { return AgentOutput::default() };
        let events = match str_of(&said, "type") {
            "thread.started" => self.started(&said),
            "turn.completed" => self.completed(&said["usage"]),
            "turn.failed" => {
                self.finish = Some(finish(str_of(&said["error"], "message"), "the turn failed"));
                Vec::new()
            }
            // It may try again; what counts is how the turn ends.
            "error" => {
                self.finish.get_or_insert_with(|| finish(str_of(&said, "message"), "an error"));
                Vec::new()
            }
            kind @ ("item.started" | "item.updated" | "item.completed") => item(kind, &said["item"]),
            _ => Vec::new(),
        };
        AgentOutput { events, ..AgentOutput::default() }
    }

    fn cancel(&mut self) -> Vec<String> {
        self.cancelled = true;
        Vec::new()
    }

    fn gone(&mut self, code: Option<i32>) -> Option<AgentTurnEnd> {
        Some(match self.finish.take() {
            _ if self.cancelled => AgentTurnEnd::Cancelled,
            Some(AgentTurnEnd::Natural) if code != Some(0) => self.lines.cut_off(code),
            Some(finish) => finish,
            None => self.lines.cut_off(code),
        })
    }

    fn converses(&self) -> bool {
        false
    }
}

fn finish(said: &str, otherwise: &str) -> AgentTurnEnd {
    failed_or_limited(said, otherwise, super::ADAPTER.usage_limits)
}

fn item(kind: &str, item: &Value) -> Vec<AgentEvent> {
    match (str_of(item, "type"), kind) {
        ("agent_message", "item.completed") => {
            Some(line(str_of(item, "text"))).filter(|line| !line.is_empty()).map(AgentEvent::Text).into_iter().collect()
        }
        ("todo_list", _) => {
            // It does not say which one is being worked on.
            let status = |todo: &Value| if todo["completed"] == true { "completed" } else { "pending" };
            vec![AgentEvent::PlanSaid(entries(&item["items"], |todo| entry(str_of(todo, "text"), status(todo))))]
        }
        ("mcp_tool_call", "item.started") => {
            vec![AgentEvent::ToolUsed { name: name(&format!("{}/{}", str_of(item, "server"), str_of(item, "tool"))) }]
        }
        (tool @ ("command_execution" | "file_change" | "web_search"), "item.started" | "item.completed") => {
            // Commands are reported when they start, the others only when they are over.
            let told = (tool == "command_execution") == (kind == "item.started");
            told.then(|| AgentEvent::ToolUsed { name: tool.to_owned() }).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
