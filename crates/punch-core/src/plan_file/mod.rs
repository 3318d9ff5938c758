//! A plan file that people and agents share: its todos with their places in the text, edits of single values in place,
//! and the merge of what both sides did since they last agreed (decision 0014).
//!
//! Nothing here reads or writes files.

mod merge;
mod splice;
mod tree;
mod write;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::format::plan_file::front_matter;
use crate::format::yaml;
use crate::{Document, Format, Parsed, Plan, Record, Refusal, State, Status};
pub use merge::{AgreedTodo, Conflict, Field, Merged, Side, merge, settled};
pub(crate) use tree::line_of;
pub use write::Write;

/// The largest plan file that is read, in bytes.
pub const LIMIT: u64 = 8 * 1024 * 1024;

/// A todo as a plan file carries it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanFileTodo {
    /// Empty if the user wrote it without one.
    pub id: String,
    /// What is to be done, without white space around it.
    pub content: String,
    /// As stored.
    pub status: Status,
    /// Ids.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<String>,
}

impl PlanFileTodo {
    fn of(record: &Record) -> Self {
        Self {
            id: record.id.clone().unwrap_or_default(),
            content: record.content.trim().to_owned(),
            status: record.status.stored(),
            dependencies: record.depends_on.clone(),
        }
    }

    fn record(&self) -> Record {
        Record {
            id: Some(self.id.clone()).filter(|id| !id.is_empty()),
            content: self.content.clone(),
            status: State::Stored(self.status),
            depends_on: self.dependencies.clone(),
            ..Record::default()
        }
    }
}

/// The live todos of a whole plan, in list order.
pub fn items_of(plan: &Plan) -> Vec<PlanFileTodo> {
    Document::of(plan).records.iter().map(PlanFileTodo::of).collect()
}

/// Todos as a document, of which the difference to another can be asked for.
pub fn document(items: &[PlanFileTodo]) -> Document {
    Document { records: items.iter().map(PlanFileTodo::record).collect(), ..Document::default() }
}

/// A plan file that was understood.
#[derive(Debug)]
pub struct PlanFile<'a> {
    text: &'a str,
    /// The lines between the two marks, and where they begin in the text.
    front: &'a str,
    offset: usize,
    below: &'a str,
    items: Vec<PlanFileTodo>,
    parsed: Parsed,
    tree: tree::Node,
}

impl<'a> PlanFile<'a> {
    /// Reads a plan file; refused with every bad part and its place.
    pub fn read(text: &'a str) -> Result<Self, Refusal> {
        let parsed = Format::CursorPlan.read(text)?;
        let bare = text.strip_prefix('\u{feff}').unwrap_or(text);
        let (front, below) = front_matter(bare).ok_or_else(|| unusual("its front matter"))?;
        let offset = text.len() - bare.len() + bare.find('\n').map_or(0, |at| at + 1);
        let tree = tree::read(front).ok_or_else(|| unusual("its front matter"))?;
        let items = parsed.document.records.iter().map(PlanFileTodo::of).collect();
        let file = Self { text, front, offset, below, items, parsed, tree };
        if file.places().count() == file.items.len() { Ok(file) } else { Err(unusual("its list of todos")) }
    }

    /// Its todos, from first to last; those of phases follow the others.
    pub fn items(&self) -> &[PlanFileTodo] {
        &self.items
    }

    /// The phase that a todo stands in.
    pub fn phase(&self, at: usize) -> Option<&str> {
        self.parsed.document.records.get(at)?.phase.as_deref()
    }

    /// The places of its todos.
    fn places(&self) -> impl Iterator<Item = &tree::Node> {
        let own = self.tree.entry("todos").into_iter().flat_map(|(_, list)| list.items());
        let phases = self.tree.entry("phases").into_iter().flat_map(|(_, phases)| phases.items());
        own.chain(phases.flat_map(|phase| phase.entry("todos").into_iter().flat_map(|(_, list)| list.items())))
    }

    /// Everything that no edit may change.
    fn rest(&self) -> (Value, Vec<Record>, &str) {
        let mut front = yaml::read(self.front).unwrap_or_default();
        if let Some(map) = front.as_object_mut() {
            map.shift_remove("todos");
            map.shift_remove("phases");
        }
        let bare = |record: &Record| Record {
            id: None,
            content: String::new(),
            status: State::default(),
            hold: None,
            depends_on: Vec::new(),
            ..record.clone()
        };
        (front, self.parsed.document.records.iter().map(bare).collect(), self.below)
    }
}

/// A form that is valid and that we do not edit.
fn unusual(what: &str) -> Refusal {
    let what = format!("{what} has an unusual form; write it as other plan files do, one `key: value` a line");
    Refusal::Invalid { at: "plan file".to_owned(), what }
}
