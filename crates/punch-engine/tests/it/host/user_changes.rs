//! What the user adds, changes and removes while an agent works.

use punch_core::dialect::mirror::{HostListUpdate, Row, Word};
use punch_core::drive::{HostEvent, Start};
use punch_core::{Edit, Keep, Op, Status};
use punch_engine::call::{Caller, Dialect, Family, TodoUse};
use punch_store::SessionKey;
use serde_json::{Value, json};

use super::{World, add, id, person, stop, todos, world};

/// How a session writes its list: content and whether it is done.
type Write = fn(&World, &[(&str, bool)]);

fn word(done: bool) -> &'static str {
    if done { "completed" } else { "pending" }
}

fn todowrite(world: &World, rows: &[(&str, bool)]) {
    let rows: Vec<(&str, &str)> = rows.iter().map(|(content, done)| (*content, word(*done))).collect();
    assert!(!world.write("s", Dialect::Todowrite, todos(&rows)).is_error);
}

fn cursor(world: &World, rows: &[(&str, bool)]) {
    let row = |(content, done): &(&str, bool)| json!({"id": content, "content": content, "status": word(*done)});
    let rows: Vec<Value> = rows.iter().map(row).collect();
    assert!(!world.write("s", Dialect::Cursor, json!({"merge": false, "todos": rows})).is_error);
}

fn merging(world: &World, rows: &[(&str, bool)]) {
    let row = |(content, done): &(&str, bool)| json!({"id": content, "content": content, "status": word(*done)});
    let rows: Vec<Value> = rows.iter().map(row).collect();
    assert!(!world.write("s", Dialect::Cursor, json!({"merge": true, "todos": rows})).is_error);
}

fn phases(world: &World, rows: &[(&str, bool)]) {
    for (content, done) in rows {
        world.write("s", Dialect::Phases, json!({"ops": [{"op": "append", "phase": "P", "items": [content]}]}));
        if *done {
            assert!(!world.write("s", Dialect::Phases, json!({"ops": [{"op": "done", "task": content}]})).is_error);
        }
    }
}

fn mirrored(world: &World, rows: &[(&str, bool)]) {
    world.pass(1);
    let caller = Caller::under(&world.settings, SessionKey::new("s", None), "claude".into());
    let row = |(content, done): &(&str, bool)| Row {
        content: (*content).to_owned(),
        status: if *done { Word::Completed } else { Word::Pending },
        ..Row::default()
    };
    let told = HostListUpdate::List(rows.iter().map(row).collect());
    let family = Family { name: "TodoWrite", shared: false };
    world.engine.mirror(world.plan, &TodoUse { caller: &caller, family, told: &told, key: None }).unwrap();
}

const LISTS: [(&str, Write); 5] =
    [("todowrite", todowrite), ("cursor", cursor), ("merging", merging), ("phases", phases), ("mirrored", mirrored)];

fn status(world: &World, content: &str) -> Option<Status> {
    let plan = world.engine.whole(world.plan).unwrap();
    plan.live().into_iter().find(|todo| todo.content == content).map(|todo| todo.status)
}

#[test]
fn a_session_is_not_finished_while_something_is_open_that_the_user_added() {
    for (name, write) in LISTS {
        let world = world();
        world.by_hand(&[add("there before")]);
        write(&world, &[("mine", false)]);
        world.by_hand(&[add("of the user")]);
        write(&world, &[("mine", true)]);
        let text = world.report("s", stop()).go_on.unwrap_or_default();
        assert!(text.contains("of the user"), "{name}: {}, {text}", world.decided("s"));
        let text = world.report("s", person()).context.unwrap_or_default();
        assert!(text.contains("was added (pending): \"of the user\"") && !text.contains("mine"), "{name}: {text}");
        assert_eq!(world.report("s", person()).context, None, "{name}: reported once");
        write(&world, &[("mine", true)]);
        assert_eq!(status(&world, "of the user"), Some(Status::Pending), "{name}: leaving it out removes nothing");
        assert_eq!(world.stopped("s"), "continue", "{name}: it still counts");
        write(&world, &[("mine", true), ("of the user", true)]);
        assert_eq!(status(&world, "of the user"), Some(Status::Completed), "{name}");
        assert_eq!(world.stopped("s"), "finished", "{name}: what was there before is offered, not assigned");
    }
}

#[test]
fn what_the_user_changed_is_reported_although_the_agent_wrote_since() {
    let native: Write = |world, rows| {
        let ops = rows.iter().map(|(content, _)| json!({"op": "add", "content": content})).collect::<Vec<_>>();
        world.write("s", Dialect::Native, json!({"ops": ops}));
    };
    let extended: Write = |world, rows| {
        let row = |(content, _): &(&str, bool)| json!({"id": content, "title": content});
        let rows: Vec<Value> = rows.iter().map(row).collect();
        world.write("s", Dialect::Extended, json!({"mode": "patch", "todos": rows}));
    };
    for (name, write) in LISTS.into_iter().chain([("native", native), ("extended", extended)]) {
        let world = world();
        write(&world, &[("one", false), ("two", false), ("three", false)]);
        let plan = world.engine.whole(world.plan).unwrap();
        let of = |content: &str| plan.live().into_iter().find(|t| t.content == content).unwrap().id.clone();
        let renamed = Edit { content: Keep::Set("one, as it should be".into()), ..Edit::default() };
        world.by_hand(&[Op::Edit(id(&of("one")), renamed), Op::Rm(id(&of("two")))]);
        write(&world, &[("four", false)]);
        world.write("other", Dialect::Native, json!({"ops": [{"op": "add", "content": "of another agent"}]}));
        world.report("s", HostEvent::SessionStarted { how: Start::Compact });
        let text = world.report("s", person()).context.unwrap_or_default();
        assert!(text.contains(" was removed") && !text.contains("another agent"), "{name}: {text}");
        assert_eq!(world.report("s", person()).context, None, "{name}: reported once");
    }
}

#[test]
fn a_todo_that_the_user_adds_before_the_first_list_of_a_turn_counts() {
    let world = world();
    world.by_hand(&[add("there before")]);
    world.report("s", person());
    world.by_hand(&[add("of the user")]);
    mirrored(&world, &[("mine", true)]);
    assert!(world.report("s", stop()).go_on.unwrap().contains("of the user"));
    let text = world.report("s", person()).context.unwrap();
    assert!(text.contains("of the user") && !text.contains("there before"), "{text}");
}

#[test]
fn what_the_user_added_is_in_the_list_that_is_put_back() {
    let world = world();
    mirrored(&world, &[("mine", false)]);
    world.by_hand(&[add("of the user")]);
    let text = world.report("s", HostEvent::SessionStarted { how: Start::Compact }).context.unwrap();
    assert!(text.contains("mine") && text.contains("of the user"), "{text}");
    assert_eq!(world.report("s", person()).context, None, "it was shown");
    mirrored(&world, &[("mine", true), ("of the user", true)]);
    assert_eq!(world.stopped("s"), "finished");
}
