//! A naive reading of JSON Schema, and stricter: a property that the schema does not name is wrong, and so is a keyword
//! that this does not know. What is published can be open; what we write must be all in it.

use serde_json::Value;

/// Everything that is wrong with a value, each with its place.
pub fn wrong(schema: &Value, value: &Value) -> Vec<String> {
    let mut out = Vec::new();
    look(schema, schema, value, "", &mut out);
    out
}

fn look(root: &Value, schema: &Value, value: &Value, at: &str, out: &mut Vec<String>) {
    let Some(rules) = schema.as_object() else {
        out.push(format!("{at}: the schema is not an object"));
        return;
    };
    for (keyword, rule) in rules {
        match keyword.as_str() {
            "$schema" | "title" | "description" | "$defs" => {}
            "$ref" => match rule.as_str().and_then(|path| root.pointer(path.trim_start_matches('#'))) {
                Some(target) => look(root, target, value, at, out),
                None => out.push(format!("{at}: the schema refers to {rule}, which is not there")),
            },
            "type" if !is(value, rule) => out.push(format!("{at}: {value} is not of type {rule}")),
            "const" if value != rule => out.push(format!("{at}: {value} is not {rule}")),
            "enum" if !all(rule).contains(value) => out.push(format!("{at}: {value} is none of {rule}")),
            "minimum" if value.as_f64() < rule.as_f64() => out.push(format!("{at}: {value} is below {rule}")),
            "maximum" if value.as_f64() > rule.as_f64() => out.push(format!("{at}: {value} is above {rule}")),
            "required" => {
                let missing = all(rule).iter().filter_map(Value::as_str).filter(|key| value.get(key).is_none());
                out.extend(missing.map(|key| format!("{at}: `{key}` is missing")));
            }
            "properties" => {
                for (key, inner) in value.as_object().into_iter().flatten() {
                    match rule.get(key) {
                        Some(rule) => look(root, rule, inner, &format!("{at}.{key}"), out),
                        None => out.push(format!("{at}: `{key}` is not in the schema")),
                    }
                }
            }
            "items" => {
                for (n, inner) in all(value).iter().enumerate() {
                    look(root, rule, inner, &format!("{at}[{n}]"), out);
                }
            }
            "minItems" if value.is_array() && (all(value).len() as f64) < rule.as_f64().unwrap_or_default() => {
                out.push(format!("{at}: fewer than {rule} items"));
            }
            "maxItems" if (all(value).len() as f64) > rule.as_f64().unwrap_or_default() => {
                out.push(format!("{at}: more than {rule} items"));
            }
            "minLength" | "maxLength" => {
                let length = value.as_str().map_or(0, |text| text.encode_utf16().count()) as f64;
                let limit = rule.as_f64().unwrap_or_default();
                let fits = if keyword == "minLength" { length >= limit } else { length <= limit };
                if !fits {
                    out.push(format!("{at}: a text of length {length}, {keyword} is {rule}"));
                }
            }
            "anyOf" => {
                let tried: Vec<Vec<String>> = all(rule)
                    .iter()
                    .map(|form| {
                        let mut wrong = Vec::new();
                        look(root, form, value, at, &mut wrong);
                        wrong
                    })
                    .collect();
                if !tried.iter().any(Vec::is_empty) {
                    // The form that it fits best tells most.
                    out.extend(tried.into_iter().min_by_key(Vec::len).unwrap_or_default());
                }
            }
            "type" | "const" | "enum" | "minimum" | "maximum" | "minItems" | "maxItems" => {}
            other => out.push(format!("{at}: the keyword `{other}` is not known here")),
        }
    }
}

fn is(value: &Value, kind: &Value) -> bool {
    match kind.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        _ => false,
    }
}

fn all(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::wrong;

    #[test]
    fn what_fits_has_nothing_wrong_and_the_rest_is_named_with_its_place() {
        let schema = json!({
            "type": "object", "required": ["a"],
            "properties": {"a": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]},
                           "b": {"type": "array", "items": {"$ref": "#/$defs/word"}}},
            "$defs": {"word": {"enum": ["x", "y"]}},
        });
        assert_eq!(wrong(&schema, &json!({"a": 1, "b": ["x"]})), [""; 0]);
        assert_eq!(wrong(&schema, &json!({"a": null})), [""; 0]);
        assert_eq!(wrong(&schema, &json!({"a": 0})), [".a: 0 is below 1"]);
        assert_eq!(wrong(&schema, &json!({})), [": `a` is missing"]);
        assert_eq!(wrong(&schema, &json!({"a": 1, "c": 2})), [": `c` is not in the schema"]);
        assert_eq!(wrong(&schema, &json!({"a": 1, "b": ["z"]})), [r#".b[0]: "z" is none of ["x","y"]"#]);
        assert_eq!(wrong(&json!({"pattern": "x"}), &json!("x")), [": the keyword `pattern` is not known here"]);
    }
}
