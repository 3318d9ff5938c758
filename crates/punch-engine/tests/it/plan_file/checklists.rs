//! Plans linked to a Markdown file with a checklist.

use std::fs;

use punch_core::plan_file::items_of;
use punch_core::{Edit, Keep, Op};
use punch_engine::WriteRequest;
use punch_engine::plan_file::SyncOptions;

use super::{World, done, id, linked};

const LIST: &str = "# Plan\n\n- [ ] Parent\n  - [ ] First child\n  - [x] Second child\n- [ ] Other\n";

fn needs(world: &World, todo: &str) -> Vec<String> {
    let items = items_of(&world.engine.whole(world.plan).unwrap());
    items.into_iter().find(|item| item.id == todo).unwrap().dependencies
}

#[test]
fn the_first_sync_brings_todos_phases_and_nesting_and_leaves_the_file_alone() {
    let world = linked(LIST);
    assert_eq!(world.text(), LIST);
    assert_eq!(
        world.todos(),
        ["T-1 Parent pending", "T-2 First child pending", "T-3 Second child completed", "T-4 Other pending"]
    );
    assert_eq!(needs(&world, "T-1"), ["T-2", "T-3"]);
    world.untouched(|| assert!(!world.sync().took()));
}

#[test]
fn statuses_are_written_and_edits_by_hand_are_read() {
    let world = linked(LIST);
    world.ask(&[done("T-2"), Op::Start(id("T-4"))]);
    assert_eq!(world.text(), LIST.replace("[ ] First", "[x] First").replace("[ ] Other", "[>] Other"));
    // Another order, other words, a new line, a line less.
    fs::write(&world.path, "- [x] Other\n- [ ] Parent of them\n  - [x] First child\n  - [ ] Third child\n").unwrap();
    let synced = world.sync();
    assert_eq!((synced.added, synced.archived), (vec!["T-5".to_owned()], vec!["T-3".to_owned()]));
    assert_eq!(
        world.todos(),
        ["T-4 Other completed", "T-1 Parent of them pending", "T-2 First child completed", "T-5 Third child pending"]
    );
    assert_eq!(needs(&world, "T-1"), ["T-2", "T-5"]);
    world.untouched(|| assert!(!world.sync().took()));
}

#[test]
fn words_of_the_plan_are_written_and_its_other_dependencies_stay_in_it() {
    let world = linked(LIST);
    let words = Edit { content: Keep::Set("Other\nthing".into()), ..Edit::default() };
    let more = Edit { depends_on: Keep::Set(vec![id("T-2"), id("T-3"), id("T-4")]), ..Edit::default() };
    world.ask(&[Op::Edit(id("T-4"), words), Op::Edit(id("T-1"), more)]);
    assert_eq!((world.sync().edits, world.text()), (1, LIST.replace("Other", "Other thing")));
    world.edit("  - [ ] First", "- [ ] First");
    world.sync();
    assert_eq!(needs(&world, "T-1"), ["T-4"]);
    world.untouched(|| assert!(!world.sync().took()));
}

#[test]
fn a_list_that_is_deleted_by_hand_deletes_nothing() {
    let world = linked(LIST);
    fs::write(&world.path, "# Plan\n").unwrap();
    assert_eq!(world.try_sync().unwrap_err().code(), "plan_file_unclear");
    assert_eq!(world.todos().len(), 4);
}

#[test]
fn todos_of_the_plan_are_added_on_request_and_followed() {
    let world = linked(LIST);
    world.ask(&[super::super::host::add("New one")]);
    world.engine.sync_plan_file(world.plan, &WriteRequest::by("user", None), SyncOptions { add: true }).unwrap();
    assert_eq!(world.text(), format!("{LIST}- [ ] New one\n"));
    world.ask(&[done("T-5")]);
    assert_eq!(world.text(), format!("{LIST}- [x] New one\n"));
}
