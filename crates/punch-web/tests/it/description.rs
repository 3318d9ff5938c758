//! The OpenAPI document: checked in, true, and a source of random requests that the server survives.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::client::Server;

#[test]
fn the_description_is_checked_in() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats/openapi.json");
    let made = punch_web::openapi::text();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(stored == made, "docs/formats/openapi.json is old: UPDATE_DOCS=1 cargo test -p punch-web description");
}

struct Random(u64);

impl Random {
    fn next(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below.max(1)
    }

    fn text(&mut self) -> String {
        let words = [
            "T-1",
            "T-2",
            "main",
            "",
            "x",
            "is:ready",
            "<b>",
            "\u{202e}",
            "%",
            "0",
            "-1",
            "99999999999999999999",
            "null",
            "a/b",
            "ü",
            "allow",
        ];
        words[self.next(words.len() as u64) as usize].to_owned()
    }

    /// A value that fits a schema, or sometimes anything.
    fn value(&mut self, document: &Value, schema: &Value, depth: u32) -> Value {
        if depth > 5 || self.next(12) == 0 {
            return match self.next(6) {
                0 => Value::Null,
                1 => json!(self.next(5)),
                2 => json!([]),
                3 => json!({}),
                4 => json!(true),
                _ => json!(self.text()),
            };
        }
        if let Some(reference) = schema["$ref"].as_str() {
            let target = document.pointer(reference.trim_start_matches('#')).cloned().unwrap_or_default();
            return self.value(document, &target, depth + 1);
        }
        for key in ["anyOf", "oneOf", "enum"] {
            if let Some(list) = schema[key].as_array().filter(|list| !list.is_empty()) {
                let one = list[self.next(list.len() as u64) as usize].clone();
                return if key == "enum" { one } else { self.value(document, &one, depth + 1) };
            }
        }
        if let Some(constant) = schema.get("const") {
            return constant.clone();
        }
        match schema["type"].as_str() {
            Some("integer" | "number") => json!(self.next(200)),
            Some("boolean") => json!(self.next(2) == 0),
            Some("array") => (0..self.next(4)).map(|_| self.value(document, &schema["items"], depth + 1)).collect(),
            Some("object") => {
                let mut out = Map::new();
                let required = schema["required"].as_array().cloned().unwrap_or_default();
                for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
                    if required.iter().any(|known| known == name) || self.next(3) == 0 {
                        out.insert(name.clone(), self.value(document, inner, depth + 1));
                    }
                }
                Value::Object(out)
            }
            _ => json!(self.text()),
        }
    }
}

fn escaped(text: &str) -> String {
    text.bytes()
        .map(|byte| if byte.is_ascii_alphanumeric() { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

#[test]
fn no_request_from_the_description_breaks_the_server() {
    let server = Server::start();
    server.ops(json!([{"op": "add", "content": "A"}, {"op": "add", "content": "B", "dependsOn": ["T-1"]}]));
    let document = server.get("/openapi.json").json();
    assert_eq!(document, punch_web::openapi::document());
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut seen = std::collections::BTreeSet::new();
    for round in 0..25 {
        for (path, operations) in document["paths"].as_object().unwrap() {
            for (method, operation) in operations.as_object().unwrap() {
                if path.ends_with("/events") || path.ends_with("/session") {
                    continue;
                }
                let (mut address, mut query) = (path.trim_start_matches("/api/v1").to_owned(), Vec::new());
                for parameter in operation["parameters"].as_array().unwrap() {
                    let name = parameter["name"].as_str().unwrap();
                    let given = match random.value(&document, &parameter["schema"], 0) {
                        Value::String(text) => text,
                        other => other.to_string(),
                    };
                    if parameter["in"] == "path" {
                        let given = if name == "plan" && round % 5 != 0 { "main".to_owned() } else { given };
                        address = address.replace(&format!("{{{name}}}"), &escaped(&given));
                    } else if random.next(2) == 0 {
                        query.push(format!("{name}={}", escaped(&given)));
                    }
                }
                if !query.is_empty() {
                    address = format!("{address}?{}", query.join("&"));
                }
                let answer = if method == "get" {
                    server.get(&address)
                } else {
                    let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
                    server.post(&address, &random.value(&document, schema, 0))
                };
                assert!(
                    answer.status != 500 && answer.status != 0,
                    "{method} {address}: {} {}",
                    answer.status,
                    answer.body
                );
                assert!(answer.status < 500 || answer.status == 503, "{method} {address}: {}", answer.body);
                if answer.status < 400 {
                    seen.insert(operation["operationId"].as_str().unwrap().to_owned());
                } else {
                    let problem = answer.json();
                    for field in ["type", "title", "status", "code", "message", "hint"] {
                        assert!(problem.get(field).is_some(), "{method} {address}: {problem}");
                    }
                    assert_eq!(problem["status"], answer.status);
                }
            }
        }
    }
    for name in ["board", "todos", "history", "graph", "seen"] {
        assert!(seen.contains(name), "{name} never succeeded: {seen:?}");
    }
}
