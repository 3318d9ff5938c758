//! The formats in which plans are read and written: one file each, text to document and back, nothing else.
//!
//! One table lists them. Recognition, the command line and the documentation use it, and so does the report of what a
//! format cannot express (decision 0011).

mod beads;
mod build;
pub(crate) mod checklist;
mod claude;
mod codex;
mod cursor;
mod document;
mod extra;
mod input_object;
mod labels;
pub(crate) mod outline;
pub mod pasted_list;
mod peek;
mod phases;
pub(crate) mod plan_file;
mod recognise;
mod session;
mod spec;
mod table;
mod taskmaster;
mod taskmaster_write;
mod taskwarrior;
mod time;
mod todo_list;
pub(crate) mod yaml;

use std::collections::BTreeSet;

use crate::{Document, ParsedDocument, Refusal, text};
pub use recognise::recognise;
pub use table::{Format, FormatSpec};

/// A document in some format, and what that format could not carry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrittenDocument {
    /// The text.
    pub text: String,
    /// Fields of todos that are set and were left out, and values that were rounded.
    pub lost: BTreeSet<String>,
}

impl Format {
    /// Every format.
    pub fn all() -> impl Iterator<Item = Self> {
        table::TABLE.iter().map(|spec| spec.format)
    }

    /// The format of that name.
    pub fn named(name: &str) -> Option<Self> {
        table::TABLE.iter().find(|spec| spec.name == name).map(|spec| spec.format)
    }

    /// Its row in the table.
    pub fn spec(self) -> &'static FormatSpec {
        // The table is in the order of the variants; a test holds it.
        &table::TABLE[self as usize]
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        self.spec().name
    }

    /// Whether it can be written.
    pub fn writes(self) -> bool {
        self.spec().write.is_some()
    }

    /// Returns true if it is JSON, whole or line by line, which can escape invisible characters; other formats drop them.
    const fn is_json(self) -> bool {
        !matches!(self, Self::Markdown | Self::CursorPlan | Self::Checklist | Self::Spec | Self::Phases)
    }

    /// Reads a document: all of it, or a refusal that names every bad part with its place.
    pub fn read(self, text: &str) -> Result<ParsedDocument, Refusal> {
        (self.spec().read)(text.strip_prefix('\u{feff}').unwrap_or(text))
    }

    /// Writes a document; `None` if this format is only read.
    pub fn write(self, document: &Document) -> Option<WrittenDocument> {
        let spec = self.spec();
        let write = spec.write?;
        let mut lost = BTreeSet::new();
        for record in &document.records {
            for key in record.to_map().keys() {
                if !spec.carries.contains(&key.as_str()) && !QUIET.contains(&key.as_str()) && !lost.contains(key) {
                    lost.insert(key.clone());
                }
            }
        }
        let text = write(document, &mut lost);
        let text = if self.is_json() { text::escaped_json(&text).into_owned() } else { text };
        Some(WrittenDocument { text, lost })
    }
}

/// Fields whose absence another tool does not notice: times are its own, extras belong to the format they came from,
/// ids are assigned again, and of several phases with one name the order shows which is meant.
const QUIET: &[&str] = &["id", "phaseIndex", "createdAt", "updatedAt", "startedAt", "finishedAt", "extra"];
