//! Native Markdown: a checklist under headings that people read and edit, with everything else in a comment at the
//! end of each line. Lossless: what a line cannot hold exactly is in its comment, next to a stamp of what is shown,
//! so that an edit of the visible text wins when it is read back (see [`super::markdown_read`]).

use serde_json::{Map, Value, json};

use super::hashtags;
use super::markdown_text::{MarkdownLine, bullet, comment, is_plain, is_plain_line, shown, stamp};
use crate::{Document, Label, Record, RecordStatus, Remark};

/// Writes a document, under a title if one is given.
pub fn write(document: &Document, title: Option<&str>) -> String {
    let place = document.phase_places();
    let mut sections: Vec<Vec<usize>> = vec![Vec::new(); document.phases.len() + 1];
    for (at, record) in document.records.iter().enumerate() {
        sections[place(record).map_or(0, |phase| phase + 1)].push(at);
    }
    // Phases gather what the list may hold mixed; only then does a todo have to say where it stood.
    let mixed = !sections.iter().flatten().is_sorted();
    let mut out = String::new();
    if let Some(title) = title {
        heading(&mut out, &shown(title), json!({"title": true}));
    }
    for (section, records) in sections.iter().enumerate() {
        if let Some(name) = section.checked_sub(1).and_then(|phase| document.phases.get(phase)) {
            let (visible, exact) = line_text(name);
            let rest = exact.map_or_else(|| json!({}), |stamp| json!({"name": name, "shown": stamp}));
            heading(&mut out, &visible, rest);
        }
        if !records.is_empty() && !out.is_empty() {
            out.push('\n');
        }
        for at in records {
            todo(&mut out, &document.records[*at], mixed.then_some(*at + 1));
        }
    }
    out
}

fn heading(out: &mut String, visible: &str, rest: Value) {
    if !out.is_empty() {
        out.push('\n');
    }
    let rest = if let Value::Object(rest) = rest { rest } else { Map::new() };
    out.push_str(&format!("# {visible}{}\n", comment(rest)));
}

fn todo(out: &mut String, record: &Record, place: Option<usize>) {
    let mut rest = record.to_map();
    for visible in ["content", "status", "phase", "phaseIndex", "notes"] {
        crate::json::take(&mut rest, visible);
    }
    if record.status == RecordStatus::Blocked {
        rest.insert("status".to_owned(), record.status.name().into());
    }
    let (visible, exact) = todo_text(record);
    if let Some(stamp) = exact {
        rest.insert("content".to_owned(), record.content.as_str().into());
        rest.insert("shown".to_owned(), stamp.into());
    } else {
        // The line shows the other labels, and an edit of the line must win.
        crate::json::take(&mut rest, "labels");
        let hidden: Vec<&str> = record.labels.iter().filter(|l| !l.is_hashtag()).map(Label::as_str).collect();
        if !hidden.is_empty() {
            rest.insert("labels".to_owned(), hidden.into());
        }
    }
    let described = record.description.as_deref().filter(|text| is_paragraph(text));
    if described.is_some() {
        crate::json::take(&mut rest, "description");
    }
    let (blocks, metas): (Vec<String>, Vec<Value>) = record.notes.iter().map(note).unzip();
    if record
        .notes
        .iter()
        .zip(&blocks)
        .any(|(note, block)| note.at.is_some() || note.by.is_some() || note.text != *block)
    {
        rest.insert("notes".to_owned(), metas.into());
    }
    if let Some(place) = place {
        rest.insert("place".to_owned(), place.into());
    }
    out.push_str(&format!("{}{visible}{}\n", bullet(record.status.stored()), comment(rest)));
    for line in described.into_iter().flat_map(|text| text.split('\n')) {
        out.push_str(if line.is_empty() { "" } else { "  " });
        out.push_str(line);
        out.push('\n');
    }
    for (at, block) in blocks.iter().enumerate() {
        if at > 0 {
            out.push_str("  >\n");
        }
        for line in block.split('\n') {
            out.push_str(&format!("  > {line}\n"));
        }
    }
}

/// The line of a todo, content and labels, and its stamp if the content cannot be read back from it exactly.
fn todo_text(record: &Record) -> (String, Option<String>) {
    let exact = is_plain(&record.content) && hashtags::split(&record.content).1.is_empty();
    let content = if exact { record.content.clone() } else { shown(&record.content) };
    let line = hashtags::join(&content, &record.labels);
    let stamp = (!exact).then(|| stamp(&line));
    (line, stamp)
}

/// What is shown of one line, and its stamp if that is not the exact text.
fn line_text(text: &str) -> (String, Option<String>) {
    if is_plain(text) {
        return (text.to_owned(), None);
    }
    let shown = shown(text);
    let stamp = stamp(&shown);
    (shown, Some(stamp))
}

/// The block quote of a note, and what the comment keeps of it.
fn note(remark: &Remark) -> (String, Value) {
    let plain = remark.text.split('\n').all(is_plain_line);
    let block = if plain { remark.text.clone() } else { shown(&remark.text) };
    let mut meta = Map::new();
    if !plain {
        meta.insert("text".to_owned(), remark.text.as_str().into());
    }
    if let Some(at) = remark.at {
        meta.insert("at".to_owned(), at.into());
    }
    if let Some(by) = &remark.by {
        meta.insert("by".to_owned(), by.as_str().into());
    }
    meta.insert("shown".to_owned(), stamp(&block).into());
    (block, meta.into())
}

/// An indented paragraph reads back exactly: plain lines, none that would start a todo or a quote, blank lines only
/// in between.
fn is_paragraph(text: &str) -> bool {
    let ends = [text.split('\n').next(), text.rsplit('\n').next()];
    let line = |line: &str| {
        line.is_empty()
            || (is_plain_line(line) && matches!(MarkdownLine::of(&format!("  {line}")), MarkdownLine::Other { .. }))
    };
    ends.into_iter().all(|end| end.is_some_and(|end| !end.is_empty())) && text.split('\n').all(line)
}
