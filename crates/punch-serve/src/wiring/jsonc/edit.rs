//! Inserts one member or item into an object or array, or removes it. Comments stay with what they follow; only the
//! comma and the bytes of the part itself are touched.

use std::ops::Range;

use punch_core::splice::splice;
use serde_json::Value;

use super::print::{Style, one_line};
use super::scan::comment_end;
use super::tree::JsonTree;

/// A member as it is written: its name and its value.
pub fn member<'a>(name: &'a str, value: &'a Value) -> (Option<&'a str>, &'a Value) {
    (Some(name), value)
}

/// The text with one more part at the end of an object or array.
pub fn insert(text: &str, tree: &JsonTree, node: usize, (name, value): (Option<&str>, &Value)) -> String {
    let style = Style::of(text);
    let parts = tree.parts(node);
    let prefix = name.map_or(String::new(), |name| format!("{}: ", Value::from(name)));
    let span = tree.node(node).span.clone();
    let Some(last) = parts.last() else {
        let whole = text.trim_start_matches('\u{feff}').trim();
        // A file on one line stays on it, unless it was empty.
        if !whole.contains('\n') && whole.len() > span.len() {
            let at = blank_start(text, span.end - 1);
            let space = if text[..at].ends_with(['{', '[']) && name.is_none() { "" } else { " " };
            let end = if name.is_none() { "" } else { " " };
            return splice(text, at..span.end - 1, &format!("{space}{prefix}{}{end}", one_line(value)));
        }
        return fill(text, &span, &style, &prefix, value);
    };
    let Some(indent) = own_line(text, last.start) else {
        let part = format!("{prefix}{}", one_line(value));
        return match comma_behind(text, last.end) {
            // A trailing comma stays one.
            Some(comma) => splice(text, comma + 1..comma + 1, &format!(" {part},")),
            None => splice(text, last.end..last.end, &format!(", {part}")),
        };
    };
    let indent = indent.to_owned();
    let part = format!("{}{indent}{prefix}{}", style.newline, style.print(value, &indent, prefix.len() + 1));
    match comma_behind(text, last.end) {
        Some(comma) => {
            let at = remarks_end(text, comma + 1);
            splice(text, at..at, &format!("{part},"))
        }
        None => {
            let at = remarks_end(text, last.end);
            let with = splice(text, at..at, &part);
            splice(&with, last.end..last.end, ",")
        }
    }
}

/// The first part of an object or array that has none, behind the comments that it may have.
fn fill(text: &str, span: &Range<usize>, style: &Style, prefix: &str, value: &Value) -> String {
    let outer = line_indent(text, span.start).to_owned();
    let indent = format!("{outer}{}", style.indent);
    let inside = &text[span.start + 1..span.end - 1];
    let at = blank_start(text, span.start + 1 + inside.len());
    let tail = &text[at..span.end - 1];
    let part = format!("{}{indent}{prefix}{}", style.newline, style.print(value, &indent, prefix.len() + 1));
    let end = if tail.contains('\n') { String::new() } else { format!("{}{outer}", style.newline) };
    splice(text, at..at, &format!("{part}{end}"))
}

/// The text with another value in the place of a node.
pub fn put(text: &str, tree: &JsonTree, node: usize, value: &Value) -> String {
    let span = tree.node(node).span.clone();
    let indent = line_indent(text, span.start).to_owned();
    let line = text[..span.start].rfind('\n').map_or(0, |newline| newline + 1);
    let taken = (span.start - line).saturating_sub(indent.len());
    let lines = text.trim_end().contains('\n');
    let printed = if lines { Style::of(text).print(value, &indent, taken) } else { one_line(value) };
    splice(text, span, &printed)
}

/// The text without one part of an object or array.
pub fn remove(text: &str, tree: &JsonTree, node: usize, index: usize) -> String {
    let parts = tree.parts(node);
    let part = parts[index].clone();
    let comma = comma_behind(text, part.end);
    let end = comma.map_or(part.end, |comma| comma + 1);
    let (mut from, mut to) = (blank_start(text, part.start), end);
    let rest = text[end..].lines().next().unwrap_or_default().trim_start_matches([' ', '\t']);
    // What follows on the line must not slip behind a comment; a part that follows keeps its line.
    let keeps_line = comma.is_some() || (from > 0 && tree.is_painted(text, from - 1));
    if keeps_line && !rest.trim().is_empty() && !rest.starts_with("//") {
        from = part.start;
        to += if comma.is_some() { text[end..].len() - text[end..].trim_start_matches([' ', '\t']).len() } else { 0 };
    }
    let mut without = splice(text, from..to, "");
    if comma.is_none()
        && let Some(previous) = index.checked_sub(1)
        && let Some(comma) = comma_behind(text, parts[previous].end)
    {
        without = splice(&without, comma..comma + 1, "");
    }
    if parts.len() > 1 {
        return without;
    }
    // What we opened up, we close again.
    let removed = text.len() - without.len();
    let span = tree.node(node).span.clone();
    let inside = span.start + 1..span.end - 1 - removed;
    if without[inside.clone()].trim().is_empty() { splice(&without, inside, "") } else { without }
}

/// The indentation of a part that begins its line.
fn own_line(text: &str, at: usize) -> Option<&str> {
    let line = text[..at].rfind('\n')? + 1;
    let blank = &text[line..at];
    blank.trim_matches([' ', '\t']).is_empty().then_some(blank)
}

/// The indentation of the line on which a byte is.
fn line_indent(text: &str, at: usize) -> &str {
    let line = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let rest = text[line..].trim_start_matches([' ', '\t']);
    &text[line..text.len() - rest.len()]
}

/// The comma that follows a part, past white space and comments.
fn comma_behind(text: &str, end: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = end;
    loop {
        match bytes.get(at)? {
            b',' => return Some(at),
            b'/' => at = comment_end(bytes, at)?,
            byte if byte.is_ascii_whitespace() => at += 1,
            _ => return None,
        }
    }
}

/// After the comments on the same line.
fn remarks_end(text: &str, end: usize) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut behind) = (end, end);
    loop {
        match bytes.get(at) {
            Some(b' ' | b'\t') => at += 1,
            Some(b'/') => match comment_end(bytes, at) {
                Some(end) => (at, behind) = (end, end),
                None => return behind,
            },
            _ => return behind,
        }
    }
}

/// Where the white space before a part begins.
fn blank_start(text: &str, at: usize) -> usize {
    text[..at].trim_end_matches([' ', '\t', '\n', '\r']).len()
}
