//! Trims histories to a number of messages so that a model can continue: calls stay with their results, the user's
//! requests stay, and the list replaces what is left out.

use punch_core::drive::{HostEvent, SessionStart};
use serde_json::{Value, json};

use crate::message::{NOTE, is_note, is_person, is_system, units};
use crate::{Error, Session};

/// At most `limit` messages of a history in the form of Anthropic Messages, OpenAI Chat Completions or OpenAI
/// Responses, in their order. One that is short enough comes back as it is. Otherwise these are kept:
///
/// - the system's messages at the beginning, the first message of the user and the last one,
/// - a new message with `list`, which stands for everything that is left out,
/// - and the end of the history, with every tool call and its results or with neither.
///
/// A history in another form, such as Gemini's messages with `parts`, comes back as it is.
///
/// It is cut to three quarters of the limit: a history that lost two messages with every request would never be found
/// in a provider's cache. What must be kept is kept even if it is more than the limit: the beginning, and the last
/// calls with all their results.
///
/// ```
/// use serde_json::json;
///
/// let mut messages = vec![json!({"role": "system", "content": "Be brief."}), json!({"role": "user", "content":
/// "Go."})]; for n in 0..40 {
///     let id = format!("call_{n}");
///     messages.push(json!({"role": "assistant", "tool_calls": [{"id": id, "type": "function"}]}));
///     messages.push(json!({"role": "tool", "tool_call_id": id, "content": "ok"}));
/// }
/// let short = punchlist::trim_history(&messages, 50, Some("[>] T-1 Write the parser"));
/// assert!(short.len() <= 50);
/// assert_eq!(short[..2], messages[..2]);
/// assert!(short[2]["content"].as_str().unwrap().ends_with("T-1 Write the parser"));
/// assert_eq!(short[3]["role"], "assistant"); // never a result without its call
/// ```
pub fn trim_history(messages: &[Value], limit: usize, list: Option<&str>) -> Vec<Value> {
    if messages.len() <= limit || messages.iter().any(|message| message.get("parts").is_some()) {
        return messages.to_vec();
    }
    let head = messages.iter().take_while(|message| is_system(message)).count();
    let person = |at: &usize| is_person(&messages[*at]);
    let asked = [(head..messages.len()).find(person), (head..messages.len()).rfind(person)];
    let units = units(messages);
    // The head, both messages of the user, and ours.
    let room = (limit - limit / 4).saturating_sub(head + 3);
    let mut start = messages.len();
    for unit in units.iter().rev().take_while(|unit| unit.start >= head) {
        if messages.len() - unit.start > room && start < messages.len() {
            break;
        }
        start = unit.start;
    }
    let mut kept: Vec<usize> = (0..head).collect();
    kept.extend(asked.into_iter().flatten().filter(|at| *at < start));
    kept.dedup();
    if kept.len() + messages.len() - start == messages.len() {
        // All of it must be kept.
        return messages.to_vec();
    }
    let mut out: Vec<Value> = kept.into_iter().map(|at| messages[at].clone()).collect();
    out.push(note(list));
    out.extend(messages[start..].iter().filter(|message| !is_note(message)).cloned());
    out
}

fn note(list: Option<&str>) -> Value {
    let text = match list {
        Some(list) => format!("{NOTE}\n{list}"),
        None => NOTE.to_owned(),
    };
    json!({"role": "user", "content": text})
}

impl Session {
    /// [`trim_history`] with the list of this session as it is now. What is written out there counts as shown: a model
    /// that thinks in whole lists loses nothing that it no longer sees.
    pub fn trim_history(&self, messages: &[Value], limit: usize) -> Result<Vec<Value>, Error> {
        if messages.len() <= limit {
            return Ok(messages.to_vec());
        }
        let list = self.observe(HostEvent::SessionStarted { how: SessionStart::Compact })?.context;
        Ok(trim_history(messages, limit, list.as_deref()))
    }
}
