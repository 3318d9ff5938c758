//! `todo`: the commands of the phases dialect on the live plan. Its answers are compared with recordings in the core;
//! here it is about the way to the plan and back.

use std::fs;

use insta::assert_snapshot;
use serde_json::json;

use crate::world::{World, finished};

#[test]
fn the_list_grows_is_worked_on_and_goes() {
    let world = World::new();
    assert_snapshot!(world.script(r"
        todo
        todo export
        todo append 'fix the bug'
        todo append auth 'port the store'
        todo append auth test the store
        todo append
        todo start port
        todo
        todo done 'the'
        todo done port
        todo drop fix
        todo rm test
        todo copy
        list --all
        todo done
        todo rm
        todo
        todo fly
        undo
        todo
    "), @r#"
    $ punch todo
    No todos. Use punch todo append <task> to start one.
    $ punch todo export
    No todos to export.
    $ punch todo append 'fix the bug'
    Appended to Todos: Fix the bug
    2> note: created a store in `$ROOT/p/.punch`, because this is not a git repository; folders below use it too
    $ punch todo append auth 'port the store'
    Appended to Auth: Port the store
    $ punch todo append auth test the store
    Appended to Auth: Test the store
    $ punch todo append
    Usage: punch todo append [<phase>] <task...>
    exit 1
    $ punch todo start port
    Started: Port the store
    $ punch todo
    # Todos
    - [ ] Fix the bug

    # Auth
    - [/] Port the store
    - [ ] Test the store
    $ punch todo done 'the'
    No task or phase matched "the".
    exit 1
    $ punch todo done port
    Marked completed: Port the store
    $ punch todo drop fix
    Marked abandoned: Fix the bug
    $ punch todo rm test
    Removed: Test the store
    $ punch todo copy
    # Todos
    - [-] Fix the bug

    # Auth
    - [x] Port the store
    $ punch list --all
    [-] T-1  Fix the bug
    [x] T-2  Port the store
    $ punch todo done
    Marked all tasks completed.
    $ punch todo rm
    Cleared all todos.
    $ punch todo
    No todos. Use punch todo append <task> to start one.
    $ punch todo fly
    Unknown punch todo subcommand. Use append, start, done, drop, rm, copy, export, import.
    exit 1
    $ punch undo
    Undid revision 9 by user: T-1, T-2 archived; the list of phases changed
    [x] T-1  Fix the bug
    [x] T-2  Port the store
    $ punch todo
    # Todos
    - [x] Fix the bug

    # Auth
    - [x] Port the store
    "#);
    world.sound();
}

#[test]
fn looking_makes_no_store() {
    let world = World::new();
    world.script("todo\ntodo copy\ntodo help\ntodo done x\ntodo export\ntodo rm nothing");
    assert_eq!(fs::read_dir(&world.project).unwrap().count(), 0);
    assert!(world.ok(&["todo", "help"]).starts_with("Usage: punch todo [COMMAND]"));
}

#[test]
fn files_are_written_and_read() {
    let world = World::new();
    world.ok(&["add", "one", "--id", "first", "--priority", "1"]);
    world.ok(&["add", "two", "--phase", "P"]);
    assert_snapshot!(world.script(r"
        todo export
        todo import nowhere.md
        todo import
        list --all
    "), @r#"
$ punch todo export
Wrote todos to TODO.md
$ punch todo import nowhere.md
2> error: cannot use the file `nowhere.md`: no such file or directory
2> hint: check the name and the permissions
exit 1
$ punch todo import
Imported 2 phases, 2 tasks from TODO.md.
$ punch list --all
[>] first  one  (P1)
[ ] T-1  two
"#);
    assert_eq!(fs::read_to_string(world.project.join("TODO.md")).unwrap(), "# Todos\n- [ ] one\n\n# P\n- [ ] two\n");
    // What the text cannot say stays with the todo that says the same.
    assert_eq!(world.json(&["show", "first"])["todo"]["priority"], 1);
    fs::write(world.project.join("bad.md"), "# P\n- [?] x\nwords\n").unwrap();
    fs::write(world.project.join("new.md"), "# P\n- [x] two\n- [ ] three\n").unwrap();
    assert_snapshot!(world.script(r"
        todo import bad.md
        todo import new.md
        list --all
    "), @r#"
$ punch todo import bad.md
Could not parse bad.md:
  Line 2: unknown status marker "[?]" (use [ ], [x], [/], [-])
  Line 3: unrecognized syntax "words"
exit 1
$ punch todo import new.md
Imported 1 phase, 2 tasks from new.md.
$ punch list --all
[x] T-1  two
[>] T-2  three
"#);
}

#[test]
fn the_answer_for_programs_has_output_and_phases() {
    let world = World::new();
    world.ok(&["todo", "append", "P", "one"]);
    let run = world.punch(&["--json", "todo", "start", "one"]);
    let answer: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(answer["output"], "Started: One");
    assert_eq!(answer["phases"], json!([{"name": "P", "tasks": [{"content": "One", "status": "in_progress"}]}]));
    assert_eq!(answer["revision"], 2);
}

#[test]
fn only_what_the_command_says_is_changed() {
    let world = World::new();
    world.ok(&["add", "one", "--id", "a", "--priority", "1", "--description", "d"]);
    world.ok(&["add", "two", "--id", "b", "--needs", "a"]);
    world.ok(&["add", "three", "--id", "c"]);
    world.ok(&["todo", "done", "two"]);
    let log = world.json(&["log", "--limit", "1"]);
    let touched: Vec<&str> =
        log["revisions"][0]["events"].as_array().unwrap().iter().map(|e| e["todo"].as_str().unwrap()).collect();
    // The dialect makes the first open task active.
    assert_eq!(touched, ["a", "b"]);
    assert_eq!(world.json(&["show", "a"])["todo"]["description"], "d");
}

#[test]
fn hostile_tasks_do_not_reach_the_terminal() {
    let world = World::new();
    world.feed(&["import", "-"], r#"[{"content":"\u001b[31mred\u202e"}]"#);
    let text = world.ok(&["todo"]);
    assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text}");
}

#[cfg(unix)]
#[test]
fn the_list_is_edited_in_the_editor() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    let editor = world.root.join("editor.sh");
    let edit = |script: &str| {
        fs::write(&editor, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&editor, fs::Permissions::from_mode(0o755)).unwrap();
        finished(world.command(&["todo", "edit"]).env("EDITOR", &editor).env("TMPDIR", &world.root).output().unwrap())
    };
    assert_eq!(edit("true").stdout, "Todos unchanged.\n");
    assert_eq!(
        edit("cat > \"$1\" <<END\n# A\n- [ ] one\n- [ ] two\nEND").stdout,
        "Todos updated from editor: 1 phase, 2 tasks.\n"
    );
    let ids = world.ids();
    assert_eq!(edit("sed -i 's/- \\[ \\] two/- [?] two/' \"$1\"").exit, Some(1));
    assert_eq!(edit("sed -i 's/- \\[ \\] two/- [x] two/' \"$1\"").exit, Some(0));
    assert_eq!(world.ids(), ids);
    assert_snapshot!(world.script("todo"), @r"
    $ punch todo
    # A
    - [/] one
    - [x] two
    ");
}
