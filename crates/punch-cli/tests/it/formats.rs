//! Lists of other tools through the command line: recognised, rehearsed, imported whole or not at all, exported.

use std::fs;

use insta::assert_snapshot;

use crate::world::{World, answer, calm};

const PLAN: &str = "---\nname: Limits\ntodos:\n  - id: core\n    content: \"Count: per key\"\n    status: completed\n  - id: api\n    content: Answer 429\n    status: pending\n    dependencies: [core]\n    color: blue\n---\n\n# Limits\n";

#[test]
fn a_plan_file_of_cursor_comes_in_and_goes_out() {
    let world = World::new();
    fs::write(world.project.join("limits.plan.md"), PLAN).unwrap();
    assert_snapshot!(calm(&world.script(r"
        import limits.plan.md --dry-run
        list --all
        import limits.plan.md
        list --all
        import limits.plan.md
        export --format cursor-plan
        export out.plan.md --format cursor-plan
        export --format codex
        export --format phases-session
        export --format yaml
    ")), @r#"
    $ punch import limits.plan.md --dry-run
    2 todos would be imported
    as cursor-plan: 1 pending, 1 completed; 1 dependency; 0 phases
    note: skipped, not understood: name, the text below the front matter
    2> note: created a store in `$ROOT/p/.punch`, because this is not a git repository; folders below use it too
    $ punch list --all
    No todos yet: `punch add 'First thing'` adds one.
    $ punch import limits.plan.md
    2 todos imported
    note: skipped, not understood: name, the text below the front matter
    $ punch list --all
    [x] core  Count: per key
    [ ] api  Answer 429
    $ punch import limits.plan.md
    Nothing changed: the plan already has all 2 todos from this file.
    note: skipped, not understood: name, the text below the front matter
    $ punch export --format cursor-plan
    ---
    name: Plan
    overview: ""
    todos:
      - id: core
        content: "Count: per key"
        status: completed
      - id: api
        content: Answer 429
        status: pending
        dependencies: ["core"]
        color: "blue"
    ---
    $ punch export out.plan.md --format cursor-plan
    Wrote 2 todos to out.plan.md (cursor-plan)
    $ punch export --format codex
    {"plan": [
      {"step":"Count: per key","status":"completed"},
      {"step":"Answer 429","status":"pending"}
    ]}
    2> note: codex cannot carry: dependsOn
    $ punch export --format phases-session
    2> error: phases-session can only be imported
    2> hint: `punch export --formats` lists the formats
    exit 2
    $ punch export --format yaml
    2> error: invalid value 'yaml' for '--format <FORMAT>': use one of json, extended, markdown, cursor-plan, checklist, todowrite, claude-tasks, codex, task-master, beads, spec, opencode, taskwarrior, cursor-todos, cursor-agent, phases, html
    2>
    2> For more information, try '--help'.
    exit 2
    "#);
    let text = fs::read_to_string(world.project.join("out.plan.md")).unwrap();
    assert!(text.contains("color: \"blue\""), "{text}");
    world.sound();
}

#[test]
fn a_folder_of_tasks_comes_in_and_goes_out() {
    let world = World::new();
    let folder = world.project.join("tasks");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("2.json"), r#"{"id":"2","subject":"Write b","description":"","status":"pending","blocks":[],"blockedBy":["1"],"owner":"kim"}"#).unwrap();
    fs::write(
        folder.join("1.json"),
        r#"{"id":"1","subject":"Write a","description":"","status":"completed","blocks":["2"],"blockedBy":[]}"#,
    )
    .unwrap();
    fs::write(folder.join(".lock"), "").unwrap();
    fs::create_dir(world.project.join("empty")).unwrap();
    fs::create_dir(world.project.join("broken")).unwrap();
    fs::write(world.project.join("broken/1.json"), "{\"id\": ").unwrap();
    assert_snapshot!(calm(&world.script(r"
        import tasks --dry-run
        import tasks
        list --all
        export empty --format claude-tasks
        export tasks --format claude-tasks
        import broken
        import broken --format beads
        import .
        export tasks
    ")), @r#"
    $ punch import tasks --dry-run
    2 todos would be imported
    as claude-tasks: 1 pending, 1 completed; 1 dependency; 0 phases
    2> note: created a store in `$ROOT/p/.punch`, because this is not a git repository; folders below use it too
    $ punch import tasks
    2 todos imported
    $ punch list --all
    [x] 1  Write a
    [ ] 2  Write b
    $ punch export empty --format claude-tasks
    Wrote 2 todos to empty (claude-tasks)
    $ punch export tasks --format claude-tasks
    2> error: the folder `tasks` already has tasks
    2> hint: choose an empty folder; nothing was written
    exit 1
    $ punch import broken
    2> error: 1.json: not JSON: EOF while parsing a value at line 1 column 7
    2> hint: fix that value and try again; nothing was changed
    exit 1
    $ punch import broken --format beads
    2> error: a folder can only be read as claude-tasks
    2> hint: name one file in it, or leave out --format
    exit 2
    $ punch import .
    2> error: the folder `.` has no task files (1.json, 2.json, …)
    2> hint: choose a file, or a folder inside ~/.claude/tasks
    exit 1
    $ punch export tasks
    2> error: cannot use the file `tasks`: is a directory
    2> hint: check the name and the permissions
    exit 1
    "#);
    let task = fs::read_to_string(world.project.join("empty/2.json")).unwrap();
    assert!(task.contains("\"owner\": \"kim\""), "{task}");
    let again = World::new();
    let copied = world.project.join("empty");
    assert_eq!(again.punch(&["import", copied.to_str().unwrap()]).exit, Some(0));
}

#[test]
fn nested_lists_and_bad_files_are_told_apart() {
    let world = World::new();
    let file = |name: &str, text: &str| fs::write(world.project.join(name), text).unwrap();
    file("nested.md", "# Ship\n- [ ] Release\n  - [x] Build\n  - [ ] Sign\n\n```\n- [ ] no\n```\n");
    file(
        "tasks.json",
        r#"{"master":{"tasks":[{"id":1,"title":"A","status":"done","dependencies":[]},{"id":2,"title":"B","status":"nope","dependencies":["x"]},{"id":2,"title":"","dependencies":{}}]}}"#,
    );
    file(
        "issues.jsonl",
        "{\"id\":\"bd-1\",\"title\":\"x\",\"status\":\"open\",\"priority\":2,\"issue_type\":\"task\"}\n{\"id\":\"bd-2\",\n",
    );
    file("bomb.plan.md", "---\na: &a [x]\nb: [*a, *a]\ntodos: []\n---\n");
    assert_snapshot!(calm(&world.script(r"
        import nested.md --dry-run
        import nested.md
        import nested.md
        tree --all
        import tasks.json
        import issues.jsonl
        import bomb.plan.md
        export --format checklist
        export --format task-master out.json --json
    ")), @r#"
    $ punch import nested.md --dry-run
    3 todos would be imported
    as checklist: 2 pending, 1 completed; 2 dependencies; 1 phase
    note: skipped, not understood: line 6
    2> note: created a store in `$ROOT/p/.punch`, because this is not a git repository; folders below use it too
    $ punch import nested.md
    3 todos imported
    note: skipped, not understood: line 6
    $ punch import nested.md
    Nothing changed: the plan already has all 3 todos from this file.
    note: skipped, not understood: line 6
    $ punch tree --all
    Ship  1/3 done
      [.] T-1  Release  (waiting for T-3)
      [x] T-2  Build
      [ ] T-3  Sign
    $ punch import tasks.json
    2> error: master.tasks[1].status: unknown status `nope`; use one of pending, in_progress, completed, cancelled, blocked, in-progress, done, review, deferred
    2> master.tasks[2].dependencies: must be a list of ids, not an object
    2> master.tasks[2]: the todo has no text
    2> master.tasks[2]: the id `2` is taken by master.tasks[1]
    2> hint: fix that value and try again; nothing was changed
    exit 1
    $ punch import issues.jsonl
    2> error: line 2: not JSON: EOF while parsing a value at column 13
    2> hint: fix that value and try again; nothing was changed
    exit 1
    $ punch import bomb.plan.md
    2> error: line 3, column 5: YAML aliases are not supported
    2> hint: fix that value and try again; nothing was changed
    exit 1
    $ punch export --format checklist
    # Ship

    - [ ] Release
      - [x] Build
      - [ ] Sign
    $ punch export --format task-master out.json --json
    {"schema":1,"exported":3,"file":"out.json","format":"task-master"}
    "#);
    world.sound();
}

#[test]
fn what_a_format_brings_without_a_name_here_survives_the_store() {
    let world = World::new();
    let line = r#"{"id":"bd-1","title":"x","description":"","status":"open","priority":2,"issue_type":"bug","created_at":"2025-10-17T03:00:00Z","updated_at":"2025-10-17T03:00:00Z","labels":["a","Not here"],"estimate":{"h":[1,2]}}"#;
    assert_eq!(world.feed(&["import", "-"], line).exit, Some(0));
    let out: serde_json::Value = serde_json::from_str(&world.ok(&["export", "--format", "beads"])).unwrap();
    let went: serde_json::Value = serde_json::from_str(line).unwrap();
    assert_eq!(out, went);
    // A reader is not shown it, an edit does not touch it, an undo brings it back.
    let shown = world.ok(&["show", "bd-1", "--json"]);
    assert!(!shown.contains("estimate") && shown.contains("\"labels\":[\"a\"]"), "{shown}");
    world.ok(&["note", "bd-1", "seen"]);
    world.ok(&["rm", "bd-1"]);
    world.ok(&["undo"]);
    assert!(world.ok(&["export", "--format", "beads"]).contains("\"labels\":[\"a\",\"Not here\"]"));
    let markdown = world.ok(&["export", "--format", "markdown"]);
    let second = World::new();
    assert_eq!(second.feed(&["import", "-"], &markdown).exit, Some(0));
    assert!(second.ok(&["export", "--format", "beads"]).contains("\"estimate\":{\"h\":[1,2]}"));
    world.sound();
}

#[test]
fn a_file_beyond_the_limit_is_refused_before_it_is_read() {
    let world = World::new();
    let file = fs::File::create(world.project.join("huge.json")).unwrap();
    file.set_len(65 * 1024 * 1024).unwrap();
    let run = world.punch(&["import", "huge.json"]);
    assert_eq!(run.exit, Some(1));
    assert!(run.render().contains("huge.json is larger than 64 MiB"), "{}", run.render());
}

#[test]
fn fifty_megabytes_are_read() {
    let world = World::new();
    let text = "x".repeat(1_000);
    let lines: String = (0..50_000).map(|n| format!("{{\"id\":\"bd-{n}\",\"title\":\"{n}\",\"status\":\"open\",\"priority\":2,\"issue_type\":\"task\",\"description\":\"{text}\"}}\n")).collect();
    assert!(lines.len() > 50_000_000);
    fs::write(world.project.join("issues.jsonl"), lines).unwrap();
    let run = answer(&world.punch(&["import", "issues.jsonl", "--dry-run", "--json"]));
    assert_eq!((&run["imported"], &run["format"]), (&50_000.into(), &"beads".into()));
}
