//! What people and agents do to one plan file.

use std::fs;

use insta::assert_snapshot;
use serde_json::json;

use super::{FILE, diff, linked, text};
use crate::mcp::client::Client;
use crate::world::{World, calm};

#[test]
fn work_and_hand_edits_change_only_their_lines() {
    let world = linked();
    assert_eq!(text(&world), FILE);
    world.ok(&["start", "build"]);
    assert_snapshot!(diff(&world), @r"
    -    status: pending
    +    status: in_progress
    ");
    world.ok(&["done", "build"]);
    let by_hand = text(&world).replace("Ship it", "Ship it on Friday").replace("# Notes", "# Notes of mine");
    fs::write(world.project.join("a.plan.md"), by_hand.replace("---\n\n#", "  - content: Celebrate\n---\n\n#"))
        .unwrap();
    assert_snapshot!(world.script("plan-file status\nplan-file sync\nplan-file sync\nlist --all").replace(AGO, ""), @r"
    $ punch plan-file status
    $ROOT/p/a.plan.md
    3 todos; last synced at revision 3
    2 changes to pull into the plan
    `punch plan sync` merges them
    linked by user
    edited by user
    $ punch plan-file sync
    plan: 1 added, 1 changed; file: 1 changed
    $ punch plan-file sync
    The plan and the file are in sync.
    $ punch list --all
    [x] build  Build it
    [ ] ship  Ship it on Friday
    [ ] T-1  Celebrate
    ");
    assert_snapshot!(diff(&world), @r#"
    -    status: pending
    +    status: completed
    -    content: "Ship it"
    +    content: "Ship it on Friday"
    +  - id: T-1
    +    content: Celebrate
    -# Notes
    +# Notes of mine
    "#);
    world.sound();
}

/// A slow machine may take longer.
const AGO: &str = ", a moment ago";

#[test]
fn tools_and_hooks_of_agents_write_their_statuses_too() {
    let world = linked();
    let mut command = world.command(&["mcp"]);
    command.env("CLAUDE_CODE_SESSION_ID", "s-1");
    let mut client = Client::spawn(command);
    client.begin();
    client.call("todo_write", json!({"ops": [{"op": "start", "id": "build"}]}));
    assert!(text(&world).contains("status: in_progress"));
    client.call("todo_write", json!({"ops": [{"op": "done", "id": "build"}]}));
    assert!(text(&world).contains("status: completed"));
    client.end();
    let todos = json!([{"content": "Ship it", "status": "in_progress", "activeForm": "Shipping"}]);
    let report = json!({"session_id": "s-2", "tool_name": "TodoWrite", "tool_use_id": "t", "tool_response": {},
        "tool_input": {"todos": todos}});
    world.feed(&["hook", "--agent", "claude", "PostToolUse"], &report.to_string());
    assert!(text(&world).contains("status: 'in_progress'"), "{}", text(&world));
}

#[test]
fn an_agent_hears_of_hand_edits_at_its_next_turn() {
    let world = linked();
    let mut command = world.command(&["mcp"]);
    command.env("CLAUDE_CODE_SESSION_ID", "s-1");
    let mut client = Client::spawn(command);
    client.begin();
    client.call("todo_write", json!({"ops": [{"op": "start", "id": "build"}]}));
    client.end();
    fs::write(world.project.join("a.plan.md"), text(&world).replace("Ship it", "Ship it at last")).unwrap();
    let prompt = json!({"session_id": "s-1", "prompt": "continue"}).to_string();
    let told = world.feed(&["hook", "--agent", "claude", "UserPromptSubmit"], &prompt).stdout;
    assert!(told.contains("The user changed the plan") && told.contains("Ship it at last"), "{told}");
}

#[test]
fn trouble_with_the_file_is_told_and_fails_nothing() {
    let world = linked();
    fs::write(world.project.join("a.plan.md"), "---\ntodos: [\n").unwrap();
    assert_snapshot!(world.script("start build\nplan-file sync\nplan-file status"), @r"
    $ punch start build
    [>] build  Build it
    2> note: the plan file was not updated: `$ROOT/p/a.plan.md`: line 1, column 1: the front matter is never closed; end it with a line `---`
    2> hint: fix it and try again
    $ punch plan-file sync
    2> error: `$ROOT/p/a.plan.md`: line 1, column 1: the front matter is never closed; end it with a line `---`
    2> hint: fix it and try again
    exit 1
    $ punch plan-file status
    2> error: `$ROOT/p/a.plan.md`: line 1, column 1: the front matter is never closed; end it with a line `---`
    2> hint: fix it and try again
    exit 1
    ");
    fs::remove_file(world.project.join("a.plan.md")).unwrap();
    assert_snapshot!(world.script("done build\nplan-file sync\nplan-file unlink\nplan-file sync"), @r"
    $ punch done build
    [x] build  Build it
    ready now: ship  Ship it
    2> note: the plan file was not updated: no file `$ROOT/p/a.plan.md`
    2> hint: run `punch export $ROOT/p/a.plan.md` to create it
    $ punch plan-file sync
    2> error: no file `$ROOT/p/a.plan.md`
    2> hint: run `punch export $ROOT/p/a.plan.md` to create it
    exit 1
    $ punch plan-file unlink
    `$ROOT/p/a.plan.md` is no longer linked; it stays as it is
    $ punch plan-file sync
    2> error: the plan is not linked to a file
    2> hint: run `punch plan link FILE` to link one
    exit 1
    ");
}

#[test]
fn conflicts_are_shown_and_kept() {
    let world = linked();
    let edited = text(&world).replace("Build it", "Build it by hand").replacen("pending", "cancelled", 1);
    fs::write(world.project.join("a.plan.md"), edited).unwrap();
    world.ok(&["edit", "build", "--content", "Build it by machine"]);
    world.ok(&["start", "build"]);
    let out = world.script("plan-file sync\nplan-file status\nshow build");
    assert_snapshot!(calm(&out).replace(AGO, ""), @r#"
    $ punch plan-file sync
    plan: 1 changed
    conflict: text of build: the file says "Build it by hand", the plan "Build it by machine"; keeping the file's version
    conflict: status of build: the file says "cancelled", the plan "in_progress"; keeping the file's version
    $ punch plan-file status
    $ROOT/p/a.plan.md
    2 todos; last synced at revision 4
    in sync
    earlier conflict: status of build: the file says "cancelled", the plan "in_progress"; keeping the file's version
    earlier conflict: text of build: the file says "Build it by hand", the plan "Build it by machine"; keeping the file's version
    linked by user
    edited by user
    $ punch show build
    [-] build  Build it by hand
      blocks: ship  Ship it
      note: text changed in the plan file and in the plan; took the file's version; the plan had: Build it by machine
      note: status changed in the plan file and in the plan; took the file's version; the plan had: in_progress
      times: added a moment ago, started a moment ago, finished a moment ago
    "#);
}

#[test]
fn programs_get_everything_as_json() {
    let world = linked();
    world.ok(&["add", "Another"]);
    let status = world.json(&["plan-file", "status"]);
    assert_eq!(
        (&status["absent"], &status["createdBy"], &status["todos"]),
        (&json!(["T-1"]), &json!("user"), &json!(2))
    );
    let synced = world.json(&["plan-file", "sync", "--add"]);
    assert_eq!((&synced["edits"], &synced["wrote"]), (&json!(1), &json!(true)));
    assert!(text(&world).contains("  - id: T-1\n    content: Another\n    status: pending\n---"));
    assert_eq!(world.refused(&["plan-file", "link", "b.plan.md"]), (1, "plan_file_linked".into()));
    world.json(&["plan-file", "unlink"]);
    assert_eq!(world.refused(&["plan-file", "sync"]), (1, "no_plan_file".into()));
    assert_eq!(world.refused(&["plan-file", "link", "b.plan.md"]), (1, "plan_file_missing".into()));
    assert_eq!(World::new().refused(&["plan-file", "status"]), (1, "no_plan_file".into()));
}

#[test]
fn any_markdown_file_with_a_checklist_can_be_linked() {
    let world = World::with_git();
    let list = "# Release\n\nBefore *Friday*:\n\n- [x] Pick a date\n- [ ] Build it\n  - [ ] Linux\n  - [ ] macOS\n\n## Later\n\n\
                * [ ] Celebrate\n";
    fs::write(world.project.join("a.plan.md"), list).unwrap();
    assert_eq!(
        world.ok(&["plan", "link", "a.plan.md"]),
        "plan: 5 added\nLinked `a.plan.md`: its boxes are ticked as work is done, and `punch plan sync` merges your edits\n"
    );
    assert_eq!(text(&world), list);
    let shown = world.ok(&["list", "--all"]);
    for line in
        ["[x] T-1  Pick a date", "[.] T-2  Build it  (waiting for T-3, T-4)", "[ ] T-3  Linux", "[ ] T-5  Celebrate"]
    {
        assert!(shown.contains(line), "{shown}");
    }
    assert!(world.ok(&["plan", "status"]).contains("in sync"));
    world.ok(&["done", "Linux"]);
    world.ok(&["start", "macOS"]);
    assert_eq!(text(&world), list.replace("[ ] Linux", "[x] Linux").replace("[ ] macOS", "[>] macOS"));
    // By hand: a box is ticked, a line reworded, one is new; then one is gone.
    let by_hand = text(&world).replace("[>] macOS", "[x] macOS").replace("Celebrate", "Celebrate it\n* [ ] Sleep");
    fs::write(world.project.join("a.plan.md"), by_hand).unwrap();
    world.ok(&["add", "Write the notes", "--needs", "T-2"]);
    let mut synced = world.ok(&["plan", "sync"]);
    fs::write(world.project.join("a.plan.md"), text(&world).replace("- [x] Pick a date\n", "")).unwrap();
    synced += &world.ok(&["plan", "sync"]);
    assert!(synced.contains("plan: 1 added, 2 changed\n") && synced.contains("plan: 1 archived\n"), "{synced}");
    assert!(synced.contains("not in the file: T-6"), "{synced}");
    let shown = world.ok(&["list", "--all"]);
    for line in ["[x] T-4  macOS", "[ ] T-2  Build it", "[ ] T-5  Celebrate it", "[ ] T-7  Sleep"] {
        assert!(shown.contains(line), "{shown}");
    }
    world.ok(&["plan", "sync", "--add"]);
    assert!(text(&world).ends_with("* [ ] Celebrate it\n* [ ] Sleep\n* [ ] Write the notes\n"), "{}", text(&world));
    assert_eq!(world.ok(&["plan", "sync"]), "The plan and the file are in sync.\n");
    fs::write(world.project.join("a.plan.md"), text(&world).replace("[ ] Build", "[?] Build")).unwrap();
    let run = world.punch(&["plan", "sync"]);
    assert!(run.stderr.contains("a.plan.md`: line 5, column 4: unknown marker `[?]`"), "{}", run.stderr);
    let run = world.punch(&["start", "celebrate"]);
    assert_eq!(run.exit, Some(0));
    assert!(run.stderr.contains("note: the plan file was not updated: "), "{}", run.stderr);
}
