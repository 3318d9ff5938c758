//! Inserts and removes one table of a TOML file as lines of text; the rest of the file stays as it is.

use std::ops::Range;

use punch_core::splice::{TextSplice, is_blank, line_end, line_start, newline, splice, splice_all};
use serde_json::{Value, json};
use toml_edit::{Document, Item, Table, TableLike};

use super::SettingsFileError;
use super::commands::{SERVER_VERB, is_default_call, is_our_server};
use super::foreign::scalar;

/// The text with the table and these keys in it. Other keys of the table stay.
pub fn wire(text: &str, name: &[&str], fields: &[(&str, Value)]) -> Result<String, SettingsFileError> {
    let document = read(text)?;
    let newline = newline(text);
    let line = |(key, value): &(&str, Value)| format!("{key} = {}{newline}", toml(value));
    let Some(item) = find(&document, name) else {
        let ended = if text.is_empty() || text.ends_with('\n') { "" } else { newline };
        let blank = if is_blank(text) { "" } else { newline };
        let lines: String = fields.iter().map(line).collect();
        let with = format!("{text}{ended}{blank}[{}]{newline}{lines}", name.join("."));
        return checked(with, name);
    };
    let Some(table) = item.as_table_like() else {
        let at = item.span().map_or(0, |span| span.start);
        return Err(SettingsFileError::at(text, at, format!("`{}` is not a table", name.join("."))));
    };
    if !is_our_server(&values(item)) {
        let at = item.span().map_or(0, |span| span.start);
        return Err(SettingsFileError::at(
            text,
            at,
            format!("`{}` is another server called `punch`: rename it", name.join(".")),
        ));
    }
    let mut edits: Vec<TextSplice> = Vec::new();
    let mut missing = String::new();
    for field in fields {
        match table.get(field.0) {
            Some(found) if same(found, &field.1) || keeps_arguments(found, &field.1) => {}
            Some(found) => edits.push((found.span().unwrap_or_default(), toml(&field.1))),
            None => missing.push_str(&line(field)),
        }
    }
    if !missing.is_empty() {
        let header = item.as_table().filter(|table| !table.is_dotted() && !table.is_implicit()).and_then(Table::span);
        let Some(header) = header else {
            let at = item.span().map_or(0, |span| span.start);
            let what = format!("write `{0}` as a section `[{0}]`, or remove it", name.join("."));
            return Err(SettingsFileError::at(text, at, what));
        };
        let at = line_end(text, header.end);
        let ended = if text[..at].ends_with('\n') { "" } else { newline };
        edits.push((at..at, format!("{ended}{missing}")));
    }
    checked(splice_all(text, edits), name)
}

/// The text without the table and the tables inside it.
pub fn unwire(text: &str, name: &[&str]) -> Result<String, SettingsFileError> {
    let document = read(text)?;
    let Some(item) = find(&document, name).filter(|item| is_our_server(&values(item))) else {
        return Ok(text.to_owned());
    };
    let mut cuts = Vec::new();
    match item.as_table().filter(|table| !table.is_dotted()) {
        Some(table) => blocks(text, table, &mut cuts),
        None => {
            let at = item.span().map_or(0, |span| span.start);
            let what = format!("`{}` is not a section of its own: remove it by hand", name.join("."));
            return Err(SettingsFileError::at(text, at, what));
        }
    }
    cuts.sort_by_key(|cut| std::cmp::Reverse(cut.start));
    let mut out = text.to_owned();
    for mut cut in cuts {
        // The blank line that set it apart, unless it now sets others apart.
        let blank = ["\r\n", "\n"].into_iter().find(|newline| out[..cut.start].ends_with(&format!("\n{newline}")));
        let rest = out[cut.end..].trim_start_matches([' ', '\t', '\r']);
        if let Some(newline) = blank.filter(|_| rest.is_empty() || rest.starts_with('\n')) {
            cut.start -= newline.len();
        }
        out = splice(&out, cut, "");
    }
    read(&out)?;
    Ok(out)
}

/// The table with as much in it as is needed to recognize our server.
fn values(item: &Item) -> Value {
    let command = item.as_table_like().and_then(|table| table.get("command")).and_then(Item::as_value);
    command.map_or(Value::Null, |command| json!({"command": scalar(command)}))
}

/// Returns true if the arguments that are there start our server, and no others are asked for.
fn keeps_arguments(there: &Item, wanted: &Value) -> bool {
    let first = there.as_array().and_then(|words| words.get(0)).and_then(toml_edit::Value::as_str);
    wanted.as_array().is_some_and(|words| is_default_call(words)) && first == Some(SERVER_VERB)
}

/// The lines of a table and of the tables inside it.
fn blocks(text: &str, table: &Table, out: &mut Vec<Range<usize>>) {
    let mut end = None;
    for (_, item) in table.iter() {
        match item {
            Item::Table(inner) if !inner.is_dotted() => blocks(text, inner, out),
            Item::ArrayOfTables(tables) => tables.iter().for_each(|inner| blocks(text, inner, out)),
            other => end = end.max(last(other)),
        }
    }
    if let Some(header) = table.span().filter(|_| !table.is_implicit()) {
        out.push(line_start(text, header.start)..line_end(text, end.unwrap_or(header.end).max(header.end)));
    }
}

/// Where a value ends, or the last of the values written with dots.
fn last(item: &Item) -> Option<usize> {
    match item {
        Item::Table(table) => table.iter().filter_map(|(_, item)| last(item)).max(),
        other => other.span().map(|span| span.end),
    }
}

fn find<'a>(document: &'a Document<&str>, name: &[&str]) -> Option<&'a Item> {
    let mut current: &dyn TableLike = document.as_table();
    let (last, holders) = name.split_last()?;
    for holder in holders {
        current = current.get(holder)?.as_table_like()?;
    }
    current.get(last)
}

fn read(text: &str) -> Result<Document<&str>, SettingsFileError> {
    Document::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        SettingsFileError::at(text, at, error.message().to_owned())
    })
}

/// A form that cannot be extended, such as an inline table around ours, shows only now.
fn checked(text: String, name: &[&str]) -> Result<String, SettingsFileError> {
    let found = read(&text).is_ok_and(|document| find(&document, name).is_some());
    let holder = name.first().copied().unwrap_or_default();
    let what = || format!("`{holder}` cannot be extended in this form: use sections `[{holder}.NAME]`");
    if found { Ok(text) } else { Err(SettingsFileError::whole(what())) }
}

fn same(item: &Item, wanted: &Value) -> bool {
    match wanted {
        Value::String(text) => item.as_str() == Some(text),
        Value::Bool(truth) => item.as_bool() == Some(*truth),
        Value::Number(number) => item.as_integer() == number.as_i64(),
        Value::Array(items) => item.as_array().is_some_and(|array| {
            array.len() == items.len() && array.iter().zip(items).all(|(have, want)| have.as_str() == want.as_str())
        }),
        Value::Null | Value::Object(_) => false,
    }
}

/// Texts, numbers, truth values and lists of them look the same in TOML and JSON.
fn toml(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(toml).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}
