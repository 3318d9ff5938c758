//! Edits of a plan file: single values replaced in place, todos put at the end of the list. The result is read again
//! before anyone gets it: what an editor of text may get wrong, it must not hand out.

use super::splice::{Splice, Spot, Value, column, line_break, line_end, list, word};
use super::tree::{Form, Node, What};
use super::{PlanFile, PlanFileTodo, unusual};
use crate::format::plan_file::four;
use crate::format::yaml;
use crate::splice::splice_all;
use crate::{Refusal, Status};

/// One edit of a plan file; a todo is named by its place in [`PlanFile::items`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// Gives a todo that has none an id.
    Id(usize, String),
    /// The status of a todo.
    Status(usize, Status),
    /// What is to be done.
    Content(usize, String),
    /// What it waits for.
    Dependencies(usize, Vec<String>),
    /// A new todo at the end of the list.
    Add(PlanFileTodo),
}

impl PlanFile<'_> {
    /// The text with these edits and every other byte as it was. Without a difference it is the same text.
    pub fn write(&self, writes: &[Write]) -> Result<String, Refusal> {
        let mut expected = self.items.clone();
        let mut splices: Vec<Splice> = Vec::new();
        let places: Vec<&Node> = self.places().collect();
        let mut added = Vec::new();
        for write in writes {
            let (at, name, value, after): (_, _, _, &[&str]) = match write {
                Write::Id(at, id) => (*at, "id", Value::Text(id), &[]),
                Write::Status(at, status) => (*at, "status", Value::Word(carried(*status)), &["content", "id"]),
                Write::Content(at, content) => (*at, "content", Value::Text(content), &["id"]),
                Write::Dependencies(at, ids) => (*at, "dependencies", Value::Ids(ids), &["status", "content", "id"]),
                Write::Add(item) => {
                    added.push(item);
                    continue;
                }
            };
            let (Some(item), Some(todo)) = (expected.get_mut(at), places.get(at)) else {
                return Err(unusual(&format!("todo {}", at + 1)));
            };
            if !change(item, write) {
                continue;
            }
            let spot = Spot { front: self.front, todo };
            let splice = spot.set(name, &value, after);
            splices.push(splice.ok_or_else(|| unusual(&format!("`{name}` of todo {}", at + 1)))?);
        }
        let own = self.tree.entry("todos").map_or(0, |(_, list)| list.items().len());
        if !added.is_empty() {
            splices.push(self.append(&added).ok_or_else(|| unusual("the list of todos"))?);
            expected.splice(
                own..own,
                added.into_iter().map(|item| PlanFileTodo { status: four_of(item.status), ..item.clone() }),
            );
        }
        if splices.is_empty() {
            return Ok(self.text.to_owned());
        }
        // Places count from the beginning of the front matter.
        let place = |(at, new): Splice| (at.start + self.offset..at.end + self.offset, new);
        let text = splice_all(self.text, splices.into_iter().map(place).collect());
        self.check(&text, &expected)?;
        Ok(text)
    }

    /// What was meant is there, and nothing else changed.
    fn check(&self, text: &str, expected: &[PlanFileTodo]) -> Result<(), Refusal> {
        let wrong = || unusual("the list of todos");
        let after = PlanFile::read(text).map_err(|_| wrong())?;
        let (front, mut records, below) = after.rest();
        let (front_before, records_before, below_before) = self.rest();
        let own = self.tree.entry("todos").map_or(0, |(_, list)| list.items().len());
        let new = records.len().saturating_sub(records_before.len());
        records.drain(own..own + new);
        let same =
            after.items == expected && (front, below) == (front_before, below_before) && records == records_before;
        if same { Ok(()) } else { Err(wrong()) }
    }

    /// Todos at the end of the list, which may be written in any way or not at all.
    fn append(&self, items: &[&PlanFileTodo]) -> Option<Splice> {
        let front = self.front;
        let break_ = line_break(front);
        let block = |dash: usize| -> String {
            items.iter().map(|item| format!("{break_}{}", entry(item, &" ".repeat(dash), break_))).collect()
        };
        let alone = |key: &Node, list: &Node| {
            let rest = &front[list.end..line_end(front, list.end)];
            front[key.end..list.start].trim() == ":" && rest.trim().is_empty()
        };
        let Some((key, list)) = self.tree.entry("todos") else {
            let text = block(2);
            return Some((front.len()..front.len(), format!("todos:{}{break_}", text)));
        };
        match &list.what {
            What::List(Form::Block, todos) => {
                let (first, last) = (todos.first()?, todos.last()?);
                let dash = front[..first.start].rfind('-').filter(|at| front[at + 1..first.start].trim().is_empty())?;
                let end = last.start + front.get(last.start..last.end)?.trim_end().len();
                let at = line_end(front, end);
                Some((at..at, block(column(front, dash))))
            }
            What::List(Form::Flow, todos) => {
                let entries: Vec<String> = items.iter().map(|item| in_braces(item)).collect();
                let comma = if todos.is_empty() { "" } else { ", " };
                match todos.last() {
                    // An empty list becomes one that people like to edit.
                    None if alone(key, list) => Some((list.start - 1..list.end, block(2))),
                    None => Some((list.end - 1..list.end - 1, entries.join(", "))),
                    Some(last) => Some((last.end..last.end, format!("{comma}{}", entries.join(", ")))),
                }
            }
            What::Scalar(..) => {
                let at = if list.is_blank() { line_end(front, list.end) } else { list.end };
                let from = if list.is_blank() { at } else { list.start };
                Some((from..at, block(2)))
            }
            What::Map(..) => None,
        }
    }
}

/// Applies an edit to what is expected; false if it changes nothing.
fn change(item: &mut PlanFileTodo, write: &Write) -> bool {
    let before = item.clone();
    match write {
        Write::Id(_, id) => item.id.clone_from(id),
        Write::Status(_, status) => item.status = four_of(*status),
        Write::Content(_, content) => content.trim().clone_into(&mut item.content),
        Write::Dependencies(_, ids) => item.dependencies.clone_from(ids),
        Write::Add(_) => {}
    }
    *item != before
}

/// The status that a plan file has for ours.
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
