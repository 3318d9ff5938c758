//! `punch hook` as hosts call it: silent where it has nothing to say, never a reason to fail.

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::world::World;

const AGENTS: &[(&str, &str)] = &[
    ("claude", "Stop"),
    ("codex", "Stop"),
    ("qwen", "Stop"),
    ("gemini", "AfterAgent"),
    ("cursor", "stop"),
    ("opencode", "session.idle"),
    ("copilot", "Stop"),
    ("droid", "Stop"),
];

fn hook(world: &World, agent: &str, event: &str, report: &str) {
    let run = world.feed(&["hook", "--agent", agent, event], report);
    assert_eq!((run.exit, run.stdout.as_str(), run.stderr.as_str()), (Some(0), "", ""), "{agent} {event}: {report}");
}

fn log(world: &World) -> String {
    fs::read_to_string(world.root.join("home/.local/state/punch/hook.log")).unwrap_or_default()
}

fn todo_write(session: &str, call: &str, todos: &[(&str, &str)]) -> String {
    let item = |(content, status): &(&str, &str)| json!({"content": content, "status": status, "activeForm": content});
    let todos: Vec<Value> = todos.iter().map(item).collect();
    json!({"session_id": session, "hook_event_name": "PostToolUse", "tool_name": "TodoWrite", "tool_use_id": call,
        "tool_input": {"todos": todos}, "tool_response": {}})
    .to_string()
}

fn contents(world: &World) -> Vec<(String, String)> {
    let listed = world.json(&["list", "--all"]);
    let text = |todo: &Value, key: &str| todo[key].as_str().unwrap_or_default().to_owned();
    listed["todos"].as_array().unwrap().iter().map(|todo| (text(todo, "content"), text(todo, "status"))).collect()
}

