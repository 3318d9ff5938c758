//! The exchange form of todos: the extended format as a superset that carries everything a plan stores.
//!
//! One table names the fields, so writing and reading cannot disagree about which exist.

mod diff;
mod diff_phases;
mod document;
mod make;
mod ops;
mod shown;
mod wire;

use std::collections::BTreeSet;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::{Map, Value};

use crate::{Complexity, Evidence, Extra, Hold, Label, Verify, schema};
pub use document::{Document, ParsedDocument};
pub use make::Records;
use wire::WireField;
pub use wire::{Marks, RecordStatus, Remark};

macro_rules! record {
    ($($(#[doc = $doc:literal])* $name:ident : $ty:ty = $key:literal;)*) => {
        /// One todo in the extended format. What is absent, empty or the default is not written.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct Record { $($(#[doc = $doc])* pub $name: $ty,)* }

        impl Record {
            /// The JSON object.
            pub fn to_map(&self) -> Map<String, Value> {
                let mut out = Map::new();
                $(if let Some(value) = self.$name.write() { out.insert($key.to_owned(), value); })*
                out
            }

            /// What each field may be, as JSON Schema.
            pub(crate) fn properties() -> Map<String, Value> {
                let mut out = Map::new();
                $(out.insert($key.to_owned(), described(<$ty as WireField>::schema(), concat!($($doc),*)));)*
                out
            }

            /// False for a key that no field has.
            fn set(&mut self, key: &str, value: Value) -> Result<bool, String> {
                match key {
                    $($key => self.$name = WireField::read(value)?,)*
                    _ => return Ok(false),
                }
                Ok(true)
            }
        }
    };
}

record! {
    /// Unique in the plan; made when absent.
    id: Option<String> = "id";
    /// What is to be done; `title` is read as another name for it.
    content: String = "content";
    /// The content in the present tense, shown while it runs.
    active_form: Option<String> = "activeForm";
    /// A stored status, or `blocked` where a reader is shown the derived one.
    status: RecordStatus = "status";
    /// The name of the phase.
    phase: Option<String> = "phase";
    /// Which phase, where several have that name; counted from 0.
    phase_index: Option<u64> = "phaseIndex";
    /// 1 to 5; absent is 3.
    priority: Option<u8> = "priority";
    /// Short words that group todos: lower case letters, digits and `-_./:`.
    labels: BTreeSet<Label> = "labels";
    /// Ids that must be completed first.
    depends_on: Vec<String> = "dependsOn";
    /// Ids of those that depend on it; derived, and on input further edges.
    blocks: Vec<String> = "blocks";
    /// More about it.
    description: Option<String> = "description";
    /// Why it waits for something that is not a todo.
    hold: Option<Hold> = "hold";
    /// How large it is.
    complexity: Option<Complexity> = "complexity";
    /// What it will take; goes before the complexity.
    estimated_tokens: Option<u64> = "estimatedTokens";
    /// What its attempts took so far.
    actual_tokens: Option<u64> = "actualTokens";
    /// Derived; on input only compared.
    parallel_group: Option<u64> = "parallelGroup";
    /// How completion is judged, in words.
    verification_criteria: Option<String> = "verificationCriteria";
    /// How completion is proved: a line for the shell, or a program and its arguments.
    verify_command: Option<Verify> = "verifyCommand";
    /// Globs that the work will touch; two todos whose files overlap never run at once.
    files: Vec<String> = "files";
    /// What speaks for or against its completion: what workers said, and what its checks found.
    evidence: Vec<Evidence> = "evidence";
    /// Remarks, oldest first.
    notes: Vec<Remark> = "notes";
    /// Who works on it, or did last; only shown.
    owner: Option<String> = "owner";
    /// Until when the owner is believed to be alive; only shown.
    lease_until: Option<i64> = "leaseUntil";
    /// Grows with every claim; only shown.
    fence: Option<u64> = "fence";
    /// Failed attempts.
    attempts: Option<u32> = "attempts";
    /// Why the last attempt failed.
    last_error: Option<String> = "lastError";
    /// When it was added.
    created_at: Option<i64> = "createdAt";
    /// When it last changed; only shown.
    updated_at: Option<i64> = "updatedAt";
    /// When it was last started.
    started_at: Option<i64> = "startedAt";
    /// When it was completed, cancelled or failed.
    finished_at: Option<i64> = "finishedAt";
    /// Hidden from default views since.
    hidden: Option<i64> = "hidden";
    /// What an import brought that has no name here, by format; only exports have it.
    extra: Option<Extra> = "extra";
    /// Names of the marks that are set.
    flags: Marks = "flags";
}

/// The sentence about a field goes into its schema.
fn described(schema: Value, doc: &str) -> Value {
    let doc = doc.trim();
    match schema["description"].as_str().map(|unit| format!("{}; {unit}", doc.trim_end_matches('.'))) {
        Some(doc) => schema::about(schema, &doc),
        None => schema::about(schema, doc),
    }
}

/// Why an object is not a record: the key, and what is wrong with its value.
pub(crate) type RecordError = (String, String);

impl Record {
    /// Reads a JSON object. `null` is absent; unknown keys are added to `ignored`.
    pub(crate) fn from_map(mut map: Map<String, Value>, ignored: &mut BTreeSet<String>) -> Result<Self, RecordError> {
        let wrong = |key: &str, what: &str| (key.to_owned(), what.to_owned());
        match (crate::json::take(&mut map, "title").filter(|title| !title.is_null()), map.get("content")) {
            (Some(title), Some(content)) if !content.is_null() => {
                if title != *content {
                    return Err(wrong("title", "differs from `content`; give one of them"));
                }
            }
            (Some(title), _) => drop(map.insert("content".to_owned(), title)),
            (None, Some(content)) if !content.is_null() => {}
            (None, _) => return Err(wrong("content", "is missing")),
        }
        let mut out = Self::default();
        for (key, value) in map {
            if value.is_null() {
                continue;
            }
            if !out.set(&key, value).map_err(|what| (key.clone(), what))? {
                ignore(ignored, &key);
            }
        }
        if out.id.as_deref() == Some("") {
            return Err(wrong("id", "is empty"));
        }
        if out.priority.is_some_and(|priority| !(1..=5).contains(&priority)) {
            return Err(wrong("priority", "must be 1 to 5"));
        }
        Ok(out)
    }
}

/// Remembers a name for the warning; hostile input may bring a million of them.
pub(crate) fn ignore(ignored: &mut BTreeSet<String>, name: &str) {
    if ignored.len() < 100 {
        ignored.insert(crate::text::clip(name, 80).into_owned());
    }
}

impl Serialize for Record {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_map().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Record {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let map = Map::deserialize(deserializer)?;
        Self::from_map(map, &mut BTreeSet::new()).map_err(|(key, what)| de::Error::custom(format!("{key}: {what}")))
    }
}
