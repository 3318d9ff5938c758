//! tasks.md of spec-driven tools. Kiro numbers its tasks (`1.`, `1.1`), marks running ones `[-]` and optional ones
//! `[ ]*`; spec-kit calls them `T001` with `[P]` and `[US1]` behind. A task waits for its parts, and for what it says
//! it depends on.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::build::DocumentBuilder;
use super::checklist::{heading, indented, item, line, phases, record, sections};
use super::input_object::StatusWord;
use super::outline::{self, Outline};
use super::{Format, extra};
use crate::{Document, ParsedDocument, Record, Refusal, Status, text};

/// Reads tasks.
pub(super) fn read(input: &str) -> Result<ParsedDocument, Refusal> {
    let outline = outline::read(input);
    let mut build = DocumentBuilder::new(Format::Spec);
    // The first level is the title of the file.
    let phases = phases(&outline, 2, &mut build);
    for entry in &outline.entries {
        let at = format!("line {}", entry.line);
        let standing = standing(entry.marker.unwrap_or(" ")).unwrap_or_else(|what| {
            build.error(&at, &what);
            StatusWord::stored(Status::Pending)
        });
        let (label, content) = label(entry.text);
        let (tags, content) =
            if label.is_some_and(|id| id.starts_with('T')) { tags(content) } else { (Vec::new(), content) };
        let (content, depends_on) = dependencies(content);
        let mut record =
            Record { id: label.map(str::to_owned), depends_on, ..record(entry, content, standing, &phases) };
        let mut rest = Map::new();
        if !tags.is_empty() {
            rest.insert("tags".to_owned(), tags.into());
        }
        if entry.starred {
            rest.insert("optional".to_owned(), true.into());
        }
        build.keep(&mut record, &at, rest);
        build.add(record, &at);
    }
    parts(&outline, &mut build.document);
    outline.ignored.iter().for_each(|line| build.ignore(line));
    build.finish()
}

/// How many items have an id of this format.
pub(super) fn labelled(outline: &Outline<'_>) -> usize {
    outline.entries.iter().filter(|entry| entry.marker.is_some() && label(entry.text).0.is_some()).count()
}

/// A task waits for its parts: those that its number begins, otherwise those nested in it.
fn parts(outline: &Outline<'_>, document: &mut Document) {
    let places = document.places_of_ids();
    let mut edges = Vec::new();
    for (at, entry) in outline.entries.iter().enumerate() {
        let numbered = document.records[at].id.as_deref().and_then(|id| id.rsplit_once('.'));
        let parent = numbered.and_then(|(above, _)| places.get(above).copied()).or(entry.parent);
        edges.extend(parent.filter(|parent| *parent != at).map(|parent| (parent, at)));
    }
    for (parent, at) in edges {
        match document.records[at].id.clone() {
            Some(id) if !document.records[parent].depends_on.contains(&id) => {
                document.records[parent].depends_on.push(id);
            }
            Some(_) => {}
            None => document.edges.push((parent, at)),
        }
    }
}

fn standing(marker: &str) -> Result<StatusWord, String> {
    Ok(StatusWord::stored(match marker {
        " " => Status::Pending,
        "-" | ">" | "/" => Status::InProgress,
        "x" | "X" => Status::Completed,
        "~" => return Ok(StatusWord::deferred()),
        "!" => Status::Failed,
        _ => return Err(format!("unknown marker `[{}]`; use [ ], [-], [x], [~] or [!]", text::neutral(marker))),
    }))
}

/// `T001 rest`, `1. rest` or `1.2 rest`.
fn label(text: &str) -> (Option<&str>, &str) {
    let (word, rest) = text.split_once([' ', '\t']).unwrap_or((text, ""));
    let id = word.strip_suffix('.').unwrap_or(word);
    let fits = is_task(word) || (is_number(id) && (word != id || id.contains('.')));
    if fits && !rest.trim().is_empty() { (Some(id), rest.trim()) } else { (None, text) }
}

fn is_task(id: &str) -> bool {
    id.strip_prefix('T').is_some_and(|digits| digits.len() >= 3 && digits.bytes().all(|b| b.is_ascii_digit()))
}

fn is_number(id: &str) -> bool {
    id.len() <= 40 && id.split('.').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
}