#[test]
fn without_a_store_every_agent_is_left_alone_and_none_is_made() {
    let world = World::with_git();
    for (agent, event) in AGENTS {
        hook(&world, agent, event, r#"{"session_id":"s","conversation_id":"s"}"#);
    }
    hook(&world, "claude", "SessionStart", r#"{"session_id":"s","source":"startup"}"#);
    assert!(!world.project.join(".git/punch").exists());
    assert_eq!(log(&world), "");
}

#[test]
fn a_hosts_own_list_makes_the_store_inside_git_and_nowhere_else() {
    let outside = World::new();
    hook(&outside, "claude", "PostToolUse", &todo_write("s", "t1", &[("write a", "in_progress")]));
    assert!(!outside.project.join(".punch").exists());
    let world = World::with_git();
    hook(
        &world,
        "claude",
        "PostToolUse",
        &todo_write("s", "t1", &[("write a", "in_progress"), ("write b", "pending")]),
    );
    hook(&world, "claude", "PostToolUse", &todo_write("s", "t2", &[("write a", "completed"), ("write b", "pending")]));
    // Told again, late: it happened already.
    hook(
        &world,
        "claude",
        "PostToolUse",
        &todo_write("s", "t1", &[("write a", "in_progress"), ("write b", "pending")]),
    );
    let expected = [("write a", "completed"), ("write b", "pending")];
    assert_eq!(contents(&world), expected.map(|(c, s)| (c.to_owned(), s.to_owned())));
    assert_eq!(log(&world), "");
}

#[test]
fn a_list_without_a_session_is_nobodys() {
    let world = World::with_git();
    hook(&world, "claude", "PostToolUse", &todo_write("", "t1", &[("write a", "pending")]));
    assert!(!world.project.join(".git/punch").exists());
    let file = world.root.join("session");
    fs::write(&file, "from-file\n").unwrap();
    let flag = format!("--session-file={}", file.display());
    let run = world
        .feed(&["hook", "--agent", "claude", &flag, "PostToolUse"], &todo_write("", "t1", &[("write a", "pending")]));
    assert_eq!(run.exit, Some(0));
    assert_eq!(contents(&world).len(), 1);
}

#[test]
fn the_lists_of_all_hosts_are_copied() {
    let cases = [
        (
            "codex",
            "PostToolUse",
            json!({"session_id": "s", "tool_name": "update_plan", "tool_use_id": "c",
            "tool_input": {"plan": [{"step": "x", "status": "in_progress"}]}, "tool_response": "Plan updated"}),
        ),
        (
            "qwen",
            "PostToolUse",
            json!({"session_id": "s", "tool_name": "todo_write", "tool_use_id": "c",
            "tool_input": {"todos": [{"id": "1", "content": "x", "status": "in_progress"}]}, "tool_response": {}}),
        ),
        (
            "gemini",
            "AfterTool",
            json!({"session_id": "s", "tool_name": "write_todos",
            "tool_input": {"todos": [{"description": "x", "status": "in_progress"}]}, "tool_response": {}}),
        ),
        (
            "cursor",
            "postToolUse",
            json!({"conversation_id": "s", "tool_name": "TodoWrite", "tool_use_id": "c",
            "tool_input": {"merge": true, "todos": [{"id": "1", "content": "x", "status": "in_progress"}]}}),
        ),
        (
            "opencode",
            "tool.execute.after",
            json!({"session_id": "s", "tool": "todowrite", "callID": "c",
            "args": {"todos": [{"content": "x", "status": "in_progress", "priority": "high"}]}, "output": "[]"}),
        ),
        (
            "claude",
            "PostToolUse",
            json!({"session_id": "s", "tool_name": "TaskCreate", "tool_use_id": "c",
            "tool_input": {"subject": "x", "description": "y"}, "tool_response": "Task #1 created successfully: x"}),
        ),
    ];
    for (agent, event, report) in cases {
        let world = World::with_git();
        hook(&world, agent, event, &report.to_string());
        let status = if agent == "claude" { "pending" } else { "in_progress" };
        assert_eq!(contents(&world), [("x".to_owned(), status.to_owned())], "{agent}");
    }
}

#[test]
fn a_part_of_a_list_changes_what_it_says_and_nothing_else() {
    let world = World::with_git();
    let write = |call: &str, merge: bool, todos: Value| {
        let input = json!({"merge": merge, "todos": todos});
        let report =
            json!({"conversation_id": "s", "tool_name": "TodoWrite", "tool_use_id": call, "tool_input": input});
        hook(&world, "cursor", "postToolUse", &report.to_string());
    };
    let first = json!([{"id": "1", "content": "x", "status": "in_progress", "dependencies": []},
        {"id": "2", "content": "y", "status": "pending", "dependencies": ["1"]}]);
    write("a", false, first);
    let waits = || world.json(&["list", "--all"])["todos"][1]["dependsOn"].clone();
    assert_eq!(waits(), json!(["T-1"]), "dependencies are copied");
    write(
        "b",
        true,
        json!([{"id": "1", "content": "x, better"}, {"id": "2", "content": "", "status": "", "dependencies": []}]),
    );
    let text = |content: &str, status: &str| (content.to_owned(), status.to_owned());
    assert_eq!(contents(&world), [text("x, better", "in_progress"), text("y", "blocked")]);
    assert_eq!(waits(), json!(["T-1"]), "an empty field says nothing");
}

#[test]
fn half_a_character_costs_a_character_and_not_the_report() {
    let world = World::with_git();
    let report = todo_write("s", "1", &[("smile HALF", "in_progress")]).replace("HALF", "\\ud83d");
    hook(&world, "claude", "PostToolUse", &report);
    assert_eq!(contents(&world), [("smile \u{fffd}".to_owned(), "in_progress".to_owned())]);
    assert_eq!(log(&world), "");
    let stop = world.feed(
        &["hook", "--agent", "claude", "Stop"],
        r#"{"session_id":"s","last_assistant_message":"cut in the middle of \ud83d"}"#,
    );
    assert!(stop.stdout.contains("Continuation 1/3"), "{}", stop.stdout);
}

/// A line as Claude Code writes it.
fn said(uuid: &str, parent: Option<&str>, prompt: &str) -> String {
    format!(
        "{}\n",
        json!({"uuid": uuid, "parentUuid": parent, "promptId": prompt, "isSidechain": false, "type": "user"})
    )
}

#[test]
fn a_conversation_that_was_wound_back_hears_what_the_plan_did_meanwhile() {
    let world = World::with_git();
    let file = world.root.join("talk.jsonl");
    let report = |event: &str, prompt: &str, more: Value| {
        let mut report = json!({"session_id": "s", "prompt_id": prompt, "transcript_path": file, "prompt": "go"});
        report.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        world.feed(&["hook", "--agent", "claude", event], &report.to_string()).stdout
    };
    let list = |prompt: &str, a: &str, b: &str| {
        let call = json!({"tool_name": "TodoWrite", "tool_use_id": format!("{prompt}{a}{b}"), "tool_response": {},
            "tool_input": {"todos": [{"content": "a", "status": a, "activeForm": "a"},
                {"content": "b", "status": b, "activeForm": "b"}]}});
        report("PostToolUse", prompt, call)
    };
    let bash = json!({"tool_name": "Bash", "tool_input": {}, "tool_response": "x"});
    world.punch(&["init"]);
    report("UserPromptSubmit", "p1", json!({}));
    fs::write(&file, said("1", None, "p1")).unwrap();
    assert_eq!(list("p1", "in_progress", "pending"), "");
    report("UserPromptSubmit", "p2", json!({}));
    let second = fs::read_to_string(&file).unwrap() + &said("2", Some("1"), "p2");
    fs::write(&file, &second).unwrap();
    assert_eq!(list("p2", "completed", "in_progress"), "");
    // Wound back to the end of the first turn.
    assert_eq!(report("UserPromptSubmit", "p3", json!({})), "", "not written down yet");
    fs::write(&file, second + &said("3", Some("1"), "p3")).unwrap();
    let told = report("PostToolUse", "p3", bash.clone());
    assert!(told.contains("went back to an earlier point") && told.contains("- T-1 is completed now"), "{told}");
    assert_eq!(report("PostToolUse", "p3", bash), "", "told once");
}

#[test]
fn a_damaged_store_and_bad_settings_are_logged_and_told_to_nobody() {
    let world = World::with_git();
    world.punch(&["add", "a"]);
    fs::write(world.project.join(".git/punch/store.db"), "this is no database, and long enough to look like one")
        .unwrap();
    hook(&world, "claude", "Stop", r#"{"session_id":"s"}"#);
    let first = log(&world);
    assert_eq!(first.lines().count(), 1, "{first}");
    assert!(first.contains(" claude Stop: "), "{first}");
    fs::write(world.project.join(".git/punch/config.toml"), "lease = \"never\"\n").unwrap();
    hook(&world, "codex", "Stop", r#"{"session_id":"s"}"#);
    let second = log(&world);
    assert_eq!(second.lines().count(), 2, "{second}");
    assert!(second.lines().nth(1).is_some_and(|line| line.contains(" codex Stop: ")), "{second}");
}

#[test]
fn what_is_no_json_or_too_large_is_logged_and_told_to_nobody() {
    let world = World::with_git();
    world.punch(&["add", "a"]);
    hook(&world, "claude", "Stop", "");
    assert_eq!(log(&world), "");
    hook(&world, "claude", "Stop", "not JSON");
    hook(&world, "gemini", "AfterAgent", &"[".repeat(100_000));
    let huge = json!({"session_id": "s", "prompt_response": "x".repeat(9 << 20)}).to_string();
    hook(&world, "gemini", "AfterAgent", &huge);
    assert_eq!(log(&world).lines().count(), 3, "{}", log(&world));
    // What is large and not too large is read.
    let large = json!({"session_id": "s", "tool_name": "Bash", "tool_input": {}, "tool_response": "x".repeat(1 << 20)});
    hook(&world, "claude", "PostToolUse", &large.to_string());
    for odd in ["null", "7", "[]", "{}", r#"{"session_id":7,"tool_input":"{","tool_name":null}"#] {
        for event in ["Stop", "PostToolUse", "SessionStart", "NoSuchEvent"] {
            hook(&world, "claude", event, odd);
        }
    }
    assert_eq!(log(&world).lines().count(), 3, "{}", log(&world));
}

#[test]
fn the_log_is_put_aside_before_it_grows() {
    let world = World::with_git();
    let folder = world.root.join("home/.local/state/punch");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("hook.log"), "x".repeat(300 * 1024)).unwrap();
    hook(&world, "claude", "Stop", "not JSON");
    assert_eq!(log(&world).lines().count(), 1);
    assert!(folder.join("hook.log.1").exists());
}

#[test]
fn wrong_arguments_do_not_have_the_code_that_stops_a_host() {
    let world = World::with_git();
    for arguments in [&["hook"][..], &["hook", "--agent", "nobody", "Stop"], &["--plan", "x", "hook", "--bad", "Stop"]]
    {
        assert_eq!(world.punch(arguments).exit, Some(1), "{arguments:?}");
    }
}

#[test]
fn the_project_is_the_one_that_the_host_names() {
    let world = World::with_git();
    world.punch(&["add", "a"]);
    let mut command = world.command(&["hook", "--agent", "claude", "PostToolUse"]);
    command.current_dir(&world.root).env("CLAUDE_PROJECT_DIR", &world.project);
    let run = world.feed_command(command, &todo_write("s", "t1", &[("a", "completed")]));
    assert_eq!(run.exit, Some(0));
    assert_eq!(contents(&world), [("a".to_owned(), "completed".to_owned())]);
}

#[test]
fn a_report_that_never_ends_holds_nobody_up() {
    let world = World::with_git();
    let mut command = world.command(&["hook", "--agent", "codex", "SessionEnd"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let stdin = child.stdin.take();
    assert!(child.wait().unwrap().success());
    drop(stdin);
    assert!(log(&world).contains("codex SessionEnd: no answer in time"), "{}", log(&world));
}

/// The report of an agent whose own tool has written a list.
fn copied(agent: &str, call: &str, todos: &[(&str, &str)]) -> (&'static str, String) {
    let rows = |name: &str| -> Vec<Value> {
        let row = |(n, (content, status)): (usize, &(&str, &str))| json!({name: content, "status": status, "id": (n + 1).to_string(), "activeForm": content});
        todos.iter().enumerate().map(row).collect()
    };
    let (event, tool, input) = match agent {
        "codex" => ("PostToolUse", "update_plan", json!({"plan": rows("step")})),
        "qwen" => ("PostToolUse", "todo_write", json!({"todos": rows("content")})),
        "gemini" => ("AfterTool", "write_todos", json!({"todos": rows("description")})),
        "cursor" => ("postToolUse", "TodoWrite", json!({"merge": false, "todos": rows("content")})),
        "opencode" => ("tool.execute.after", "todowrite", json!({"todos": rows("content")})),
        "droid" => {
            let line = |(n, (content, status)): (usize, &(&str, &str))| format!("{}. [{status}] {content}\n", n + 1);
            let text: String = todos.iter().enumerate().map(line).collect();
            ("PostToolUse", "TodoWrite", json!({"todos": text}))
        }
        _ => ("PostToolUse", "TodoWrite", json!({"todos": rows("content")})),
    };
    let report = json!({
        "session_id": "s", "conversation_id": "s", "tool_name": tool, "tool": tool, "tool_use_id": call, "callID": call,
        "tool_input": input, "args": input, "tool_response": {}, "output": "[]", "hook_event_name": event,
    });
    (event, report.to_string())
}

/// A copied list that changes a todo under another agent's claim changes everything else, and the model learns why.
#[test]
fn a_copied_list_leaves_out_what_another_agent_has_claimed_and_tells_the_model() {
    for agent in ["claude", "qwen", "codex", "gemini", "opencode", "cursor", "droid"] {
        let world = World::with_git();
        let copy = |call: &str, status: &str| {
            let (event, report) = copied(agent, call, &[("One", status), ("Two", status)]);
            world.feed(&["hook", "--agent", agent, event], &report)
        };
        let first = copy("c1", "pending");
        assert_eq!((first.exit, first.stdout.as_str()), (Some(0), ""), "{agent}");
        let ids: Vec<String> = world.ids();
        world.ok(&["claim", &ids[0], "--owner", "other"]);
        let second = copy("c2", "completed");
        assert!(
            second.stdout.contains("is claimed by `other`, so it was left unchanged"),
            "{agent}: {}",
            second.render()
        );
        let wanted = [("One".to_owned(), "in_progress".to_owned()), ("Two".to_owned(), "completed".to_owned())];
        assert_eq!(contents(&world), wanted, "{agent}");
    }
}
