//! Every refusal of the rules that a request can lead to reaches the client, with its code, its status and a hint.

use std::collections::BTreeSet;
use std::path::Path;

use punch_core::{Op, Ref};
use punch_engine::WriteRequest;
use serde_json::{Value, json};

use crate::client::{Options, Server, engine};

/// Refusals that no request leads to, and why.
const OUT_OF_REACH: &[(&str, &str)] = &[
    ("leased", "requests here come from the user, who overrides claims of agents"),
    ("failing_check", "needs a check that a hook saw fail"),
    ("needs_check", "asks agents for a check, never the user"),
    ("unknown_phase", "ops name phases, and a name that is new makes a phase"),
];

/// A server with todos in several states, at revision 4.
fn server(settings: &[(&'static str, &'static str)]) -> Server {
    let server = Server::with(Options { settings: settings.to_vec(), ..Options::default() });
    server.ops(json!([
        {"op": "add", "content": "A"},
        {"op": "add", "content": "B", "dependsOn": ["T-1"]},
        {"op": "add", "content": "C", "verifyCommand": "true"},
        {"op": "add", "content": "D", "status": "cancelled"},
        {"op": "add", "content": "E"},
    ]));
    server.ops(json!([{"op": "edit", "id": "T-5", "content": "E2"}]));
    server.ops(json!([{"op": "edit", "id": "T-5", "content": "E3"}]));
    // A note of an agent: the user cannot undo it.
    let engine = engine(&server.database(), true).unwrap();
    let note = Op::Note(Ref::Id("T-5".into()), "remains".into());
    let plan = engine.named_plan("main").unwrap().id;
    engine.submit(plan, &WriteRequest::by("codex", Some("codex")), &[note]).unwrap();
    server
}

fn refused(server: &Server, path: &str, body: &Value, expected: (u16, &str)) {
    let before = server.get("/plans/main/board").json()["revision"].clone();
    let answer = server.post(&format!("/plans/main/{path}"), body);
    assert_eq!(answer.problem(), (expected.0, expected.1.to_owned()), "{body}: {}", answer.body);
    let problem = answer.json();
    assert!(problem["hint"].as_str().is_some_and(|hint| !hint.is_empty()), "{problem}");
    assert!(problem["message"].as_str().is_some_and(|message| !message.is_empty()), "{problem}");
    assert_eq!(server.get("/plans/main/board").json()["revision"], before, "nothing was changed");
}

#[test]
fn every_refusal_reaches_the_client() {
    let mut seen: BTreeSet<&str> = OUT_OF_REACH.iter().map(|(code, _)| *code).collect();
    let usual = server(&[]);
    let long = "x".repeat(501);
    let many: Vec<String> = (0..200).map(|n| format!("l{n}")).collect();
    for (ops, code) in [
        (json!([{"op": "nonsense"}]), "invalid"),
        (json!([{"op": "add", "content": "D", "id": "T-1"}]), "duplicate_id"),
        (json!([{"op": "start", "id": "T-99"}]), "unknown_todo"),
        (json!([{"op": "add", "content": "D", "dependsOn": ["T-99"]}]), "unknown_dependency"),
        (json!([{"op": "edit", "id": "T-1", "dependsOn": ["T-2"]}]), "cycle"),
        (json!([{"op": "start", "id": "T-2"}]), "not_ready"),
        (json!([{"op": "start", "id": "T-1"}, {"op": "start", "id": "T-5"}]), "in_progress_limit"),
        (json!([{"op": "fail", "id": "T-4", "error": "x"}]), "transition"),
        (json!([{"op": "done", "id": "T-1", "evidence": "x", "fence": 99}]), "stale_fence"),
        (json!([{"op": "rm", "id": "T-1"}, {"op": "start", "id": "T-1"}]), "removed_in_batch"),
        (json!([{"op": "add", "content": long}]), "too_long"),
        (json!([{"op": "undo", "revision": 99}]), "unknown_revision"),
        (json!([{"op": "undo", "revision": 2}]), "revert_conflict"),
        (json!([{"op": "undo", "revision": 4}]), "nothing_undoable"),
        (json!([{"op": "redo"}]), "nothing_to_redo"),
        (json!([{"op": "add", "content": "D", "labels": ["not a label!"]}]), "invalid_label"),
        (json!([{"op": "add", "content": "D", "labels": many}]), "too_many_labels"),
    ] {
        refused(&usual, "ops", &json!({"ops": ops}), (422, code));
        seen.insert(code);
    }
    let late = json!({"ops": [{"op": "start", "id": "T-1"}], "ifRevision": 1});
    refused(&usual, "ops", &late, (409, "conflict"));
    assert_eq!(usual.post("/plans/main/undo", &json!({"revision": 3})).status, 200);
    refused(&usual, "undo", &json!({"revision": 3}), (422, "already_undone"));
    let checked = server(&[("policy.verify", "command")]);
    refused(&checked, "ops", &json!({"ops": [{"op": "done", "id": "T-1"}]}), (422, "needs_evidence"));
    refused(
        &checked,
        "ops",
        &json!({"ops": [{"op": "add", "content": "x", "status": "completed"}]}),
        (422, "needs_evidence"),
    );
    let unapproved = checked.post("/plans/main/ops", &json!({"ops": [{"op": "done", "id": "T-3"}]})).problem();
    assert_eq!(unapproved.0, 422, "{unapproved:?}");
    seen.extend(["conflict", "already_undone", "needs_evidence"]);
    let fresh = Server::start();
    fresh.ops(json!([{"op": "add", "content": "A"}]));
    assert_eq!(fresh.post("/plans/main/undo", &json!({})).status, 200);
    refused(&fresh, "undo", &json!({}), (422, "nothing_to_undo"));
    seen.insert("nothing_to_undo");
    let rehearsed = json!({"ops": [{"op": "done", "id": "T-3", "evidence": "looked"}]});
    refused(&checked, "rehearse", &rehearsed, (422, "needs_verification"));
    seen.insert("needs_verification");
    let known = codes();
    let known: BTreeSet<&str> = known.iter().map(String::as_str).collect();
    assert_eq!(known.difference(&seen).collect::<Vec<_>>(), Vec::<&&str>::new(), "neither shown nor explained here");
    assert_eq!(seen.difference(&known).collect::<Vec<_>>(), Vec::<&&str>::new(), "no longer refusals");
}

/// The codes of all refusals, read from their source: a new one has to be shown or explained here.
fn codes() -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../punch-core/src/refusal.rs");
    let text = std::fs::read_to_string(path).unwrap();
    let arms = text.lines().filter_map(|line| line.trim().strip_prefix("Self::")?.split_once("{ .. } => \""));
    let codes = arms.filter_map(|(_, rest)| rest.strip_suffix("\","));
    codes.filter(|code| code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')).map(str::to_owned).collect()
}
