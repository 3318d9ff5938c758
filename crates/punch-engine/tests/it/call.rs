//! Tool calls of several sessions on one plan.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use punch_core::Status;
use punch_engine::call::{Dialect, Tool, ToolAnswer, ToolCaller};
use punch_engine::{Engine, PlanChoice, Role, WriteRequest};
use punch_store::{MemoryStore, PlanId, SessionKey};
use serde_json::{Value, json};

struct World {
    engine: Engine,
    plan: PlanId,
}

fn world() -> World {
    let time = Arc::new(AtomicI64::new(1_000));
    let engine = Engine::new(Box::new(MemoryStore::new()), Box::new(move || time.fetch_add(1_000, Ordering::Relaxed)));
    let plan = engine.choose_or_create(&PlanChoice::default()).unwrap();
    World { engine, plan }
}

fn caller(session: &str) -> ToolCaller<'static> {
    ToolCaller {
        session: SessionKey::new(session, None),
        actor: punch_core::Actor::agent(session, session),
        role: None,
        mode: Default::default(),
        limits: Default::default(),
        open_limit: 10_000,
        settings: None,
        structured: true,
        work: Default::default(),
        server: None,
        embedding: Default::default(),
    }
}

impl World {
    fn write(&self, session: &str, dialect: Dialect, arguments: Value) -> ToolAnswer {
        self.engine.call(self.plan, &caller(session), dialect, Tool::Write, &arguments, None).unwrap()
    }

    fn statuses(&self) -> Vec<(String, Status)> {
        let plan = self.engine.whole(self.plan).unwrap();
        plan.live().iter().map(|t| (t.content.clone(), t.status)).collect()
    }
}

fn todos(items: &[(&str, &str)]) -> Value {
    let item = |(content, status): &(&str, &str)| json!({"content": content, "status": status, "activeForm": content});
    json!({"todos": items.iter().map(item).collect::<Vec<_>>()})
}

#[test]
fn a_first_replacement_archives_nothing_of_a_plan_that_was_only_there() {
    let world = world();
    world.write("a", Dialect::Native, json!({"ops": [{"op": "add", "content": "of someone else"}]}));
    let answer = world.write("b", Dialect::Todowrite, todos(&[("mine", "in_progress")]));
    assert_eq!(answer.text, "[>] mine <- mine\n\n(0/1 completed)");
    assert_eq!(
        world.statuses(),
        [("of someone else".to_owned(), Status::Pending), ("mine".to_owned(), Status::InProgress)]
    );
}

#[test]
fn two_sessions_that_replace_at_once_keep_each_others_changes() {
    let world = world();
    world.write("a", Dialect::Todowrite, todos(&[("one", "pending"), ("two", "pending")]));
    // The user finishes one of them; the session does not know.
    let plan = world.engine.whole(world.plan).unwrap();
    let one = plan.live()[0].id.clone();
    let done = [punch_core::Op::Done { target: punch_core::Ref::Id(one), evidence: None, fence: None }];
    world.engine.submit(world.plan, &WriteRequest::by("person", None), &done).unwrap();
    let answer = world.write("a", Dialect::Todowrite, todos(&[("one", "pending"), ("two", "in_progress")]));
    assert_eq!(
        answer.text,
        "Note: \"one\" is completed, not pending: person completed it since your last list.\n\
         [x] one\n[>] two <- two\n\n(1/2 completed)"
    );
    // Leaving it out archives it, nothing else.
    world.write("a", Dialect::Todowrite, todos(&[("two", "completed")]));
    assert_eq!(world.statuses(), [("two".to_owned(), Status::Completed)]);
}

#[test]
fn a_list_that_is_sent_again_in_a_new_conversation_means_the_same_todos() {
    let world = world();
    world.write("a", Dialect::Todowrite, todos(&[("one", "pending"), ("two", "pending")]));
    let answer = world.write("b", Dialect::Todowrite, todos(&[("one", "in_progress"), ("two", "pending")]));
    assert_eq!(answer.text, "[>] one <- one\n[ ] two\n\n(0/2 completed)");
    assert_eq!(world.statuses().len(), 2);
}

