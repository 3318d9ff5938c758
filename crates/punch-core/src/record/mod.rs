//! The exchange form of todos: the extended format as a superset that carries everything a plan stores.
//!
//! One table names the fields, so writing and reading cannot disagree about which exist.

mod diff;
mod diff_phases;
mod document;
mod make;
mod ops;
mod wire;

use std::collections::BTreeSet;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::{Map, Value};

use crate::{Complexity, Evidence, Extra, Hold, Verify};
pub use document::{Document, Parsed};
pub use make::Records;
use wire::Wire;
pub use wire::{Marks, Remark, State};

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

            /// False for a key that no field has.
            fn set(&mut self, key: &str, value: Value) -> Result<bool, String> {
                match key {
                    $($key => self.$name = Wire::read(value)?,)*
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
    /// See [`crate::Fields`].
    active_form: Option<String> = "activeForm";
    /// A stored status, or `blocked` where a reader is shown the derived one.
    status: State = "status";
    /// The name of the phase.
    phase: Option<String> = "phase";
    /// Which phase, where several have that name; counted from 0.
    phase_index: Option<u64> = "phaseIndex";
    /// 1 to 5; absent is 3.
    priority: Option<u8> = "priority";
    /// Ids.
    depends_on: Vec<String> = "dependsOn";
    /// Ids of those that depend on it; derived, and on input further edges.
    blocks: Vec<String> = "blocks";
    /// See [`crate::Fields`].
    description: Option<String> = "description";
    /// See [`crate::Fields`].
    hold: Option<Hold> = "hold";
    /// See [`crate::Fields`].
    complexity: Option<Complexity> = "complexity";
    /// See [`crate::Fields`].
    estimated_tokens: Option<u64> = "estimatedTokens";
    /// See [`crate::Fields`].
    actual_tokens: Option<u64> = "actualTokens";
    /// Derived; on input only compared.
    parallel_group: Option<u64> = "parallelGroup";
    /// See [`crate::Fields`].
    verification_criteria: Option<String> = "verificationCriteria";
    /// See [`crate::Fields`].
    verify_command: Option<Verify> = "verifyCommand";
    /// See [`crate::Fields`].
    files: Vec<String> = "files";
    /// See [`crate::Fields`].
    evidence: Vec<Evidence> = "evidence";
    /// See [`crate::Fields`].
    notes: Vec<Remark> = "notes";
    /// Display only.
    owner: Option<String> = "owner";
    /// Display only.
    lease_until: Option<i64> = "leaseUntil";
    /// Display only.
    fence: Option<u64> = "fence";
    /// See [`crate::Fields`].
    attempts: Option<u32> = "attempts";
    /// See [`crate::Fields`].
    last_error: Option<String> = "lastError";
    /// See [`crate::Fields`].
    created_at: Option<i64> = "createdAt";
    /// Display only.
    updated_at: Option<i64> = "updatedAt";
    /// See [`crate::Fields`].
    started_at: Option<i64> = "startedAt";
    /// See [`crate::Fields`].
    finished_at: Option<i64> = "finishedAt";
    /// See [`crate::Fields`].
    hidden: Option<i64> = "hidden";
    /// See [`crate::Fields`]. Not shown to readers; an export keeps it.
    extra: Option<Extra> = "extra";
    /// Names of the marks that are set.
    flags: Marks = "flags";
}

/// Why an object is not a record: the key, and what is wrong with its value.
pub(crate) type Wrong = (String, String);

impl Record {
    /// Reads a JSON object. `null` is absent; keys that nobody knows are added to `ignored`.
    pub(crate) fn from_map(mut map: Map<String, Value>, ignored: &mut BTreeSet<String>) -> Result<Self, Wrong> {
        let wrong = |key: &str, what: &str| (key.to_owned(), what.to_owned());
        match (map.shift_remove("title").filter(|title| !title.is_null()), map.get("content")) {
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
