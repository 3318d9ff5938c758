//! `punch assign` and `punch plan-file build`, with a program in place of the agent that does what hosts do.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::mcp::client::Client;
use crate::punch::Run;
use crate::world::{PUNCH, World, finished};

/// Puts a shell script on the path under the name of an agent.
fn install(world: &World, name: &str, script: &str) {
    let folder = world.root.join("bin");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{}\n", script.replace("punch ", &format!("{PUNCH} ")))).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn run(world: &World, arguments: &[&str]) -> Run {
    let path = format!("{}:/usr/bin:/bin", world.root.join("bin").display());
    finished(world.command(arguments).env("PATH", path).env("CLAUDE_CODE_SESSION_ID", "parent").output().unwrap())
}

fn planned() -> World {
    let world = World::with_git();
    for content in ["Write it", "Test it", "Someone else's"] {
        world.ok(&["add", content]);
    }
    world
}

fn status(world: &World, id: &str) -> String {
    world.json(&["show", id])["todo"]["status"].as_str().unwrap().to_owned()
}

#[test]
fn the_text_for_a_conversation_of_ones_own_is_printed() {
    let world = planned();
    let run = world.punch(&["assign", "T-2", "write it", "--to", "print"]);
    assert_eq!(run.exit, Some(0));
    assert_snapshot!(run.stdout, @r"
    Implement the following to-dos from the plan.
    You have been assigned the following 2 to-do(s) with IDs: T-2, T-1

    1. [T-2] Test it
    2. [T-1] Write it

    These to-dos have already been created in the plan that punch keeps: do not create them again. Mark them as in_progress as you work, starting with the first one, and as completed once they are done. Don't stop until you have completed all the assigned to-dos; what cannot be done, mark as failed and say why. Other to-dos of the plan belong to someone else.
    Do NOT edit a plan file: punch updates it.
    ");
    assert!(run.stderr.contains("PUNCH_ASSIGNED=mcp-assigned-"), "{}", run.stderr);
    let printed = world.json_of(&["assign", "T-2", "--to", "print", "--json"]);
    assert_eq!(printed["ids"], json!(["T-2"]));
}

#[test]
fn what_cannot_be_assigned_is_refused() {
    let world = planned();
    world.ok(&["drop", "T-1"]);
    assert_eq!(world.refused(&["assign", "T-1", "--to", "print"]), (1, "transition".into()));
    assert_eq!(world.refused(&["assign", "T-9", "--to", "print"]), (1, "unknown_todo".into()));
    world.ok(&["config", "set", "subagents", "off"]);
    assert_eq!(world.refused(&["assign", "T-2", "--to", "print"]), (1, "subagents_off".into()));
    let none =
        world.command(&["assign", "T-2", "--to", "qwen", "--json"]).env("PUNCH_SUBAGENTS", "conservative").output();
    let answer: Value = serde_json::from_slice(&none.unwrap().stdout).unwrap();
    assert_eq!(answer["error"]["code"], "no_agent");
}

#[test]
fn an_agent_works_on_what_it_was_given_and_on_nothing_else() {
    let world = planned();
    // Its host reports as hosts do: the conversation has a name of its own, and the name of the assignment is inherited.
    install(
        &world,
        "claude",
        r#"test "$1" = -p && test "$3" = --model || exit 9
test -z "$CLAUDE_CODE_SESSION_ID" || exit 8
echo "$2" > asked.txt
echo '{"session_id":"child","source":"startup"}' | punch hook --agent claude SessionStart > begun.txt
echo '{"session_id":"child","prompt":"x"}' | punch hook --agent claude UserPromptSubmit
echo '{"session_id":"child"}' | punch hook --agent claude Stop > first.txt
(
echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"child","version":"1"}}}'
echo '{"jsonrpc":"2.0","method":"notifications/initialized"}'
echo '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"todo_write","arguments":{"ops":[{"op":"done","id":"T-3"}]}}}'
echo '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"todo_write","arguments":{"ops":[{"op":"start","id":"T-1"}]}}}'
echo '{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"todo_write","arguments":{"ops":[{"op":"done","id":"T-1"}]}}}'
) | CLAUDE_CODE_SESSION_ID=child punch mcp > calls.txt
echo '{"session_id":"child"}' | punch hook --agent claude Stop > last.txt
echo the agent speaks"#,
    );
    let done = run(&world, &["assign", "T-1", "--to", "claude", "--", "--model", "x"]);
    assert_eq!(done.exit, Some(0), "{}", done.render());
    assert_snapshot!(done.stdout, @r"
    [x] T-1  Write it
    claude has finished
    ");
    // Some agents print nothing until they have finished.
    let (before, _) = done.stderr.split_once("the agent speaks").unwrap();
    assert!(before.contains("Claude Code is working on T-1; its output follows"), "{}", done.stderr);
    let said = |name: &str| fs::read_to_string(world.project.join(name)).unwrap();
    assert!(said("asked.txt").contains("1. [T-1] Write it"));
    assert!(said("begun.txt").contains("T-1") && !said("begun.txt").contains("T-3"), "{}", said("begun.txt"));
    assert!(said("first.txt").contains("1 of 1 todo is open"), "{}", said("first.txt"));
    assert!(said("calls.txt").contains("a worker session may not"), "{}", said("calls.txt"));
    assert!(
        said("last.txt").contains("punch: finished, the only todo is closed."),
        "whatever else is open: {}",
        said("last.txt")
    );
    assert_eq!((status(&world, "T-1"), status(&world, "T-3")), ("completed".into(), "pending".into()));
    let log = world.ok(&["log"]);
    assert!(log.contains("T-1 completed"), "{log}");
}

