//! Bad input is refused with a code, a message and a hint, and nothing changes. No bytes lead to a panic.

use proptest::prelude::*;
use punch_core::dialect::Dialect;
use punch_core::replay::{Recording, line};
use punch_testkit::fuzz::presentable;
use serde_json::{Map, Value, json};

/// What a plan shows after a good call, and after the same good call and a bad one.
fn bad_native(op: Value) -> Value {
    let good = json!({"ops": [
        {"op": "add", "id": "a", "content": "A"},
        {"op": "add", "id": "b", "content": "B", "dependsOn": ["a"]},
    ]});
    let ops = if op.is_array() { op } else { json!([op]) };
    let text = json!({"id": 1, "calls": [good, {"ops": ops}]}).to_string();
    let reply = line(Dialect::Native, text.as_bytes()).json;
    let (before, after) = (&reply["results"][0], &reply["results"][1]);
    assert_eq!(after["success"], false, "{ops} was accepted: {after}");
    for key in ["todos", "ready", "revision"] {
        assert_eq!(before[key], after[key], "{ops} changed {key}");
    }
    let error = after["errors"][0].clone();
    presentable(&error);
    error
}

#[test]
fn native_refuses_with_the_code_that_fits_and_changes_nothing() {
    let long = "x".repeat(501);
    let longer = "x".repeat(8_001);
    let table = [
        ("invalid", json!({"op": "start"})),
        ("invalid", json!({"op": "start", "id": ""})),
        ("invalid", json!({"op": "start", "id": null})),
        ("invalid", json!({"op": "start", "ids": []})),
        ("invalid", json!({"op": "rm", "ids": [""]})),
        ("invalid", json!({"op": "done", "ids": ["a", ""]})),
        ("invalid", json!({"op": "done", "id": "a", "ids": ["b"]})),
        ("invalid", json!({"op": "drop", "id": 7})),
        ("invalid", json!({"op": "drop", "id": ["a"]})),
        ("invalid", json!({"op": "clear"})),
        ("invalid", json!({"op": null, "id": "a"})),
        ("invalid", json!({"id": "a"})),
        ("invalid", json!("start a")),
        ("invalid", json!([])),
        ("invalid", json!({"op": "add"})),
        ("invalid", json!({"op": "add", "content": ""})),
        ("invalid", json!({"op": "add", "content": "  "})),
        ("invalid", json!({"op": "add", "content": "two\nlines"})),
        ("invalid", json!({"op": "add", "content": 1})),
        ("invalid", json!({"op": "add", "content": "x", "title": "y"})),
        ("invalid", json!({"op": "add", "content": "x", "priority": 0})),
        ("invalid", json!({"op": "add", "content": "x", "priority": 6})),
        ("invalid", json!({"op": "add", "content": "x", "priority": 2.5})),
        ("invalid", json!({"op": "add", "content": "x", "priority": "high"})),
        ("invalid", json!({"op": "add", "content": "x", "priority": 1e300})),
        ("invalid", json!({"op": "add", "content": "x", "status": "blocked"})),
        ("invalid", json!({"op": "add", "content": "x", "complexity": "huge"})),
        ("invalid", json!({"op": "add", "content": "x", "dependsOn": "a"})),
        ("invalid", json!({"op": "add", "content": "x", "dependsOn": [1]})),
        ("invalid", json!({"op": "add", "content": "x", "dependsOn": [""]})),
        ("invalid", json!({"op": "add", "content": "x", "id": ""})),
        ("invalid", json!({"op": "add", "content": "x", "id": " a"})),
        ("invalid", json!({"op": "add", "content": "x", "id": "a\u{7}b"})),
        ("invalid", json!({"op": "add", "content": "x", "id": "i".repeat(201)})),
        ("invalid", json!({"op": "add", "content": "x", "contnet": "y"})),
        ("invalid", json!({"op": "add", "content": "x", "k".repeat(9_000): "y"})),
        ("invalid", json!({"op": "add", "content": "x", "before": "a", "after": "b"})),
        ("invalid", json!({"op": "note", "id": "a"})),
        ("invalid", json!({"op": "note", "id": "a", "text": " "})),
        ("invalid", json!({"op": "hold", "id": "a"})),
        ("invalid", json!({"op": "hold", "id": "a", "reason": "x", "kind": "timer"})),
        ("invalid", json!({"op": "hold", "id": "a", "reason": "x", "until": 5})),
        ("invalid", json!({"op": "hold", "id": "a", "reason": "x", "kind": "z".repeat(9_000)})),
        ("invalid", json!({"op": "revert"})),
        ("invalid", json!({"op": "revert", "revision": -1})),
        ("invalid", json!({"op": "z".repeat(9_000)})),
        ("invalid", json!([{"op": "revert", "revision": 1}, {"op": "drop", "id": "a"}])),
        ("unknown_revision", json!({"op": "revert", "revision": 0})),
        ("unknown_revision", json!({"op": "revert", "revision": 9})),
        ("unknown_revision", json!({"op": "revert", "revision": u64::MAX})),
        ("too_long", json!({"op": "add", "content": long})),
        ("too_long", json!({"op": "note", "id": "a", "text": longer})),
        ("too_long", json!({"op": "edit", "id": "a", "description": longer})),
        ("unknown_todo", json!({"op": "start", "id": "aa"})),
        ("unknown_todo", json!({"op": "start", "id": "q".repeat(9_000)})),
        ("unknown_todo", json!({"op": "start", "ids": ["a", "nobody"]})),
        ("unknown_todo", json!({"op": "move", "id": "a", "after": "nobody"})),
        ("unknown_dependency", json!({"op": "edit", "id": "a", "dependsOn": ["nobody"]})),
        ("unknown_dependency", json!({"op": "edit", "id": "a", "blocks": ["q".repeat(9_000)]})),
        ("duplicate_id", json!({"op": "add", "id": "a", "content": "again"})),
        ("duplicate_id", json!({"op": "edit", "id": "a", "newId": "b"})),
        ("duplicate_id", json!([{"op": "add", "id": "c", "content": "1"}, {"op": "add", "id": "c", "content": "2"}])),
        ("duplicate_id", json!({"op": "replace", "todos": [{"id": "c", "content": "1"}, {"id": "c", "content": "2"}]})),
        ("cycle", json!({"op": "edit", "id": "a", "dependsOn": ["a"]})),
        ("cycle", json!({"op": "edit", "id": "a", "dependsOn": ["b"]})),
        ("cycle", json!({"op": "edit", "id": "b", "blocks": ["a"]})),
        ("not_ready", json!({"op": "start", "id": "b"})),
        ("not_ready", json!({"op": "done", "id": "b"})),
        ("not_ready", json!({"op": "fail", "id": "b"})),
        ("stale_fence", json!({"op": "done", "id": "a", "fence": 3})),
        ("removed_in_batch", json!([{"op": "rm", "id": "a"}, {"op": "start", "id": "a"}])),
        ("in_progress_limit", json!([{"op": "add", "id": "c", "content": "C"}, {"op": "start", "ids": ["a", "c"]}])),
        ("transition", json!([{"op": "done", "id": "a"}, {"op": "hold", "id": "a", "reason": "x"}])),
    ];
    for (code, op) in table {
        assert_eq!(bad_native(op.clone())["code"], code, "{:.200}", op.to_string());
    }
}

