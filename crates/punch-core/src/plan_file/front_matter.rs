//! A plan file as Cursor writes it: YAML front matter with `todos` and `phases`, any text below. Values are edited in
//! place (decision 0014).

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::splice::{SplicedValue, TextSplice, TodoSource, column, line_break, line_end, list, word};
use super::tree::{self, CollectionStyle, FileNode, NodeValue};
use super::{EditedPlanFile, PlanFileEdit, PlanFileTodo, unusual};
use crate::format::plan_file::{four, front_matter};
use crate::format::yaml;
use crate::splice::splice_all;
use crate::{Format, ParsedDocument, Record, RecordStatus, Refusal, Status};

/// The front matter of a plan file, with the places of its values.
#[derive(Debug)]
pub(super) struct FrontMatter<'a> {
    /// The lines between the two marks, and where they begin in the text.
    front: &'a str,
    offset: usize,
    below: &'a str,
    parsed: ParsedDocument,
    tree: FileNode,
}

impl<'a> FrontMatter<'a> {
    /// Reads a plan file; refused with every bad part and its place.
    pub(super) fn read(text: &'a str) -> Result<(Self, Vec<PlanFileTodo>), Refusal> {
        let parsed = Format::CursorPlan.read(text)?;
        let bare = text.strip_prefix('\u{feff}').unwrap_or(text);
        let (front, below) = front_matter(bare).ok_or_else(|| unusual("its front matter"))?;
        let offset = text.len() - bare.len() + bare.find('\n').map_or(0, |at| at + 1);
        let tree = tree::read(front).ok_or_else(|| unusual("its front matter"))?;
        let items: Vec<PlanFileTodo> = parsed.document.records.iter().map(PlanFileTodo::of).collect();
        let file = Self { front, offset, below, parsed, tree };
        if file.places().count() == items.len() { Ok((file, items)) } else { Err(unusual("its list of todos")) }
    }

    /// The phase that a todo is in.
    pub(super) fn phase(&self, at: usize) -> Option<&str> {
        self.parsed.document.records.get(at)?.phase.as_deref()
    }

    /// The places of its todos.
    fn places(&self) -> impl Iterator<Item = &FileNode> {
        let own = self.tree.entry("todos").into_iter().flat_map(|(_, list)| list.items());
        let phases = self.tree.entry("phases").into_iter().flat_map(|(_, phases)| phases.items());
        own.chain(phases.flat_map(|phase| phase.entry("todos").into_iter().flat_map(|(_, list)| list.items())))
    }

    /// Everything that no edit may change.
    fn rest(&self) -> (Json, Vec<Record>, &str) {
        let mut front = yaml::read(self.front).unwrap_or_default();
        if let Some(map) = front.as_object_mut() {
            crate::json::take(map, "todos");
            crate::json::take(map, "phases");
        }
        let bare = |record: &Record| Record {
            id: None,
            content: String::new(),
            status: RecordStatus::default(),
            hold: None,
            depends_on: Vec::new(),
            ..record.clone()
        };
        (front, self.parsed.document.records.iter().map(bare).collect(), self.below)
    }
}

