//! Workers: what they are offered, and what they can write in every dialect.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use punch_core::{Actor, Status};
use punch_engine::call::{Dialect, Tool, ToolAnswer, ToolCaller};
use punch_engine::{Engine, PlanChoice, Role};
use punch_store::{MemoryStore, PlanId, SessionKey};
use serde_json::{Value, json};

struct World {
    engine: Engine,
    plan: PlanId,
}

/// `own 1` and `own 2` are assigned to the session `w`; `other` comes first in the plan and is not.
fn world() -> World {
    let time = Arc::new(AtomicI64::new(1_000));
    let engine = Engine::new(Box::new(MemoryStore::new()), Box::new(move || time.fetch_add(1_000, Ordering::Relaxed)));
    let plan = engine.choose_or_create(&PlanChoice::default()).unwrap();
    let world = World { engine, plan };
    let add = |id: &str, content: &str| json!({"op": "add", "id": id, "content": content, "phase": "Build"});
    let ops = json!([add("o", "other"), add("a", "own 1"), add("b", "own 2")]);
    let made = world.call("boss", None, Dialect::Native, Tool::Write, &json!({"ops": ops}));
    assert!(!made.is_error, "{}", made.text);
    let whole = world.engine.whole(plan).unwrap();
    let uids: Vec<_> = ["a", "b"].iter().map(|id| whole.by_id(id).unwrap().uid).collect();
    world.engine.assign(plan, &SessionKey::new("w", None), &uids).unwrap();
    world
}

impl World {
    fn call(&self, session: &str, role: Option<Role>, dialect: Dialect, tool: Tool, arguments: &Value) -> ToolAnswer {
        let caller = ToolCaller {
            session: SessionKey::new(session, None),
            actor: Actor::agent(session, session),
            role,
            mode: Default::default(),
            limits: Default::default(),
            open_limit: 10_000,
            settings: None,
            structured: true,
            work: Default::default(),
            server: None,
            embedding: Default::default(),
        };
        self.engine.call(self.plan, &caller, dialect, tool, arguments, None).unwrap()
    }

    fn write(&self, dialect: Dialect, arguments: &Value) -> ToolAnswer {
        self.call("w", None, dialect, Tool::Write, arguments)
    }

    fn read(&self, arguments: &Value) -> ToolAnswer {
        self.call("w", None, Dialect::Native, Tool::Read, arguments)
    }

    fn statuses(&self) -> Vec<(String, Status)> {
        let plan = self.engine.whole(self.plan).unwrap();
        plan.live().iter().map(|t| (t.content.clone(), t.status)).collect()
    }
}

/// A call of each dialect that sets `own 1` to a status, beside items that are not the worker's.
fn calls(status: &str) -> Vec<(Dialect, Value)> {
    let row = |content: &str, status: &str| json!({"content": content, "status": status, "activeForm": content});
    let op = if status == "completed" { "done" } else { "start" };
    vec![
        (Dialect::Native, json!({"ops": [{"op": op, "id": "a"}]})),
        (Dialect::Cursor, json!({"merge": true, "todos": [{"id": "a", "status": status}]})),
        (
            Dialect::Cursor,
            json!({"merge": false, "todos": [{"id": "o", "content": "other", "status": "completed"},
                {"id": "a", "content": "own 1", "status": status}]}),
        ),
        (Dialect::Phases, json!({"ops": [{"op": op, "task": "own 1"}]})),
        (Dialect::Todowrite, json!({"todos": [row("own 1", status)]})),
        (
            Dialect::Todowrite,
            json!({"todos": [row("other", "completed"), row("own 1", status), row("own 2", "pending")]}),
        ),
        (Dialect::Extended, json!({"mode": "patch", "todos": [{"id": "a", "status": status}]})),
        (
            Dialect::Extended,
            json!({"mode": "replace", "todos": [{"id": "o", "title": "other", "status": "completed"},
                {"id": "a", "title": "own 1", "status": status}]}),
        ),
    ]
}

#[test]
fn a_worker_reports_on_its_own_todos_in_every_dialect() {
    for (n, (dialect, start)) in calls("in_progress").into_iter().enumerate() {
        let world = world();
        let answer = world.write(dialect, &start);
        assert!(!answer.is_error, "{dialect:?} {start}: {}", answer.text);
        let done = &calls("completed")[n].1;
        let answer = world.write(dialect, done);
        assert!(!answer.is_error, "{dialect:?} {done}: {}", answer.text);
        let wanted = [("other", Status::Pending), ("own 1", Status::Completed), ("own 2", Status::Pending)];
        assert_eq!(
            world.statuses(),
            wanted.map(|(content, status)| (content.to_owned(), status)),
            "{dialect:?} {done}"
        );
        assert!(!answer.text.contains("next: o "), "{}", answer.text);
        let mixed = done.to_string().contains("other");
        assert_eq!(answer.text.contains("not assigned to you"), mixed, "{dialect:?}: {}", answer.text);
    }
}

