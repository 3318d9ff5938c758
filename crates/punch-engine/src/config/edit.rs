//! Changing one setting in the text of a file. Only the bytes of that setting change: comments, order, blank lines
//! and line ends stay as they are, which printing a parsed document does not promise.

use std::{ops::Range, path::Path};

use punch_core::splice::{BYTE_ORDER_MARK, line_end, line_start, mark_end, newline, splice};
use toml_edit::{Document, InlineTable, Item, Table, TableLike, Value};

use super::{ConfigError, file::document};

/// `text` with the setting `name` at `value`, which is in the form of a file.
pub(super) fn put(path: &Path, text: &str, name: &str, value: &str) -> Result<String, ConfigError> {
    let parts: Vec<&str> = name.split('.').collect();
    let document = document(path, text)?;
    let newline = newline(text);
    let reached = reach(&document, &parts);
    if let Some(span) = reached.leaf.and_then(|(_, item)| item.span()) {
        return Ok(splice(text, span, value));
    }
    let rest = |depth: usize| format!("{} = {value}", parts[depth..].join("."));
    match reached.home {
        Home::Braces { table, depth } => Ok(match ends(table).max() {
            Some(end) => splice(text, end..end, &format!(", {}", rest(depth))),
            None => splice(text, table.span().unwrap_or_default(), &format!("{{ {} }}", rest(depth))),
        }),
        Home::Lines { table, depth } if depth + 1 == parts.len() || reached.dotted => {
            // The document itself has no header.
            let header = table.span().filter(|_| depth > 0).map(|span| span.end);
            Ok(insert_line(text, table, header, &rest(depth), newline))
        }
        Home::Lines { .. } => {
            let (leaf, section) = parts.split_last().unwrap_or((&"", &[]));
            let ended = if text.is_empty() || text.ends_with('\n') { "" } else { newline };
            let blank = if text.is_empty() { "" } else { newline };
            let section = section.join(".");
            Ok(format!("{text}{ended}{blank}[{section}]{newline}{leaf} = {value}{newline}"))
        }
    }
}

/// Returns `text` without the setting `name`; `None` if it does not have it. A comment above the line stays, because it
/// may be about more than that line.
pub(super) fn take(path: &Path, text: &str, name: &str) -> Result<Option<String>, ConfigError> {
    let parts: Vec<&str> = name.split('.').collect();
    let document = document(path, text)?;
    let reached = reach(&document, &parts);
    let Some((Some(key), Some(value))) = reached.leaf.map(|(key, item)| (key, item.span())) else { return Ok(None) };
    let cut = match reached.home {
        Home::Lines { .. } => line_start(text, key.start)..line_end(text, value.end),
        Home::Braces { table, .. } => {
            let open = table.span().map_or(key.start, |span| span.start + 1);
            match ends(table).filter(|end| *end < value.end).max() {
                Some(before) => before..value.end,
                None => {
                    let after = &text[value.end..];
                    let comma = after.trim_start().strip_prefix(',').map_or(0, |rest| after.len() - rest.len());
                    open..value.end + comma
                }
            }
        }
    };
    Ok(Some(splice(text, cut, "")))
}

/// Where a name leads in a document.
struct SettingPlace<'a> {
    /// The key's place and the value, if it is there.
    leaf: Option<(Option<Range<usize>>, &'a Item)>,
    /// What a line or pair for it would be written into.
    home: Home<'a>,
    /// Whether its section exists as `section.key = …` lines, which forbid a `[section]`.
    dotted: bool,
}

/// A part of a file that can take another setting; `depth` parts of the name lead to it.
enum Home<'a> {
    Lines { table: &'a Table, depth: usize },
    Braces { table: &'a InlineTable, depth: usize },
}

fn reach<'a>(document: &'a Document<&str>, parts: &[&str]) -> SettingPlace<'a> {
    let mut reached =
        SettingPlace { leaf: None, home: Home::Lines { table: document.as_table(), depth: 0 }, dotted: false };
    let mut current: &dyn TableLike = document.as_table();
    for (index, part) in parts.iter().enumerate() {
        let Some((key, item)) = current.get_key_value(part) else { break };
        let depth = index + 1;
        match item {
            Item::Table(table) => {
                current = table;
                if table.is_dotted() {
                    reached.dotted = true;
                } else if !table.is_implicit() {
                    reached.home = Home::Lines { table, depth };
                    reached.dotted = false;
                }
            }
            Item::Value(Value::InlineTable(table)) => {
                current = table;
                if !table.is_dotted() {
                    reached.home = Home::Braces { table, depth };
                }
            }
            Item::Value(_) if depth == parts.len() => {
                reached.leaf = Some((key.span(), item));
                break;
            }
            _ => break,
        }
    }
    reached
}

/// Where the values end that are written into a table itself.
fn ends(table: &dyn TableLike) -> Box<dyn Iterator<Item = usize> + '_> {
    Box::new(table.iter().flat_map(|(_, item)| -> Box<dyn Iterator<Item = usize> + '_> {
        match item {
            Item::Table(table) if table.is_dotted() => ends(table),
            Item::Value(Value::InlineTable(table)) if table.is_dotted() => ends(table),
            Item::Value(value) => Box::new(value.span().map(|span| span.end).into_iter()),
            _ => Box::new(std::iter::empty()),
        }
    }))
}

/// Puts a line behind the last one of a table, or where its first one would be; `header` is the end of its `[name]`.
fn insert_line(text: &str, table: &Table, header: Option<usize>, line: &str, newline: &str) -> String {
    let Some(behind) = ends(table).max().or(header) else {
        let at = before_sections(text);
        let blank = if at == text.len() { "" } else { newline };
        let ended = if at == 0 || text[..at].ends_with(['\n', BYTE_ORDER_MARK]) { "" } else { newline };
        return splice(text, at..at, &format!("{ended}{line}{newline}{blank}"));
    };
    let at = line_end(text, behind);
    let ended = if text[..at].ends_with('\n') { "" } else { newline };
    splice(text, at..at, &format!("{ended}{line}{newline}"))
}

/// Where the first setting of a file without any goes: before the first section and the comment that belongs to it.
fn before_sections(text: &str) -> usize {
    let mut at = mark_end(text);
    let mut comment = None;
    for line in text[at..].split_inclusive('\n') {
        match line.trim_start().chars().next() {
            Some('[') => return comment.unwrap_or(at),
            Some('#') => comment = comment.or(Some(at)),
            _ => comment = None,
        }
        at += line.len();
    }
    at
}
