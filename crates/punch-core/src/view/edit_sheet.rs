//! The plan as text that a user edits: one line for each todo, with what people change by hand, and nothing else. What is
//! not shown stays as it is.
//!
//! ```text
//! # Core
//!
//! - [ ] T-4  Write the parser  p1 ~20k #core needs: T-2, T-3
//! ```

mod line;
mod sections;

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::text::{nearest, neutral};
use crate::{Document, Record, RecordStatus, Refusal, Status};
use line::{SheetLine, mark, read_item};
use sections::{PlacedRecord, SheetSections};

/// The todos that are shown: open ones and failed ones, or all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SheetTodos {
    /// Only todos that are not closed.
    Unfinished,
    /// Everything.
    All,
}

impl SheetTodos {
    fn has(self, record: &Record) -> bool {
        let unfinished = !matches!(record.status.stored(), Status::Completed | Status::Cancelled);
        record.id.as_deref().is_some_and(line::can_show) && (self == Self::All || unfinished)
    }
}

/// Writes a plan: todos without a phase first, then the phases as headings.
pub fn write(document: &Document, shown: SheetTodos) -> String {
    let place = document.phase_places();
    let mut sections: Vec<Vec<&Record>> = vec![Vec::new(); document.phases.len() + 1];
    for record in document.records.iter().filter(|record| shown.has(record)) {
        sections[place(record).map_or(0, |at| at + 1)].push(record);
    }
    let widest = document.records.iter().filter(|record| shown.has(record)).filter_map(|record| record.id.as_deref());
    let widest = widest.map(|id| id.chars().count()).max().unwrap_or(0).min(16);
    let mut out = String::new();
    for (at, records) in sections.iter().enumerate().filter(|(_, records)| !records.is_empty()) {
        if let Some(name) = at.checked_sub(1).and_then(|at| document.phases.get(at)) {
            let blank = if out.is_empty() { "" } else { "\n" };
            out.push_str(&format!("{blank}# {}\n\n", line::shown_text(name)));
        }
        for record in records {
            out.push_str(&line::write(record, widest));
            out.push('\n');
        }
    }
    out
}

/// What the user left of a sheet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditedSheet {
    /// The plan as it should be.
    pub document: Document,
    /// For each record of the document, the line that it was read from; `None` for those that the sheet did not show.
    pub lines: Vec<Option<usize>>,
}

/// Reads what the user left of `before`. Refuses with every line that is not understood.
pub fn read(text: &str, before: &Document, shown: SheetTodos) -> Result<EditedSheet, Refusal> {
    let known: HashMap<&str, &Record> =
        before.records.iter().filter(|r| shown.has(r)).filter_map(|r| Some((r.id.as_deref()?, r))).collect();
    // What was missing before may stay missing.
    let needed = before.records.iter().flat_map(|record| record.depends_on.iter().map(String::as_str));
    let ids: HashSet<&str> = before.records.iter().filter_map(|record| record.id.as_deref()).chain(needed).collect();
    let closed: HashMap<&str, Status> = before
        .records
        .iter()
        .filter(|record| !shown.has(record))
        .filter_map(|record| Some((record.id.as_deref()?, record.status.stored())))
        .collect();
    let (mut items, mut numbers, mut wrong) = (Vec::new(), Vec::new(), Vec::new());
    let (mut heading, mut lines_of) = (String::new(), BTreeMap::new());
    for (number, line) in text.lines().enumerate().map(|(at, line)| (at + 1, line.trim())) {
        if line.is_empty() {
            continue;
        }
        if let Some(name) = line.strip_prefix('#').map(|rest| rest.trim_start_matches('#')) {
            name.trim().clone_into(&mut heading);
            continue;
        }
        match read_item(line, &|id| known.contains_key(id), &|id| ids.contains(id)) {
            Err(what) => wrong.push((number, what)),
            Ok(item) => {
                let again = item.id.as_ref().and_then(|id| lines_of.insert(id.clone(), number));
                if let (Some(id), Some(first)) = (&item.id, again) {
                    wrong.push((number, format!("`{id}` is already on line {first}")));
                }
                items.push((heading.clone(), item));
                numbers.push((number, line));
            }
        }
    }
    // A line that lost its id would become a new todo, and the todo that it was would be archived.
    let without_line: Vec<&Record> = known.values().filter(|r| !lines_of.contains_key(id_of(r))).copied().collect();
    for ((_, item), (number, line)) in items.iter().zip(&numbers).filter(|((_, item), _)| item.id.is_none()) {
        wrong.extend(mistaken_id(line, item, &closed, &without_line).map(|what| (*number, what)));
    }
    wrong.sort();
    if !wrong.is_empty() {
        let lines: Vec<String> = wrong.into_iter().map(|(number, what)| format!("line {number}: {what}")).collect();
        return Err(Refusal::Invalid { at: String::new(), what: lines.join("\n") });
    }
    let mut sections = SheetSections::default();
    for ((heading, item), (number, _)) in items.into_iter().zip(numbers) {
        let stays = item.id.as_deref().and_then(|id| known.get(id)).is_some_and(|old| section_of(old) == heading);
        let record = record(&known, &before.phases, &heading, item);
        sections.push(&heading, PlacedRecord { record, line: Some(number) }, stays);
    }
    let placed = sections.placed(&before.records, &|old| shown.has(old));
    let (records, lines): (Vec<Record>, Vec<_>) = placed.into_iter().map(|placed| (placed.record, placed.line)).unzip();
    let mut phases = before.phases.clone();
    for name in records.iter().filter_map(|record| record.phase.as_ref()) {
        if !phases.contains(name) {
            phases.push(name.clone());
        }
    }
    Ok(EditedSheet { document: Document { phases, records, edges: Vec::new() }, lines })
}

