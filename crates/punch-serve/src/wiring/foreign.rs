//! What a settings file contains besides Punchlist's own entries, as values rather than text. Every edit is checked
//! against this before it is written: the text editors may have bugs, but they must never cost the user a setting.

use serde_json::{Map, Value};
use toml_edit::{Document, Item, TableLike};

use super::SettingsFileError;
use super::commands::{HOOKS, SettingsEntry, is_our_group, is_our_handler, is_our_server};
use super::jsonc::JsonTree;

/// The values of a JSON text without our entries. Empty objects and arrays on the way to our entries do not count.
pub fn of_json(text: &str, entries: &[SettingsEntry]) -> Result<Value, SettingsFileError> {
    let mut value = match text.trim_start_matches('\u{feff}').trim() {
        "" => Value::Object(Map::new()),
        _ => JsonTree::read(text)?.value().clone(),
    };
    for entry in entries {
        strip(&mut value, entry);
        prune(&mut value, &entry.path());
    }
    Ok(value)
}

/// Returns true if `whole` contains everything that is in `part`: members with equal values, items in any order.
pub fn contains(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            part.iter().all(|(name, part)| whole.get(name).is_some_and(|whole| contains(whole, part)))
        }
        (Value::Array(whole), Value::Array(part)) => {
            part.iter().all(|part| whole.iter().any(|whole| contains(whole, part)))
        }
        (whole, part) => whole == part,
    }
}

fn strip(value: &mut Value, entry: &SettingsEntry) {
    match entry {
        SettingsEntry::Absent(entry) => strip(value, entry),
        SettingsEntry::Member(path, _) => remove(value, path, |_| true),
        SettingsEntry::Server(path, _) => remove(value, path, is_our_server),
        SettingsEntry::Default(path, default) => remove(value, path, |found| found == default),
        SettingsEntry::Item(path, item) => {
            if let Some(Value::Array(items)) = at(value, path) {
                items.retain(|found| found != item);
            }
        }
        SettingsEntry::Hooks(hooks) => {
            let Some(Value::Object(events)) = value.get_mut(HOOKS) else { return };
            for groups in events.values_mut().filter_map(Value::as_array_mut) {
                groups.retain(|group| !is_our_group(group, hooks.agent));
                for handlers in groups.iter_mut().filter_map(|group| group.get_mut(HOOKS)?.as_array_mut()) {
                    handlers.retain(|handler| !is_our_handler(handler, hooks.agent));
                }
            }
            events.retain(|_, groups| groups.as_array().is_none_or(|groups| !groups.is_empty()));
        }
    }
}

fn at<'a>(value: &'a mut Value, path: &[String]) -> Option<&'a mut Value> {
    path.iter().try_fold(value, |value, name| value.as_object_mut()?.get_mut(name))
}

fn remove(value: &mut Value, path: &[String], is_ours: impl Fn(&Value) -> bool) {
    let Some((name, holders)) = path.split_last() else { return };
    if let Some(Value::Object(members)) = at(value, holders)
        && members.get(name).is_some_and(is_ours)
    {
        members.shift_remove(name);
    }
}

/// Removes what is empty at the end of a path, then what got empty by that, up to the top.
fn prune(value: &mut Value, path: &[&str]) {
    let [name, rest @ ..] = path else { return };
    let Some(members) = value.as_object_mut() else { return };
    let Some(inner) = members.get_mut(*name) else { return };
    prune(inner, rest);
    let is_empty = match inner {
        Value::Object(members) => members.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    };
    if is_empty {
        members.shift_remove(*name);
    }
}

/// The values of a TOML text without our table. An empty table around ours does not count.
pub fn of_toml(text: &str, name: &[&str]) -> Result<Value, SettingsFileError> {
    let document = Document::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        SettingsFileError::at(text, at, error.message().to_owned())
    })?;
    let mut value = table(document.as_table());
    let path: Vec<String> = name.iter().map(|name| (*name).to_owned()).collect();
    remove(&mut value, &path, is_our_server);
    prune(&mut value, name);
    Ok(value)
}

fn table(table: &dyn TableLike) -> Value {
    Value::Object(table.iter().map(|(name, item)| (name.to_owned(), toml(item))).collect())
}

fn toml(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Table(inner) => table(inner),
        Item::ArrayOfTables(tables) => tables.iter().map(|inner| table(inner)).collect(),
        Item::Value(value) => scalar(value),
    }
}

/// A value of TOML. Numbers and dates become text: they are only compared.
pub fn scalar(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::InlineTable(inner) => table(inner),
        toml_edit::Value::Array(items) => items.iter().map(scalar).collect(),
        toml_edit::Value::String(text) => Value::from(text.value().as_str()),
        toml_edit::Value::Boolean(truth) => Value::from(*truth.value()),
        toml_edit::Value::Integer(number) => Value::from(format!("integer {}", number.value())),
        toml_edit::Value::Float(number) => Value::from(format!("float {}", number.value())),
        toml_edit::Value::Datetime(time) => Value::from(format!("time {}", time.value())),
    }
}