impl FrontMatter<'_> {
    /// The file with these edits.
    pub(super) fn write(
        &self,
        text: &str,
        items: &[PlanFileTodo],
        writes: &[PlanFileEdit],
    ) -> Result<EditedPlanFile, Refusal> {
        let mut expected = items.to_vec();
        let mut splices: Vec<TextSplice> = Vec::new();
        let places: Vec<&FileNode> = self.places().collect();
        let (mut added, mut touched) = (Vec::new(), BTreeSet::new());
        for write in writes {
            let (at, name, value, after): (_, _, _, &[&str]) = match write {
                PlanFileEdit::Id(at, id) => (*at, "id", SplicedValue::Text(id), &[]),
                PlanFileEdit::Status(at, status) => {
                    (*at, "status", SplicedValue::Word(carried(*status)), &["content", "id"])
                }
                PlanFileEdit::Content(at, content) => (*at, "content", SplicedValue::Text(content), &["id"]),
                PlanFileEdit::Dependencies(at, ids) => {
                    (*at, "dependencies", SplicedValue::Ids(ids), &["status", "content", "id"])
                }
                PlanFileEdit::Add(item) => {
                    added.push(item);
                    continue;
                }
            };
            let (Some(item), Some(todo)) = (expected.get_mut(at), places.get(at)) else {
                return Err(unusual(&format!("todo {}", at + 1)));
            };
            let write = match write {
                PlanFileEdit::Status(at, status) => &PlanFileEdit::Status(*at, four_of(*status)),
                other => other,
            };
            if !write.change(item) {
                continue;
            }
            touched.insert(at);
            let spot = TodoSource { front: self.front, todo };
            let splice = spot.set(name, &value, after);
            splices.push(splice.ok_or_else(|| unusual(&format!("`{name}` of todo {}", at + 1)))?);
        }
        let edits = touched.len() + added.len();
        let own = self.tree.entry("todos").map_or(0, |(_, list)| list.items().len());
        if !added.is_empty() {
            splices.push(self.append(&added).ok_or_else(|| unusual("the list of todos"))?);
            expected.splice(
                own..own,
                added.into_iter().map(|item| PlanFileTodo { status: four_of(item.status), ..item.clone() }),
            );
        }
        if splices.is_empty() {
            return Ok(EditedPlanFile { text: text.to_owned(), items: expected, edits });
        }
        // Places count from the beginning of the front matter.
        let place = |(at, new): TextSplice| (at.start + self.offset..at.end + self.offset, new);
        let text = splice_all(text, splices.into_iter().map(place).collect());
        self.check(&text, &expected)?;
        Ok(EditedPlanFile { text, items: expected, edits })
    }

    /// What was meant is there, and nothing else changed.
    fn check(&self, text: &str, expected: &[PlanFileTodo]) -> Result<(), Refusal> {
        let wrong = || unusual("the list of todos");
        let (after, items) = FrontMatter::read(text).map_err(|_| wrong())?;
        let (front, mut records, below) = after.rest();
        let (front_before, records_before, below_before) = self.rest();
        let own = self.tree.entry("todos").map_or(0, |(_, list)| list.items().len());
        let new = records.len().saturating_sub(records_before.len());
        records.drain(own..own + new);
        let same = items == expected && (front, below) == (front_before, below_before) && records == records_before;
        if same { Ok(()) } else { Err(wrong()) }
    }

    /// Todos at the end of the list, which may be written in any way or not at all.
    fn append(&self, items: &[&PlanFileTodo]) -> Option<TextSplice> {
        let front = self.front;
        let break_ = line_break(front);
        let block = |dash: usize| -> String {
            items.iter().map(|item| format!("{break_}{}", entry(item, &" ".repeat(dash), break_))).collect()
        };
        let alone = |key: &FileNode, list: &FileNode| {
            let rest = &front[list.end..line_end(front, list.end)];
            front[key.end..list.start].trim() == ":" && rest.trim().is_empty()
        };
        let Some((key, list)) = self.tree.entry("todos") else {
            let text = block(2);
            return Some((front.len()..front.len(), format!("todos:{}{break_}", text)));
        };
        match &list.what {
            NodeValue::List(CollectionStyle::Block, todos) => {
                let (first, last) = (todos.first()?, todos.last()?);
                let dash = front[..first.start].rfind('-').filter(|at| front[at + 1..first.start].trim().is_empty())?;
                let end = last.start + front.get(last.start..last.end)?.trim_end().len();
                let at = line_end(front, end);
                Some((at..at, block(column(front, dash))))
            }
            NodeValue::List(CollectionStyle::Flow, todos) => {
                let entries: Vec<String> = items.iter().map(|item| in_braces(item)).collect();
                let comma = if todos.is_empty() { "" } else { ", " };
                match todos.last() {
                    // An empty list becomes one that people like to edit.
                    None if alone(key, list) => Some((list.start - 1..list.end, block(2))),
                    None => Some((list.end - 1..list.end - 1, entries.join(", "))),
                    Some(last) => Some((last.end..last.end, format!("{comma}{}", entries.join(", ")))),
                }
            }
            NodeValue::Scalar(..) => {
                let at = if list.is_blank() { line_end(front, list.end) } else { list.end };
                let from = if list.is_blank() { at } else { list.start };
                Some((from..at, block(2)))
            }
            NodeValue::Map(..) => None,
        }
    }
}

/// The status that front matter has for ours.
pub(super) fn four_of(status: Status) -> Status {
    Status::parse(carried(status)).unwrap_or(status)
}

fn carried(status: Status) -> &'static str {
    four(status, &mut Default::default())
}

fn entry(item: &PlanFileTodo, indent: &str, break_: &str) -> String {
    let mut out = format!("{indent}- id: {}", word(&item.id));
    let mut put = |key: &str, value: &str| out.push_str(&format!("{break_}{indent}  {key}: {value}"));
    put("content", &yaml::quoted(&item.content));
    put("status", carried(item.status));
    if !item.dependencies.is_empty() {
        put("dependencies", &list(&item.dependencies));
    }
    out
}

fn in_braces(item: &PlanFileTodo) -> String {
    let content = yaml::flow(&item.content.as_str().into());
    let mut out = format!("{{id: {}, content: {content}, status: {}", word(&item.id), carried(item.status));
    if !item.dependencies.is_empty() {
        out.push_str(&format!(", dependencies: {}", list(&item.dependencies)));
    }
    out + "}"
}