#[test]
fn a_refusal_about_long_ids_stays_short() {
    let id = |n: usize| format!("{n}{}", "i".repeat(190));
    let adds: Vec<Value> = (0..12)
        .map(|n| json!({"op": "add", "id": id(n), "content": "x", "dependsOn": if n > 0 { vec![id(n - 1)] } else { vec![] }}))
        .collect();
    let waits = json!({"op": "add", "id": id(20), "content": "x", "dependsOn": (0..12).map(id).collect::<Vec<_>>()});
    let calls = json!([
        {"ops": adds}, {"ops": [waits]},
        {"ops": [{"op": "edit", "id": id(0), "dependsOn": [id(11)]}]},
        {"ops": [{"op": "start", "id": id(20)}]},
        {"ops": [{"op": "start", "id": id(21)}]},
        {"ops": [{"op": "edit", "id": id(20), "dependsOn": [id(21)]}]},
    ]);
    let reply = line(Dialect::Native, json!({"id": 1, "calls": calls}).to_string().as_bytes()).json;
    let codes = ["cycle", "not_ready", "unknown_todo", "unknown_dependency"];
    for (result, code) in reply["results"].as_array().unwrap()[2..].iter().zip(codes) {
        assert_eq!(result["errors"][0]["code"], code);
        presentable(&result["errors"][0]);
    }
}

