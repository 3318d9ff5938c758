//! An agent learns of the user's changes while it works, over hooks and over MCP, and `punch show` says when.

use serde_json::{Value, json};

use crate::mcp::client::{Client, project, punch};
use crate::world::{World, finished};

fn after_tool(world: &World, name: &str, input: Value) -> String {
    let report = json!({"session_id": "s", "tool_name": name, "tool_input": input, "tool_response": {}});
    let run = world.feed(&["hook", "--agent", "claude", "PostToolUse"], &report.to_string());
    assert_eq!((run.exit, run.stderr.as_str()), (Some(0), ""));
    let answer: Value = serde_json::from_str(&run.stdout).unwrap_or_default();
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn show_says_whether_an_agent_was_informed_of_your_changes() {
    let world = World::with_git();
    let todos = json!([{"content": "one", "status": "pending", "activeForm": "one"}]);
    after_tool(&world, "TodoWrite", json!({ "todos": todos }));
    assert_eq!(world.json(&["show", "T-1"])["informed"], json!([]));
    world.ok(&["note", "T-1", "use the blue cluster"]);
    let shown = world.ok(&["show", "T-1"]);
    assert!(shown.contains("informed: claude (session s), at its next tool call\n"), "{shown}");
    assert_eq!(world.json(&["show", "T-1"])["informed"], json!([{"session": "s", "agent": "claude", "at": null}]));
    let said = after_tool(&world, "Bash", json!({"command": "true"}));
    assert!(said.contains("note: \"use the blue cluster\""), "{said}");
    assert_eq!(after_tool(&world, "Bash", json!({"command": "true"})), "");
    let shown = world.ok(&["show", "T-1"]);
    assert!(shown.contains("informed: claude (session s) a moment ago\n"), "{shown}");
    assert!(world.json(&["show", "T-1"])["informed"][0]["at"].is_i64());
}

#[test]
fn an_mcp_server_says_what_you_changed_in_its_next_answer_in_every_dialect() {
    let row = json!({"id": "a", "content": "a", "title": "a", "status": "pending", "activeForm": "a"});
    let calls = [
        ("native", "todo_write", json!({"ops": [{"op": "add", "content": "a"}]})),
        ("cursor", "todo_write", json!({"merge": true, "todos": [row]})),
        ("phases", "todo_write", json!({"ops": [{"op": "append", "phase": "P", "items": ["a"]}]})),
        ("todowrite", "TodoWrite", json!({"todos": [row]})),
        ("extended", "todo_write", json!({"mode": "patch", "todos": [row]})),
    ];
    for (dialect, tool, arguments) in calls {
        let folder = project();
        let mut client = Client::ready(folder.path(), &["--dialect", dialect]);
        let first = client.call(tool, arguments.clone());
        assert!(!first.starts_with("Error"), "{dialect}: {first}");
        assert!(punch(folder.path(), &["add", "of the user"]).output().unwrap().status.success());
        let said = client.call(tool, arguments.clone());
        assert!(said.starts_with("The user changed the plan") && said.contains("of the user"), "{dialect}: {said}");
        let again = client.call(tool, arguments);
        assert!(!again.contains("The user changed the plan"), "{dialect}: {again}");
    }
}

/// What an agent does in a shell of its own is its own work, and no news to it, whatever the verb.
#[test]
fn what_an_agent_does_in_its_own_shell_is_not_told_to_it_as_yours() {
    let world = World::with_git();
    let todos = json!([{"content": "one", "status": "pending", "activeForm": "one"}]);
    after_tool(&world, "TodoWrite", json!({ "todos": todos }));
    let prompt = || {
        let report = json!({"session_id": "s", "prompt": "and now?"});
        let run = world.feed(&["hook", "--agent", "claude", "UserPromptSubmit"], &report.to_string());
        assert_eq!((run.exit, run.stderr.as_str()), (Some(0), ""));
        run.stdout
    };
    for arguments in [
        &["add", "X"][..],
        &["note", "T-2", "look here"],
        &["edit", "T-2", "--content", "Y"],
        &["hold", "T-2", "which?"],
        &["unhold", "T-2"],
        &["start", "T-2"],
        &["done", "T-2"],
        &["reopen", "T-2"],
        &["cancel", "T-2"],
        &["rm", "T-2"],
        &["undo"],
    ] {
        let mut command = world.command(arguments);
        let run = finished(command.env("CLAUDECODE", "1").env("CLAUDE_CODE_SESSION_ID", "s").output().unwrap());
        assert_eq!(run.exit, Some(0), "{}", run.render());
        for said in [after_tool(&world, "Bash", json!({"command": "true"})), prompt()] {
            assert!(!said.contains("changed the plan"), "{arguments:?}: {said}");
        }
    }
    // The same from the user's own shell is news.
    world.ok(&["add", "of the user"]);
    assert!(prompt().contains("of the user"));
}
