//! `log` and `undo`.

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
    "), @r#"
$ punch log
Nothing has happened yet.
$ punch log --json
{"schema":1,"revisions":[]}
$ punch log --todo x
2> error: no todo `x`
2> hint: `punch list --all` shows every todo
exit 1
$ punch undo
2> error: there is nothing to take back
2> hint: `punch log` lists the revisions
exit 1
$ punch undo --json
{"schema":1,"error":{"code":"unknown_revision","message":"there is nothing to take back","hint":"`punch log` lists the revisions"}}
exit 1
$ punch undo 3
2> error: no revision 3 in this plan
2> hint: `punch log` lists the revisions
exit 1
$ punch undo x
2> error: invalid value 'x' for '[REVISION]': invalid digit found in string
2>
2> For more information, try '--help'.
exit 2
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
fn undo_takes_changes_back_one_after_the_other() {
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
$ punch undo
took back revision 4: T-2 content changed
[ ] T-2  Write it
$ punch undo
took back revision 3: T-1 completed
[ ] T-1  Design it
$ punch undo
took back revision 2: ship added: Ship it
archived: ship  Ship it
$ punch list --all
[ ] T-1  Design it
[ ] T-2  Write it
$ punch undo
took back revision 1: T-1, T-2 added
archived: T-1  Design it
archived: T-2  Write it
$ punch undo
2> error: there is nothing to take back
2> hint: `punch log` lists the revisions
exit 1
$ punch list --all
No todos. `punch add` makes one.
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
$ punch edit T-1 --content Third
[ ] T-1  Third
$ punch note T-2 x
[ ] T-2  Write it
$ punch undo 3
2> error: revision 3 cannot be taken back: changed since: content of `T-1`
2> hint: take the later revisions back first, see `punch log`
exit 1
$ punch undo 4
took back revision 4: T-1 content changed
[ ] T-1  Second
$ punch undo 3
took back revision 3: T-1 content changed
[ ] T-1  Design it
$ punch show T-1
[ ] T-1  Design it
  blocks: ship
$ punch undo 99
2> error: no revision 99 in this plan
2> hint: `punch log` lists the revisions
exit 1
$ punch undo 1
2> error: revision 1 cannot be taken back: changed since: depends_on of `ship`
2> hint: take the later revisions back first, see `punch log`
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
    ")), @r"
    $ punch log --limit 40
    19  TIME  user  phases changed; T-3, T-4, T-5, T-6, 2 more added
    18  TIME  user  T-2, ship taken back
    17  TIME  user  ship dependencies changed; T-2 archived
    16  TIME  user  T-2 dropped
    15  TIME  user  T-2 reopened
    14  TIME  user  T-2 attempts changed; T-2 failed
    13  TIME  user  T-2 started
    12  TIME  user  T-2 attempts and last error changed; T-2 failed, to be tried again
    11  TIME  user  T-2 started
    10  TIME  user  ship moved
     9  TIME  user  ship noted
     8  TIME  user  T-2 released
     7  TIME  user  T-2 put on hold
     6  TIME  user  T-2 dependencies changed
     5  TIME  user  T-2 content and priority changed
     4  TIME  user  T-1 completed
     3  TIME  ann  T-1 started
     2  TIME  user  ship added: Ship it
     1  TIME  user  T-1, T-2 added
    $ punch log --limit 2
    19  TIME  user  phases changed; T-3, T-4, T-5, T-6, 2 more added
    18  TIME  user  T-2, ship taken back
    2> 17 older; `punch log --limit 10` shows more
    $ punch log --todo T-2 --limit 3
    18  TIME  user  T-2 taken back
    17  TIME  user  T-2 archived
    16  TIME  user  T-2 dropped
    $ punch log --todo 'ship it'
    18  TIME  user  ship taken back
    17  TIME  user  ship dependencies changed
    10  TIME  user  ship moved
     9  TIME  user  ship noted
     2  TIME  user  ship added: Ship it
    $ punch log --todo t
    18  TIME  user  ship taken back
    17  TIME  user  ship dependencies changed
    10  TIME  user  ship moved
     9  TIME  user  ship noted
     2  TIME  user  ship added: Ship it
    ");
}