#[test]
fn a_worker_writes_nothing_else_in_any_dialect() {
    let row = |content: &str, status: &str| json!({"content": content, "status": status, "activeForm": content});
    let cases = [
        (Dialect::Cursor, json!({"merge": true, "todos": [{"id": "o", "status": "completed"}]})),
        (Dialect::Cursor, json!({"merge": true, "todos": [{"id": "n", "content": "new", "status": "pending"}]})),
        (Dialect::Cursor, json!({"merge": true, "todos": [{"id": "a", "status": "cancelled"}]})),
        (Dialect::Phases, json!({"ops": [{"op": "done", "task": "other"}]})),
        (Dialect::Phases, json!({"ops": [{"op": "rm", "task": "own 1"}]})),
        (Dialect::Phases, json!({"ops": [{"op": "drop", "task": "own 1"}]})),
        (Dialect::Phases, json!({"ops": [{"op": "append", "phase": "Build", "items": ["new"]}]})),
        (Dialect::Phases, json!({"ops": [{"op": "init", "list": [{"phase": "P", "items": ["new"]}]}]})),
        (Dialect::Todowrite, json!({"todos": [row("other", "completed")]})),
        (Dialect::Todowrite, json!({"todos": [row("own 1", "completed"), row("new", "pending")]})),
        (Dialect::Extended, json!({"mode": "patch", "todos": [{"id": "o", "status": "completed"}]})),
        (Dialect::Extended, json!({"mode": "replace", "todos": [{"id": "n", "title": "new", "status": "pending"}]})),
    ];
    for (dialect, arguments) in cases {
        let world = world();
        let before = world.statuses();
        let answer = world.write(dialect, &arguments);
        assert!(answer.is_error && answer.text.starts_with("Error not_allowed"), "{arguments}: {}", answer.text);
        assert_eq!(world.statuses(), before, "{arguments}");
    }
}

#[test]
fn done_without_a_target_means_the_worker_s_own_list() {
    let world = world();
    let answer = world.write(Dialect::Phases, &json!({"ops": [{"op": "done"}]}));
    assert!(!answer.is_error, "{}", answer.text);
    assert_eq!(world.statuses()[0], ("other".to_owned(), Status::Pending));
    assert!(world.statuses()[1..].iter().all(|(_, status)| *status == Status::Completed));
}

#[test]
fn a_worker_is_offered_only_its_own_todos() {
    let world = world();
    for arguments in [
        json!({}),
        json!({"view": "plan", "all": true}),
        json!({"view": "next"}),
        json!({"view": "ready"}),
        json!({"view": "schedule"}),
    ] {
        let answer = world.read(&arguments);
        assert!(answer.text.contains("own 1") && !answer.text.contains("other"), "{arguments}: {}", answer.text);
        assert!(!answer.structured.to_string().contains("\"o\""), "{arguments}: {}", answer.structured);
    }
    world.write(Dialect::Native, &json!({"ops": [{"op": "done", "ids": ["a", "b"]}]}));
    for arguments in [json!({"view": "next"}), json!({"view": "ready"}), json!({"view": "schedule"})] {
        let answer = world.read(&arguments);
        assert!(!answer.text.contains("other"), "{arguments}: {}", answer.text);
    }
    let claimed = world.call("w", None, Dialect::Native, Tool::Claim, &json!({}));
    assert!(claimed.text.starts_with("Nothing is ready"), "{}", claimed.text);
    let claimed = world.call("w", None, Dialect::Native, Tool::Claim, &json!({"id": "o"}));
    assert!(claimed.text.starts_with("Error not_allowed"), "{}", claimed.text);
}

#[test]
fn a_worker_is_one_on_every_plan() {
    let world = world();
    let elsewhere = world.engine.create_plan("elsewhere").unwrap();
    let arguments = json!({"ops": [{"op": "add", "content": "x"}]});
    let caller = ToolCaller {
        session: SessionKey::new("w", None),
        actor: Actor::agent("w", "w"),
        role: None,
        mode: Default::default(),
        limits: Default::default(),
        open_limit: 10,
        settings: None,
        structured: false,
        work: Default::default(),
        server: None,
        embedding: Default::default(),
    };
    let answer = world.engine.call(elsewhere, &caller, Dialect::Native, Tool::Write, &arguments, None).unwrap();
    assert!(answer.text.starts_with("Error not_allowed"), "{}", answer.text);
}
