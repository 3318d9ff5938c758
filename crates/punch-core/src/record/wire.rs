//! How one field of a record is written and read.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::schema::{any, any_of, count, list, object, signed, text, time, word, yes_no};
use crate::{Complexity, Evidence, Extra, Flags, Hold, HoldKind, Label, Note, Status, Verify};

/// A stored status, or the derived one that readers see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordStatus {
    /// One of the five.
    Stored(Status),
    /// Pending, but waiting for others or on hold.
    Blocked,
}

impl Default for RecordStatus {
    fn default() -> Self {
        Self::Stored(Status::Pending)
    }
}

impl RecordStatus {
    /// What is stored for it.
    pub const fn stored(self) -> Status {
        match self {
            Self::Stored(status) => status,
            Self::Blocked => Status::Pending,
        }
    }

    /// The wire name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stored(status) => status.name(),
            Self::Blocked => "blocked",
        }
    }
}

/// A note; time and author are unknown in a hand-written one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remark {
    /// Any text.
    pub text: String,
    /// When.
    pub at: Option<i64>,
    /// Who.
    pub by: Option<String>,
}

impl From<&Note> for Remark {
    fn from(note: &Note) -> Self {
        Self { text: note.text.clone(), at: Some(note.at), by: Some(note.by.clone()) }
    }
}

/// The marks of a todo: the stored ones, and `stalled` and `oversize` where a reader is shown them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Stored.
    pub stored: Flags,
    /// Derived; ignored on input.
    pub stalled: bool,
    /// No context window can hold the todo. Derived; ignored on input.
    pub oversize: bool,
}

/// One field: `None` is not written.
pub(super) trait WireField: Sized {
    fn write(&self) -> Option<Value>;
    fn read(value: Value) -> Result<Self, String>;
    /// What is written, and the shorter forms that are read.
    fn schema() -> Value;
}

/// A field whose JSON form is the one that serde derives.
macro_rules! derived {
    ($($ty:ty, $what:literal, $schema:expr;)*) => {$(
        impl WireField for Option<$ty> {
            fn write(&self) -> Option<Value> {
                self.as_ref().and_then(|value| serde_json::to_value(value).ok())
            }
            fn read(value: Value) -> Result<Self, String> {
                <$ty>::deserialize(whole(value)).map(Some).map_err(|_| $what.to_owned())
            }
            fn schema() -> Value {
                $schema
            }
        }
    )*};
}

derived! {
    String, "must be a string", text();
    u8, "must be 1 to 5", json!({"type": "integer", "minimum": 1, "maximum": 5});
    u32, "must be a whole number, not negative", count();
    u64, "must be a whole number, not negative", count();
    i64, "must be a whole number (milliseconds)", time();
    Complexity, "must be trivial, small, medium, large or epic", word(Complexity::ALL.map(Complexity::name));
    Verify, "must be a string or a list of strings", any_of(vec![text(), list(text())]);
    Extra, "must be an object", any();
}

/// `20000.0` and `1e15` are whole numbers too, as JSON Schema has it.
fn whole(value: Value) -> Value {
    match value.as_f64().filter(|number| value.is_f64() && number.fract() == 0.0 && number.abs() < 9e15) {
        Some(number) => Value::from(number as i64),
        None => value,
    }
}

/// A list whose items are what serde derives.
macro_rules! lists {
    ($($ty:ty, $what:literal, $schema:expr;)*) => {$(
        impl WireField for Vec<$ty> {
            fn write(&self) -> Option<Value> {
                (!self.is_empty()).then(|| serde_json::to_value(self).ok()).flatten()
            }
            fn read(value: Value) -> Result<Self, String> {
                Self::deserialize(value).map_err(|_| $what.to_owned())
            }
            fn schema() -> Value {
                list($schema)
            }
        }
    )*};
}

lists! {
    String, "must be a list of strings", text();
    Evidence, "must be a list of objects with `at` and any of text, command, exitCode, outputHash, commit, tree, observed", evidence();
}

impl WireField for BTreeSet<Label> {
    fn write(&self) -> Option<Value> {
        (!self.is_empty()).then(|| self.iter().map(Label::as_str).collect())
    }
    fn read(value: Value) -> Result<Self, String> {
        let words = Vec::<String>::deserialize(value).map_err(|_| "must be a list of strings".to_owned())?;
        let labels = Label::parse_all(words.iter().map(String::as_str))
            .map_err(|refusal| format!("has an {}; {}", refusal.message(), refusal.hint()))?;
        if labels.len() > Label::MOST {
            return Err(format!("must have at most {}", Label::MOST));
        }
        Ok(labels)
    }
    fn schema() -> Value {
        let word = json!({"type": "string", "minLength": 1, "maxLength": Label::LONGEST});
        let mut out = list(word);
        out["maxItems"] = Label::MOST.into();
        out
    }
}

impl WireField for String {
    fn write(&self) -> Option<Value> {
        Some(Value::String(self.clone()))
    }
    fn read(value: Value) -> Result<Self, String> {
        <Self as Deserialize>::deserialize(value).map_err(|_| "must be a string".to_owned())
    }
    fn schema() -> Value {
        text()
    }
}

