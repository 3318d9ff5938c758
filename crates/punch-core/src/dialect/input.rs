//! Reading JSON from outside with the place named in every refusal.

use serde_json::{Map, Value};

use crate::Refusal;
use crate::text::clip;

pub(super) fn invalid(at: impl Into<String>, what: impl Into<String>) -> Refusal {
    Refusal::Invalid { at: at.into(), what: what.into() }
}

/// What a JSON value is, in words.
pub(crate) const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

pub(super) fn object<'a>(value: &'a Value, at: &str) -> Result<&'a Map<String, Value>, Refusal> {
    value.as_object().ok_or_else(|| invalid(at, format!("expected an object, got {}", kind(value))))
}

pub(super) fn list<'a>(map: &'a Map<String, Value>, key: &str, at: &str) -> Result<&'a [Value], Refusal> {
    match map.get(key) {
        Some(Value::Array(items)) => Ok(items),
        Some(other) => Err(invalid(join(at, key), format!("expected a list, got {}", kind(other)))),
        None => Err(invalid(join(at, key), "missing")),
    }
}

/// A string that may be absent; null counts as absent.
pub(super) fn text<'a>(map: &'a Map<String, Value>, key: &str, at: &str) -> Result<Option<&'a str>, Refusal> {
    match map.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(invalid(join(at, key), format!("expected a string, got {}", kind(other)))),
    }
}

/// A list of strings that may be absent; null counts as absent.
pub(super) fn texts(map: &Map<String, Value>, key: &str, at: &str) -> Result<Option<Vec<String>>, Refusal> {
    let items = match map.get(key) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Array(items)) => items,
        Some(other) => return Err(invalid(join(at, key), format!("expected a list of strings, got {}", kind(other)))),
    };
    let mut out = Vec::with_capacity(items.len());
    for (n, item) in items.iter().enumerate() {
        match item {
            Value::String(text) => out.push(text.clone()),
            other => {
                return Err(invalid(
                    format!("{}[{n}]", join(at, key)),
                    format!("expected a string, got {}", kind(other)),
                ));
            }
        }
    }
    Ok(Some(out))
}

/// A whole number of at least 0 that may be absent; null counts as absent.
pub(super) fn number(map: &Map<String, Value>, key: &str, at: &str) -> Result<Option<u64>, Refusal> {
    match map.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Number(n)) => {
            let whole = n
                .as_u64()
                .or_else(|| n.as_f64().filter(|f| f.fract() == 0.0 && (0.0..9e15).contains(f)).map(|f| f as u64));
            whole.map(Some).ok_or_else(|| invalid(join(at, key), format!("{n} is not a whole number of at least 0")))
        }
        Some(other) => Err(invalid(join(at, key), format!("expected a number, got {}", kind(other)))),
    }
}

pub(super) fn join(at: &str, key: &str) -> String {
    if at.is_empty() { key.to_owned() } else { format!("{at}.{key}") }
}

/// A misspelt key would silently do nothing, so it is refused.
pub(super) fn known_keys<'a>(keys: impl Iterator<Item = &'a String>, at: &str, known: &[&str]) -> Result<(), Refusal> {
    for key in keys {
        if !known.contains(&key.as_str()) {
            let near = crate::text::nearest(key, known.iter().copied(), 1);
            let hint =
                near.first().map_or_else(|| format!("use {}", known.join(", ")), |n| format!("did you mean `{n}`?"));
            return Err(invalid(join(at, &clip(key, 40)), format!("unknown field; {hint}")));
        }
    }
    Ok(())
}
