//! A plan file that people and agents share: its todos with their places in the text, edits of single values in place,
//! and the merge of what both sides did since they last agreed (decisions 0014 and 0074).
//!
//! Nothing here reads or writes files.

mod checklist;
mod front_matter;
mod merge;
mod splice;
pub(crate) mod tree;
mod write;

use serde::{Deserialize, Serialize};

use crate::{Document, Plan, Record, RecordStatus, Refusal, Status};
use checklist::Checklist;
use front_matter::FrontMatter;
pub use merge::{AgreedTodo, MergeConflict, MergeField, MergeSide, PlanFileMerge, merge, settled};
pub(crate) use splice::column;
pub use write::{EditedPlanFile, PlanFileEdit};

/// The largest plan file that is read, in bytes.
pub const LIMIT: u64 = 8 * 1024 * 1024;

/// A todo as a plan file carries it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanFileTodo {
    /// Empty if the user wrote it without one.
    pub id: String,
    /// What is to be done, without white space around it.
    pub content: String,
    /// The stored status.
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
            status: RecordStatus::Stored(self.status),
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

/// How a plan file is written, which decides what it can carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileForm {
    /// `todos` in YAML front matter: ids, four statuses, all dependencies.
    FrontMatter,
    /// Boxes in Markdown: no ids, every status, and of the dependencies those on nested items.
    Checklist,
}

impl FileForm {
    /// The status that the file has for one of the plan.
    pub fn status(self, status: Status) -> Status {
        match self {
            Self::FrontMatter => front_matter::four_of(status),
            Self::Checklist => status,
        }
    }

    /// The text that the file has for one of the plan.
    pub fn content(self, content: &str) -> String {
        match self {
            Self::FrontMatter => content.to_owned(),
            Self::Checklist => checklist::one_line(content),
        }
    }
}

/// A plan file that was understood.
#[derive(Debug)]
pub struct PlanFile<'a> {
    text: &'a str,
    items: Vec<PlanFileTodo>,
    layout: FileLayout<'a>,
}

#[derive(Debug)]
enum FileLayout<'a> {
    FrontMatter(FrontMatter<'a>),
    Checklist(Checklist<'a>),
}

impl<'a> PlanFile<'a> {
    /// Reads a plan file, or refuses it with every invalid part, its line and its column. `base` is the last common
    /// state, by which the todos of a checklist are recognized.
    pub fn read(text: &'a str, base: &[AgreedTodo]) -> Result<Self, Refusal> {
        if let Some(list) = Checklist::find(text) {
            let items = list.items(base)?;
            return Ok(Self { text, items, layout: FileLayout::Checklist(list) });
        }
        let bare = text.strip_prefix('\u{feff}').unwrap_or(text);
        if crate::format::plan_file::front_matter(bare).is_none() {
            let (at, what) = match bare.lines().next().map(str::trim_end) {
                Some("---") => ("line 1, column 1", "the front matter is never closed; end it with a line `---`"),
                _ => ("", "no checklist found; write at least one line such as `- [ ] Write the docs`"),
            };
            return Err(Refusal::Invalid { at: at.to_owned(), what: what.to_owned() });
        }
        let (front, items) = FrontMatter::read(text)?;
        Ok(Self { text, items, layout: FileLayout::FrontMatter(front) })
    }

    /// Its todos, from first to last; those of phases in front matter follow the others. A todo that is new in a
    /// checklist has no id.
    pub fn items(&self) -> &[PlanFileTodo] {
        &self.items
    }

    /// Returns the form of the file.
    pub const fn form(&self) -> FileForm {
        match self.layout {
            FileLayout::FrontMatter(_) => FileForm::FrontMatter,
            FileLayout::Checklist(_) => FileForm::Checklist,
        }
    }

    /// Returns the phase that a todo is in.
    pub fn phase(&self, at: usize) -> Option<&str> {
        match &self.layout {
            FileLayout::FrontMatter(front) => front.phase(at),
            FileLayout::Checklist(list) => list.phase(at),
        }
    }
}

/// A form that is valid and that we do not edit.
fn unusual(what: &str) -> Refusal {
    let what =
        format!("{what} has an unusual form, which Punchlist does not edit; write it plainly, one value per line");
    Refusal::Invalid { at: "plan file".to_owned(), what }
}
