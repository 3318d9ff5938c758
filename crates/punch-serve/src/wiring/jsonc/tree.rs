//! Positions in a text: byte ranges of members, items and values.

use std::ops::Range;

use serde_json::Value;

use super::scan::{PlainJson, plain, string_end};
use crate::wiring::SettingsFileError;

/// A text of JSON with its values' places.
pub struct JsonTree {
    /// The text, with spaces in place of comments and trailing commas.
    plain: String,
    /// Where the first comment begins.
    pub comment: Option<usize>,
    /// Where the first trailing comma is.
    pub trailing_comma: Option<usize>,
    nodes: Vec<JsonNode>,
    value: Value,
}

/// One value.
#[derive(Clone, Debug)]
pub struct JsonNode {
    /// Its bytes.
    pub span: Range<usize>,
    /// What is in it.
    pub kind: JsonKind,
}

/// What is in a value.
#[derive(Clone, Debug)]
pub enum JsonKind {
    /// Names, where each name begins, and the node of its value.
    Object(Vec<(String, usize, usize)>),
    /// The nodes of its items.
    Array(Vec<usize>),
    /// Anything else.
    Scalar,
}

impl JsonTree {
    /// Parses a text. If it is not JSON, returns what is wrong and where.
    pub fn read(text: &str) -> Result<Self, SettingsFileError> {
        let PlainJson { text: plain, comment, trailing_comma } = plain(text);
        let value: Value = serde_json::from_str(&plain).map_err(|error| {
            let what = error.to_string();
            let what = what.rsplit_once(" at line ").map_or(what.as_str(), |(what, _)| what).to_owned();
            SettingsFileError { line: error.line(), column: error.column(), what }
        })?;
        let nodes = places(plain.as_bytes());
        Ok(Self { plain, comment, trailing_comma, nodes, value })
    }

    /// The whole as a value.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The outermost node.
    pub fn root(&self) -> usize {
        0
    }

    /// A node.
    pub fn node(&self, node: usize) -> &JsonNode {
        &self.nodes[node]
    }

    /// One node as a value.
    pub fn value_of(&self, node: usize) -> Value {
        serde_json::from_str(&self.plain[self.nodes[node].span.clone()]).unwrap_or_default()
    }

    /// The member of an object. A name that occurs twice is an error: readers differ in which one they take.
    pub fn member(&self, object: usize, name: &str) -> Result<Option<usize>, SettingsFileError> {
        let JsonKind::Object(members) = &self.nodes[object].kind else {
            return Err(self.wrong(object, "expected an object".to_owned()));
        };
        let mut found = members.iter().filter(|(key, ..)| key == name);
        let first = found.next();
        if let Some((_, at, _)) = found.next() {
            return Err(SettingsFileError::at(&self.plain, *at, format!("`{name}` occurs twice")));
        }
        Ok(first.map(|(_, _, value)| *value))
    }

    /// Whether a byte of the text that was read belongs to a comment.
    pub fn is_painted(&self, text: &str, at: usize) -> bool {
        let byte = |text: &str| text.as_bytes().get(at).copied();
        byte(&self.plain) == Some(b' ') && byte(text) != Some(b' ')
    }

    /// Says that a node is not what it should be.
    pub fn wrong(&self, node: usize, what: String) -> SettingsFileError {
        SettingsFileError::at(&self.plain, self.nodes[node].span.start, what)
    }

    /// Where the parts of an object or array are: each from its name or beginning to its end.
    pub fn parts(&self, node: usize) -> Vec<Range<usize>> {
        match &self.nodes[node].kind {
            JsonKind::Object(members) => {
                members.iter().map(|(_, at, value)| *at..self.nodes[*value].span.end).collect()
            }
            JsonKind::Array(items) => items.iter().map(|item| self.nodes[*item].span.clone()).collect(),
            JsonKind::Scalar => Vec::new(),
        }
    }
}

/// The nodes of a text that is known to be JSON.
fn places(text: &[u8]) -> Vec<JsonNode> {
    let mut nodes: Vec<JsonNode> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    // The name that was read last, if its value comes next.
    let mut name: Option<(String, usize)> = None;
    let mut at = 0;
    while at < text.len() {
        let start = at;
        let kind = match text[at] {
            b'{' => JsonKind::Object(Vec::new()),
            b'[' => JsonKind::Array(Vec::new()),
            b'}' | b']' => {
                at += 1;
                if let Some(closed) = open.pop() {
                    nodes[closed].span.end = at;
                }
                continue;
            }
            b' ' | b'\t' | b'\n' | b'\r' | b',' | b':' => {
                at += 1;
                continue;
            }
            b'"' => {
                at = string_end(text, at);
                let in_object = open.last().is_some_and(|open| matches!(nodes[*open].kind, JsonKind::Object(_)));
                if in_object && name.is_none() {
                    name = Some((serde_json::from_slice(&text[start..at]).unwrap_or_default(), start));
                    continue;
                }
                JsonKind::Scalar
            }
            _ => {
                let end = text[at..].iter().position(|byte| b" \t\r\n,:]}".contains(byte));
                at = end.map_or(text.len(), |length| at + length);
                JsonKind::Scalar
            }
        };
        let node = nodes.len();
        if let Some(parent) = open.last() {
            match &mut nodes[*parent].kind {
                JsonKind::Object(members) => {
                    let (key, key_at) = name.take().unwrap_or_default();
                    members.push((key, key_at, node));
                }
                JsonKind::Array(items) => items.push(node),
                JsonKind::Scalar => {}
            }
        }
        if !matches!(kind, JsonKind::Scalar) {
            open.push(node);
            at += 1;
        }
        nodes.push(JsonNode { span: start..at, kind });
    }
    nodes
}