#[test]
fn lines_that_cannot_be_read_are_answered_with_an_error() {
    let deep = [b"[".repeat(100_000), b"]".repeat(100_000)].concat();
    let nested = format!("{}1{}", "{\"calls\":".repeat(50_000), "}".repeat(50_000)).into_bytes();
    let lines: Vec<Vec<u8>> = vec![
        b"".to_vec(),
        b"null".to_vec(),
        b"[]".to_vec(),
        b"{".to_vec(),
        b"{}".to_vec(),
        b"{\"calls\": 7}".to_vec(),
        b"\xff\xfe".to_vec(),
        b"{\"id\": \"\xc3\"}".to_vec(),
        br#"{"calls": [], "x": "\ud800"}"#.to_vec(),
        br#"{"calls": [{"todos": [{"content": "\udc00 low"}]}]}"#.to_vec(),
        br#"{"calls": [{"todos": [{"content": "\ud83d"}]}]}"#.to_vec(),
        deep,
        nested,
    ];
    for recording in Recording::ALL {
        for text in &lines {
            let reply = line(*recording, text);
            if *recording == Recording::PhasesMarkdown && reply.readable {
                continue;
            }
            assert!(!reply.readable, "{recording:?} read {:.80}", String::from_utf8_lossy(text));
            assert_eq!(reply.json["id"], Value::Null);
            presentable(&reply.json["error"]);
        }
    }
}

#[test]
fn the_other_dialects_refuse_wrong_shapes_and_keep_their_list() {
    let todo = |key: &str, value: Value| {
        let mut todo = json!({"id": "a", "content": "x", "title": "x", "status": "pending", "activeForm": "x"});
        todo[key] = value;
        todo
    };
    let wrong = [
        todo("id", json!(1)),
        todo("content", json!(["x"])),
        todo("status", json!("done")),
        todo("status", json!(3)),
        json!("a"),
        json!(null),
    ];
    for (dialect, extra) in [
        (Dialect::Cursor, json!({"merge": false})),
        (Dialect::Todowrite, json!({})),
        (Dialect::Extended, json!({"mode": "replace"})),
    ] {
        let call = |todos: Value| {
            let mut call = extra.clone();
            call["todos"] = todos;
            call
        };
        for bad in wrong.iter().map(|bad| json!([bad])).chain([json!(7), json!({}), Value::Null]) {
            let text =
                json!({"id": 1, "calls": [call(json!([todo("id", json!("a"))])), call(bad.clone())]}).to_string();
            let results = line(dialect, text.as_bytes()).json["results"].clone();
            assert_eq!(results[0]["success"], true, "{dialect:?}: {}", results[0]);
            assert_eq!(results[1]["success"], false, "{dialect:?} took {bad}: {}", results[1]);
            for key in ["items", "todos"] {
                assert_eq!(results[0][key], results[1][key], "{dialect:?}");
            }
        }
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(vec![
        "add",
        "edit",
        "start",
        "done",
        "replace",
        "patch",
        "merge",
        "a",
        "T-1",
        "",
        "pending",
        "blocked",
        "completed",
        "\u{0}",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word.prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    let key = prop::sample::select(vec![
        "id",
        "ids",
        "op",
        "ops",
        "calls",
        "batches",
        "commands",
        "todos",
        "content",
        "title",
        "status",
        "dependsOn",
        "dependencies",
        "blocks",
        "mode",
        "merge",
        "kind",
        "input",
        "initial",
        "revision",
        "priority",
        "name",
        "tasks",
    ]);
    leaf.prop_recursive(6, 64, 5, move |inner| {
        let fields = prop::collection::vec((key.clone(), inner.clone()), 0..6);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Value::from),
            fields.prop_map(|f| f.into_iter().map(|(k, v)| (k.to_owned(), v)).collect::<Map<_, _>>().into()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_json_is_answered_by_every_dialect(call in any_json(), more in any_json(), initial in prop::option::of(any_json())) {
        for recording in Recording::ALL {
            let mut text = json!({"id": 1, "kind": "md", "input": call, "calls": [call, more], "batches": [call, more], "commands": [call, more]});
            if let Some(initial) = &initial {
                text["initial"] = initial.clone();
            }
            let reply = line(*recording, text.to_string().as_bytes());
            prop_assert!(reply.json.is_object());
            let bare = line(*recording, call.to_string().as_bytes());
            prop_assert!(bare.json.is_object());
        }
    }

    #[test]
    fn any_bytes_are_answered_by_every_dialect(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        for recording in Recording::ALL {
            prop_assert!(line(*recording, &bytes).json.is_object());
        }
    }
}
