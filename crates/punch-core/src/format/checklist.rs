//! Plain Markdown lists. An item waits for the items nested in it. Headings with items are phases.

use std::collections::{BTreeSet, HashSet};

use super::Format;
use super::build::DocumentBuilder;
use super::input_object::StatusWord;
use super::outline::{self, Outline, OutlineItem};
use crate::{Document, ParsedDocument, Record, Refusal, Remark, Status, text};

/// Reads a list.
pub(super) fn read(input: &str) -> Result<ParsedDocument, Refusal> {
    let outline = outline::read(input);
    let mut build = DocumentBuilder::new(Format::Checklist);
    let phases = phases(&outline, 1, &mut build);
    for entry in &outline.entries {
        let at = format!("line {}", entry.line);
        let standing = match entry.marker.map(standing) {
            None => StatusWord::stored(Status::Pending),
            Some(Ok(standing)) => standing,
            Some(Err(what)) => {
                build.error(&at, &what);
                continue;
            }
        };
        let record = record(entry, entry.text, standing, &phases);
        let this = build.add(record, &at);
        // After an error indexes no longer agree, but then nothing is imported.
        build.document.edges.extend(entry.parent.map(|parent| (parent, this)));
    }
    outline.ignored.iter().for_each(|line| build.ignore(line));
    build.finish()
}

/// An entry of an outline as a todo, given the numbers of its phases.
pub(super) fn record(entry: &OutlineItem<'_>, content: &str, standing: StatusWord, phases: &[Option<u64>]) -> Record {
    Record {
        content: content.to_owned(),
        status: standing.state,
        hold: standing.hold,
        phase_index: entry.phase.and_then(|at| phases[at]),
        description: entry.description.clone(),
        notes: entry.notes.iter().map(|text| Remark { text: text.clone(), at: None, by: None }).collect(),
        ..Record::default()
    }
}

/// Takes over the headings of at least this level that have items; for each heading its place among them.
pub(super) fn phases(outline: &Outline<'_>, level: usize, build: &mut DocumentBuilder) -> Vec<Option<u64>> {
    let used: BTreeSet<usize> =
        outline.entries.iter().filter_map(|entry| entry.phase).filter(|at| outline.levels[*at] >= level).collect();
    let mut out = vec![None; outline.phases.len()];
    for at in used {
        out[at] = Some(build.document.phases.len() as u64);
        build.document.phases.push(outline.phases[at].to_owned());
    }
    out
}

/// Returns the status for the character in a box. Deferred work is pending; callers that need holds use [`standing`].
pub(crate) fn status(marker: &str) -> Result<Status, String> {
    standing(marker).map(|standing| standing.state.stored())
}

fn standing(marker: &str) -> Result<StatusWord, String> {
    Ok(StatusWord::stored(match marker {
        " " => Status::Pending,
        ">" | "/" => Status::InProgress,
        "x" | "X" | "✓" | "✔" => Status::Completed,
        "-" => Status::Cancelled,
        // Unfinished work must not read as closed.
        "~" => return Ok(StatusWord::deferred()),
        "!" => Status::Failed,
        _ => return Err(format!("unknown marker `[{}]`; use [ ], [>], [x], [-], [~] or [!]", text::neutral(marker))),
    }))
}

/// The character in the box of a todo with this status.
pub(crate) const fn marker(status: Status) -> &'static str {
    match status {
        Status::Pending => " ",
        Status::InProgress => ">",
        Status::Completed => "x",
        Status::Cancelled => "-",
        Status::Failed => "!",
    }
}

/// Writes headings and boxes. A dependency is written by nesting where list order allows it.
pub(super) fn write(document: &Document, lost: &mut BTreeSet<String>) -> String {
    StatusWord::carry_deferred(document, lost);
    let places = document.places_of_ids();
    let mut edges: HashSet<(usize, usize)> = document.edges.iter().copied().collect();
    for (at, record) in document.records.iter().enumerate() {
        edges.extend(record.depends_on.iter().filter_map(|dep| places.get(dep.as_str())).map(|on| (at, *on)));
    }
    let mut out = String::new();
    let mut realised = 0;
    for (phase, records) in sections(document, lost) {
        heading(&mut out, "#", phase, lost);
        let mut nest: Vec<usize> = Vec::new();
        for at in records {
            let record = &document.records[at];
            while nest.last().is_some_and(|parent| !edges.contains(&(*parent, at))) {
                nest.pop();
            }
            realised += usize::from(!nest.is_empty());
            let mark = if StatusWord::is_deferred(record) { "~" } else { marker(record.status.stored()) };
            let head = format!("- [{mark}] {}", line(&record.content, lost));
            out.push_str(&indented(&item(&head, record, lost), 2 * nest.len()));
            nest.push(at);
        }
    }
    let asked: usize = document.records.iter().map(|record| record.depends_on.len()).sum();
    if realised < asked + document.edges.len() {
        lost.insert("dependencies that are not nesting".to_owned());
    }
    out
}