#[test]
fn the_same_call_twice_is_one_change_and_one_answer() {
    let world = world();
    let call = |n: &str| {
        let arguments = json!({"ops": [{"op": "add", "content": "once"}]});
        world.engine.call(world.plan, &caller("a"), Dialect::Native, Tool::Write, &arguments, Some(n)).unwrap()
    };
    assert_eq!(call("k1"), call("k1"));
    assert_eq!(world.statuses().len(), 1);
    call("k2");
    assert_eq!(world.statuses().len(), 2);
}

#[test]
fn phases_and_cursor_answer_in_their_own_words() {
    let world = world();
    let init = json!({"ops": [{"op": "init", "list": [{"phase": "A", "items": ["x", "y"]}]}]});
    let answer = world.write("p", Dialect::Phases, init);
    assert_eq!(
        answer.text,
        "Remaining items (2):\n  - x [in_progress] (A)\n  - y [pending] (A)\nPhase 1/1 \"A\" — 0/2 tasks complete\n  A:\n    → x\n    ○ y"
    );
    let answer = world.write("p", Dialect::Phases, json!({"ops": [{"op": "done", "task": "x"}]}));
    assert_eq!(answer.structured["completedTasks"], json!([{"phase": "A", "content": "x"}]));
    let answer = world.write("p", Dialect::Phases, json!({"ops": [{"op": "done", "task": "no"}]}));
    assert!(answer.is_error && answer.text.starts_with("Errors: Task \"no\" not found"));

    let merge = json!({"merge": true, "todos": [{"id": "c", "content": "see", "status": "pending"}]});
    let answer = world.write("c", Dialect::Cursor, merge);
    let shown: Vec<_> = answer.structured["finalTodos"].as_array().unwrap().iter().map(|t| &t["content"]).collect();
    assert_eq!(shown, ["y", "see"], "its own list, and beside it what is open");
    let replace = json!({"merge": false, "todos": [{"id": "d", "content": "sea", "status": "in_progress"}]});
    world.write("e", Dialect::Cursor, replace);
    assert_eq!(world.statuses().len(), 4, "a first replacement archives nothing");
}

#[test]
fn refusals_are_answers_with_code_and_hint_and_change_nothing() {
    let world = world();
    let before = world.statuses();
    for (dialect, arguments) in [
        (Dialect::Native, json!({"ops": []})),
        (Dialect::Native, json!({"ops": [{"op": "done", "id": "nope"}]})),
        (Dialect::Todowrite, todos(&[("a", "in_progress"), ("b", "in_progress")])),
        (Dialect::Cursor, json!({"todos": 7})),
        (Dialect::Phases, json!({"ops": []})),
        (Dialect::Extended, json!({"mode": "patch", "todos": [{"id": "T-1"}]})),
    ] {
        let answer = world.write("a", dialect, arguments);
        assert!(answer.is_error, "{dialect:?}");
        assert!(answer.text.contains("Hint: ") && answer.text.ends_with("Nothing was changed."), "{}", answer.text);
    }
    assert_eq!(world.statuses(), before);
}

#[test]
fn a_worker_reports_only_on_what_was_assigned_to_it() {
    let world = world();
    world.write("a", Dialect::Native, json!({"ops": [{"op": "add", "content": "x"}]}));
    let worker = ToolCaller { role: Some(Role::Worker), ..caller("w") };
    for arguments in [json!({"ops": [{"op": "done", "id": "T-1"}]}), json!({"ops": [{"op": "add", "content": "y"}]})] {
        let answer = world.engine.call(world.plan, &worker, Dialect::Native, Tool::Write, &arguments, None).unwrap();
        assert!(answer.is_error && answer.text.starts_with("Error not_allowed"), "{}", answer.text);
    }
    assert_eq!(world.statuses(), [("x".to_owned(), Status::Pending)]);
}

