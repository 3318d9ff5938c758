//! Reads JSON from agents without ever failing: a field of the wrong type counts as absent.

use punch_core::text;
use serde_json::Value;

/// Characters of a name that are kept; longer ones name nothing.
const LONGEST_NAME: usize = 200;

/// The first of these fields that is a string.
pub fn string<'a>(value: &'a Value, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| value.get(name).and_then(Value::as_str))
}

/// A string of sensible shape for a name: it is stored and shown.
pub fn name(value: &Value, names: &[&str]) -> Option<String> {
    let given = string(value, names)?.trim();
    let good = !given.is_empty() && given.len() <= LONGEST_NAME && !given.chars().any(char::is_control);
    good.then(|| given.to_owned())
}

/// A text on one line, cut.
pub fn short(value: &Value, names: &[&str], limit: usize) -> Option<String> {
    let given = string(value, names)?;
    // Cut first: a text of megabytes is not looked through.
    let cut = text::clip(given, limit * 4);
    Some(text::clip(text::neutral(&cut).trim(), limit).into_owned())
}

/// The first of these fields that is a whole number.
pub fn number(value: &Value, names: &[&str]) -> Option<u64> {
    names.iter().find_map(|name| value.get(name).and_then(Value::as_u64))
}

/// True only if the field says so.
pub fn truth(value: &Value, name: &str) -> bool {
    value.get(name).and_then(Value::as_bool).unwrap_or_default()
}

/// An object that may come as the text of one.
pub fn object(value: &Value, names: &[&str]) -> Value {
    let found = names.iter().find_map(|name| value.get(name).filter(|found| !found.is_null()));
    match found {
        Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone())),
        Some(other) => other.clone(),
        None => Value::Null,
    }
}
