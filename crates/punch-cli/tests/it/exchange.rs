//! `import` and `export`.

use std::fs;
use std::io::Read;
use std::process::Stdio;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::world::{World, answer, calm};

#[test]
fn an_empty_project_exports_an_empty_document() {
    let world = World::new();
    assert_snapshot!(world.script(r"
        export
        export --format markdown
        export --format yaml
        import
        import nowhere.json
    "), @r#"
$ punch export
{
  "schema": 1,
  "phases": [],
  "todos": []
}
$ punch export --format markdown
$ punch export --format yaml
2> error: invalid value 'yaml' for '--format <FORMAT>': use one of json, extended, markdown, cursor-plan, checklist, todowrite, claude-tasks, codex, task-master, beads, spec, opencode, taskwarrior, cursor-todos, cursor-agent, phases, html
2>
2> For more information, try '--help'.
exit 2
$ punch import
2> error: the following required arguments were not provided:
2>   <FILE>
2>
2> Usage: punch import <FILE>
2>
2> For more information, try '--help'.
exit 2
$ punch import nowhere.json
2> error: cannot use the file `nowhere.json`: no such file or directory
2> hint: check the name and the permissions
exit 1
"#);
    assert_eq!(fs::read_dir(&world.project).unwrap().count(), 0);
}

#[test]
fn todos_come_in_and_go_out() {
    let world = World::new();
    fs::write(
        world.project.join("plan.json"),
        r#"[{"id":"a","content":"One","phase":"P"},{"title":"Two","dependsOn":["a","missing"],"color":"red"}]"#,
    )
    .unwrap();
    fs::write(world.project.join("TODO.md"), "# Ship\n\n- [x] Three\n  > a note\n- [ ] Four\nsome words\n").unwrap();
    assert_snapshot!(calm(&world.script(r"
        import plan.json --dry-run
        list
        import plan.json
        import TODO.md
        tree --all
        import plan.json
        import TODO.md --replace
        list --all
        export
        export --format markdown
        undo
        list --all
    ")), @r#"
    $ punch import plan.json --dry-run
    2 todos would be imported
    as extended: 2 pending; 2 dependencies; 1 phase
    note: `T-1` is waiting for `missing`, which does not exist
    note: skipped, not understood: color
    2> note: created a store in `$ROOT/p/.punch`, because this is not a git repository; folders below use it too
    $ punch list
    No todos yet: `punch add 'First thing'` adds one.
    $ punch import plan.json
    2 todos imported
    note: `T-1` is waiting for `missing`, which does not exist
    note: skipped, not understood: color
    $ punch import TODO.md
    2 todos imported
    note: skipped, not understood: line 6
    $ punch tree --all
    [.] T-1  Two  (waiting for a, missing (missing))
    P  0/1 done
      [ ] a  One
    Ship  1/2 done
      [x] T-2  Three
      [ ] T-3  Four
    $ punch import plan.json
    Nothing changed: the plan already has all 2 todos from this file.
    note: skipped, not understood: color
    $ punch import TODO.md --replace
    2 todos imported
    4 archived
    note: skipped, not understood: line 6
    $ punch list --all
    [x] T-4  Three
    [ ] T-5  Four
    $ punch export
    {
      "schema": 1,
      "phases": ["Ship"],
      "todos": [
        {"id":"T-4","content":"Three","status":"completed","phase":"Ship","notes":[{"text":"a note","at":MS,"by":"user"}],"createdAt":MS,"startedAt":MS,"finishedAt":MS},
        {"id":"T-5","content":"Four","status":"pending","phase":"Ship","createdAt":MS}
      ]
    }
    $ punch export --format markdown
    # Ship

    - [x] Three <!-- punch {"id":"T-4","createdAt":MS,"startedAt":MS,"finishedAt":MS,"notes":[{"at":MS,"by":"user","shown":"b329f810"}]} -->
      > a note
    - [ ] Four <!-- punch {"id":"T-5","createdAt":MS} -->
    $ punch undo
    Undid revision 3 by user: a, T-1, T-2, T-3 archived; the list of phases changed; T-4, T-5 added
    [ ] a  One
    [.] T-1  Two
    [x] T-2  Three
    [ ] T-3  Four
    archived: T-4  Three
    archived: T-5  Four
    $ punch list --all
    [ ] a  One
    [.] T-1  Two  (waiting for a, missing (missing))
    [x] T-2  Three
    [ ] T-3  Four
    "#);
    world.sound();
}

#[test]
fn the_answer_of_an_import_is_one_object() {
    let world = World::new();
    let input = json!({"todos": [{"id": "a", "content": "x", "dependsOn": ["b"], "size": 1}]}).to_string();
    let dry = answer(&world.feed(&["import", "-", "--dry-run", "--json"], &input));
    let wet = answer(&world.feed(&["import", "-", "--json"], &input));
    for (answer, is_dry) in [(&dry, true), (&wet, false)] {
        assert_eq!((&answer["imported"], &answer["dryRun"]), (&json!(1), &json!(is_dry)));
        assert_eq!(answer["ignored"], json!(["size"]));
        assert_eq!(answer["warnings"], json!(["`a` is waiting for `b`, which does not exist"]));
    }
    assert_eq!(wet["revision"], 1);
    assert_eq!(world.json(&["status"])["total"], 1);
}

#[test]
fn what_cannot_be_read_is_refused_and_changes_nothing() {
    let world = World::new();
    world.ok(&["add", "one", "--id", "a"]);
    let files: [(&str, &[u8]); 9] = [
        ("bytes.md", b"- [ ] ok\n- [ ] \xff\xfe\n"),
        ("cut.json", b"{\"todos\": [{\"content\": \"x\"}"),
        ("wrong.json", b"{\"todos\": [{\"content\": \"x\", \"priority\": 9}]}"),
        ("twice.json", b"[{\"id\":\"b\",\"content\":\"x\"},{\"id\":\"b\",\"content\":\"y\"}]"),
        ("taken.json", b"[{\"id\":\"a\",\"content\":\"x\"}]"),
        (
            "circle.json",
            b"[{\"id\":\"b\",\"content\":\"x\",\"dependsOn\":[\"c\"]},{\"id\":\"c\",\"content\":\"y\",\"dependsOn\":[\"b\"]}]",
        ),
        ("newer.json", b"{\"schema\": 9, \"todos\": []}"),
        ("lines.md", b"- [?] x\n- [ ] \n- [ ] a <!-- punch {] -->\n"),
        ("empty.json", b"\n"),
    ];
    for (name, bytes) in files {
        fs::write(world.project.join(name), bytes).unwrap();
    }
    assert_snapshot!(world.script(r"
        import bytes.md
        import cut.json
        import wrong.json
        import twice.json
        import taken.json
        import circle.json
        import newer.json
        import lines.md
        import empty.json --replace
        import .
        import circle.json --format markdown
        list --all
        import circle.json --circles
    "), @r#"
    $ punch import bytes.md
    2> error: bytes.md: not UTF-8 text (byte 16)
    2> hint: fix that value and try again; nothing was changed
    exit 1
    $ punch import cut.json
    2> error: not JSON: EOF while parsing a list at line 1 column 27
    2> hint: fix that value and try again; nothing was changed
    exit 1
    $ punch import wrong.json
    2> error: todos[0].priority: must be 1 to 5
    2> hint: fix that value and try again; nothing was changed
    exit 1
    $ punch import twice.json
    2> error: id `b` is already in use
    2> hint: choose another id, or leave it out to get the next free one
    exit 1
    $ punch import taken.json
    1 todo updated
    $ punch import circle.json
    2> error: dependencies form a cycle: c -> b -> c
    2> hint: remove one of these dependencies
    exit 1
    $ punch import newer.json
    2> error: schema: 9 is unknown; this version reads 1
    2> hint: fix that value and try again; nothing was changed
    exit 1
    $ punch import lines.md
    2> error: line 1: unknown marker `[?]`; use [ ], [>], [x], [-], [~] or [!]
    2> line 2: the todo has no text
    2> line 3: the punch comment is not JSON: key must be a string at line 1 column 2
    2> hint: fix that value and try again; nothing was changed
    exit 1
    $ punch import empty.json --replace
    2> error: the input is empty; with --replace that would archive everything
    2> hint: check what was to be imported; `punch rm --all` archives everything
    exit 2
    $ punch import .
    2> error: the folder `.` has no task files (1.json, 2.json, …)
    2> hint: choose a file, or a folder inside ~/.claude/tasks
    exit 1
    $ punch import circle.json --format markdown
    0 todos imported
    note: skipped, not understood: line 1
    $ punch list --all
    [ ] a  x
    $ punch import circle.json --circles
    2 todos imported
    note: `b` and `c` depend on each other in a cycle, so neither can start
    note: `c` and `b` depend on each other in a cycle, so neither can start
    "#);
}

#[test]
fn an_export_to_a_file_is_whole_and_readable_by_all() {
    let world = World::new();
    world.ok(&["add", "one"]);
    assert_snapshot!(world.script(r"
        export plan.json
        export plan.md --format markdown --json
        export no/such/folder.json
    "), @r#"
    $ punch export plan.json
    Wrote 1 todo to plan.json (JSON)
    $ punch export plan.md --format markdown --json
    {"schema":1,"exported":1,"file":"plan.md","format":"markdown"}
    $ punch export no/such/folder.json
    2> error: cannot use the file `no/such/folder.json`: no such file or directory
    2> hint: check the name and the permissions
    exit 1
    "#);
    let text = fs::read_to_string(world.project.join("plan.json")).unwrap();
    assert_eq!(text, world.ok(&["export"]));
    assert_eq!(text, world.ok(&["export", "-"]));
    assert_eq!(
        fs::read_to_string(world.project.join("plan.md")).unwrap(),
        world.ok(&["export", "--format", "markdown"])
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |name: &str| fs::metadata(world.project.join(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode("plan.json"), 0o644);
        fs::set_permissions(world.project.join("plan.json"), fs::Permissions::from_mode(0o600)).unwrap();
        world.ok(&["export", "--force", "plan.json"]);
        assert_eq!(mode("plan.json"), 0o600);
    }
    let left: Vec<_> = fs::read_dir(&world.project).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().contains("tmp")), "{left:?}");
}

#[test]
fn a_reader_that_leaves_during_an_export_is_no_error() {
    let world = World::new();
    world.feed(&["import", "-"], &big(3_000));
    let mut child = world.command(&["export"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!((child.wait().unwrap().code(), said.as_str()), (Some(0), ""));
}

/// A layered plan.
fn big(count: usize) -> String {
    let todo = |n: usize| {
        let needs: Vec<String> = (1..=3).filter(|k| n >= k * 7).map(|k| format!("t{}", n - k * 7)).collect();
        json!({"id": format!("t{n}"), "content": format!("todo {n}"), "phase": format!("P{}", n % 9), "dependsOn": needs})
    };
    json!({"todos": (0..count).map(todo).collect::<Vec<Value>>()}).to_string()
}

/// Texts that mean something to JSON, Markdown, HTML or a terminal, and every field.
fn strange() -> String {
    json!({"phases": ["A", "A", " b\n", "# c <!-- x -->"], "todos": [
        {"id": "a b", "content": " > \u{1b}[1m - [x] <!-- punch {} --> ", "phase": "A", "phaseIndex": 1,
         "notes": ["one\n\ntwo", {"text": "- [ ] not a todo", "at": 5, "by": "ann"}], "priority": 1},
        {"id": "é漢👨‍👩‍👧", "content": "two\r\nlines", "phase": " b\n", "dependsOn": ["a b", "nobody"],
         "description": "x\n\n  y\n> z", "hold": {"kind": "human", "reason": "why?"}, "files": ["src/**"]},
        {"id": "c", "content": "done", "status": "completed", "evidence": [{"text": "seen", "at": 3}],
         "finishedAt": 9, "startedAt": 7, "createdAt": 5, "phase": "A", "phaseIndex": 0},
        {"id": "d", "content": "failed", "status": "failed", "attempts": 2, "lastError": "\"no\"", "verifyCommand": ["a", "b"]},
        {"id": "e", "content": "running", "status": "in_progress", "flags": ["resume"], "estimatedTokens": 5}
    ]})
    .to_string()
}

#[test]
fn export_then_import_is_the_identity() {
    for (name, input) in [("empty", "[]".to_owned()), ("strange", strange()), ("big", big(10_000))] {
        let first = World::new();
        assert_eq!(first.feed(&["import", "-", "--circles"], &input).exit, Some(0), "{name}");
        for format in ["extended", "markdown"] {
            let text = first.ok(&["export", "--format", format]);
            let second = World::new();
            let run = second.feed(&["import", "-", "--format", format], &text);
            assert_eq!(run.exit, Some(0), "{name} {format}: {}", run.render());
            assert!(second.ok(&["export", "--format", format]) == text, "{name} {format}");
            assert!(second.ok(&["export"]) == first.ok(&["export"]), "{name} {format}");
        }
    }
}

#[test]
fn one_todo_alone_is_imported_like_a_list_of_one() {
    let one = json!({"id": "T-9", "title": "x", "description": "d", "priority": 1, "status": "pending", "dependsOn": [],
        "complexity": "small", "estimatedTokens": 100, "verificationCriteria": "v"});
    let world = World::new();
    fs::write(world.project.join("one.json"), one.to_string()).unwrap();
    world.ok(&["import", "one.json"]);
    let todo = world.json(&["show", "T-9"])["todo"].clone();
    assert_eq!((&todo["content"], &todo["verificationCriteria"]), (&json!("x"), &json!("v")));
    fs::write(world.project.join("none.json"), "{\"a\": 1}").unwrap();
    assert_eq!(world.refused(&["import", "none.json"]).1, "invalid");
}

#[test]
fn the_time_of_the_last_change_is_exported_where_readers_expect_it_and_is_up_to_date() {
    let world = World::new();
    let at = "1706483300000";
    let todos = json!({"todos": [
        {"id": "1", "content": "a", "status": "TODO_STATUS_COMPLETED", "created_at": at, "updated_at": at},
        {"id": "2", "content": "b", "status": 2, "createdAt": at, "updatedAt": at}]});
    fs::write(world.project.join("a.json"), todos.to_string()).unwrap();
    world.ok(&["import", "a.json"]);
    world.ok(&["reopen", "1"]);
    let exported: Value = serde_json::from_str(&world.ok(&["export", "--format", "cursor-agent"])).unwrap();
    for todo in exported["todos"].as_array().unwrap() {
        let shown = world.json(&["show", todo["id"].as_str().unwrap()])["todo"]["updatedAt"].clone();
        assert_eq!((&todo["updatedAt"], todo.get("updated_at")), (&json!(shown.to_string()), None), "{todo}");
        assert_ne!(todo["updatedAt"], at, "{todo}");
        assert_eq!(todo["createdAt"], at, "{todo}");
    }
}