/// The heading that a todo is written under.
fn section_of(record: &Record) -> String {
    line::shown_text(record.phase.as_deref().unwrap_or_default())
}

fn id_of<'a>(record: &&'a Record) -> &'a str {
    record.id.as_deref().unwrap_or_default()
}

/// Says what is wrong with the id of a line that was read as a new todo, if it begins with something that was meant as one:
/// the id of a todo that is not shown, a word in the place or the form of an id, or any word before the text of a todo
/// that has no line anymore.
fn mistaken_id(
    line: &str,
    item: &SheetLine,
    closed: &HashMap<&str, Status>,
    without_line: &[&Record],
) -> Option<String> {
    let start = line::LineStart::of(line)?;
    let id = neutral(start.id);
    if let Some(status) = closed.get(start.id) {
        let what = format!("`{id}` is {} and not in this text", status.name());
        return Some(format!(
            "{what}; `punch edit --all` shows it (a new todo that begins with this word needs quotes)"
        ));
    }
    let text = item.text.split_once(char::is_whitespace).map(|(_, text)| text.trim_start());
    let lost = without_line.iter().find(|record| text.is_some_and(|text| text == line::shown_text(&record.content)));
    if lost.is_none() && !start.has_form_of_id() {
        return None;
    }
    let near = lost.map(|record| vec![id_of(record).to_owned()]);
    let near = near.unwrap_or_else(|| nearest(start.id, without_line.iter().map(id_of), 1));
    let near = near.first().map(|near| format!(" (did you mean `{}`?)", neutral(near))).unwrap_or_default();
    Some(format!("no todo `{id}`{near}; a new todo has no id, and its text needs quotes if it begins like one"))
}

/// The record of a line: the known one with what the line says, or a new one.
fn record(known: &HashMap<&str, &Record>, phases: &[String], heading: &str, item: SheetLine) -> Record {
    let mut record = item.id.as_deref().and_then(|id| known.get(id)).map_or_else(Record::default, |old| (*old).clone());
    if line::shown_text(record.phase.as_deref().unwrap_or_default()) != heading {
        let known = phases.iter().find(|name| line::shown_text(name) == heading).cloned();
        let new = Some(heading.to_owned()).filter(|name| !name.is_empty());
        (record.phase, record.phase_index) = (known.or(new), None);
    }
    if mark(record.status.stored()) != item.mark {
        record.status = RecordStatus::Stored(line::status(item.mark));
    }
    // A text that is too long for a line, or has several, is shown shortened: unchanged, it stays whole.
    if line::shown_text(&record.content) != item.text {
        record.content = item.text;
    }
    record.priority = item.priority.filter(|priority| *priority != 3);
    if line::shown_tokens(record.estimated_tokens) != line::shown_tokens(item.tokens) {
        record.estimated_tokens = item.tokens;
    }
    record.labels = item.labels;
    let unshown = record.depends_on.iter().filter(|id| !line::can_show(id)).cloned();
    record.depends_on = item.needs.into_iter().chain(unshown.collect::<Vec<_>>()).collect();
    record
}
