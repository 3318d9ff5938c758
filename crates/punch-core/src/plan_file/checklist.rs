//! Plan files that are Markdown with a checklist: one todo per box. There are no ids, so a todo is recognized by its
//! text and its place among the others (decision 0074).

use std::collections::{BTreeSet, HashMap};

use super::{AgreedTodo, EditedPlanFile, PlanFileEdit, PlanFileTodo, unusual};
use crate::Refusal;
use crate::dialect::mirror::{ListLine, same_lines};
use crate::format::checklist::{line, marker, status};
use crate::format::outline::{self, Outline, OutlineItem};
use crate::format::plan_file::front_matter;
use crate::splice::{TextSplice, line_start, mark_end, newline, splice_all};

/// How many errors are named.
const NAMED: usize = 20;

/// A checklist with the places of its boxes and texts.
#[derive(Debug)]
pub(super) struct Checklist<'a> {
    text: &'a str,
    /// Bytes before the text that the places count from: a byte order mark.
    offset: usize,
    outline: Outline<'a>,
    /// The items that are todos, in order. A box without text is none yet.
    todos: Vec<usize>,
}

impl<'a> Checklist<'a> {
    /// Finds the checklist of a text; none if the todos are in its front matter, or if it has no box.
    pub(super) fn find(text: &'a str) -> Option<Self> {
        let offset = mark_end(text);
        let bare = &text[offset..];
        let key = |line: &str| line.starts_with("todos:") || line.starts_with("phases:");
        if front_matter(bare).is_some_and(|(front, _)| front.lines().any(key)) {
            return None;
        }
        let mut outline = outline::read(bare);
        outline.entries.iter_mut().for_each(without_comment);
        let todos = (0..outline.entries.len()).filter(|at| !outline.entries[*at].text.is_empty()).collect();
        outline.boxed().then_some(Self { text, offset, todos, outline })
    }

    /// Its todos, with the ids that they had when file and plan last agreed.
    pub(super) fn items(&self, base: &[AgreedTodo]) -> Result<Vec<PlanFileTodo>, Refusal> {
        let (mut items, mut errors) = (Vec::with_capacity(self.todos.len()), Vec::new());
        for entry in self.entries() {
            match status(entry.marker.unwrap_or(" ")) {
                Ok(status) => {
                    items.push(PlanFileTodo { content: entry.text.to_owned(), status, ..PlanFileTodo::default() });
                }
                Err(what) => errors.push(format!("{}: {what}", self.place(entry.line, entry.marker_at.start))),
            }
        }
        if !errors.is_empty() {
            let more = errors.len().saturating_sub(NAMED);
            errors.truncate(NAMED);
            errors.extend((more > 0).then(|| crate::text::counted(more, "more error")));
            return Err(Refusal::Invalid { at: String::new(), what: errors.join("\n") });
        }
        let lines = |items: &mut dyn Iterator<Item = &PlanFileTodo>| -> Vec<ListLine> {
            items.map(|item| ListLine { content: item.content.clone(), open: item.status.is_open() }).collect()
        };
        let before = lines(&mut base.iter().map(|known| &known.file));
        let found = same_lines(&before, &lines(&mut items.iter()));
        for (item, old) in items.iter_mut().zip(found) {
            if let Some(known) = old.and_then(|old| base.get(old)) {
                item.id.clone_from(&known.file.id);
            }
        }
        for (child, parent) in self.nesting() {
            let id = items[child].id.clone();
            if !id.is_empty() {
                items[parent].dependencies.push(id);
            }
        }
        Ok(items)
    }

    /// Returns the heading above a todo.
    pub(super) fn phase(&self, at: usize) -> Option<&str> {
        let entry = self.outline.entries.get(*self.todos.get(at)?)?;
        entry.phase.map(|phase| self.outline.phases[phase])
    }