impl WireField for RecordStatus {
    fn write(&self) -> Option<Value> {
        Some(self.name().into())
    }
    fn read(value: Value) -> Result<Self, String> {
        match value.as_str() {
            Some("blocked") => Ok(Self::Blocked),
            word => word
                .and_then(Status::parse)
                .map(Self::Stored)
                .ok_or_else(|| "must be pending, in_progress, completed, cancelled, failed or blocked".to_owned()),
        }
    }
    fn schema() -> Value {
        word(Status::ALL.map(Status::name).into_iter().chain([Self::Blocked.name()]))
    }
}

impl WireField for Vec<Remark> {
    fn write(&self) -> Option<Value> {
        let one = |remark: &Remark| match (&remark.at, &remark.by) {
            (None, None) => json!(remark.text),
            (Some(at), None) => json!({"text": remark.text, "at": at}),
            (None, Some(by)) => json!({"text": remark.text, "by": by}),
            (Some(at), Some(by)) => json!({"text": remark.text, "at": at, "by": by}),
        };
        (!self.is_empty()).then(|| self.iter().map(one).collect())
    }
    fn read(value: Value) -> Result<Self, String> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Input {
            Plain(String),
            Full { text: String, at: Option<i64>, by: Option<String> },
        }
        let notes = Vec::<Input>::deserialize(value)
            .map_err(|_| "must be a list of strings or of objects with text, at, by".to_owned())?;
        let one = |note| match note {
            Input::Plain(text) => Remark { text, at: None, by: None },
            Input::Full { text, at, by } => Remark { text, at, by },
        };
        Ok(notes.into_iter().map(one).collect())
    }
    fn schema() -> Value {
        let full = object(&[("text", text())], &[("at", time()), ("by", text())]);
        list(any_of(vec![full, text()]))
    }
}

impl WireField for Option<Hold> {
    fn write(&self) -> Option<Value> {
        let hold = self.as_ref()?;
        let mut out = Map::new();
        out.insert("kind".to_owned(), hold.kind.name().into());
        out.insert("reason".to_owned(), hold.reason.clone().into());
        if let Some(until) = hold.until {
            out.insert("until".to_owned(), until.into());
        }
        if !hold.by.is_empty() {
            out.insert("by".to_owned(), hold.by.clone().into());
        }
        if hold.at != 0 {
            out.insert("at".to_owned(), hold.at.into());
        }
        Some(out.into())
    }
    fn read(value: Value) -> Result<Self, String> {
        #[derive(Deserialize)]
        #[serde(default)]
        struct Input {
            kind: HoldKind,
            reason: String,
            until: Option<i64>,
            by: String,
            at: i64,
        }
        impl Default for Input {
            fn default() -> Self {
                Self { kind: HoldKind::Other, reason: String::new(), until: None, by: String::new(), at: 0 }
            }
        }
        let Input { kind, reason, until, by, at } = match value {
            Value::String(reason) => Input { reason, ..Input::default() },
            value => Input::deserialize(value).map_err(|_| {
                "must be an object with kind (human, external, timer, job, other, parked, conflict), reason, until"
                    .to_owned()
            })?,
        };
        Ok(Some(Hold { kind, reason, until, by, at }))
    }
    fn schema() -> Value {
        let kind = word(HoldKind::ALL.map(HoldKind::name));
        let maybe = [("kind", kind), ("reason", text()), ("until", time()), ("by", text()), ("at", time())];
        any_of(vec![object(&[], &maybe), text()])
    }
}

impl WireField for Marks {
    fn write(&self) -> Option<Value> {
        let Flags { resume, stale, stale_dependency, reported, unchecked } = self.stored;
        let set = [
            (resume, "resume"),
            (self.stalled, "stalled"),
            (stale, "stale"),
            (stale_dependency, "staleDependency"),
            (reported, "reported"),
            (unchecked, "unchecked"),
            (self.oversize, "oversize"),
        ];
        let names: Vec<&str> = set.into_iter().filter(|(set, _)| *set).map(|(_, name)| name).collect();
        (!names.is_empty()).then(|| json!(names))
    }
    fn read(value: Value) -> Result<Self, String> {
        let mut out = Self::default();
        for name in Vec::<String>::deserialize(value).map_err(|_| "must be a list of names".to_owned())? {
            match name.as_str() {
                "resume" => out.stored.resume = true,
                "stale" => out.stored.stale = true,
                "staleDependency" => out.stored.stale_dependency = true,
                "reported" => out.stored.reported = true,
                "unchecked" => out.stored.unchecked = true,
                "stalled" => out.stalled = true,
                "oversize" => out.oversize = true,
                // Derived from the estimate; a list that was shown may hold it.
                "assumed" => {}
                _ => return Err("may contain only resume, stale, staleDependency, reported, unchecked".to_owned()),
            }
        }
        Ok(out)
    }
    fn schema() -> Value {
        list(word(["resume", "stalled", "stale", "staleDependency", "reported", "unchecked", "oversize", "assumed"]))
    }
}

fn evidence() -> Value {
    let maybe = [
        ("text", text()),
        ("command", any_of(vec![text(), list(text())])),
        ("exitCode", signed()),
        ("outputHash", text()),
        ("commit", text()),
        ("tree", text()),
        ("observed", object(&[("changed", signed())], &[("changedAfter", yes_no()), ("outside", list(text()))])),
    ];
    object(&[("at", time())], &maybe)
}
