//! Reads pieces of JSON that an agent printed. A missing piece is empty, and a long one is cut.

use std::borrow::Cow;

use punch_core::text;
use serde_json::Value;

use super::{AgentPlanEntry, AgentTurnEnd};
use crate::usage_limit::{LimitText, UsageLimit};

/// Characters of a line for people.
const SHOWN: usize = 300;
/// Entries and characters of an agent's own plan.
const ENTRIES: usize = 200;
const CONTENT: usize = 500;
/// Characters of a name: of a tool, of a session.
const NAME: usize = 200;

/// A text, empty if there is none.
pub fn str_of<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// A number, zero if there is none.
pub fn count_of(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_default()
}

/// The first line with something in it, clipped and without anything that a terminal would obey.
pub fn line(said: &str) -> String {
    let first = said.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    text::clip(&text::neutral(&text::clip(first, SHOWN)), SHOWN).into_owned()
}

/// All of it on one line. What was cut, and where lines ended, can be recognized: a rule must not take the second line
/// of a command for further words of the first.
pub fn whole(said: &str) -> String {
    let ends = |c: char| matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}');
    let clipped = text::clip(said, SHOWN).replace(ends, "\u{240a}");
    text::neutral(&clipped).into_owned()
}

/// Characters of a request that the user reads in full.
pub(crate) const DETAIL: usize = 16_000;

/// The input of a tool as the user reads it: one field after the other, safe to print line by line.
pub fn detail(tool: &str, input: &Value) -> String {
    let mut out = tool.to_owned();
    let fields = input.as_object().map(|fields| fields.iter()).into_iter().flatten();
    for (name, value) in fields {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let between = if value.contains('\n') { ":\n" } else { ": " };
        out.push_str(&format!("\n{name}{between}{value}"));
        if out.len() > DETAIL * 4 {
            break;
        }
    }
    let lines: Vec<Cow<'_, str>> = out.lines().map(text::neutral).collect();
    text::clip(&lines.join("\n"), DETAIL).into_owned()
}

/// A name that is passed on.
pub fn name(said: &str) -> String {
    text::clip(&text::neutral(&text::clip(said, NAME)), NAME).into_owned()
}

/// An entry of a plan.
pub fn entry(content: &str, status: &str) -> AgentPlanEntry {
    AgentPlanEntry { content: text::clip(content, CONTENT).into_owned(), status: text::clip(status, 20).into_owned() }
}

/// Entries of a list, as many as are kept.
pub fn entries(list: &Value, read: impl Fn(&Value) -> AgentPlanEntry) -> Vec<AgentPlanEntry> {
    list.as_array().map_or(&[][..], Vec::as_slice).iter().take(ENTRIES).map(read).collect()
}

/// A failure in one line; `otherwise` if the agent does not say what it was.
pub fn failed(said: &str, otherwise: &str) -> AgentTurnEnd {
    let said = line(said);
    AgentTurnEnd::Failed(if said.is_empty() { line(otherwise) } else { said })
}

/// A failure in one line, or the usage limit that one of these texts reports.
pub fn failed_or_limited(said: &str, otherwise: &str, texts: &[LimitText]) -> AgentTurnEnd {
    UsageLimit::in_text(said, texts).map_or_else(|| failed(said, otherwise), AgentTurnEnd::UsageLimit)
}

/// The lines of an agent, counted: whether any of them was understood tells a wrong program from one that crashed.
#[derive(Debug, Default)]
pub struct CountedLines {
    understood: u64,
    garbage: u64,
}

impl CountedLines {
    /// A line that is a JSON object; `None` for anything else, which is counted and left out.
    pub fn read(&mut self, said: &str) -> Option<Value> {
        let read = serde_json::from_str(said).ok().filter(Value::is_object);
        match read {
            Some(_) => self.understood += 1,
            None => self.garbage += u64::from(!said.trim().is_empty()),
        }
        read
    }

    /// How a turn ended that the end of the agent cut off.
    pub fn cut_off(&self, code: Option<i32>) -> AgentTurnEnd {
        let Some(code) = code else { return AgentTurnEnd::Failed("it could not be ended".into()) };
        AgentTurnEnd::Failed(match (self.understood, self.garbage) {
            (0, 1..) => {
                format!("it ended with exit code {code}, and none of its {} lines was understood", self.garbage)
            }
            _ => format!("it ended with exit code {code} before its turn was over"),
        })
    }
}

/// Dollars as the millionths that are counted with; nonsense is not counted.
pub fn micros(dollars: &Value) -> Option<u64> {
    let dollars = dollars.as_f64().filter(|dollars| (0.0..1e9).contains(dollars))?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was just checked")]
    Some((dollars * 1e6).round() as u64)
}
