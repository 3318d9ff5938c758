//! Reads an agent's report as a neutral event.

use std::path::PathBuf;

use punch_core::drive::{ContextUse, Finish, HostEvent, SessionStart, ToolKind, ToolUse};
use punch_core::text;
use serde_json::{Value, json};

use super::field::{name, number, object, short, string, truth};
use super::{MARK, todos, tools, usage, work};
use crate::headless::json::detail;
use crate::{Adapter, Meaning};

/// Earlier turns that are read.
const TURNS: usize = 20;

/// Characters of an error that are kept.
const ERROR: usize = 500;

/// What a report says.
#[derive(Clone, Debug, PartialEq)]
pub struct HookReport {
    /// Whose.
    pub agent: &'static Adapter,
    /// The agent's own name for the event, which its answer repeats.
    pub name: String,
    /// What that name means.
    pub meaning: Meaning,
    /// The conversation; empty if nothing names it.
    pub session: String,
    /// The subagent, if the report is about one.
    pub subagent: Option<String>,
    /// What happened.
    pub event: HostEvent,
    /// How full the context is, where the report itself says so.
    pub context: Option<ContextUse>,
    /// Where the agent writes the conversation down.
    pub transcript: Option<PathBuf>,
    /// The model, where the report names it.
    pub model: Option<String>,
    /// The agent's marker of the turn.
    pub turn: Option<String>,
    /// The turns before that one, the last of them last, where the report itself names them.
    pub before: Option<Vec<String>>,
    /// What a tool was given.
    pub input: Value,
    /// What it answered.
    pub output: Value,
}

impl HookReport {
    /// Reads a report; `None` if it means nothing here. `event` is what the hook was called for.
    pub fn read(agent: &'static Adapter, event: &str, report: &Value) -> Option<Self> {
        let meaning = agent.meaning(event)?;
        if (agent.hooks.ignores)(meaning, report) {
            return None;
        }
        let mut out = Self {
            agent,
            name: event.to_owned(),
            meaning,
            session: name(report, agent.hooks.fields.session).unwrap_or_default(),
            subagent: subagent(meaning, report),
            event: HostEvent::SessionEnded,
            context: usage::reported(report),
            transcript: transcript(meaning, report),
            model: name(report, &["model"]),
            turn: name(report, &["prompt_id", "turn_id"]),
            before: before(report),
            input: Value::Null,
            output: Value::Null,
        };
        out.event = match meaning {
            Meaning::SessionStart | Meaning::SubagentStart => HostEvent::SessionStarted { how: start(report) },
            Meaning::Compacted => HostEvent::SessionStarted { how: SessionStart::Compact },
            Meaning::Prompt => HostEvent::Prompted { by_person: by_person(agent, report) },
            Meaning::ToolStart | Meaning::ToolEnd | Meaning::ToolFailure => {
                out.input = object(report, agent.hooks.fields.tool_input);
                out.output = object(report, agent.hooks.fields.tool_output);
                used(agent, meaning, report, (&out.input, &out.output))
            }
            Meaning::TaskEnd => {
                out.input = report.clone();
                let tool = ToolUse::new(event, ToolKind::HostTodo);
                HostEvent::ToolStarting { tool }
            }
            Meaning::Question => HostEvent::Asked { text: asked(agent, report) },
            Meaning::Notice => {
                let kind = string(report, &["notification_type"]).unwrap_or_default().to_ascii_lowercase();
                if !["permission", "elicitation"].iter().any(|word| kind.contains(word)) {
                    return None;
                }
                HostEvent::Asked { text: asked(agent, report) }
            }
            Meaning::Stop | Meaning::SubagentStop => stopping(report),
            Meaning::TurnFailure => HostEvent::TurnFailed { error: error(report) },
            Meaning::Interrupt => HostEvent::Interrupted,
            Meaning::Compact => HostEvent::Compacting,
            Meaning::SessionEnd => HostEvent::SessionEnded,
        };
        Some(out)
    }
}

/// The subagent that a report is about. One that nothing names is still not the main agent.
fn subagent(meaning: Meaning, report: &Value) -> Option<String> {
    let unnamed = || name(report, &["agent_type", "subagent_type"]).unwrap_or_else(|| "subagent".to_owned());
    let of_subagent = matches!(meaning, Meaning::SubagentStart | Meaning::SubagentStop);
    name(report, &["agent_id", "subagent_id"]).or_else(|| of_subagent.then(unnamed))
}

fn transcript(meaning: Meaning, report: &Value) -> Option<PathBuf> {
    let own = string(report, &["agent_transcript_path"]).filter(|_| meaning == Meaning::SubagentStop);
    own.or_else(|| string(report, &["transcript_path"])).filter(|path| path.len() < 4_096).map(PathBuf::from)
}

fn before(report: &Value) -> Option<Vec<String>> {
    let turns = report.get("turns_before")?.as_array()?.iter().rev().take(TURNS);
    let mut turns: Vec<String> = turns.filter_map(|turn| name(&json!({"id": turn}), &["id"])).collect();
    turns.reverse();
    Some(turns)
}

