//! What an answer says about a call that was applied in part: the plan, the text, `changed` and `errors` agree.

use proptest::prelude::*;
use punch_engine::call::{Dialect, ToolAnswer};
use serde_json::{Value, json};

use crate::host::{World, world};

fn phases(world: &World, ops: Value) -> ToolAnswer {
    world.write("s", Dialect::Phases, json!({ "ops": ops }))
}

#[test]
fn a_call_that_was_applied_in_part_says_so_and_names_what_failed() {
    let world = world();
    phases(&world, json!([{"op": "init", "list": [{"phase": "P", "items": ["a"]}]}]));
    let ops = json!([
        {"op": "note", "task": "a", "text": "n"},
        {"op": "done", "task": "nope"},
        {"op": "append", "phase": "P", "items": ["b"]},
    ]);
    let answer = phases(&world, ops);
    assert!(answer.is_error && answer.changed, "{answer:?}");
    assert_eq!(answer.errors.iter().map(|error| error.op).collect::<Vec<_>>(), [Some(1)]);
    assert!(answer.text.contains("The rest of the call was applied: send only what failed again."), "{}", answer.text);
    assert_eq!(answer.structured["errors"].as_array().map(Vec::len), Some(1));
    let nothing = phases(&world, json!([{"op": "done", "task": "nope"}]));
    assert!(nothing.is_error && !nothing.changed && nothing.text.contains("Nothing was changed."), "{nothing:?}");
    let emptied = phases(&world, json!([{"op": "init"}]));
    assert!(emptied.is_error && emptied.changed && !emptied.text.contains("Nothing was changed."), "{emptied:?}");
}

/// Calls of every dialect on few names, some of them wrong.
fn call() -> impl Strategy<Value = (Dialect, Value)> {
    let name = || prop::sample::select(vec!["a", "b", "c", "nope", ""]);
    let status = || prop::sample::select(vec!["pending", "in_progress", "completed", "cancelled", "strange"]);
    let native = (prop::sample::select(vec!["add", "start", "done", "rm", "fail"]), name())
        .prop_map(|(op, id)| (Dialect::Native, json!({"ops": [{"op": op, "id": id, "content": id, "error": "e"}]})));
    let phases = prop::collection::vec(
        (prop::sample::select(vec!["append", "start", "done", "rm", "note"]), name()),
        1..4,
    )
    .prop_map(|ops| {
        let op = |(op, task): (&str, &str)| json!({"op": op, "task": task, "phase": "P", "items": [task], "text": "t"});
        (Dialect::Phases, json!({"ops": ops.into_iter().map(op).collect::<Vec<_>>()}))
    });
    let rows = move || prop::collection::vec((name(), status()), 0..4);
    let row =
        |(id, status): (&str, &str)| json!({"id": id, "content": id, "title": id, "status": status, "activeForm": id});
    let list = move |rows: Vec<(&str, &str)>| rows.into_iter().map(row).collect::<Vec<_>>();
    let cursor = (any::<bool>(), rows())
        .prop_map(move |(merge, rows)| (Dialect::Cursor, json!({"merge": merge, "todos": list(rows)})));
    let todowrite = rows().prop_map(move |rows| (Dialect::Todowrite, json!({"todos": list(rows)})));
    let extended = (prop::sample::select(vec!["replace", "patch"]), rows())
        .prop_map(move |(mode, rows)| (Dialect::Extended, json!({"mode": mode, "todos": list(rows)})));
    prop_oneof![native, phases, cursor, todowrite, extended]
}

proptest! {
    #[test]
    fn answers_say_that_the_plan_changed_exactly_when_it_did(calls in prop::collection::vec(call(), 1..8)) {
        let world = world();
        for (dialect, arguments) in calls {
            let before = world.engine.whole(world.plan).unwrap();
            let answer = world.write("s", dialect, arguments.clone());
            let after = world.engine.whole(world.plan).unwrap();
            prop_assert_eq!(answer.changed, before.row.revision != after.row.revision, "{} {:?}", arguments, &answer);
            prop_assert_eq!(answer.is_error, !answer.errors.is_empty(), "{} {:?}", arguments, &answer);
            let denies = answer.text.contains("Nothing was changed.");
            prop_assert!(!(denies && answer.changed), "{} {:?}", arguments, &answer);
        }
    }
}