/// `[P] [US1] rest`.
fn tags(text: &str) -> (Vec<String>, &str) {
    let (mut out, mut rest) = (Vec::new(), text);
    while let Some((tag, after)) = rest.strip_prefix('[').and_then(|inside| inside.split_once("] ")) {
        if !is_tag(tag) || after.trim().is_empty() || out.len() > 8 {
            break;
        }
        out.push(tag.to_owned());
        rest = after.trim_start();
    }
    // A text that begins like a tag was written with a stroke before it.
    let escaped = rest.strip_prefix('\\').filter(|text| text.starts_with(['[', '\\']));
    (out, escaped.unwrap_or(rest))
}

fn is_tag(tag: &str) -> bool {
    (1..=12).contains(&tag.len()) && tag.bytes().all(|b| b.is_ascii_alphanumeric())
}

/// `rest (depends on T012, T013)`.
fn dependencies(text: &str) -> (&str, Vec<String>) {
    let none = (text, Vec::new());
    let Some((content, list)) = text.strip_suffix(')').and_then(|text| text.rsplit_once(" (depends on ")) else {
        return none;
    };
    let ids: Vec<String> = list.split(',').map(|id| id.trim().to_owned()).collect();
    if ids.iter().all(|id| is_task(id) || is_number(id)) && !content.trim().is_empty() {
        (content.trim_end(), ids)
    } else {
        none
    }
}

/// Writes tasks under `##` headings. Ids that fit are kept, otherwise all become `T001`, `T002`, ….
pub(super) fn write(document: &Document, lost: &mut BTreeSet<String>) -> String {
    StatusWord::carry_deferred(document, lost);
    let own = |fits: fn(&str) -> bool| document.records.iter().all(|r| r.id.as_deref().is_some_and(fits));
    let kiro = !document.records.is_empty() && own(is_number);
    let keep = kiro || own(is_task);
    let places = document.places_of_ids();
    let ids = ids(document, keep);
    let mut out = String::from("# Tasks\n");
    for (phase, records) in sections(document, lost) {
        out.push_str(if phase.is_none() { "\n" } else { "" });
        heading(&mut out, "##", phase, lost);
        for at in records {
            let record = &document.records[at];
            let id = &ids[at];
            let implied = |on: &usize| kiro && is_part(&ids[*on], id);
            let mut waits = Vec::new();
            for dep in &record.depends_on {
                match places.get(dep.as_str()) {
                    Some(on) if implied(on) => {}
                    Some(on) => waits.push(ids[*on].clone()),
                    None if keep && (is_task(dep) || is_number(dep)) => waits.push(dep.clone()),
                    None => drop(lost.insert("dependencies on unknown ids".to_owned())),
                }
            }
            let head = head(record, id, &waits, lost);
            let depth = if kiro { id.matches('.').count() } else { 0 };
            out.push_str(&indented(&item(&head, record, lost), 2 * depth));
        }
    }
    out
}

fn ids(document: &Document, keep: bool) -> Vec<String> {
    let id = |(at, record): (usize, &Record)| match &record.id {
        Some(id) if keep => id.clone(),
        _ => format!("T{:03}", at + 1),
    };
    document.records.iter().enumerate().map(id).collect()
}

fn is_part(id: &str, of: &str) -> bool {
    id.rsplit_once('.').is_some_and(|(above, _)| above == of)
}

fn head(record: &Record, id: &str, waits: &[String], lost: &mut BTreeSet<String>) -> String {
    let marker = match record.status.stored() {
        Status::Pending if StatusWord::is_deferred(record) => "~",
        Status::Pending => " ",
        Status::InProgress => "-",
        Status::Completed => "x",
        Status::Cancelled => {
            // The format has no mark for it, and `[-]` is work in progress there.
            lost.insert("the status `cancelled`, written as deferred".to_owned());
            "~"
        }
        Status::Failed => "!",
    };
    let kept = |key: &str| extra::get(record, Format::Spec.name(), key);
    let star = if kept("optional") == Some(&Value::Bool(true)) { "*" } else { "" };
    let dot = if id.contains('.') || id.starts_with('T') { "" } else { "." };
    let mut out = format!("- [{marker}]{star} {id}{dot} ");
    for tag in kept("tags").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        if is_tag(tag) && id.starts_with('T') {
            out.push_str(&format!("[{tag}] "));
        }
    }
    let content = line(&record.content, lost);
    out.push_str(if id.starts_with('T') && content.starts_with(['[', '\\']) { "\\" } else { "" });
    out.push_str(&content);
    if waits.is_empty() && !dependencies(&content).1.is_empty() {
        lost.insert("texts that end like dependencies".to_owned());
    }
    if !waits.is_empty() {
        out.push_str(&format!(" (depends on {})", waits.join(", ")));
    }
    out
}
