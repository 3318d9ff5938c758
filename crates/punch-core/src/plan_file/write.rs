//! Edits of a plan file: single values replaced in place, todos put at the end of the list. The result is read again
//! before anyone gets it: what an editor of text may get wrong, it must not hand out.

use super::{FileLayout, PlanFile, PlanFileTodo};
use crate::{Refusal, Status};

/// One edit of a plan file; a todo is named by its place in [`PlanFile::items`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanFileEdit {
    /// Gives a todo that has none an id. A checklist has no ids: there only the answer has it.
    Id(usize, String),
    /// The status of a todo.
    Status(usize, Status),
    /// What is to be done.
    Content(usize, String),
    /// What it waits for. A checklist cannot carry it.
    Dependencies(usize, Vec<String>),
    /// A new todo at the end of the list.
    Add(PlanFileTodo),
}

/// A plan file after its edits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditedPlanFile {
    /// The whole text.
    pub text: String,
    /// Its todos, with their ids.
    pub items: Vec<PlanFileTodo>,
    /// How many todos were changed or added in the text.
    pub edits: usize,
}

impl PlanFile<'_> {
    /// The file with these edits and every other byte as it was. Without a difference it is the same text.
    pub fn write(&self, writes: &[PlanFileEdit]) -> Result<EditedPlanFile, Refusal> {
        match &self.layout {
            FileLayout::FrontMatter(front) => front.write(self.text, &self.items, writes),
            FileLayout::Checklist(list) => list.write(self.text, &self.items, writes),
        }
    }
}

impl PlanFileEdit {
    /// Applies the edit to what is expected of a todo that the file has; false if it changes nothing.
    pub(super) fn change(&self, item: &mut PlanFileTodo) -> bool {
        let before = item.clone();
        match self {
            Self::Id(_, id) => item.id.clone_from(id),
            Self::Status(_, status) => item.status = *status,
            Self::Content(_, content) => content.trim().clone_into(&mut item.content),
            Self::Dependencies(_, ids) => item.dependencies.clone_from(ids),
            Self::Add(_) => {}
        }
        *item != before
    }
}