fn start(report: &Value) -> SessionStart {
    match string(report, &["source"]) {
        Some("resume") => SessionStart::Resume,
        Some("clear") => SessionStart::Clear,
        Some("compact") => SessionStart::Compact,
        Some("fork") => SessionStart::Fork,
        _ => SessionStart::Startup,
    }
}

/// Returns false for a prompt that the agent itself, or a hook, put before the model.
fn by_person(agent: &Adapter, report: &Value) -> bool {
    if let Some(said) = report.get("by_person").and_then(Value::as_bool) {
        return said;
    }
    if report.get("submitted_prompt").is_some_and(Value::is_string) {
        return true;
    }
    if !matches!(string(report, &["source"]), None | Some("user" | "sdk")) {
        return false;
    }
    let own = |prompt: &str| {
        let starts = agent.hooks.own_prompts.iter().any(|start| prompt.starts_with(start));
        prompt.is_empty() || prompt.starts_with(MARK) || starts
    };
    string(report, &["prompt"]).is_none_or(|prompt| !own(prompt.trim_start()))
}

fn used(agent: &Adapter, meaning: Meaning, report: &Value, (input, output): (&Value, &Value)) -> HostEvent {
    let named = short(report, &["tool_name", "tool"], 200).unwrap_or_default();
    let kind = tools::kind(agent, &named, report);
    let call = name(report, &["tool_use_id", "tool_call_id", "callID"]);
    let wrote = meaning == Meaning::ToolEnd && kind == ToolKind::Ours && tools::writes(&named);
    let receipt = wrote.then(|| todos::receipt(output)).flatten();
    let mut tool = ToolUse::new(named, kind);
    (tool.call, tool.receipt) = (call, receipt);
    let wrong = output.get("error").is_some_and(|error| !error.is_null())
        || truth(output, "isError")
        || truth(output, "is_error");
    if meaning != Meaning::ToolStart {
        tool.ran = work::command(agent, meaning, kind, report, (input, output));
    }
    if meaning == Meaning::ToolEnd && !wrong {
        tool.files = work::files(kind, input);
    }
    match meaning {
        Meaning::ToolStart => HostEvent::ToolStarting { tool },
        Meaning::ToolEnd if !wrong => HostEvent::ToolEnded { tool },
        _ => {
            let said = error(report);
            let error = if said.is_empty() { error_in(output) } else { said };
            HostEvent::ToolFailed { tool, error, interrupted: truth(report, "is_interrupt") }
        }
    }
}

/// What the agent asks: the tool that needs a permission with its input, or a message.
fn asked(agent: &Adapter, report: &Value) -> String {
    match name(report, &["tool_name", "tool"]) {
        Some(tool) => detail(&tool, &object(report, agent.hooks.fields.tool_input)),
        None => detail(string(report, &["message"]).unwrap_or_default(), &Value::Null),
    }
}

fn error(report: &Value) -> String {
    let parts = ["error", "error_details", "error_message"].iter().filter_map(|field| {
        short(report, &[field], ERROR).or_else(|| short(report.get(field)?, &["message", "name"], ERROR))
    });
    text::clip(&parts.collect::<Vec<_>>().join(": "), ERROR).into_owned()
}

fn error_in(output: &Value) -> String {
    let inner = output.get("error").unwrap_or(&Value::Null);
    let said = short(output, &["error"], ERROR).or_else(|| short(inner, &["message"], ERROR));
    let first = || todos::texts(output).into_iter().find(|text| text.contains(' ')).map(str::to_owned);
    said.or_else(first)
        .map(|text| text::clip(&text::neutral(&text::clip(&text, ERROR)), ERROR).into_owned())
        .unwrap_or_default()
}

fn stopping(report: &Value) -> HostEvent {
    let loops = number(report, &["loop_count"]).unwrap_or_default();
    HostEvent::Stopping {
        finish: finish(report),
        background: background(report),
        kept_going: truth(report, "stop_hook_active") || loops > 0,
    }
}

fn finish(report: &Value) -> Finish {
    match string(report, &["finish_reason", "stop_reason", "status"]) {
        None | Some("end_turn" | "stop" | "completed" | "idle" | "STOP") => Finish::EndTurn,
        Some("tool_use" | "tool-calls" | "tool_calls") => Finish::ToolUse,
        Some("length" | "max_tokens" | "MAX_TOKENS") => Finish::Length,
        Some("aborted" | "cancelled" | "canceled" | "interrupted") => Finish::Cancelled,
        Some("denied") => Finish::Denied,
        Some("error") => Finish::Error,
        Some(_) => Finish::Unknown,
    }
}

/// Jobs that still run. One that says it has ended is not counted.
fn background(report: &Value) -> u32 {
    let jobs = report.get("background_tasks").and_then(Value::as_array);
    let ended = |job: &&Value| {
        matches!(string(job, &["status"]), Some("completed" | "failed" | "killed" | "stopped" | "cancelled"))
    };
    let count = jobs.map_or(0, |jobs| jobs.iter().filter(|job| !ended(job)).count());
    u32::try_from(count).unwrap_or(u32::MAX)
}