/// The todos of each phase, those without one first.
pub(super) fn sections<'a>(document: &'a Document, lost: &mut BTreeSet<String>) -> Vec<(Option<&'a str>, Vec<usize>)> {
    let place = document.phase_places();
    let mut out: Vec<(Option<&str>, Vec<usize>)> = vec![(None, Vec::new())];
    out.extend(document.phases.iter().map(|name| (Some(name.as_str()), Vec::new())));
    for (at, record) in document.records.iter().enumerate() {
        out[place(record).map_or(0, |phase| phase + 1)].1.push(at);
    }
    if !out.iter().flat_map(|(_, records)| records).is_sorted() {
        lost.insert("the order of todos across phases".to_owned());
    }
    if out.iter().skip(1).any(|(_, records)| records.is_empty()) {
        lost.insert("phases without todos".to_owned());
    }
    out.retain(|(_, records)| !records.is_empty());
    out
}

pub(super) fn heading(out: &mut String, marks: &str, name: Option<&str>, lost: &mut BTreeSet<String>) {
    let Some(name) = name else { return };
    out.push_str(if out.is_empty() { "" } else { "\n" });
    out.push_str(&format!("{marks} {}\n\n", line(name, lost)));
}

/// A text in one line without white space at its ends.
pub(crate) fn line(content: &str, lost: &mut BTreeSet<String>) -> String {
    let shown = text::neutral(content);
    let shown = shown.trim_matches(|c: char| c.is_whitespace() || text::is_js_space(c));
    if shown != content {
        lost.insert("line breaks and invisible characters".to_owned());
    }
    if shown.is_empty() { "(empty)".to_owned() } else { shown.to_owned() }
}

/// A text of several lines without invisible characters and without those that steer a terminal.
pub(super) fn lines(content: &str, lost: &mut BTreeSet<String>) -> String {
    // The line breaks of Windows are line breaks here, too.
    let shown = text::neutral_lines(&content.replace("\r\n", "\n")).into_owned();
    if shown != content {
        lost.insert("invisible characters of descriptions and notes".to_owned());
    }
    shown
}

/// The lines of one item; what would not read back is left out.
pub(super) fn item(head: &str, record: &Record, lost: &mut BTreeSet<String>) -> String {
    let notes: Vec<String> = record.notes.iter().map(|note| lines(&note.text, lost)).collect();
    let notes: Vec<&str> = notes.iter().map(String::as_str).collect();
    let described = record.description.as_deref().map(|text| lines(text, lost));
    let described = described.as_deref();
    let mut kept = String::new();
    let try_with = |described: Option<&str>, notes: &[&str]| {
        let mut out = format!("{head}\n");
        for line in described.into_iter().flat_map(|text| text.split('\n')) {
            out.push_str(&format!("{}{line}\n", if line.is_empty() { "" } else { "  " }));
        }
        for (at, note) in notes.iter().enumerate() {
            out.push_str(if at > 0 { "  >\n" } else { "" });
            note.split('\n').for_each(|line| out.push_str(&format!("  > {line}\n")));
        }
        // Whatever this block contains must not affect the next one.
        let alone = format!("{out}- [ ] next\n");
        let read = outline::read(&alone);
        let same = read.entries.len() == 2
            && read.entries[1].parent.is_none()
            && read.entries[0].description.as_deref() == described
            && read.entries[0].notes.iter().map(String::as_str).eq(notes.iter().copied());
        same.then_some(out)
    };
    for (described, notes) in [(described, &notes[..]), (described, &[]), (None, &notes[..]), (None, &[])] {
        if let Some(text) = try_with(described, notes) {
            if record.description.is_some() && described.is_none() {
                lost.insert("descriptions that are not plain paragraphs".to_owned());
            }
            if notes.len() != record.notes.len() {
                lost.insert("notes that are not plain paragraphs".to_owned());
            }
            kept = text;
            break;
        }
    }
    if kept.is_empty() { format!("{head}\n") } else { kept }
}

pub(super) fn indented(text: &str, columns: usize) -> String {
    let margin = " ".repeat(columns);
    text.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("{margin}{line}\n") }).collect()
}
