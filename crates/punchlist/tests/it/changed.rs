//! Whether a plan changed: every answer and every result of `apply` says it, and says it right.

use proptest::prelude::*;
use punchlist::{Dialect, NewTodo, Op, Options, Session};
use serde_json::{Value, json};

/// An id that a plan may have, or not.
fn id() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["a", "b", "c", "nobody"])
}

/// A call of a dialect. Some of them make no sense and are refused.
fn call(dialect: Dialect) -> BoxedStrategy<Value> {
    match dialect {
        Dialect::Native => {
            let op = prop_oneof![
                id().prop_map(|id| json!({"op": "add", "id": id, "content": format!("Do {id}")})),
                id().prop_map(|id| json!({"op": "start", "id": id})),
                id().prop_map(|id| json!({"op": "done", "id": id})),
                id().prop_map(|id| json!({"op": "edit", "id": id, "content": format!("Do {id}")})),
                id().prop_map(|id| json!({"op": "note", "id": id, "text": "x"})),
                id().prop_map(|id| json!({"op": "rm", "id": id})),
                Just(json!({"op": "undo"})),
            ];
            prop::collection::vec(op, 1..4).prop_map(|ops| json!({"ops": ops})).boxed()
        }
        Dialect::Todowrite => {
            let row = (id(), status(&["pending", "pending", "in_progress", "completed"]))
                .prop_map(|(id, status)| json!({"content": id, "status": status, "activeForm": id}));
            prop::collection::vec(row, 0..4).prop_map(|todos| json!({"todos": todos})).boxed()
        }
        Dialect::Cursor => {
            let row = (id(), status(&["pending", "in_progress", "completed", "cancelled"]), id())
                .prop_map(|(id, status, on)| json!({"id": id, "content": id, "status": status, "dependencies": [on]}));
            let todos = prop::collection::vec(row, 0..4);
            (any::<bool>(), todos).prop_map(|(merge, todos)| json!({"merge": merge, "todos": todos})).boxed()
        }
        Dialect::Extended => {
            let row = (id(), status(&["pending", "in_progress", "completed", "blocked", "cancelled", "failed"]))
                .prop_map(|(id, status)| json!({"id": id, "title": id, "status": status}));
            let (mode, todos) = (status(&["patch", "replace"]), prop::collection::vec(row, 0..4));
            (mode, todos).prop_map(|(mode, todos)| json!({"mode": mode, "todos": todos})).boxed()
        }
        Dialect::Phases => {
            let init = prop::collection::vec(id(), 1..4);
            let op = prop_oneof![
                init.prop_map(|items| json!({"op": "init", "list": [{"phase": "One", "items": items}]})),
                id().prop_map(|id| json!({"op": "append", "phase": "Two", "items": [id]})),
                (status(&["start", "done", "drop", "rm", "note"]), id())
                    .prop_map(|(op, id)| json!({"op": op, "task": id, "text": "x"})),
            ];
            prop::collection::vec(op, 1..4).prop_map(|ops| json!({"ops": ops})).boxed()
        }
    }
}

fn status(words: &[&'static str]) -> impl Strategy<Value = &'static str> {
    prop::sample::select(words.to_vec())
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        id().prop_map(|id| Op::add(NewTodo::new("x").id(id))),
        id().prop_map(Op::start),
        id().prop_map(Op::done),
        id().prop_map(|id| Op::fail(id, "why")),
        id().prop_map(Op::cancel),
        id().prop_map(Op::reopen),
        id().prop_map(|id| Op::hold(id, "why")),
        id().prop_map(Op::release),
        id().prop_map(|id| Op::rename(id, "x")),
        id().prop_map(|id| Op::label(id, ["bug"])),
        id().prop_map(Op::remove),
    ]
}

/// Calls of one dialect.
pub fn calls() -> impl Strategy<Value = (Dialect, Vec<Value>)> {
    let calls = |dialect| prop::collection::vec(call(dialect), 1..12).prop_map(move |calls| (dialect, calls));
    prop::sample::select(Dialect::ALL.to_vec()).prop_flat_map(calls)
}

/// The name of the writing tool of a dialect.
pub const fn writes(dialect: Dialect) -> &'static str {
    if matches!(dialect, Dialect::Todowrite) { "TodoWrite" } else { "todo_write" }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn answers_of_every_dialect_say_changed_exactly_when_the_plan_changed((dialect, calls) in calls()) {
        let session = Session::in_memory(Options::new("host").dialect(dialect)).unwrap();
        let tool = writes(dialect);
        for call in calls {
            let before = session.revision().unwrap();
            let answer = session.call(tool, &call).unwrap();
            prop_assert_eq!(answer.changed, session.revision().unwrap() != before, "{}", call);
            prop_assert_eq!(answer.is_error, !answer.errors.is_empty());
            prop_assert_eq!(answer.revision, session.revision().unwrap());
        }
    }

    #[test]
    fn applied_ops_say_changed_exactly_when_the_plan_changed(batches in prop::collection::vec(prop::collection::vec(op(), 1..4), 1..12)) {
        let session = Session::in_memory(Options::new("host")).unwrap();
        for ops in batches {
            let before = session.revision().unwrap();
            let changed = session.apply(&ops).map(|applied| applied.changed).unwrap_or(false);
            prop_assert_eq!(changed, session.revision().unwrap() != before, "{:?}", ops);
        }
    }
}
