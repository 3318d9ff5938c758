//! The answer to a report, in the agent's own format. Without an effect there is no output, which every agent
//! understands as "continue". Answers go to standard output with exit code 0, because each agent gives other codes a
//! different meaning.

use punch_core::drive::HostEffect;
use punch_core::text;
use serde_json::{Map, Value};

use super::{HookReport, MARK};
use crate::Adapter;

/// Bytes of a text for the model: the engine stays far below, this is the last fence.
pub const CONTEXT_CAP: usize = 8_000;

/// Bytes of a reason or of a text for the user.
const SHORT_CAP: usize = 2_000;

/// The line for standard output; empty if there is nothing to say.
pub fn answer(report: &HookReport, effect: &HostEffect) -> String {
    let out = (report.agent.hooks.answer)(report, &capped(effect));
    if out.is_empty() { String::new() } else { Value::Object(out).to_string() }
}

fn capped(effect: &HostEffect) -> HostEffect {
    let cut =
        |text: &Option<String>, cap: usize| text.as_deref().map(|t| clean(t, cap)).filter(|t| !t.trim().is_empty());
    HostEffect {
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
    let mut out = text::neutral_lines(&given[..end]).into_owned();
    // Stand-ins may be longer than what they stand for.
    while out.len() > room {
        out.pop();
    }
    if end < given.len() {
        out.push('…');
    }
    out
}

/// A continuation, marked as ours if the agent reports it as a prompt.
pub(crate) fn marked(agent: &Adapter, text: &str) -> String {
    if agent.hooks.echoes && !text.starts_with(MARK) { format!("{MARK}{text}") } else { text.to_owned() }
}

/// Adds a text, if there is one.
pub(crate) fn put(out: &mut Map<String, Value>, name: &str, text: Option<&String>) {
    if let Some(text) = text {
        out.insert(name.to_owned(), text.clone().into());
    }
}
