//! One todo of a Markdown file while its lines are read.

use std::collections::{BTreeSet, HashMap, VecDeque};

use serde_json::{Map, Value};

use super::hashtags;
use super::markdown_text::stamp;
use crate::{Label, Remark, Status};

/// A todo whose description and notes may still follow.
pub(super) struct MarkdownTodo {
    /// The line it starts on.
    pub(super) number: usize,
    indent: usize,
    rest: Map<String, Value>,
    place: Option<u64>,
    metas: Vec<NoteComment>,
    paragraph: Vec<String>,
    blocks: Vec<String>,
    blanks: usize,
    quoting: bool,
}

/// What the comment says about a note.
struct NoteComment {
    remark: Remark,
    exact: bool,
    shown: Option<String>,
}

impl MarkdownTodo {
    pub(super) fn new(
        number: usize,
        indent: usize,
        status: Status,
        visible: &str,
        mut rest: Map<String, Value>,
    ) -> Result<Self, String> {
        let stamped = crate::json::take(&mut rest, "shown");
        let untouched = stamped == Some(Value::String(stamp(visible)));
        crate::json::take(&mut rest, "title");
        if !(untouched && rest.get("content").is_some_and(Value::is_string)) {
            let (content, labels) = hashtags::split(visible);
            rest.insert("content".to_owned(), content.into());
            label(&mut rest, &labels, stamped.is_some());
        }
        // The box is what people tick; the comment only tells a shown `blocked` from pending.
        let blocked = status == Status::Pending && rest.get("status").is_some_and(|word| word == "blocked");
        rest.insert("status".to_owned(), if blocked { "blocked" } else { status.name() }.into());
        let place = match crate::json::take(&mut rest, "place") {
            None => None,
            Some(place) => Some(place.as_u64().ok_or("place must be a whole number, not negative")?),
        };
        let metas = match crate::json::take(&mut rest, "notes") {
            None => Vec::new(),
            Some(Value::Array(notes)) => notes.into_iter().map(meta).collect::<Option<_>>().ok_or(NOTES)?,
            Some(_) => return Err(NOTES.to_owned()),
        };
        Ok(Self {
            number,
            indent,
            rest,
            place,
            metas,
            paragraph: Vec::new(),
            blocks: Vec::new(),
            blanks: 0,
            quoting: false,
        })
    }

    pub(super) fn blank(&mut self) {
        self.blanks += 1;
        self.quoting = false;
    }

    /// A line of the description. Blank lines count only between two of them.
    pub(super) fn paragraph(&mut self, line: &str) {
        if !self.paragraph.is_empty() {
            self.paragraph.extend(std::iter::repeat_n(String::new(), self.blanks));
        }
        self.blanks = 0;
        self.quoting = false;
        let margin = line.bytes().take(self.indent + 2).take_while(|b| *b == b' ').count();
        let line = if margin == 0 { line.trim_start_matches('\t') } else { &line[margin..] };
        self.paragraph.push(line.trim_end().to_owned());
    }

    /// A line of a note; an empty one ends it.
    pub(super) fn quote(&mut self, quoted: &str) {
        self.blanks = 0;
        let quoted = quoted.trim_end();
        if quoted.is_empty() {
            self.quoting = false;
            return;
        }
        match self.blocks.last_mut() {
            Some(block) if self.quoting => {
                block.push('\n');
                block.push_str(quoted);
            }
            _ => self.blocks.push(quoted.to_owned()),
        }
        self.quoting = true;
    }

    /// The object of the record, its notes and its place.
    pub(super) fn finish(mut self) -> (Map<String, Value>, Vec<Remark>, Option<u64>) {
        if !self.paragraph.is_empty() {
            self.rest.insert("description".to_owned(), self.paragraph.join("\n").into());
        }
        let notes = align(self.blocks, self.metas);
        (self.rest, notes, self.place)
    }
}

/// Adds the labels of the line to those of the comment. A line that was edited has the last word on every label that it
/// could show.
fn label(rest: &mut Map<String, Value>, labels: &BTreeSet<Label>, edited: bool) {
    let is_shown =
        |word: &Value| edited && word.as_str().is_some_and(|w| w.starts_with(|c: char| c.is_ascii_lowercase()));
    if let Some(Value::Array(known)) = rest.get_mut("labels") {
        known.retain(|word| !is_shown(word));
    }
    if labels.is_empty() {
        return;
    }
    let words = labels.iter().map(|label| Value::from(label.as_str()));
    match rest.get_mut("labels") {
        Some(Value::Array(known)) => known.extend(words),
        // Anything else is wrong, and the record says so.
        Some(other) if !other.is_null() => {}
        _ => drop(rest.insert("labels".to_owned(), words.collect())),
    }
}

const NOTES: &str = "notes must be a list of objects with text, at, by, shown";

fn meta(value: Value) -> Option<NoteComment> {
    let Value::Object(mut map) = value else { return None };
    let mut text = |key: &str| match crate::json::take(&mut map, key) {
        None | Some(Value::Null) => Some(None),
        Some(Value::String(text)) => Some(Some(text)),
        Some(_) => None,
    };
    let (exact, by, shown) = (text("text")?, text("by")?, text("shown")?);
    let at = match crate::json::take(&mut map, "at") {
        None | Some(Value::Null) => None,
        Some(at) => Some(at.as_i64()?),
    };
    Some(NoteComment { exact: exact.is_some(), remark: Remark { text: exact.unwrap_or_default(), at, by }, shown })
}

/// Gives every visible note its time and author: one by one while none was added or deleted, else only where the
/// text is still the same.
fn align(blocks: Vec<String>, metas: Vec<NoteComment>) -> Vec<Remark> {
    if blocks.len() == metas.len() {
        return blocks.into_iter().zip(metas).map(|(block, meta)| dated(block, Some(meta))).collect();
    }
    let mut known: HashMap<String, VecDeque<(usize, NoteComment)>> = HashMap::new();
    for (at, meta) in metas.into_iter().enumerate() {
        if let Some(shown) = meta.shown.clone() {
            known.entry(shown).or_default().push_back((at, meta));
        }
    }
    let mut next = 0;
    let mut out = Vec::with_capacity(blocks.len());
    for block in blocks {
        let same = known.get_mut(&stamp(&block)).and_then(|metas| {
            while metas.front().is_some_and(|(at, _)| *at < next) {
                metas.pop_front();
            }
            metas.pop_front()
        });
        next = same.as_ref().map_or(next, |(at, _)| at + 1);
        out.push(dated(block, same.map(|(_, meta)| meta)));
    }
    out
}

fn dated(block: String, meta: Option<NoteComment>) -> Remark {
    match meta {
        None => Remark { text: block, ..Remark::default() },
        Some(meta) if meta.exact && meta.shown == Some(stamp(&block)) => meta.remark,
        Some(meta) => Remark { text: block, ..meta.remark },
    }
}
