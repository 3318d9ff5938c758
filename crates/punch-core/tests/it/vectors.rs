//! Every recorded answer of the reference implementations, replayed the way `punch replay` does it.

use punch_core::replay::{Recording, line};
use serde_json::Value;

/// Free by agreement: the message of a refused shape.
fn without_free_text(mut result: Value, expected: &Value) -> Value {
    if let Some(map) = result.as_object_mut() {
        if expected.get("error").is_none() {
            map.shift_remove("error");
        }
        // Edges are sets in the extended format.
        if let Some(Value::Array(todos)) = map.get_mut("todos") {
            todos.iter_mut().for_each(sort_edges);
        }
    }
    result
}

fn sort_edges(todo: &mut Value) {
    for key in ["dependsOn", "blocks"] {
        if let Some(Value::Array(ids)) = todo.get_mut(key) {
            ids.sort_by_key(ToString::to_string);
        }
    }
}

fn check(dialect: &str, file: &str) {
    let dialect = Recording::parse(dialect).unwrap();
    let text = std::fs::read_to_string(format!("{}/tests/vectors/{file}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let mut lines = 0;
    for raw in text.split('\n').filter(|l| !l.is_empty()) {
        let vector: Value = serde_json::from_str(raw).unwrap();
        let reply = line(dialect, raw.as_bytes());
        assert!(reply.readable, "{}: {}", vector["id"], reply.json);
        assert_eq!(reply.json["id"], vector["id"]);
        let expected = match &vector["expected"] {
            Value::Array(list) => list.clone(),
            one => vec![one.clone()],
        };
        let results = reply.json["results"].as_array().unwrap();
        assert_eq!(results.len(), expected.len(), "{}", vector["id"]);
        for (n, (result, expected)) in results.iter().zip(&expected).enumerate() {
            let mut expected = expected.clone();
            if let Some(Value::Array(todos)) = expected.get_mut("todos") {
                todos.iter_mut().for_each(sort_edges);
            }
            let result = without_free_text(result.clone(), &expected);
            assert_eq!(
                serde_json::to_string_pretty(&result).unwrap(),
                serde_json::to_string_pretty(&expected).unwrap(),
                "line {} call {n} of {file}",
                vector["id"],
            );
        }
        lines += 1;
    }
    assert!(lines > 20, "{file} has only {lines} lines");
}

#[test]
fn cursor_vectors_are_reproduced() {
    check("cursor", "cursor.jsonl");
}

#[test]
fn todowrite_vectors_are_reproduced() {
    check("todowrite", "todowrite.jsonl");
}

#[test]
fn extended_vectors_are_reproduced() {
    check("extended", "extended.jsonl");
}

#[test]
fn phases_vectors_are_reproduced() {
    check("phases", "oh-my-pi-ops.jsonl");
}

#[test]
fn phases_markdown_vectors_are_reproduced() {
    check("phases-markdown", "oh-my-pi-markdown.jsonl");
}

#[test]
fn phases_command_vectors_are_reproduced() {
    check("phases-commands", "oh-my-pi-commands.jsonl");
}