#[test]
fn answers_are_capped_whatever_the_plan_holds() {
    let world = world();
    let ops: Vec<Value> =
        (0..2_000).map(|n| json!({"op": "add", "content": format!("{n} {}", "x".repeat(400))})).collect();
    let answer = world.write("a", Dialect::Native, json!({"ops": ops}));
    assert!(answer.text.len() <= 8_200, "{}", answer.text.len());
    for arguments in [
        json!({}),
        json!({"view": "ready", "limit": 200}),
        json!({"view": "todo", "id": "T-1"}),
        json!({"view": "history"}),
    ] {
        let answer =
            world.engine.call(world.plan, &caller("a"), Dialect::Native, Tool::Read, &arguments, None).unwrap();
        assert!(!answer.is_error && answer.text.len() <= 8_200, "{}", answer.text.len());
    }
    let too_many = ToolCaller { open_limit: 10, ..caller("b") };
    let arguments = json!({"ops": [{"op": "add", "content": "one more"}]});
    let answer = world.engine.call(world.plan, &too_many, Dialect::Native, Tool::Write, &arguments, None).unwrap();
    assert!(answer.is_error && answer.text.starts_with("Error too_many"));
}

#[test]
fn a_caller_that_named_a_todo_reads_its_content_once() {
    let world = world();
    let write = |session: &str, ops: Value| world.write(session, Dialect::Native, json!({"ops": ops})).text;
    let names = ["parser", "lexer"].map(|id| json!({"op": "add", "id": id, "content": format!("Port the {id}")}));
    write("a", json!([names[0], names[1], {"op": "add", "content": "Describe it"}]));
    let start = |id: &str| json!([{"op": "start", "id": id}]);
    assert!(write("a", start("parser")).starts_with("[>] parser\n"));
    let next = write("a", json!([{"op": "done", "id": "parser"}, {"op": "start", "id": "T-1"}]));
    assert!(next.contains("[>] T-1 Describe it\n"), "an id that it did not choose says nothing: {next}");
    assert!(write("b", start("lexer")).starts_with("[>] lexer Port the lexer\n"), "another conversation");
}

/// A budget that is not understood must not lead to a batch for a whole context window.
#[test]
fn tools_refuse_what_they_do_not_know_and_say_what_was_meant() {
    let world = world();
    world.write("a", Dialect::Native, json!({"ops": [{"op": "add", "content": "One"}]}));
    for (tool, arguments, said) in [
        (Tool::Read, json!({"view": "schedule", "budgt": 60_000}), "budgt: unknown field; did you mean `budget`?"),
        (
            Tool::Read,
            json!({"view": "schedule", "context": 200_000}),
            "context: unknown field; use view, id, all, offset, limit, budget",
        ),
        (Tool::Read, json!({"budget": "60000"}), "budget: expected a number, got a string"),
        (Tool::Read, json!({"all": "yes"}), "all: expected true or false, got a string"),
        (Tool::Read, json!({"view": 7}), "view: expected a string, got a number"),
        (Tool::Read, json!(["plan"]), "arguments: expected an object, got a list"),
        (Tool::Claim, json!({"lease": 60_000}), "lease: unknown field; use id, owner, leaseMs"),
        (Tool::Claim, json!({"id": 1}), "id: expected a string, got a number"),
        (Tool::Checkpoint, json!({"action": "list", "notes": "x"}), "notes: unknown field; did you mean `note`?"),
    ] {
        let answer = world.engine.call(world.plan, &caller("a"), Dialect::Native, tool, &arguments, None).unwrap();
        assert!(answer.is_error && answer.text.contains(said), "{arguments}: {}", answer.text);
        assert_eq!(world.statuses(), [("One".into(), Status::Pending)], "{arguments}: nothing was claimed");
    }
    for arguments in [json!(null), json!({}), json!({"view": null, "id": null, "all": null, "budget": 5e3})] {
        let answer =
            world.engine.call(world.plan, &caller("a"), Dialect::Native, Tool::Read, &arguments, None).unwrap();
        assert!(!answer.is_error && answer.text.contains("One"), "{arguments}: {}", answer.text);
    }
}
