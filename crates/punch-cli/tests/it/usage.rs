//! What todos took, and what schedules make of it.

use serde_json::json;

use crate::world::World;

#[test]
fn use_is_reported_and_estimates_learn_from_it() {
    let world = World::new();
    assert_eq!(
        world.ok(&["report"]),
        "No usage recorded yet. Connected agents record it; `punch stats record T-1 --tokens 5000` does it by hand.\n"
    );
    world.ok(&["add", "one", "--complexity", "large"]);
    world.ok(&["add", "two", "--complexity", "small"]);
    assert_eq!(
        world.ok(&["usage", "T-1", "--tokens", "100000", "--seconds", "90"]),
        "T-1: 100,000 tokens, 90 s in attempt 1\n"
    );
    assert_eq!(world.json(&["usage", "T-1", "--tokens", "100000"])["tokens"], 200_000);
    assert_eq!(world.json(&["schedule"])["windows"][0]["todos"], json!(["T-1", "T-2"]));
    world.ok(&["done", "T-1"]);
    let report = world.json(&["report"]);
    assert_eq!((&report["calibration"], &report["total"]["bias"]), (&json!(2.0), &json!(4.0)));
    assert_eq!(report["todos"][0]["seconds"], 90);
    assert_eq!(world.json(&["schedule"])["windows"][0]["estimatedTokens"], 16_000);
    insta::assert_snapshot!(world.ok(&["report"]), @r#"
     estimated     actual   used  todo
        50,000    200,000   400%  T-1

    large: 1 todo took 400% of the estimate
    all finished: 1 todo took 400% of the estimate
    punch now multiplies estimates by 2.00, learned from these todos
    "#);
    assert_eq!(world.refused(&["usage", "T-9", "--tokens", "1"]), (1, "unknown_todo".to_owned()));
}

#[test]
fn next_within_a_budget_is_a_batch_or_the_advice_to_save() {
    let world = World::new();
    world.ok(&["add", "one", "--tokens", "8000"]);
    world.ok(&["add", "two", "--tokens", "20000", "--needs", "T-1"]);
    let answer = world.json(&["next", "--budget", "40000"]);
    assert_eq!((&answer["estimatedTokens"], &answer["advice"]), (&json!(28_000), &json!(null)));
    assert_eq!(answer["todos"][1], json!({"id": "T-2", "estimatedTokens": 20_000, "assumed": false}));
    let answer = world.json(&["next", "--budget", "0"]);
    assert_eq!((&answer["todos"], &answer["tooLarge"]["id"]), (&json!([]), &json!("T-1")));
    assert!(answer["advice"].as_str().unwrap().starts_with("checkpoint now"));
}

#[test]
fn what_hooks_see_is_reported_without_anybody_typing_it() {
    let world = World::with_git();
    let transcript = world.root.join("conversation.jsonl");
    let says = |size: u64| {
        let line = json!({"type": "assistant", "message": {"model": "m", "usage": {"input_tokens": size}}});
        let before = std::fs::read_to_string(&transcript).unwrap_or_default();
        std::fs::write(&transcript, format!("{before}{line}\n")).unwrap();
    };
    let hook = |event: &str, more: serde_json::Value| {
        let mut report = json!({"session_id": "s", "hook_event_name": event, "transcript_path": transcript});
        report.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        assert_eq!(world.feed(&["hook", "--agent", "claude", event], &report.to_string()).exit, Some(0));
    };
    let list = |status: &str| {
        let todos = json!([{"content": "one", "activeForm": "one", "status": status}]);
        hook("PostToolUse", json!({"tool_name": "TodoWrite", "tool_input": {"todos": todos}, "tool_response": {}}));
    };
    says(10_000);
    list("in_progress");
    says(14_000);
    hook("Stop", json!({"stop_hook_active": false}));
    says(15_000);
    list("completed");
    hook("Stop", json!({"stop_hook_active": false}));
    let report = world.json(&["report"]);
    assert_eq!((&report["total"]["count"], &report["total"]["actual"]), (&json!(1), &json!(5_000)));
}

#[test]
fn a_batch_that_was_given_leaves_a_checkpoint_when_it_is_done() {
    let world = World::with_git();
    world.ok(&["add", "one", "two", "three", "--tokens", "8000"]);
    assert_eq!(world.json(&["next", "--budget", "23000"])["todos"].as_array().unwrap().len(), 2);
    let why = || world.json(&["checkpoint", "list"])["checkpoints"].clone();
    assert_eq!(world.punch(&["done", "T-1"]).stderr, "");
    let last = world.punch(&["done", "T-2"]);
    assert!(last.exit == Some(0) && last.stderr.contains(": a batch of work is done"), "{}", last.stderr);
    let list = why();
    assert_eq!((list.as_array().map(Vec::len), &list[0]["why"]), (Some(1), &json!("batch")));
    world.ok(&["config", "set", "checkpoint.batches", "off"]);
    world.ok(&["next", "--budget", "23000"]);
    assert_eq!(world.punch(&["done", "T-3"]).stderr, "");
    assert_eq!(why().as_array().map(Vec::len), Some(1));
}

#[test]
fn a_host_that_leaves_out_the_last_of_a_batch_ends_it() {
    let world = World::with_git();
    let list = |rows: &[(&str, &str)]| {
        let row = |(content, status): &(&str, &str)| json!({"content": content, "status": status, "activeForm": "a"});
        let input = json!({"todos": rows.iter().map(row).collect::<Vec<_>>()});
        let report = json!({"session_id": "s", "tool_name": "TodoWrite", "tool_input": input, "tool_response": {}});
        let run = world.feed(&["hook", "--agent", "claude", "PostToolUse"], &report.to_string());
        assert_eq!((run.exit, run.stderr.as_str()), (Some(0), ""));
    };
    list(&[("one", "pending"), ("two", "pending"), ("three", "pending")]);
    assert_eq!(world.json(&["next", "--budget", "58000"])["todos"].as_array().unwrap().len(), 2);
    world.ok(&["done", "T-1"]);
    list(&[("three", "pending")]);
    let all = world.json(&["checkpoint", "list"])["checkpoints"].clone();
    assert_eq!((all.as_array().map(Vec::len), &all[0]["why"]), (Some(1), &json!("batch")));
    let shown = world.json(&["checkpoint", "show"]);
    assert_eq!(shown["checkpoint"]["git"]["commit"].as_str().map(str::len), Some(40), "{shown}");
}
