//! The repairs a host makes to a call before it checks the schema.
//!
//! Models send `null` for what they leave out and arrays as JSON in a string. A dialect that wants to be as lenient
//! as the original host calls [`coerce`] first; replaying recorded calls does not.

use serde_json::{Map, Value};

const OPTIONAL: [&str; 5] = ["list", "task", "phase", "items", "text"];

/// Drops `null` and `"null"` where a field is optional, and reads arrays that were sent as JSON text.
pub fn coerce(mut params: Value) -> Value {
    let Some(ops) = params.get_mut("ops") else { return params };
    unpack(ops);
    for op in ops.as_array_mut().into_iter().flatten() {
        if let Some(fields) = op.as_object_mut() {
            coerce_op(fields);
        }
    }
    params
}

fn coerce_op(fields: &mut Map<String, Value>) {
    fields.retain(|key, value| !(OPTIONAL.contains(&key.as_str()) && is_null(value)));
    for key in ["items", "list"] {
        if let Some(value) = fields.get_mut(key) {
            unpack(value);
        }
    }
    for entry in fields.get_mut("list").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(items) = entry.get_mut("items") {
            unpack(items);
        }
    }
}

fn is_null(value: &Value) -> bool {
    value.is_null() || value.as_str() == Some("null")
}

/// Text that is not a JSON array stays as it is, so that the schema can name it.
fn unpack(value: &mut Value) {
    if let Value::String(text) = value
        && let Ok(parsed @ Value::Array(_)) = serde_json::from_str(text)
    {
        *value = parsed;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nulls_on_optional_fields_are_dropped_and_encoded_arrays_are_read() {
        let call = json!({"ops": r#"[{"op":"append","phase":"A","items":"[\"y\"]","task":null,"text":"null"}]"#});
        assert_eq!(coerce(call), json!({"ops": [{"op": "append", "phase": "A", "items": ["y"]}]}));
        let call = json!({"ops": [{"op": "init", "list": r#"[{"phase":"null","items":"[\"a\"]"}]"#}]});
        assert_eq!(coerce(call), json!({"ops": [{"op": "init", "list": [{"phase": "null", "items": ["a"]}]}]}));
    }

    #[test]
    fn ordinary_calls_and_broken_ones_stay_as_they_are() {
        for call in [
            json!({"ops": [{"op": "done", "task": "[\"x\"]"}, {"op": "append", "phase": "A", "items": ["null"]}]}),
            json!({"ops": [{"op": "init", "list": [{"phase": "A", "items": ["a", "b"]}], "extra": null}]}),
            json!({"ops": [{"op": "append", "phase": "A", "items": "oops"}, 7, null]}),
            json!({"ops": "not json"}),
            json!([]),
            json!(null),
        ] {
            assert_eq!(coerce(call.clone()), call);
        }
    }
}
