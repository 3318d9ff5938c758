//! What the host is asked to do, in its own form. No effect is no output at all, which every host takes as "go on".
//! Everything is told through standard output with exit code 0: other codes mean different things everywhere.

use punch_core::drive::Effect;
use punch_core::text;
use serde_json::{Map, Value, json};

use super::host::{Host, Meaning};
use super::{Heard, MARK};

/// Bytes of a text for the model: the engine stays far below, this is the last fence.
pub const CONTEXT_CAP: usize = 8_000;

/// Bytes of a reason or of a text for the person.
const SHORT_CAP: usize = 2_000;

/// The line for standard output; empty if there is nothing to say.
pub fn answer(heard: &Heard, effect: &Effect) -> String {
    let effect = capped(effect);
    let out = match heard.host {
        Host::Claude | Host::Codex | Host::Qwen | Host::Gemini => with_fields(heard, &effect),
        Host::Cursor => cursor(heard.meaning, &effect),
        Host::Opencode => opencode(&effect),
    };
    if out.is_empty() { String::new() } else { Value::Object(out).to_string() }
}

fn capped(effect: &Effect) -> Effect {
    let cut =
        |text: &Option<String>, cap: usize| text.as_deref().map(|t| clean(t, cap)).filter(|t| !t.trim().is_empty());
    Effect {
        context: cut(&effect.context, CONTEXT_CAP),
        go_on: cut(&effect.go_on, CONTEXT_CAP),
        refuse: cut(&effect.refuse, SHORT_CAP),
        tell: cut(&effect.tell, SHORT_CAP),
    }
}

/// Lines stay lines; nothing in them steers a terminal.
fn clean(given: &str, cap: usize) -> String {
    let room = cap - '…'.len_utf8();
    let end = if given.len() <= cap {
        given.len()
    } else {
        (0..=room).rev().find(|at| given.is_char_boundary(*at)).unwrap_or(0)
    };
    let mut out = given[..end].split('\n').map(text::neutral).collect::<Vec<_>>().join("\n");
    // Stand-ins may be longer than what they stand for.
    while out.len() > room {
        out.pop();
    }
    if end < given.len() {
        out.push('…');
    }
    out
}

/// The form of Claude Code, Codex, Qwen Code and, with other names, Gemini CLI.
fn with_fields(heard: &Heard, effect: &Effect) -> Map<String, Value> {
    let (host, meaning) = (heard.host, heard.meaning);
    let mut out = Map::new();
    let mut own = Map::new();
    match meaning {
        Meaning::Stop | Meaning::SubagentStop => {
            if let Some(text) = &effect.go_on {
                let text = marked(host, text);
                match host {
                    // Counted by its limit like a block, but told once and without the word "error".
                    Host::Claude => drop(own.insert("additionalContext".into(), text.into())),
                    Host::Gemini => block(&mut out, "deny", &text),
                    _ => block(&mut out, "block", &text),
                }
            }
        }
        Meaning::ToolStart => match (&effect.refuse, host) {
            (Some(reason), Host::Gemini) => block(&mut out, "deny", reason),
            (Some(reason), _) => {
                own.insert("permissionDecision".into(), "deny".into());
                own.insert("permissionDecisionReason".into(), reason.clone().into());
            }
            // The one cannot, the other takes no answer here that does not decide.
            (None, Host::Gemini | Host::Qwen) => {}
            (None, _) => put(&mut own, "additionalContext", effect.context.as_ref()),
        },
        Meaning::SessionStart | Meaning::SubagentStart | Meaning::Prompt | Meaning::ToolEnd | Meaning::ToolFailure => {
            put(&mut own, "additionalContext", effect.context.as_ref());
        }
        // A veto is no output but an exit code.
        Meaning::TaskEnd
        | Meaning::Question
        | Meaning::Notice
        | Meaning::TurnFailure
        | Meaning::Interrupt
        | Meaning::Compact
        | Meaning::Compacted => {}
        // Nobody reads what is said then, and one host takes no answer at all.
        Meaning::SessionEnd => return Map::new(),
    }
    if !own.is_empty() {
        own.insert("hookEventName".into(), heard.name.clone().into());
        out.insert("hookSpecificOutput".into(), Value::Object(own));
    }
    put(&mut out, "systemMessage", effect.tell.as_ref());
    out
}

fn cursor(meaning: Meaning, effect: &Effect) -> Map<String, Value> {
    let mut out = Map::new();
    match meaning {
        Meaning::Stop | Meaning::SubagentStop => {
            let text = effect.go_on.as_ref().map(|text| marked(Host::Cursor, text));
            put(&mut out, "followup_message", text.as_ref());
        }
        Meaning::ToolStart | Meaning::SubagentStart => {
            if let Some(reason) = &effect.refuse {
                out.insert("permission".into(), "deny".into());
                out.insert("agent_message".into(), reason.clone().into());
                put(&mut out, "user_message", effect.tell.as_ref());
            }
        }
        Meaning::Prompt => {
            if let Some(text) = &effect.context {
                out.insert("continue".into(), true.into());
                out.insert("additional_context".into(), text.clone().into());
            }
        }
        Meaning::SessionStart | Meaning::ToolEnd => put(&mut out, "additional_context", effect.context.as_ref()),
        Meaning::Compact => put(&mut out, "user_message", effect.tell.as_ref()),
        Meaning::ToolFailure
        | Meaning::TaskEnd
        | Meaning::Question
        | Meaning::Notice
        | Meaning::TurnFailure
        | Meaning::Interrupt
        | Meaning::Compacted
        | Meaning::SessionEnd => {}
    }
    out
}

/// Our own plugin takes the effect as it is.
fn opencode(effect: &Effect) -> Map<String, Value> {
    let mut out = Map::new();
    put(&mut out, "context", effect.context.as_ref());
    put(&mut out, "go_on", effect.go_on.as_ref().map(|text| marked(Host::Opencode, text)).as_ref());
    put(&mut out, "refuse", effect.refuse.as_ref());
    put(&mut out, "tell", effect.tell.as_ref());
    out
}

fn marked(host: Host, text: &str) -> String {
    if host.echoes() && !text.starts_with(MARK) { format!("{MARK}{text}") } else { text.to_owned() }
}

fn block(out: &mut Map<String, Value>, word: &str, reason: &str) {
    out.insert("decision".into(), word.into());
    out.insert("reason".into(), json!(reason));
}

fn put(out: &mut Map<String, Value>, name: &str, text: Option<&String>) {
    if let Some(text) = text {
        out.insert(name.to_owned(), text.clone().into());
    }
}
