//! One object of the input: fields are taken out of it by name, invalid ones are recorded, and the rest are the unknown
//! fields.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::dialect::input::kind;
use crate::{Document, Hold, HoldKind, Record, RecordStatus, Status, text};

/// One object of the input, from which fields are taken by name.
pub(super) struct InputObject {
    map: Map<String, Value>,
    at: String,
    errors: Vec<(String, String)>,
}

impl InputObject {
    pub(super) fn new(map: Map<String, Value>, at: &str) -> Self {
        Self { map, at: at.to_owned(), errors: Vec::new() }
    }

    /// The place, the fields that were not taken, and what was wrong with the others.
    pub(super) fn finish(self) -> (String, Map<String, Value>, Vec<(String, String)>) {
        (self.at, self.map, self.errors)
    }

    /// A field as it is; `null` is absent.
    pub(super) fn take(&mut self, key: &str) -> Option<Value> {
        crate::json::take(&mut self.map, key).filter(|value| !value.is_null())
    }

    /// Puts a field back among the unknown ones.
    pub(super) fn put(&mut self, key: &str, value: Value) {
        self.map.insert(key.to_owned(), value);
    }

    /// Remembers that a field is wrong.
    pub(super) fn wrong(&mut self, key: &str, what: impl Into<String>) {
        self.errors.push((key.to_owned(), what.into()));
    }

    /// A text; numbers and truth values are taken by their spelling.
    pub(super) fn text(&mut self, key: &str) -> Option<String> {
        match self.take(key)? {
            Value::String(text) => Some(text),
            value @ (Value::Number(_) | Value::Bool(_)) => Some(value.to_string()),
            other => {
                self.wrong(key, format!("must be a string, not {}", kind(&other)));
                None
            }
        }
    }

    /// A text that is not empty.
    pub(super) fn filled(&mut self, key: &str) -> Option<String> {
        self.text(key).filter(|text| !text.is_empty())
    }

    /// What is to be done, by the first of these names that is there: a string and nothing else.
    pub(super) fn content(&mut self, keys: &[&str]) -> String {
        self.first(keys, |item, key| match item.take(key)? {
            Value::String(text) => Some(text),
            other => {
                item.wrong(key, format!("must be a string, not {}", kind(&other)));
                None
            }
        })
    }

    /// What is to be done, where a text may stand without quotes, as in YAML: numbers and booleans by their spelling.
    pub(super) fn unquoted(&mut self, keys: &[&str]) -> String {
        self.first(keys, Self::text)
    }

    fn first(&mut self, keys: &[&str], read: fn(&mut Self, &str) -> Option<String>) -> String {
        let before = self.errors.len();
        for key in keys {
            if let Some(text) = read(self, key) {
                return text;
            }
        }
        if self.errors.len() == before {
            self.wrong(keys.first().unwrap_or(&"content"), "is missing");
        }
        // Any text will do: the document is refused anyway, and the error above is the better one.
        "?".to_owned()
    }

    /// Ids: a list of strings or numbers, or such a list in one string with commas.
    pub(super) fn ids(&mut self, key: &str) -> Vec<String> {
        match self.take(key) {
            None => Vec::new(),
            Some(Value::String(list)) => {
                list.split(',').map(str::trim).filter(|id| !id.is_empty()).map(str::to_owned).collect()
            }
            Some(Value::Array(list)) => {
                let mut out = Vec::with_capacity(list.len());
                for (n, id) in list.into_iter().enumerate() {
                    match id {
                        Value::String(id) => out.push(id),
                        Value::Number(id) => out.push(id.to_string()),
                        other => self.wrong(&format!("{key}[{n}]"), format!("must be an id, not {}", kind(&other))),
                    }
                }
                out
            }
            Some(other) => {
                self.wrong(key, format!("must be a list of ids, not {}", kind(&other)));
                Vec::new()
            }
        }
    }

    /// A list of anything.
    pub(super) fn list(&mut self, key: &str) -> Vec<Value> {
        match self.take(key) {
            None => Vec::new(),
            Some(Value::Array(list)) => list,
            Some(other) => {
                self.wrong(key, format!("must be a list, not {}", kind(&other)));
                Vec::new()
            }
        }
    }

    /// A point in time in words.
    pub(super) fn time(&mut self, key: &str) -> Option<i64> {
        let word = self.text(key)?;
        let time = super::time::parse(&word);
        if time.is_none() {
            self.wrong(key, format!("invalid time `{}`", text::neutral(&text::clip(&word, 40))));
        }
        time
    }

    /// A status in the words of most formats; absent is pending. `others` are words that only this format has.
    pub(super) fn status(&mut self, key: &str, others: &[&str]) -> StatusWord {
        let Some(word) = self.text(key) else { return StatusWord::default() };
        let known = StatusWord::of(&word);
        known.unwrap_or_else(|| {
            let mut words = vec!["pending", "in_progress", "completed", "cancelled", "blocked"];
            words.extend(others);
            let shown = text::neutral(&text::clip(&word, 40)).into_owned();
            self.wrong(key, format!("unknown status `{shown}`; use one of {}", words.join(", ")));
            StatusWord::default()
        })
    }
}

/// The word for work that was put off, and the reason of its hold.
const DEFERRED: &str = "deferred";

/// A status, and the hold for a word that is not a status of Punchlist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct StatusWord {
    pub(super) state: RecordStatus,
    pub(super) hold: Option<Hold>,
}

impl StatusWord {
    /// A status without a hold.
    pub(super) const fn stored(status: Status) -> Self {
        Self { state: RecordStatus::Stored(status), hold: None }
    }

    /// Work that was put off: pending, and on hold until the user releases it.
    pub(super) fn deferred() -> Self {
        Self { state: RecordStatus::default(), hold: Some(hold(HoldKind::Other, DEFERRED)) }
    }

    /// Returns true if a record is about work that was postponed.
    pub(super) fn is_deferred(record: &Record) -> bool {
        record.status.stored() == Status::Pending && record.hold.as_ref().is_some_and(|hold| hold.reason == DEFERRED)
    }

    /// Takes holds off the losses of a format whose marks carry deferred work, if no todo is on hold for another reason.
    pub(super) fn carry_deferred(document: &Document, lost: &mut BTreeSet<String>) {
        if document.records.iter().filter(|record| record.hold.is_some()).all(Self::is_deferred) {
            lost.remove("hold");
        }
    }

    /// The words of all formats; case, `-` and `_` do not matter.
    fn of(word: &str) -> Option<Self> {
        let word = word.trim().to_ascii_lowercase().replace(['-', ' '], "_");
        let stored = |status| Some(Self::stored(status));
        let held = |kind, reason: &str| Some(Self { state: RecordStatus::default(), hold: Some(hold(kind, reason)) });
        match word.strip_prefix("todo_status_").unwrap_or(&word) {
            "pending" | "open" | "todo" | "unspecified" | "not_started" => stored(Status::Pending),
            "in_progress" | "started" | "active" => stored(Status::InProgress),
            "completed" | "done" | "closed" | "complete" => stored(Status::Completed),
            "cancelled" | "canceled" | "deleted" | "abandoned" => stored(Status::Cancelled),
            "failed" => stored(Status::Failed),
            "blocked" => Some(Self { state: RecordStatus::Blocked, hold: None }),
            "review" => held(HoldKind::Human, "review"),
            DEFERRED => Some(Self::deferred()),
            _ => None,
        }
    }
}

/// A hold without a date.
pub(super) fn hold(kind: HoldKind, reason: &str) -> Hold {
    Hold { kind, reason: reason.to_owned(), until: None, by: String::new(), at: 0 }
}
