//! The dialects on a plan that is too large to be one list: a call touches what it names or what its session was shown,
//! and nothing else.

use punch_core::Status;
use punch_engine::call::{Dialect, Tool, ToolAnswer, ToolCaller};
use punch_engine::{Engine, PlanChoice};
use punch_store::{MemoryStore, OpenMode, PlanId, SessionKey, SqliteStore, Store};
use serde_json::{Value, json};

const TODOS: usize = 300;

struct World {
    engine: Engine,
    plan: PlanId,
    _folder: tempfile::TempDir,
}

/// A plan that someone else made, in each kind of store.
fn worlds() -> [World; 2] {
    let folder = || tempfile::tempdir().unwrap();
    let on_disk = folder();
    let file = SqliteStore::open(&on_disk.path().join("store.db"), OpenMode::Create).unwrap();
    [(Box::new(MemoryStore::new()) as Box<dyn Store>, folder()), (Box::new(file), on_disk)].map(|(store, folder)| {
        let engine = Engine::new(store, Box::new(|| 1_000));
        let plan = engine.choose_or_create(&PlanChoice::default()).unwrap();
        let world = World { engine, plan, _folder: folder };
        let add = |n: usize| json!({"op": "add", "id": format!("n{n}"), "content": format!("todo {n}")});
        world.write("maker", Dialect::Native, json!({"ops": (0..TODOS).map(add).collect::<Vec<_>>()}));
        world
    })
}

impl World {
    fn write(&self, session: &str, dialect: Dialect, arguments: Value) -> ToolAnswer {
        let caller = ToolCaller {
            session: SessionKey::new(session, None),
            actor: punch_core::Actor::agent(session, session),
            role: None,
            mode: punch_core::dialect::cursor::DelegationMode::Aggressive,
            limits: Default::default(),
            open_limit: 10_000,
            settings: None,
            structured: true,
            work: Default::default(),
            server: None,
            embedding: Default::default(),
        };
        let answer = self.engine.call(self.plan, &caller, dialect, Tool::Write, &arguments, None).unwrap();
        assert!(!answer.is_error, "{}", answer.text);
        assert!(answer.text.len() <= 8_000, "{}", answer.text.len());
        answer
    }

    fn status(&self, id: &str) -> Option<Status> {
        self.engine.whole(self.plan).unwrap().by_id(id).map(|t| t.status)
    }

    fn count(&self) -> u64 {
        self.engine.whole(self.plan).unwrap().row.counts.total()
    }
}

#[test]
fn cursor_changes_what_it_names_and_archives_only_what_it_named() {
    for world in worlds() {
        let merge = |id: &str, status: &str| json!({"merge": true, "todos": [{"id": id, "status": status}]});
        let answer = world.write("c", Dialect::Cursor, merge("n250", "in_progress"));
        assert!(
            answer.text.contains("[>] n250: todo 250") && answer.text.contains("[ ] plan:n0: todo 0"),
            "{}",
            answer.text
        );
        assert!(answer.text.contains("(279 more todos of the plan are not shown.)"), "{}", answer.text);
        assert_eq!(world.status("n250"), Some(Status::InProgress));
        let ready = answer.structured["readyTaskIds"].as_array().unwrap();
        assert!(ready.len() >= 20, "{ready:?}");
        // A dependency that is done elsewhere counts as done.
        world.write("maker", Dialect::Native, json!({"ops": [{"op": "done", "id": "n299"}]}));
        let add = json!({"merge": true, "todos": [{"id": "new", "content": "after it", "dependencies": ["n299"]}]});
        let answer = world.write("c", Dialect::Cursor, add);
        assert!(answer.structured["readyTaskIds"].as_array().unwrap().contains(&json!("new")), "{}", answer.text);
        let replace = json!({"merge": false, "todos": [{"id": "n250", "content": "todo 250", "status": "completed"}]});
        world.write("c", Dialect::Cursor, replace);
        assert_eq!((world.status("new"), world.status("n250")), (None, Some(Status::Completed)));
        assert_eq!(world.count(), TODOS as u64, "only its own was archived");
    }
}

#[test]
fn phases_finds_tasks_by_content_anywhere_and_clears_only_its_own_list() {
    for world in worlds() {
        world.write("p", Dialect::Phases, json!({"ops": [{"op": "done", "task": "todo 222"}]}));
        assert_eq!(world.status("n222"), Some(Status::Completed));
        let init = json!({"ops": [{"op": "init", "list": [{"phase": "A", "items": ["mine", "mine too"]}]}]});
        let answer = world.write("q", Dialect::Phases, init);
        assert!(answer.text.contains("→ mine\n"), "{}", answer.text);
        let answer = world.write("q", Dialect::Phases, json!({"ops": [{"op": "done", "task": "mine"}]}));
        assert!(answer.text.contains("→ mine too"), "{}", answer.text);
        world.write("q", Dialect::Phases, json!({"ops": [{"op": "drop", "phase": "A"}]}));
        world.write("q", Dialect::Phases, json!({"ops": [{"op": "rm"}]}));
        assert_eq!(world.count(), TODOS as u64);
    }
}

#[test]
fn todowrite_takes_up_what_it_says_and_keeps_changes_of_others() {
    for world in worlds() {
        let list = |items: &[(&str, &str)]| {
            let row =
                |(content, status): &(&str, &str)| json!({"content": content, "status": status, "activeForm": content});
            json!({"todos": items.iter().map(row).collect::<Vec<_>>()})
        };
        let answer = world.write("t", Dialect::Todowrite, list(&[("mine", "pending"), ("todo 280", "in_progress")]));
        assert_eq!(answer.text, "[ ] mine\n[>] todo 280 <- todo 280\n\n(0/2 completed)");
        assert_eq!((world.count(), world.status("n280")), (TODOS as u64 + 1, Some(Status::InProgress)));
        world.write("maker", Dialect::Native, json!({"ops": [{"op": "edit", "id": "n280", "content": "renamed"}]}));
        let answer = world.write("t", Dialect::Todowrite, list(&[("mine", "completed"), ("todo 280", "in_progress")]));
        assert!(answer.text.contains("renamed") && answer.text.contains("[x] mine"), "{}", answer.text);
        world.write("t", Dialect::Todowrite, list(&[]));
        assert_eq!(world.count(), TODOS as u64 - 1, "its two are archived");
    }
}

#[test]
fn extended_replaces_only_what_it_was_shown() {
    for world in worlds() {
        let patch = json!({"mode": "patch", "todos": [
            {"id": "n100", "status": "completed"}, {"id": "x", "title": "new", "dependsOn": ["n101"]},
        ]});
        let answer = world.write("e", Dialect::Extended, patch);
        assert!(
            answer.text.contains("[x] n100") && answer.text.contains("[.] x new (waiting for plan:n101) (P3, group 2)"),
            "{}",
            answer.text
        );
        assert!(answer.text.contains(" and more"), "{}", answer.text);
        world.write("e", Dialect::Extended, json!({"mode": "replace", "todos": [{"id": "x", "title": "new"}]}));
        assert_eq!((world.status("n100"), world.count()), (None, TODOS as u64));
    }
}
