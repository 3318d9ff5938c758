//! Messages of a conversation, as far as trimming has to understand them: Anthropic Messages, OpenAI Chat Completions
//! and items of OpenAI Responses. Anything else counts as a message by itself.

use std::collections::HashMap;
use std::ops::Range;

use serde_json::Value;

/// The beginning of the message that replaces others.
pub(crate) const NOTE: &str = "Earlier messages of this conversation were left out by punch.";

/// How texts begin that are put before a model at the beginning of a turn: no person wrote them.
const TOLD: &[&str] = &[
    "Punch stores your todo list",
    "punch keeps todo lists of this project",
    "The user changed the plan",
    "The conversation went back",
];

/// The parts of a history that must stay together, in order: a message alone, or calls with everything up to the last of
/// their results.
pub(crate) fn units(messages: &[Value]) -> Vec<Range<usize>> {
    // How many pairs reach over the gap before a message.
    let mut over = vec![0_i64; messages.len() + 2];
    let mut called: HashMap<&str, usize> = HashMap::new();
    for (at, message) in messages.iter().enumerate() {
        for id in results(message) {
            if let Some(from) = called.get(id) {
                over[from + 1] += 1;
                over[at + 1] -= 1;
            }
        }
        // Some providers use the same ids again: a result belongs to the last call before it.
        called.extend(calls(message).into_iter().map(|id| (id, at)));
        if message["type"] == "reasoning" {
            // Refused without the item that it led to.
            over[at + 1] += 1;
            over[at + 2] -= 1;
        }
    }
    let mut out: Vec<Range<usize>> = Vec::new();
    let mut reaching = 0;
    for (at, more) in over.iter().take(messages.len()).enumerate() {
        reaching += more;
        match out.last_mut().filter(|_| reaching > 0) {
            Some(unit) => unit.end = at + 1,
            None => out.push(at..at + 1),
        }
    }
    out
}

/// The ids of the tool calls that a message makes.
pub(crate) fn calls(message: &Value) -> Vec<&str> {
    let mut out = Vec::new();
    out.extend(items(&message["tool_calls"]).filter_map(|call| call["id"].as_str()));
    out.extend(items(&message["content"]).filter(|b| b["type"] == "tool_use").filter_map(|b| b["id"].as_str()));
    if message["type"].as_str().is_some_and(|kind| kind.ends_with("_call")) {
        out.extend(message["call_id"].as_str());
    }
    // The form before tools: a name in place of an id.
    out.extend(message["function_call"]["name"].as_str());
    out
}

/// The ids of the calls that a message answers.
pub(crate) fn results(message: &Value) -> Vec<&str> {
    let mut out = Vec::new();
    out.extend(message["tool_call_id"].as_str());
    let blocks = items(&message["content"]).filter(|block| block["type"] == "tool_result");
    out.extend(blocks.filter_map(|block| block["tool_use_id"].as_str()));
    if message["type"].as_str().is_some_and(|kind| kind.ends_with("_call_output")) {
        out.extend(message["call_id"].as_str());
    }
    if message["role"] == "function" {
        out.extend(message["name"].as_str());
    }
    out
}

/// It says how the model should behave.
pub(crate) fn is_system(message: &Value) -> bool {
    matches!(message["role"].as_str(), Some("system" | "developer"))
}

/// The user wrote it.
pub(crate) fn is_person(message: &Value) -> bool {
    let told = || TOLD.iter().any(|head| text(message).starts_with(head));
    message["role"] == "user"
        && results(message).is_empty()
        && !is_note(message)
        && !is_continuation(message)
        && !told()
}

/// We put it there when messages were left out.
pub(crate) fn is_note(message: &Value) -> bool {
    message["role"] == "user" && text(message).starts_with(NOTE)
}

fn is_continuation(message: &Value) -> bool {
    let text = text(message);
    let head = text.lines().next().unwrap_or_default();
    head.starts_with("Continuation ") && head.contains(" by punch:")
}

fn text(message: &Value) -> &str {
    let content = &message["content"];
    content.as_str().or_else(|| items(content).find_map(|block| block["text"].as_str())).unwrap_or_default()
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
