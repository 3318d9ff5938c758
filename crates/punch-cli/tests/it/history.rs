//! `log` and `undo`.

use insta::assert_snapshot;
use serde_json::json;

use crate::world::World;

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
