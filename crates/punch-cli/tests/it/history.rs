//! `log`, `undo` and `redo`.

use insta::assert_snapshot;
use serde_json::json;

use crate::world::{World, calm};

fn world() -> World {
    let world = World::new();
    world.ok(&["add", "Design it", "Write it"]);
    world.ok(&["add", "Ship it", "--id", "ship", "--needs", "T-1", "--needs", "T-2"]);
    world
}

#[test]
fn nothing_has_happened_in_an_empty_project() {
    let world = World::new();
    assert_snapshot!(world.script(r"
        log
        log --json
        log --todo x
        undo
        undo --json
        undo 3
        undo x
        redo
    "), @r#"
    $ punch log
    Nothing has happened yet.
    $ punch log --json
    {"schema":1,"revisions":[]}
    $ punch log --todo x
    2> error: no todo `x`
    2> hint: `punch list --all` shows every todo, closed ones included; `punch log` names archived ones
    exit 1
    $ punch undo
    2> error: nothing to undo
    2> hint: `punch log` lists the revisions
    exit 1
    $ punch undo --json
    {"schema":1,"error":{"code":"nothing_to_undo","message":"nothing to undo","hint":"`punch log` lists the revisions"}}
    exit 1
    $ punch undo 3
    2> error: no revision 3 in this plan
    2> hint: `punch log` lists the revisions
    exit 1
    $ punch undo x
    2> error: invalid value 'x' for '[REVISION]': use a whole number, such as 20
    2>
    2> For more information, try '--help'.
    exit 2
    $ punch redo
    2> error: nothing to redo
    2> hint: `punch log` lists the revisions
    exit 1
    "#);
    assert_eq!(std::fs::read_dir(&world.project).unwrap().count(), 0);
}

#[test]
fn log_for_programs_has_kinds_and_fields() {
    let world = world();
    world.ok(&["done", "T-1", "--owner", "ann"]);
    let log = world.json(&["log"]);
    let done = &log["revisions"][0];
    assert_eq!((&done["revision"], &done["by"]), (&json!(3), &json!("ann")));
    assert!(done["at"].as_i64() > Some(1_600_000_000_000));
    assert_eq!(
        done["events"],
        json!([{"kind": "completed", "todo": "T-1", "fields": ["status", "started_at", "finished_at"]}])
    );
    assert_eq!(log["revisions"].as_array().unwrap().len(), 3);
    assert_eq!(world.json(&["log", "--limit", "1"])["revisions"].as_array().unwrap().len(), 1);
}

#[test]
fn undo_undoes_changes_one_after_the_other() {
    assert_snapshot!(world().script(r"
        done T-1
        edit T-2 --content Better
        undo
        undo
        undo
        list --all
        undo
        undo
        list --all
    "), @r#"
    $ punch done T-1
    [x] T-1  Design it
    $ punch edit T-2 --content Better
    [ ] T-2  Better
      text: Write it -> Better
    $ punch undo
    Undid revision 4 by user: T-2 text changed
    [ ] T-2  Write it
    $ punch undo
    Undid revision 3 by user: T-1 completed
    [ ] T-1  Design it
    $ punch undo
    Undid revision 2 by user: ship added: Ship it
    archived: ship  Ship it
    $ punch list --all
    [ ] T-1  Design it
    [ ] T-2  Write it
    $ punch undo
    Undid revision 1 by user: T-1, T-2 added
    archived: T-1  Design it
    archived: T-2  Write it
    $ punch undo
    2> error: nothing to undo
    2> hint: `punch log` lists the revisions
    exit 1
    $ punch list --all
    No todos yet: `punch add 'First thing'` adds one.
    "#);
}

#[test]
fn undo_of_an_older_revision_refuses_what_was_changed_since() {
    assert_snapshot!(world().script(r"
        edit T-1 --content Second
        edit T-1 --content Third
        note T-2 x
        undo 3
        undo 4
        undo 3
        show T-1
        undo 99
        undo 1
    "), @r#"
    $ punch edit T-1 --content Second
    [ ] T-1  Second
      text: Design it -> Second
    $ punch edit T-1 --content Third
    [ ] T-1  Third
      text: Second -> Third
    $ punch note T-2 x
    [ ] T-2  Write it
      note: x
    $ punch undo 3
    2> error: revision 3 cannot be undone because these changed since: text of `T-1`
    2> hint: undo the later revisions first; `punch log` lists them
    exit 1
    $ punch undo 4
    Undid revision 4 by user: T-1 text changed
    [ ] T-1  Second
    $ punch undo 3
    Undid revision 3 by user: T-1 text changed
    [ ] T-1  Design it
    $ punch show T-1
    [ ] T-1  Design it
      blocks: ship  Ship it
      times: added a moment ago
    $ punch undo 99
    2> error: no revision 99 in this plan
    2> hint: `punch log` lists the revisions
    exit 1
    $ punch undo 1
    2> error: revision 1 cannot be undone because these changed since: dependencies of `ship`
    2> hint: undo the later revisions first; `punch log` lists them
    exit 1
    "#);
}

#[test]
fn undo_for_programs_names_what_changed() {
    let world = world();
    world.ok(&["done", "T-1"]);
    let undo = world.json(&["undo"]);
    assert_eq!((&undo["undone"], &undo["revision"]), (&json!(3), &json!(4)));
    assert_eq!(undo["todos"][0]["id"], "T-1");
    assert_eq!(undo["todos"][0]["status"], "pending");
    world.ok(&["edit", "T-1", "--content", "x"]);
    world.ok(&["edit", "T-1", "--content", "y"]);
    assert_eq!(world.refused(&["undo", "5"]), (1, "revert_conflict".to_owned()));
    world.sound();
}

#[test]
fn log_tells_every_revision_in_words() {
    let world = world();
    for line in [
        "start T-1 --owner ann",
        "done T-1 --evidence seen",
        "edit T-2 --content Better --priority 1",
        "edit T-2 --needs T-1",
        "hold T-2 why",
        "release T-2",
        "note ship hello",
        "move ship --first",
        "start T-2",
        "fail T-2 --error no",
        "start T-2",
        "fail T-2 --error no",
        "reopen T-2",
        "drop T-2",
        "rm T-2",
        "undo",
        "add a b c d e f --phase P",
        "claim ship --owner bob",
    ] {
        let run = world.script(line);
        assert!(!run.contains("exit 2"), "{run}");
    }
    assert_snapshot!(calm(&world.script(r"
        log --limit 40
        log --limit 2
        log --todo T-2 --limit 3
        log --todo 'ship it'
        log --todo t
    ")), @r#"
    $ punch log --limit 40
    19  TIME  user  the list of phases changed; T-3, T-4, T-5, T-6, 2 more added
    18  TIME  user  undid 17: T-2, ship changed back
    17  TIME  user  ship dependencies changed; T-2 archived (undone by 18)
    16  TIME  user  T-2 cancelled
    15  TIME  user  T-2 reopened
    14  TIME  user  T-2 failed (attempt 2)
    13  TIME  user  T-2 started
    12  TIME  user  T-2 failed (attempt 1, to be retried): no
    11  TIME  user  T-2 started
    10  TIME  user  ship moved
     9  TIME  user  ship note added
     8  TIME  user  T-2 taken off hold
     7  TIME  user  T-2 put on hold
     6  TIME  user  T-2 dependencies changed
     5  TIME  user  T-2 text and priority changed
     4  TIME  user  T-1 completed
     3  TIME  ann  T-1 started
     2  TIME  user  ship added: Ship it
     1  TIME  user  T-1, T-2 added
    $ punch log --limit 2
    19  TIME  user  the list of phases changed; T-3, T-4, T-5, T-6, 2 more added
    18  TIME  user  undid 17: T-2, ship changed back
    2> 17 older; `punch log -n 10` shows more
    $ punch log --todo T-2 --limit 3
    18  TIME  user  undid 17: T-2 changed back
    17  TIME  user  T-2 archived (undone by 18)
    16  TIME  user  T-2 cancelled
    $ punch log --todo 'ship it'
    18  TIME  user  undid 17: ship changed back
    17  TIME  user  ship dependencies changed (undone by 18)
    10  TIME  user  ship moved
     9  TIME  user  ship note added
     2  TIME  user  ship added: Ship it
    $ punch log --todo t
    18  TIME  user  undid 17: ship changed back
    17  TIME  user  ship dependencies changed (undone by 18)
    10  TIME  user  ship moved
     9  TIME  user  ship note added
     2  TIME  user  ship added: Ship it
    "#);
}

#[test]
fn undo_after_a_named_undo_means_the_last_change_that_stands() {
    let world = World::new();
    ["a", "b", "c"].iter().for_each(|content| drop(world.ok(&["add", content])));
    assert_snapshot!(world.script(r"
        undo 1
        undo
        undo 1
        undo
        undo
        redo
        list --all
    "), @r#"
    $ punch undo 1
    Undid revision 1 by user: T-1 added: a
    archived: T-1  a
    $ punch undo
    Undid revision 3 by user: T-3 added: c
    archived: T-3  c
    $ punch undo 1
    2> error: revision 1 was already undone by revision 4
    2> hint: `punch undo 4` redoes it
    exit 1
    $ punch undo
    Undid revision 2 by user: T-2 added: b
    archived: T-2  b
    $ punch undo
    2> error: nothing to undo
    2> hint: `punch log` lists the revisions
    exit 1
    $ punch redo
    Redid revision 2 by user: T-2 added: b
    [ ] T-2  b
    $ punch list --all
    [ ] T-2  b
    "#);
    world.sound();
}

#[test]
fn undo_leaves_the_changes_of_others_alone_unless_asked() {
    let world = World::new();
    world.ok(&["add", "a", "b"]);
    world.ok(&["done", "T-1", "--owner", "codex", "--evidence", "tests pass"]);
    world.ok(&["note", "--owner", "codex", "T-2", "careful"]);
    assert_snapshot!(world.script(r"
        undo --owner ann
        undo 3
        undo --any
        undo --any
        undo --any --json
        redo --owner ann
        redo
        redo
        redo
    "), @r#"
    $ punch undo --owner ann
    2> error: you have nothing to undo; the latest change is revision 2 by `codex`
    2> hint: run `punch undo --any` to undo other people's changes too
    exit 1
    $ punch undo 3
    2> error: nothing in revision 3 can be undone: 1 note by `codex` stays
    2> hint: `punch log` lists the revisions
    exit 1
    $ punch undo --any
    Undid revision 2 by codex: T-1 completed
    [ ] T-1  a
    note: the evidence of `T-1` stays
    $ punch undo --any
    Undid revision 1 by user: T-1, T-2 added
    archived: T-1  a
    archived: T-2  b
    $ punch undo --any --json
    {"schema":1,"error":{"code":"nothing_to_undo","message":"nothing to undo","hint":"`punch log` lists the revisions"}}
    exit 1
    $ punch redo --owner ann
    2> error: you have nothing to redo; the latest undo is revision 5 by `user`
    2> hint: run `punch undo 5` to undo it
    exit 1
    $ punch redo
    Redid revision 1 by user: T-1, T-2 added
    [ ] T-1  a
    [ ] T-2  b
    $ punch redo
    Redid revision 2 by codex: T-1 completed
    [x] T-1  a
    $ punch redo
    2> error: nothing to redo
    2> hint: `punch log` lists the revisions
    exit 1
    "#);
    world.sound();
}

#[test]
fn redo_survives_other_changes_and_refuses_what_they_touched() {
    let world = World::new();
    world.ok(&["add", "a", "b"]);
    assert_snapshot!(world.script(r"
        edit T-1 --content second
        edit T-2 --priority 1
        undo
        undo
        note T-2 later
        redo
        edit T-2 --priority 5
        redo
    "), @r#"
    $ punch edit T-1 --content second
    [ ] T-1  second
      text: a -> second
    $ punch edit T-2 --priority 1
    [ ] T-2  b
      priority: 3 -> 1
    $ punch undo
    Undid revision 3 by user: T-2 priority changed
    [ ] T-2  b
    $ punch undo
    Undid revision 2 by user: T-1 text changed
    [ ] T-1  a
    $ punch note T-2 later
    [ ] T-2  b
      note: later
    $ punch redo
    Redid revision 2 by user: T-1 text changed
    [ ] T-1  second
    $ punch edit T-2 --priority 5
    [ ] T-2  b
      priority: 3 -> 5
    $ punch redo
    2> error: revision 3 cannot be redone because these changed since: priority of `T-2`
    2> hint: undo the later revisions first; `punch log` lists them
    exit 1
    "#);
    world.sound();
}

#[test]
fn undo_succeeds_exactly_if_something_changed() {
    let world = World::new();
    let revision = || world.json(&["log", "-n", "1"])["revisions"][0]["revision"].as_u64().unwrap_or(0);
    world.ok(&["add", "a", "b", "c"]);
    let steps = [
        "note --owner codex T-1 x",
        "done T-1",
        "undo --any",
        "undo --any",
        "undo",
        "undo",
        "undo 1",
        "redo",
        "redo",
        "start T-2 --owner codex",
        "undo",
        "undo --any",
        "undo --owner codex",
        "redo --owner codex",
        "redo",
        "undo 2",
        "undo 99",
        "undo",
        "undo",
        "undo",
        "redo",
        "redo",
        "redo",
    ];
    for step in steps {
        let before = revision();
        let run = world.punch(&step.split(' ').collect::<Vec<_>>());
        assert_eq!(run.exit == Some(0), revision() > before, "{step}: {}{}", run.stdout, run.stderr);
    }
    world.sound();
}
