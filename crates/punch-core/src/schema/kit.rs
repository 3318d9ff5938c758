//! The parts of JSON Schema that the formats need.

use serde_json::{Map, Value, json};

/// An object: fields that are always there, and fields that may be.
pub fn object(always: &[(&str, Value)], maybe: &[(&str, Value)]) -> Value {
    let properties: Map<String, Value> =
        always.iter().chain(maybe).map(|(key, schema)| ((*key).to_owned(), schema.clone())).collect();
    let mut out = json!({"type": "object"});
    if !always.is_empty() {
        out["required"] = always.iter().map(|(key, _)| *key).collect();
    }
    out["properties"] = properties.into();
    out
}

/// Any text.
pub fn text() -> Value {
    json!({"type": "string"})
}

/// One of these words.
pub fn word<'a>(of: impl IntoIterator<Item = &'a str>) -> Value {
    json!({"enum": of.into_iter().collect::<Vec<_>>()})
}

/// Exactly this value.
pub fn only(value: impl Into<Value>) -> Value {
    json!({"const": value.into()})
}

/// A whole number, not negative.
pub fn count() -> Value {
    json!({"type": "integer", "minimum": 0})
}

/// A whole number.
pub fn signed() -> Value {
    json!({"type": "integer"})
}

/// Any number.
pub fn number() -> Value {
    json!({"type": "number"})
}

/// A time.
pub fn time() -> Value {
    about(signed(), "milliseconds since 1970, UTC")
}

/// True or false.
pub fn yes_no() -> Value {
    json!({"type": "boolean"})
}

/// Any number of these.
pub fn list(of: Value) -> Value {
    json!({"type": "array", "items": of})
}

/// An object of which nothing is promised.
pub fn any() -> Value {
    json!({"type": "object"})
}

/// One of several forms.
pub fn any_of(forms: Vec<Value>) -> Value {
    json!({"anyOf": forms})
}

/// It may be null.
pub fn or_null(schema: Value) -> Value {
    any_of(vec![schema, json!({"type": "null"})])
}

/// Adds a description to a schema.
pub fn about(mut schema: Value, text: &str) -> Value {
    schema["description"] = text.into();
    schema
}

/// A form with a name of its own: in a whole schema it stands once.
pub fn named(name: &str, mut schema: Value) -> Value {
    schema[NAME] = name.into();
    schema
}

/// Marks a named form until it has its place.
const NAME: &str = "$name";

/// A whole schema as it is published: named forms are in `$defs`.
pub fn titled(title: &str, text: &str, mut schema: Value) -> Value {
    let mut defs = Map::new();
    gather(&mut schema, &mut defs);
    let mut out = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "description": text,
    });
    if let (Some(out), Value::Object(schema)) = (out.as_object_mut(), schema) {
        out.extend(schema);
    }
    if !defs.is_empty() {
        out["$defs"] = defs.into();
    }
    out
}

/// Schemas are ours and shallow.
fn gather(schema: &mut Value, defs: &mut Map<String, Value>) {
    match schema {
        Value::Array(list) => list.iter_mut().for_each(|inner| gather(inner, defs)),
        Value::Object(map) => {
            map.values_mut().for_each(|inner| gather(inner, defs));
            if let Some(Value::String(name)) = crate::json::take(map, NAME) {
                let reference = json!({"$ref": format!("#/$defs/{name}")});
                defs.insert(name, std::mem::replace(schema, reference));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
