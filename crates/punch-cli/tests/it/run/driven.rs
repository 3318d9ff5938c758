//! Agents that report through the plan: the runner verifies and completes, servers and hooks only tell.

use std::fs;

use serde_json::json;

use super::Stage;
use crate::mcp::client::Client;
use crate::world::finished;

#[test]
fn done_by_a_worker_is_reported_and_after_a_crash_it_is_verified_without_a_new_agent() {
    let stage = Stage::new();
    stage.world.ok(&["add", "say so; hang", "--verify", "test -e allowed"]);
    stage.world.punch(&["verify", "--allow", "T-1"]);
    let mut first = stage.command(&[]).spawn().unwrap();
    stage.wait_for("the report", || !stage.trace("said").is_empty());
    let said = stage.trace("said").join("\n");
    let todo = stage.todo("T-1");
    assert_eq!((&todo["status"], &todo["flags"]), (&"in_progress".into(), &json!(["reported"])), "{said}");
    assert!(said.contains("the runner verifies it"), "{said}");
    first.kill().unwrap();
    first.wait().unwrap();
    stage.all_gone();
    fs::write(stage.world.project.join("allowed"), "").unwrap();
    let run = stage.ends(&[], 0);
    assert!(run.stderr.contains("run 1 resumes"), "{}", run.render());
    assert_eq!((stage.status("T-1").as_str(), stage.trace("begun").len()), ("completed", 1));
}

#[test]
fn what_was_reported_and_does_not_pass_goes_to_an_agent_again() {
    let stage = Stage::new();
    stage.world.ok(&["add", "say so; hang", "--verify", "test -e allowed"]);
    stage.world.punch(&["verify", "--allow", "T-1"]);
    let mut command = stage.command(&[]);
    command.env("PUNCH_RUN_IDLE", "400ms");
    let run = finished(command.output().unwrap());
    assert_eq!((run.exit, stage.alive().len()), (Some(1), 0), "{}", run.render());
    assert!(run.stdout.contains("T-1 failed: the check of `T-1`"), "{}", run.render());
    assert_eq!(stage.trace("begun").len(), 2);
}

#[test]
fn server_and_hooks_of_a_driven_agent_act_under_its_name() {
    let stage = Stage::new();
    stage.add(&["hang on", "work"]);
    let mut run = stage.command(&[]).spawn().unwrap();
    stage.wait_for("the agent", || !stage.trace("begun").is_empty());
    let file = stage.world.store().parent().unwrap().join("runs/1-1/session-1.1.json");
    let file = file.to_str().unwrap();
    let mut client = Client::spawn(stage.world.command(&["mcp", "--session", file]));
    client.begin();
    let write = |client: &mut Client, id: &str| {
        let params = json!({"name": "todo_write", "arguments": {"ops": [{"op": "done", "id": id}]}});
        client.request("tools/call", params)["result"].clone()
    };
    let other = write(&mut client, "T-2");
    assert_eq!(other["isError"], true, "{other}");
    let own = write(&mut client, "T-1");
    assert!(own["content"][0]["text"].as_str().unwrap().contains("the runner verifies it"), "{own}");
    assert_eq!(stage.status("T-1"), "in_progress");
    let stop = json!({"session_id": "host-1", "hook_event_name": "Stop", "stop_hook_active": false}).to_string();
    let hook = stage.world.feed(&["hook", "--agent", "claude", "--session", file, "Stop"], &stop);
    assert_eq!((hook.exit, hook.stdout.as_str(), hook.stderr.as_str()), (Some(0), "", ""));
    run.kill().unwrap();
    run.wait().unwrap();
    stage.all_gone();
    assert_eq!(stage.world.refused(&["mcp", "--session", "no-such-file"]), (1, "file".into()));
}
