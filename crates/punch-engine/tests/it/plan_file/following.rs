//! The file follows every change of a status, and is left alone otherwise.

use std::fs;

use punch_core::{Edit, Keep, Op};
use punch_engine::WriteRequest;

use super::{FILE, done, id, linked, unlinked};

#[test]
fn linking_brings_the_todos_in_and_leaves_the_file_alone() {
    let world = unlinked(FILE);
    world.untouched(|| {
        let request = WriteRequest::by("user", None);
        let done = world.engine.link_plan_file(world.plan, &request, &world.path, Default::default()).unwrap();
        assert_eq!((done.added, done.wrote), (vec!["a".to_owned(), "b".to_owned()], false));
    });
    assert_eq!(world.todos(), ["a First pending", "b Second pending"]);
    let link = world.engine.plan_file(world.plan).unwrap().unwrap();
    assert_eq!((link.created_by.as_str(), link.edited_by), ("user", vec!["user".to_owned()]));
}

#[test]
fn every_change_of_a_status_is_written_at_once() {
    let world = linked(FILE);
    world.ask(&[Op::Start(id("a"))]);
    assert_eq!(world.text(), FILE.replacen("pending", "in_progress", 1));
    world.ask(&[done("a")]);
    world.ask(&[Op::Start(id("b"))]);
    let expected = FILE.replacen("status: pending", "status: completed", 1).replace("'pending'", "'in_progress'");
    assert_eq!(world.text(), expected);
    world.ask(&[Op::Reopen(id("a"))]);
    assert!(world.text().contains("status: pending"));
    assert!(world.troubles().is_empty());
}

#[test]
fn without_a_changed_status_the_file_is_not_touched() {
    let world = linked(FILE);
    world.untouched(|| {
        world.ask(&[Op::Note(id("a"), "a remark".into())]);
        let edit = Edit { content: Keep::Set("Other words".into()), ..Edit::default() };
        world.ask(&[Op::Edit(id("a"), edit)]);
        world.ask(&[super::super::host::add("Not in the file")]);
    });
    let world = linked("---\nname: x\ntodos: []\n---\n");
    world.untouched(|| world.ask(&[super::super::host::add("Not in the file")]));
    let world = linked(FILE);
    world.engine.unlink_plan_file(world.plan).unwrap();
    world.untouched(|| world.ask(&[Op::Start(id("a"))]));
}

#[test]
fn what_a_person_changed_is_not_written_over() {
    let world = linked(FILE);
    world.edit("status: pending", "status: cancelled");
    world.ask(&[Op::Start(id("a"))]);
    assert!(world.text().contains("status: cancelled"), "{}", world.text());
    let synced = world.sync();
    assert_eq!(synced.conflicts.len(), 1);
    assert_eq!(world.todos()[0], "a First cancelled");
    let notes = world.engine.whole(world.plan).unwrap().by_id("a").unwrap().notes.clone();
    assert!(notes[0].text.contains("in_progress"), "{notes:?}");
    assert_eq!(world.engine.plan_file(world.plan).unwrap().unwrap().conflicts, synced.conflicts);
}

#[test]
fn a_file_in_the_way_fails_no_write_and_is_told() {
    let world = linked(FILE);
    fs::remove_file(&world.path).unwrap();
    world.ask(&[Op::Start(id("a"))]);
    assert_eq!(world.troubles(), ["plan_file_missing"]);
    fs::write(&world.path, "---\ntodos: [\n").unwrap();
    world.untouched(|| world.ask(&[done("a")]));
    assert_eq!(world.troubles(), ["plan_file_unclear"]);
    fs::write(&world.path, FILE).unwrap();
    world.ask(&[Op::Start(id("b"))]);
    let expected = FILE.replacen("status: pending", "status: completed", 1).replace("'pending'", "'in_progress'");
    assert_eq!(world.text(), expected);
}

#[test]
fn permissions_of_the_file_stay() {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let world = linked(FILE);
        fs::set_permissions(&world.path, fs::Permissions::from_mode(0o640)).unwrap();
        world.ask(&[Op::Start(id("a"))]);
        assert_eq!(fs::metadata(&world.path).unwrap().permissions().mode() & 0o777, 0o640);
    }
}

#[test]
fn many_writers_at_once_leave_the_file_as_the_plan_is() {
    let todos: String = (0..8).map(|n| format!("  - id: t{n}\n    content: Todo {n}\n    status: pending\n")).collect();
    let text = format!("---\nname: x\ntodos:\n{todos}---\nBelow.\n");
    let world = linked(&text);
    std::thread::scope(|scope| {
        for n in 0..8 {
            let engine = &world.engine;
            let (plan, own) = (world.plan, format!("t{n}"));
            scope.spawn(move || {
                for _ in 0..5 {
                    engine.submit(plan, &WriteRequest::by("agent", Some(&own)), &[Op::Start(id(&own))]).unwrap();
                    engine.submit(plan, &WriteRequest::by("agent", Some(&own)), &[Op::Reopen(id(&own))]).unwrap();
                }
                if n % 2 == 0 {
                    engine.submit(plan, &WriteRequest::by("agent", Some(&own)), &[done(&own)]).unwrap();
                }
            });
        }
    });
    let mut expected = text;
    for n in [0, 2, 4, 6] {
        let line = format!("content: Todo {n}\n    status: ");
        expected = expected.replace(&format!("{line}pending"), &format!("{line}completed"));
    }
    assert_eq!((world.text(), world.troubles()), (expected, Vec::new()));
    world.untouched(|| assert!(!world.sync().took()));
}
