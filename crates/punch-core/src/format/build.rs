//! Collects the todos of a document while it is read, and all errors with their places. The result is either the
//! document or the errors.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde_json::{Map, Value};

use super::input_object::InputObject;
use super::{Format, extra};
use crate::dialect::input::kind;
use crate::{Document, ParsedDocument, Record, Refusal, record, text};

/// How many errors are named.
const NAMED: usize = 20;

/// A document while it is read: the todos so far, and the errors so far with their places.
pub(super) struct DocumentBuilder {
    format: Format,
    pub(super) document: Document,
    ignored: BTreeSet<String>,
    errors: Vec<InputError>,
    more: usize,
    places: HashMap<String, String>,
}

/// Something in the input that is wrong.
struct InputError {
    /// The path of the value, or its line.
    at: String,
    what: String,
    /// The path of another value that `what` ends with.
    other: Option<String>,
}

impl DocumentBuilder {
    pub(super) fn new(format: Format) -> Self {
        Self {
            format,
            document: Document::default(),
            ignored: BTreeSet::new(),
            errors: Vec::new(),
            more: 0,
            places: HashMap::new(),
        }
    }

    /// Something is wrong at a place.
    pub(super) fn error(&mut self, at: &str, what: &str) {
        self.remember(InputError { at: at.to_owned(), what: what.to_owned(), other: None });
    }

    fn remember(&mut self, error: InputError) {
        if self.errors.len() < NAMED {
            self.errors.push(error);
        } else {
            self.more += 1;
        }
    }

    /// Replaces paths by lines and columns, for formats that people write by hand.
    pub(super) fn locate(&mut self, place: impl Fn(&str) -> Option<String>) {
        for error in &mut self.errors {
            let Some(found) = place(&error.at) else { continue };
            let path = std::mem::replace(&mut error.at, found);
            let key = path.rsplit('.').next().unwrap_or_default();
            // A value that is wrong is named; a todo that is wrong is where the place points at.
            if error.what.starts_with("is ") || error.what.starts_with("must ") {
                let key =
                    if key.ends_with(']') { "this entry".to_owned() } else { format!("`{}`", text::neutral(key)) };
                error.what = format!("{key} {}", error.what);
            }
            error.other = error.other.take().map(|other| place(&other).unwrap_or(other));
        }
    }

    /// Something was left out.
    pub(super) fn ignore(&mut self, what: &str) {
        record::ignore(&mut self.ignored, what);
    }

    /// An object of the input, to take fields from; anything else is an error.
    pub(super) fn item(&mut self, value: Value, at: &str) -> Option<InputObject> {
        match value {
            Value::Object(map) => Some(InputObject::new(map, at)),
            other => {
                self.error(at, &format!("must be an object, not {}", kind(&other)));
                None
            }
        }
    }

    /// Takes over a todo, its errors, and the fields that were not taken. Returns its index.
    pub(super) fn push(&mut self, mut record: Record, item: InputObject) -> usize {
        let (at, rest, errors) = item.finish();
        for (key, what) in errors {
            self.error(&format!("{at}.{key}"), &what);
        }
        self.keep(&mut record, &at, rest);
        self.add(record, &at)
    }

    /// Keeps fields with a record, or says that they are too large.
    pub(super) fn keep(&mut self, record: &mut Record, at: &str, rest: Map<String, Value>) {
        let names: Vec<String> = rest.keys().take(5).cloned().collect();
        if !extra::keep(record, self.format.name(), rest) {
            self.ignore(&format!("{at}: {} (more than {} KiB)", names.join(", "), extra::LIMIT / 1024));
        }
    }

    /// Takes over a todo that came from text.
    pub(super) fn add(&mut self, mut record: Record, at: &str) -> usize {
        let mut seen = HashSet::new();
        record.depends_on.retain(|dep| seen.insert(dep.clone()));
        if record.content.trim().is_empty() {
            self.error(at, "the todo has no text");
        }
        match &record.id {
            Some(id) if id.is_empty() => self.error(at, "the id is empty"),
            Some(id) => {
                if let Some(first) = self.places.get(id).cloned() {
                    let what = format!("the id `{}` is taken by", text::neutral(&text::clip(id, 80)));
                    self.remember(InputError { at: at.to_owned(), what, other: Some(first) });
                } else {
                    self.places.insert(id.clone(), at.to_owned());
                }
            }
            None => {}
        }
        self.document.records.push(record);
        self.document.records.len() - 1
    }

    /// The whole document, or everything that is wrong with it.
    pub(super) fn finish(mut self) -> Result<ParsedDocument, Refusal> {
        if !self.errors.is_empty() {
            let mut lines: Vec<String> = self.errors.iter().map(InputError::text).collect();
            if self.more > 0 {
                lines.push(text::counted(self.more, "more error"));
            }
            return Err(Refusal::Invalid { at: String::new(), what: lines.join("\n") });
        }
        self.document.settle()?;
        Ok(ParsedDocument { document: self.document, ignored: self.ignored })
    }
}

impl InputError {
    fn text(&self) -> String {
        let at = if self.at.is_empty() { String::new() } else { format!("{}: ", self.at) };
        let other = self.other.as_ref().map(|other| format!(" {other}")).unwrap_or_default();
        format!("{at}{}{other}", self.what)
    }
}

/// Parses JSON.
pub(super) fn json(text: &str) -> Result<Value, Refusal> {
    serde_json::from_str(text).map_err(|error| wrong("", format!("not JSON: {error}")))
}

/// A refusal with a place.
pub(super) fn wrong(at: &str, what: impl Into<String>) -> Refusal {
    Refusal::Invalid { at: at.to_owned(), what: what.into() }
}

/// The objects of a JSON list, of one object, or of one object a line; each with its place.
pub(super) fn rows(text: &str) -> Result<Vec<(String, Value)>, Refusal> {
    let numbered = |(at, value)| (format!("[{at}]"), value);
    match serde_json::from_str(text) {
        Ok(Value::Array(list)) => return Ok(list.into_iter().enumerate().map(numbered).collect()),
        Ok(one @ Value::Object(_)) => return Ok(vec![("[0]".to_owned(), one)]),
        // What begins a list is not a list of lines.
        Err(error) if text.trim_start().starts_with('[') => return Err(wrong("", format!("not JSON: {error}"))),
        Ok(_) | Err(_) => {}
    }
    let (mut out, mut errors) = (Vec::new(), Vec::new());
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match serde_json::from_str(line) {
            Ok(value) => out.push((format!("line {}", at + 1), value)),
            Err(error) if errors.len() < NAMED => {
                let what = error.to_string().replace(" at line 1 column ", " at column ");
                errors.push(format!("line {}: not JSON: {what}", at + 1));
            }
            Err(_) => {}
        }
    }
    if errors.is_empty() { Ok(out) } else { Err(wrong("", errors.join("\n"))) }
}
