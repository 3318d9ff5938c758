//! A host's report in neutral words.

use std::path::PathBuf;

use punch_core::drive::{ContextUse, Finish, HostEvent, Start, ToolKind, ToolUse};
use punch_core::text;
use punch_store::SessionKey;
use serde_json::{Value, json};

use super::field::{name, number, object, short, string, truth};
use super::host::{Host, Meaning};
use super::{MARK, todos, tool, usage};

/// Earlier turns that are heard of.
const TURNS: usize = 20;

/// Characters of an error that are kept.
const ERROR: usize = 500;

/// How Claude Code begins what it says when a job in the background has ended. The report names no source then.
const JOB_ENDED: &str = "<task-notification>";

/// What a report says.
#[derive(Clone, Debug, PartialEq)]
pub struct Heard {
    /// Whose.
    pub host: Host,
    /// The host's own name for the event, which its answer repeats.
    pub name: String,
    /// What that name means.
    pub meaning: Meaning,
    /// The conversation; its host part is empty where nothing names it.
    pub key: SessionKey,
    /// What happened.
    pub event: HostEvent,
    /// How full the context is, where the report itself says so.
    pub context: Option<ContextUse>,
    /// Where the host writes the conversation down.
    pub transcript: Option<PathBuf>,
    /// The model, where the report names it.
    pub model: Option<String>,
    /// The host's marker of the turn.
    pub turn: Option<String>,
    /// The turns before that one, the last of them last, where the report itself names them.
    pub before: Option<Vec<String>>,
    /// What a tool was given.
    pub input: Value,
    /// What it answered.
    pub output: Value,
}

/// Reads a report; `None` if it means nothing to us. `event` is what the hook was called for.
pub fn hear(host: Host, event: &str, report: &Value) -> Option<Heard> {
    let meaning = host.meaning(event)?;
    let mut heard = Heard {
        host,
        name: event.to_owned(),
        meaning,
        key: key(host, meaning, report),
        event: HostEvent::SessionEnded,
        context: usage::reported(report),
        transcript: transcript(meaning, report),
        model: name(report, &["model"]),
        turn: name(report, &["prompt_id", "turn_id"]),
        before: before(report),
        input: Value::Null,
        output: Value::Null,
    };
    heard.event = match meaning {
        Meaning::SessionStart | Meaning::SubagentStart => HostEvent::SessionStarted { how: start(report) },
        Meaning::Compacted => HostEvent::SessionStarted { how: Start::Compact },
        Meaning::Prompt => HostEvent::Prompted { by_person: by_person(report) },
        Meaning::ToolStart | Meaning::ToolEnd | Meaning::ToolFailure => {
            heard.input = object(report, &["tool_input", "args"]);
            heard.output = object(report, &["tool_response", "tool_output", "result_json", "output"]);
            used(host, meaning, report, &heard.output)
        }
        Meaning::TaskEnd => {
            heard.input = report.clone();
            let tool = ToolUse { name: event.to_owned(), kind: ToolKind::HostTodo, call: None, receipt: None };
            HostEvent::ToolStarting { tool }
        }
        Meaning::Question => HostEvent::Asked,
        Meaning::Notice => {
            let kind = string(report, &["notification_type"]).unwrap_or_default().to_ascii_lowercase();
            if !["permission", "elicitation"].iter().any(|word| kind.contains(word)) {
                return None;
            }
            HostEvent::Asked
        }
        Meaning::Stop | Meaning::SubagentStop => stopping(report),
        Meaning::TurnFailure => HostEvent::TurnFailed { error: error(report) },
        Meaning::Interrupt => HostEvent::Interrupted,
        // This one fires before every request there; a person's own wish is told apart.
        Meaning::Compact if host == Host::Gemini && string(report, &["trigger"]) != Some("manual") => return None,
        Meaning::Compact => HostEvent::Compacting,
        Meaning::SessionEnd => HostEvent::SessionEnded,
    };
    Some(heard)
}

fn key(host: Host, meaning: Meaning, report: &Value) -> SessionKey {
    let session = match host {
        Host::Cursor => name(report, &["conversation_id", "session_id"]),
        Host::Claude | Host::Codex | Host::Qwen | Host::Gemini | Host::Opencode => {
            name(report, &["session_id", "sessionID"])
        }
    };
    let mut subagent = name(report, &["agent_id", "subagent_id"]);
    // A subagent that nothing names is still not the main agent.
    if matches!(meaning, Meaning::SubagentStart | Meaning::SubagentStop) && subagent.is_none() {
        subagent = Some(name(report, &["agent_type", "subagent_type"]).unwrap_or_else(|| "subagent".to_owned()));
    }
    SessionKey::new(session.unwrap_or_default(), subagent.as_deref())
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

fn start(report: &Value) -> Start {
    match string(report, &["source"]) {
        Some("resume") => Start::Resume,
        Some("clear") => Start::Clear,
        Some("compact") => Start::Compact,
        Some("fork") => Start::Fork,
        _ => Start::Startup,
    }
}

/// Hosts also report what they, or hooks, put before the model.
fn by_person(report: &Value) -> bool {
    if let Some(said) = report.get("by_person").and_then(Value::as_bool) {
        return said;
    }
    if report.get("submitted_prompt").is_some_and(Value::is_string) {
        return true;
    }
    if !matches!(string(report, &["source"]), None | Some("user" | "sdk")) {
        return false;
    }
    let own = |prompt: &str| prompt.is_empty() || prompt.starts_with(MARK) || prompt.starts_with(JOB_ENDED);
    string(report, &["prompt"]).is_none_or(|prompt| !own(prompt.trim_start()))
}

fn used(host: Host, meaning: Meaning, report: &Value, output: &Value) -> HostEvent {
    let named = short(report, &["tool_name", "tool"], 200).unwrap_or_default();
    let kind = tool::kind(host, &named, report);
    let call = name(report, &["tool_use_id", "tool_call_id", "callID"]);
    let wrote = meaning == Meaning::ToolEnd && kind == ToolKind::Ours && tool::writes(&named);
    let receipt = wrote.then(|| todos::receipt(output)).flatten();
    let tool = ToolUse { name: named, kind, call, receipt };
    let wrong = output.get("error").is_some_and(|error| !error.is_null())
        || truth(output, "isError")
        || truth(output, "is_error");
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