    /// The file with these edits.
    pub(super) fn write(
        &self,
        text: &str,
        items: &[PlanFileTodo],
        writes: &[PlanFileEdit],
    ) -> Result<EditedPlanFile, Refusal> {
        let mut expected = items.to_vec();
        let mut splices: Vec<TextSplice> = Vec::new();
        let (mut touched, mut added) = (BTreeSet::new(), Vec::new());
        for write in writes {
            let at = match write {
                PlanFileEdit::Status(at, _) | PlanFileEdit::Content(at, _) | PlanFileEdit::Id(at, _) => *at,
                PlanFileEdit::Dependencies(..) => continue,
                PlanFileEdit::Add(item) => {
                    let content = one_line(&item.content);
                    added.push(PlanFileTodo { content, dependencies: Vec::new(), ..item.clone() });
                    continue;
                }
            };
            let (Some(item), Some(entry)) =
                (expected.get_mut(at), self.todos.get(at).map(|at| &self.outline.entries[*at]))
            else {
                return Err(unusual(&format!("todo {}", at + 1)));
            };
            let (place, new) = match write {
                PlanFileEdit::Status(_, status) => (&entry.marker_at, marker(*status).to_owned()),
                PlanFileEdit::Content(_, content) => (&entry.text_at, one_line(content)),
                _ => {
                    write.change(item);
                    continue;
                }
            };
            let changed = match write {
                PlanFileEdit::Content(..) => PlanFileEdit::Content(at, new.clone()).change(item),
                other => other.change(item),
            };
            if changed {
                splices.push((place.start + self.offset..place.end + self.offset, new));
                touched.insert(at);
            }
        }
        let edits = touched.len() + added.len();
        if !added.is_empty() {
            let (at, place) = self.end_of_list(items).ok_or_else(|| unusual("the checklist"))?;
            splices.push((place..place, self.lines(at, &added)));
            let behind = self.todos.partition_point(|todo| *todo <= at);
            expected.splice(behind..behind, added);
        }
        if splices.is_empty() {
            return Ok(EditedPlanFile { text: text.to_owned(), items: expected, edits });
        }
        let text = splice_all(text, splices);
        let same = Checklist::find(&text).is_some_and(|after| {
            let read = after.entries().map(|entry| (entry.text, entry.marker.map(status)));
            read.eq(expected.iter().map(|item| (item.content.as_str(), Some(Ok(item.status)))))
        });
        if same { Ok(EditedPlanFile { text, items: expected, edits }) } else { Err(unusual("the checklist")) }
    }

    fn entries(&self) -> impl Iterator<Item = &OutlineItem<'a>> {
        self.todos.iter().map(|at| &self.outline.entries[*at])
    }

    /// Every todo that is nested in another, with that other one, as places among the todos.
    fn nesting(&self) -> Vec<(usize, usize)> {
        let places: HashMap<usize, usize> = self.todos.iter().enumerate().map(|(at, entry)| (*entry, at)).collect();
        let parent = |(at, entry): (usize, &OutlineItem<'_>)| Some((at, *places.get(&entry.parent?)?));
        self.entries().enumerate().filter_map(parent).collect()
    }

    /// After which item new ones come, and where it ends: the last open one with what is nested in it, so that a list of
    /// finished work at the end of the file stays one.
    fn end_of_list(&self, items: &[PlanFileTodo]) -> Option<(usize, usize)> {
        let entries = &self.outline.entries;
        let open = items.iter().rposition(|item| item.status.is_open()).and_then(|at| self.todos.get(at).copied());
        let mut root = open.or_else(|| entries.len().checked_sub(1))?;
        while let Some(parent) = entries[root].parent {
            root = parent;
        }
        let next = entries[root + 1..].iter().position(|entry| entry.parent.is_none());
        let last = next.map_or(entries.len() - 1, |count| root + count);
        let end = entries[root..=last].iter().map(|entry| entry.end).max()?;
        Some((last, end + self.offset))
    }

    /// New items in the way the one before them is written.
    fn lines(&self, last: usize, added: &[PlanFileTodo]) -> String {
        let entries = &self.outline.entries;
        let mut root = last;
        while let Some(parent) = entries[root].parent {
            root = parent;
        }
        let bullet = entries[root].bullet;
        let digits = bullet.trim_start();
        let digits = &digits[..digits.bytes().take_while(u8::is_ascii_digit).count()];
        let number: Option<usize> = digits.parse().ok();
        let line = |(at, item): (usize, &PlanFileTodo)| {
            let bullet = match number {
                Some(number) => bullet.replacen(digits, &number.saturating_add(at + 1).to_string(), 1),
                None => bullet.to_owned(),
            };
            format!("{}{bullet}[{}] {}", newline(self.text), marker(item.status), item.content)
        };
        added.iter().enumerate().map(line).collect()
    }

    /// A place in words, counted from 1.
    fn place(&self, line: usize, at: usize) -> String {
        let at = at + self.offset;
        let column = self.text[line_start(self.text, at)..at].chars().count() + 1;
        format!("line {line}, column {column}")
    }
}

/// A comment at the end of the line belongs to the file.
fn without_comment(entry: &mut OutlineItem<'_>) {
    if let Some(at) = entry.text.find("<!--") {
        entry.text = entry.text[..at].trim_end();
        entry.text_at.end = entry.text_at.start + entry.text.len();
    }
}

/// A text as an item of a list has it.
pub(super) fn one_line(content: &str) -> String {
    line(content, &mut BTreeSet::new())
}