#[test]
fn an_agent_without_hooks_is_kept_to_its_todos_too() {
    let world = planned();
    let given = world.json_of(&["assign", "T-1", "--to", "print", "--json"]);
    let mut command = world.command(&["mcp"]);
    command.env("PUNCH_ASSIGNED", given["session"].as_str().unwrap());
    let mut client = Client::spawn(command);
    client.begin();
    assert!(
        client.call("todo_write", json!({"ops": [{"op": "done", "id": "T-2"}]})).contains("a worker session may not")
    );
    client.call("todo_write", json!({"ops": [{"op": "done", "id": "T-1"}]}));
    client.end();
    assert_eq!((status(&world, "T-1"), status(&world, "T-2")), ("completed".into(), "pending".into()));
}

#[test]
fn only_the_first_conversation_takes_an_assignment() {
    let world = planned();
    let given = world.json_of(&["assign", "T-1", "--to", "print", "--json"]);
    let begin = |session: &str| {
        let mut command = world.command(&["hook", "--agent", "claude", "SessionStart"]);
        command.env("PUNCH_ASSIGNED", given["session"].as_str().unwrap());
        world.feed_command(command, &json!({"session_id": session, "source": "startup"}).to_string());
        let stop = json!({"session_id": session}).to_string();
        world.feed(&["hook", "--agent", "claude", "Stop"], &stop).stdout
    };
    assert!(begin("child").contains("1 of 1 todo"));
    assert_eq!(begin("grandchild"), "", "it was started by the child and is nobody's worker");
}

