//! Reads native Markdown back. Lenient with what users write around their todos (skipped lines are reported), strict
//! with errors that would lose something (all of them are collected with their lines).

use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Value, json};

use super::markdown_item::MarkdownTodo;
use super::markdown_text::{MarkdownLine, split_comment, stamp, status};
use crate::{Document, HoldKind, ParsedDocument, Record, Refusal, record, text};

/// How many errors and skipped lines are named.
const NAMED: usize = 20;

/// Reads a document. A visible text that the user changed wins over what the comment says.
pub fn read(input: &str) -> Result<ParsedDocument, Refusal> {
    let mut reader = MarkdownReader::default();
    let input = input.strip_prefix('\u{feff}').unwrap_or(input);
    for (at, line) in input.split('\n').enumerate() {
        reader.line(at + 1, line.strip_suffix('\r').unwrap_or(line));
    }
    reader.finish()
}

#[derive(Default)]
struct MarkdownReader {
    phases: Vec<String>,
    todos: Vec<PlacedTodo>,
    open: Option<MarkdownTodo>,
    lines_of_ids: HashMap<String, usize>,
    errors: Vec<String>,
    more_errors: usize,
    skipped: usize,
    ignored: BTreeSet<String>,
}

/// A todo, the section it stands in, and where in the list it stood.
struct PlacedTodo {
    section: usize,
    place: Option<u64>,
    record: Record,
}

impl MarkdownReader {
    fn line(&mut self, number: usize, line: &str) {
        match (MarkdownLine::of(line), &mut self.open) {
            (MarkdownLine::Blank, Some(item)) => item.blank(),
            (MarkdownLine::Blank, None) => {}
            (MarkdownLine::Quote(quoted), Some(item)) => item.quote(quoted),
            (MarkdownLine::Other { indent: 1.., .. }, Some(item)) => item.paragraph(line),
            (MarkdownLine::Heading(text), _) => {
                self.close();
                self.heading(number, text);
            }
            (MarkdownLine::Item { indent, marker, text }, _) => {
                self.close();
                match self.item(number, indent, marker, text) {
                    Ok(item) => self.open = Some(item),
                    Err(what) => self.error(number, &what),
                }
            }
            (MarkdownLine::Quote(_) | MarkdownLine::Other { .. }, _) => {
                self.close();
                self.skipped += 1;
                if self.skipped <= NAMED {
                    record::ignore(&mut self.ignored, &format!("line {number}"));
                }
            }
        }
    }

    fn heading(&mut self, number: usize, text: &str) {
        let (visible, mut rest) = match split_comment(text) {
            Ok(parts) => parts,
            Err(what) => return self.error(number, &what),
        };
        if rest.get("title") == Some(&Value::Bool(true)) {
            return;
        }
        let untouched = crate::json::take(&mut rest, "shown") == Some(Value::String(stamp(visible)));
        let name = match crate::json::take(&mut rest, "name") {
            Some(Value::String(exact)) if untouched => exact,
            _ => visible.to_owned(),
        };
        rest.keys().for_each(|key| record::ignore(&mut self.ignored, key));
        // Counted even if wrong: the todos below must not slip into the phase before.
        self.phases.push(name);
        if visible.is_empty() {
            self.error(number, "the heading has no text");
        }
    }

    fn item(&mut self, number: usize, indent: usize, marker: &str, line: &str) -> Result<MarkdownTodo, String> {
        let status = status(marker).ok_or_else(|| {
            format!("unknown marker `[{}]`; use [ ], [>], [x], [-], [~] or [!]", text::neutral(marker))
        })?;
        let (visible, mut rest) = split_comment(line)?;
        if marker == "~" && !rest.contains_key("hold") {
            rest.insert("hold".to_owned(), json!({"kind": HoldKind::Other.name(), "reason": "deferred"}));
        }
        if visible.is_empty() {
            return Err("the todo has no text".to_owned());
        }
        MarkdownTodo::new(number, indent, status, visible, rest)
    }

    /// Takes over the todo that has been read so far.
    fn close(&mut self) {
        let Some(item) = self.open.take() else { return };
        let number = item.number;
        let (map, notes, place): (Map<String, Value>, _, _) = item.finish();
        match Record::from_map(map, &mut self.ignored) {
            Ok(mut record) => {
                record.notes = notes;
                if let Some(id) = &record.id
                    && let Some(first) = self.lines_of_ids.insert(id.clone(), number)
                {
                    let what = format!("the id `{}` is taken by line {first}", text::neutral(&text::clip(id, 80)));
                    self.error(number, &what);
                }
                self.todos.push(PlacedTodo { section: self.phases.len(), place, record });
            }
            Err((key, what)) => self.error(number, &format!("{key} {what}")),
        }
    }

    fn error(&mut self, number: usize, what: &str) {
        if self.errors.len() < NAMED {
            self.errors.push(format!("line {number}: {what}"));
        } else {
            self.more_errors += 1;
        }
    }

    fn finish(mut self) -> Result<ParsedDocument, Refusal> {
        self.close();
        if !self.errors.is_empty() {
            if self.more_errors > 0 {
                self.errors.push(text::counted(self.more_errors, "more error"));
            }
            return Err(Refusal::Invalid { at: String::new(), what: self.errors.join("\n") });
        }
        if self.skipped > NAMED {
            record::ignore(&mut self.ignored, &text::counted(self.skipped - NAMED, "more line"));
        }
        let mut times: HashMap<&str, usize> = HashMap::new();
        for name in &self.phases {
            *times.entry(name).or_default() += 1;
        }
        let named = |mut todo: PlacedTodo| {
            let phase = todo.section.checked_sub(1);
            let name = phase.map(|phase| &self.phases[phase]);
            let repeated = name.is_some_and(|name| times.get(name.as_str()).is_some_and(|times| *times > 1));
            todo.record.phase = name.cloned();
            todo.record.phase_index = phase.filter(|_| repeated).map(|phase| phase as u64);
            todo.record
        };
        let records = in_list_order(self.todos).into_iter().map(named).collect();
        Ok(ParsedDocument {
            document: Document { phases: self.phases, records, edges: Vec::new() },
            ignored: self.ignored,
        })
    }
}

/// Undoes the gathering by phases. Within a section the order of the lines counts, so the places found there are
/// handed out again in line order; a new line stands right behind the one above it.
fn in_list_order(todos: Vec<PlacedTodo>) -> Vec<PlacedTodo> {
    let mut places: HashMap<usize, Vec<u64>> = HashMap::new();
    for todo in &todos {
        places.entry(todo.section).or_default().extend(todo.place);
    }
    for section in places.values_mut() {
        section.sort_unstable_by(|a, b| b.cmp(a));
    }
    let mut last = 0;
    let mut keyed: Vec<(u64, PlacedTodo)> = Vec::with_capacity(todos.len());
    for todo in todos {
        if todo.place.is_some() {
            last = places.get_mut(&todo.section).and_then(Vec::pop).unwrap_or(last);
        }
        keyed.push((last, todo));
    }
    keyed.sort_by_key(|(place, _)| *place);
    keyed.into_iter().map(|(_, todo)| todo).collect()
}
