//! Replays recorded calls on a fresh plan: what `punch replay` prints, one JSON value per line of input.

use serde_json::{Value, json};

/// The formats that can be replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Batches of ops on phases.
    Phases,
    /// Phases written as Markdown and read back.
    PhasesMarkdown,
    /// The `/todo` commands on phases.
    PhasesCommands,
    /// Merge or replace with ready ids.
    Cursor,
    /// Whole-list replacement with a checklist as the answer.
    Todowrite,
    /// Replace or patch with dependencies and groups.
    Extended,
    /// The engine's own ops.
    Native,
}

impl Dialect {
    /// Every dialect, in the order help lists them.
    pub const ALL: &[Self] = &[
        Self::Phases,
        Self::PhasesMarkdown,
        Self::PhasesCommands,
        Self::Cursor,
        Self::Todowrite,
        Self::Extended,
        Self::Native,
    ];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Phases => "phases",
            Self::PhasesMarkdown => "phases-markdown",
            Self::PhasesCommands => "phases-commands",
            Self::Cursor => "cursor",
            Self::Todowrite => "todowrite",
            Self::Extended => "extended",
            Self::Native => "native",
        }
    }

    /// The dialect of that exact name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|dialect| dialect.name() == name)
    }
}

/// The answer to one line.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// `{"id", "results"}`, or `{"id": null, "error"}` for a line that could not be read.
    pub json: Value,
    /// False if the line could not be read.
    pub readable: bool,
}

/// Replays one line of recorded calls on a fresh plan. Any bytes are fine; what cannot be read is answered.
pub fn line(_dialect: Dialect, line: &[u8]) -> Reply {
    match serde_json::from_slice::<Value>(line) {
        Ok(Value::Object(fields)) if fields.get("calls") == Some(&json!([])) => {
            let id = fields.get("id").cloned().unwrap_or_default();
            Reply { json: json!({"id": id, "results": []}), readable: true }
        }
        Ok(_) => unreadable("this dialect does not answer calls yet"),
        Err(error) => unreadable(&error.to_string()),
    }
}

fn unreadable(message: &str) -> Reply {
    let error = json!({"code": "invalid", "message": message, "hint": "send one JSON object per line"});
    Reply { json: json!({"id": null, "error": error}), readable: false }
}