#[test]
fn an_agent_that_leaves_work_is_told_of_with_the_exit_code() {
    let world = planned();
    install(&world, "codex", "exit 7");
    let done = run(&world, &["assign", "T-1", "--to", "codex"]);
    assert_eq!(done.exit, Some(1));
    assert_snapshot!(done.stdout, @r"
    [ ] T-1  Write it
    codex failed (exit status: 7) with 1 left open
    ");
}

#[test]
fn building_a_plan_file_takes_what_is_left_and_remembers_who_does_it() {
    let world = World::with_git();
    let text = "---\nname: x\ntodos:\n  - {id: a, content: A, status: completed}\n  - {id: b, content: B}\n  - {id: c, \
                content: C, status: cancelled}\n  - {id: d, content: D}\n---\n";
    fs::write(world.project.join("x.plan.md"), text).unwrap();
    world.ok(&["plan-file", "link", "x.plan.md"]);
    install(&world, "gemini", "echo \"$2\" > asked.txt\npunch start b\npunch done b d");
    let done = run(&world, &["plan-file", "build", "--to", "gemini"]);
    assert_eq!(done.exit, Some(0), "{}", done.render());
    let asked = fs::read_to_string(world.project.join("asked.txt")).unwrap();
    assert!(asked.contains("following 2 to-do(s) with IDs: b, d\n\n1. [b] B\n2. [d] D\n"), "{asked}");
    assert!(asked.contains("Do NOT edit the plan file itself"), "{asked}");
    let written = fs::read_to_string(world.project.join("x.plan.md")).unwrap();
    assert_eq!(
        written,
        text.replace("content: B", "content: B, status: completed")
            .replace("content: D", "content: D, status: completed")
    );
    let status = world.json(&["plan-file", "status"]);
    let built: Vec<Value> = status["builtBy"].as_object().unwrap().values().cloned().collect();
    assert_eq!(built, [json!(["b", "d"])]);
    assert_eq!(world.json(&["plan-file", "build", "--to", "print"])["ids"], json!([]));
}

#[test]
fn a_conversation_whose_process_ends_early_is_gone_on_with() {
    let world = planned();
    let rounds = world.project.join("rounds.txt");
    // The first round stops early, the second finishes; a third would say so.
    install(
        &world,
        "opencode",
        r#"echo "$1 $3 $4" >> rounds.txt
echo '{"sessionID":"ses_1","parts":"x"}' | punch hook --agent opencode chat.message > /dev/null
test "$3" = --session && punch done T-1
echo '{"sessionID":"ses_1"}' | punch hook --agent opencode session.idle > /dev/null
exit 0"#,
    );
    let done = run(&world, &["assign", "T-1", "--to", "opencode"]);
    assert_eq!(done.exit, Some(0), "{}", done.render());
    assert_eq!(fs::read_to_string(&rounds).unwrap(), "run  \nrun --session ses_1\n");
    // One that never gets anywhere is let go.
    fs::remove_file(&rounds).unwrap();
    install(
        &world,
        "opencode",
        r#"echo round >> rounds.txt
echo '{"sessionID":"ses_2","parts":"x"}' | punch hook --agent opencode chat.message > /dev/null
echo '{"sessionID":"ses_2"}' | punch hook --agent opencode session.idle > /dev/null
exit 0"#,
    );
    assert_eq!(run(&world, &["assign", "T-2", "--to", "opencode"]).exit, Some(1));
    assert_eq!(fs::read_to_string(&rounds).unwrap().lines().count(), 4);
}

#[test]
fn a_todo_that_an_agent_works_on_is_not_handed_out() {
    let world = planned();
    world.ok(&["claim", "T-1", "--owner", "other"]);
    assert_eq!(world.refused(&["assign", "T-1", "T-2", "--to", "print"]), (1, "leased".into()));
    assert_eq!(world.refused(&["assign", "T-1", "--to", "print", "--owner", "third"]), (1, "leased".into()));
    world.ok(&["fail", "T-1", "--owner", "other", "--error", "no"]);
    world.ok(&["reopen", "T-1"]);
    assert_eq!(world.punch(&["assign", "T-1", "T-2", "--to", "print"]).exit, Some(0));
}

#[test]
fn the_shell_of_a_worker_offers_its_own_todos_only() {
    let world = planned();
    world.ok(&["edit", "T-3", "--priority", "1"]);
    let given = world.json_of(&["assign", "T-2", "--to", "print", "--json"]);
    let assigned = given["session"].as_str().unwrap().to_owned();
    let shell = |marks: &[(&str, &str)], arguments: &[&str]| -> Value {
        let run = finished(world.command(arguments).envs(marks.iter().copied()).output().unwrap());
        serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}", run.render()))
    };
    let before = [("PUNCH_ASSIGNED", assigned.as_str())];
    let session = json!({"session_id": "child", "source": "startup", "cwd": world.project}).to_string();
    let offered = |marks: &[(&str, &str)]| {
        assert_eq!(shell(marks, &["next", "--json"])["todo"]["id"], "T-2", "{marks:?}");
        let ready = shell(marks, &["ready", "--json"]);
        assert_eq!(ready["todos"].as_array().unwrap().len(), 1, "{ready}");
        let batch = shell(marks, &["next", "--budget", "500000", "--json"]);
        assert_eq!(batch["todos"].as_array().unwrap().len(), 1, "{batch}");
    };
    offered(&before);
    // Once the conversation has a name of its own, that name is enough.
    let mut begin = world.command(&["hook", "--agent", "claude", "SessionStart"]);
    begin.env("PUNCH_ASSIGNED", &assigned);
    world.feed_command(begin, &session);
    offered(&before);
    offered(&[("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", "child")]);
    assert_eq!(shell(&[("CLAUDECODE", "1")], &["next", "--json"])["todo"]["id"], "T-3", "no worker");
    assert_eq!(shell(&[("PUNCH_ASSIGNED", "mcp-assigned-none")], &["next", "--json"])["todo"], Value::Null);
}
