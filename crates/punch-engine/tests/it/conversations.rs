//! Several conversations on one plan: each has a list of its own, with names of its own.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};

use proptest::prelude::*;
use punch_core::Status;
use punch_engine::call::{Dialect, Tool, ToolAnswer, ToolCaller};
use punch_engine::{Engine, PlanChoice};
use punch_store::{MemoryStore, PlanId, SessionKey};
use serde_json::{Value, json};

struct World {
    engine: Engine,
    plan: PlanId,
}

fn world() -> World {
    let time = AtomicI64::new(1_000);
    let engine = Engine::new(Box::new(MemoryStore::new()), Box::new(move || time.fetch_add(1_000, Ordering::Relaxed)));
    let plan = engine.choose_or_create(&PlanChoice::default()).unwrap();
    World { engine, plan }
}

impl World {
    fn call(&self, session: &str, dialect: Dialect, tool: Tool, arguments: &Value) -> ToolAnswer {
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
        self.engine.call(self.plan, &caller, dialect, tool, arguments, None).unwrap()
    }

    fn write(&self, session: &str, dialect: Dialect, arguments: Value) -> ToolAnswer {
        let answer = self.call(session, dialect, Tool::Write, &arguments);
        assert!(!answer.is_error, "{}", answer.text);
        answer
    }

    /// `status content`, in the order of the plan.
    fn lines(&self) -> Vec<String> {
        let plan = self.engine.whole(self.plan).unwrap();
        plan.live().iter().map(|t| format!("{} {}", t.status.name(), t.content)).collect()
    }

    fn id(&self, content: &str) -> String {
        let plan = self.engine.whole(self.plan).unwrap();
        plan.live().into_iter().find(|t| t.content == content).unwrap().id.clone()
    }
}

fn cursor(merge: bool, todos: &[(&str, &str, &str)]) -> Value {
    let todo = |(id, content, status): &(&str, &str, &str)| json!({"id": id, "content": content, "status": status});
    json!({"merge": merge, "todos": todos.iter().map(todo).collect::<Vec<_>>()})
}

#[test]
fn cursor_lists_of_two_conversations_with_the_same_ids_stay_apart() {
    let world = world();
    world.write("a", Dialect::Cursor, cursor(false, &[("1", "a one", "in_progress"), ("2", "a two", "pending")]));
    let b = cursor(false, &[("1", "b one", "pending"), ("2", "b two", "pending"), ("3", "b three", "pending")]);
    let answer = world.write("b", Dialect::Cursor, b);
    assert!(answer.text.contains("[ ] 1: b one\n[ ] 2: b two\n[ ] 3: b three"), "{}", answer.text);
    world.write("a", Dialect::Cursor, cursor(true, &[("2", "", "completed")]));
    let answer =
        world.write("b", Dialect::Cursor, cursor(true, &[("1", "", "completed"), ("2", "b 2", "in_progress")]));
    let own = |row: &&Value| row["content"].as_str().unwrap().starts_with('b');
    let rows = answer.structured["finalTodos"].as_array().unwrap();
    let ids: Vec<&Value> = rows.iter().filter(own).map(|row| &row["id"]).collect();
    assert_eq!(ids, ["1", "2", "3"], "answers use the names of the conversation");
    let other = rows.iter().find(|row| row["content"] == "a one").unwrap();
    assert_eq!(other["id"], "plan:1", "a todo of another list does not look like an own one");
    assert_eq!(
        world.lines(),
        ["in_progress a one", "completed a two", "completed b one", "in_progress b 2", "pending b three"]
    );
    assert_eq!((world.id("a one"), world.id("b one"), world.id("b three")), ("1".into(), "T-1".into(), "3".into()));
    world.write("b", Dialect::Cursor, cursor(false, &[("2", "b 2", "completed")]));
    assert_eq!(world.lines(), ["in_progress a one", "completed a two", "completed b 2"]);
}

#[test]
fn cursor_dependencies_between_new_rows_follow_their_names() {
    let world = world();
    world.write("a", Dialect::Cursor, cursor(false, &[("1", "a one", "completed"), ("2", "a two", "pending")]));
    let b = json!({"merge": false, "todos": [
        {"id": "1", "content": "b one", "status": "pending"},
        {"id": "2", "content": "b two", "status": "pending", "dependencies": ["1"]}]});
    let answer = world.write("b", Dialect::Cursor, b);
    assert_eq!(answer.structured["readyTaskIds"], json!(["1"]), "not the other conversation's 1, which is done");
    assert_eq!(answer.structured["finalTodos"][1]["dependencies"], json!(["1"]));
    let answer = world.write("b", Dialect::Cursor, cursor(true, &[("1", "", "completed")]));
    assert_eq!(answer.structured["readyTaskIds"].as_array().unwrap().last().unwrap(), "2");
}

#[test]
fn a_row_without_a_text_of_its_own_means_the_todo_that_it_names() {
    let world = world();
    world.write("a", Dialect::Cursor, cursor(false, &[("x", "one", "pending"), ("y", "two", "pending")]));
    world.write("b", Dialect::Cursor, cursor(true, &[("x", "", "completed"), ("y", "two", "in_progress")]));
    assert_eq!(world.lines(), ["completed one", "in_progress two"], "told elsewhere, continued here");
    world.write("c", Dialect::Cursor, cursor(true, &[("y", "two", "pending")]));
    assert_eq!(world.lines()[2..], ["pending two"], "what someone else is working on is not taken up");
    world.write("d", Dialect::Cursor, cursor(true, &[("x", "one", "pending")]));
    assert_eq!(world.lines()[3..], ["pending one"], "and what is done is not opened again");
}

#[test]
fn what_an_answer_showed_may_be_renamed() {
    let world = world();
    world.write("a", Dialect::Native, json!({"ops": [{"op": "add", "id": "x", "content": "one"}]}));
    let answer = world.write("b", Dialect::Cursor, cursor(true, &[("mine", "two", "pending")]));
    assert!(answer.text.contains("[ ] plan:x: one"), "{}", answer.text);
    let answer = world.write("b", Dialect::Cursor, cursor(true, &[("plan:x", "one, renamed", "pending")]));
    assert!(answer.text.contains("[ ] plan:x: one, renamed"), "{}", answer.text);
    assert_eq!(world.lines(), ["pending one, renamed", "pending two"]);
    let answer = world.write("b", Dialect::Cursor, cursor(false, &[("mine", "two", "completed")]));
    assert!(answer.text.contains("[x] mine: two"));
    assert_eq!(world.lines(), ["completed two"], "it has become part of the list");
}

fn extended(mode: &str, todos: &[(&str, &str, &str)]) -> Value {
    let todo = |(id, title, status): &(&str, &str, &str)| json!({"id": id, "title": title, "status": status});
    json!({"mode": mode, "todos": todos.iter().map(todo).collect::<Vec<_>>()})
}

#[test]
fn extended_replacements_of_two_conversations_with_the_same_ids_stay_apart() {
    let world = world();
    let a = extended("replace", &[("T-1", "a one", "completed"), ("T-2", "a two", "in_progress")]);
    world.write("a", Dialect::Extended, a);
    let b = json!({"mode": "replace", "todos": [
        {"id": "T-1", "title": "b one"}, {"id": "T-2", "title": "b two", "dependsOn": ["T-1"]}]});
    let answer = world.write("b", Dialect::Extended, b.clone());
    assert!(
        answer
            .text
            .starts_with("[ ] T-1 b one (P3, group 1)\n[.] T-2 b two (waiting for T-1) (P3, group 2)\nReady: T-1\n"),
        "{}",
        answer.text
    );
    let all = ["completed a one", "in_progress a two", "pending b one", "pending b two"];
    assert_eq!(world.lines(), all);
    let ids: Vec<&Value> = answer.structured["todos"].as_array().unwrap().iter().map(|row| &row["id"]).collect();
    assert_eq!(ids, ["plan:T-1", "plan:T-2", "T-1", "T-2"]);
    assert_eq!(answer.structured["todos"][3]["dependsOn"], json!(["T-1"]));
    let revision = world.write("b", Dialect::Extended, b).revision;
    assert_eq!(
        (world.lines(), revision),
        (all.map(str::to_owned).to_vec(), answer.revision),
        "the same again is nothing"
    );
    world.write("b", Dialect::Extended, json!({"mode": "patch", "todos": [{"id": "T-1", "status": "completed"}]}));
    let read = world.call("b", Dialect::Extended, Tool::Read, &json!({"all": true}));
    assert!(read.text.contains("[x] plan:T-1 a one") && read.text.contains("[x] T-1 b one"), "{}", read.text);
    let read = world.call("b", Dialect::Extended, Tool::Read, &json!({"view": "todo", "id": "T-2"}));
    assert_eq!(read.structured["todo"]["title"], "b two");
    world.write("b", Dialect::Extended, extended("replace", &[("T-2", "b two", "completed")]));
    assert_eq!(world.lines(), ["completed a one", "in_progress a two", "completed b two"]);
}

#[test]
fn what_was_read_may_be_replaced_by_its_id() {
    let world = world();
    world.write(
        "a",
        Dialect::Native,
        json!({"ops": [{"op": "add", "content": "one"}, {"op": "add", "content": "two"}]}),
    );
    world.call("b", Dialect::Extended, Tool::Read, &json!({}));
    world.write("b", Dialect::Extended, extended("replace", &[("T-1", "one, better", "pending")]));
    assert_eq!(world.lines(), ["pending one, better", "pending two"], "what was only read is not archived");
    world.call("c", Dialect::Native, Tool::Read, &json!({}));
    world.write("c", Dialect::Native, json!({"ops": [{"op": "replace", "todos": [{"content": "three"}]}]}));
    assert_eq!(world.lines(), ["pending one, better", "pending two", "pending three"]);
}

#[test]
fn todowrite_ids_are_names_too() {
    let world = world();
    let row = |id: &str, content: &str, status: &str| json!({"id": id, "content": content, "status": status, "activeForm": content});
    let list = |rows: &[Value]| json!({"todos": rows});
    world.write("a", Dialect::Todowrite, list(&[row("1", "a one", "pending")]));
    world.write("b", Dialect::Todowrite, list(&[row("1", "b one", "pending"), row("2", "b two", "pending")]));
    let b = world.id("b one");
    world.write(
        "b",
        Dialect::Todowrite,
        list(&[row("1", "b one, renamed", "completed"), row("2", "b two", "pending")]),
    );
    assert_eq!(world.lines(), ["pending a one", "completed b one, renamed", "pending b two"]);
    assert_eq!(world.id("b one, renamed"), b);
}

#[test]
fn phases_without_a_target_mean_the_list_of_the_conversation() {
    for others in [2, 300] {
        let world = world();
        let items: Vec<String> = (0..others).map(|n| format!("other {n}")).collect();
        let list = json!({"ops": [{"op": "init", "list": [{"phase": "Setup", "items": items}]}]});
        world.write("a", Dialect::Phases, list);
        let count = |status: Status| {
            let plan = world.engine.whole(world.plan).unwrap();
            plan.live().iter().filter(|t| t.content.starts_with("other") && t.status == status).count()
        };
        let before = (count(Status::Pending), count(Status::InProgress));
        for ops in [
            json!([{"op": "done"}]),
            json!([{"op": "append", "phase": "Setup", "items": ["mine"]}]),
            json!([{"op": "append", "items": ["mine too"]}]),
            json!([{"op": "done", "phase": "Setup"}]),
            json!([{"op": "drop"}]),
            json!([{"op": "rm", "phase": "Setup"}]),
            json!([{"op": "rm"}]),
        ] {
            world.call("b", Dialect::Phases, Tool::Write, &json!({"ops": ops}));
            assert_eq!((count(Status::Pending), count(Status::InProgress)), before, "{ops} with {others} others");
        }
        assert_eq!(world.lines().len(), others, "its own tasks are gone");
        let phases = world.engine.whole(world.plan).unwrap().row.phases.len();
        assert_eq!(phases, 1, "a phase of the same name is the same phase");
        world.write("b", Dialect::Phases, json!({"ops": [{"op": "done", "task": "other 1"}]}));
        assert_eq!(count(Status::Completed), 1, "what is named by its text is meant");
    }
}

#[test]
fn a_removed_todo_that_is_sent_again_is_not_dropped_without_a_word() {
    let rm = |world: &World, content: &str| {
        let op = punch_core::Op::Rm(punch_core::Ref::Id(world.id(content)));
        world.engine.submit(world.plan, &punch_engine::WriteRequest::by("codex", Some("other")), &[op]).unwrap();
    };
    let note = "Note: \"two\" was removed from the plan by someone else and stays removed.\n";
    let list = |status: &str| {
        let row = |content: &str| json!({"content": content, "status": status, "activeForm": content});
        json!({"todos": [{"content": "one", "status": "pending", "activeForm": "one"}, row("two")]})
    };
    let todowrite = world();
    todowrite.write("a", Dialect::Todowrite, list("pending"));
    rm(&todowrite, "two");
    let answer = todowrite.write("a", Dialect::Todowrite, list("in_progress"));
    assert_eq!(answer.text, format!("{note}[ ] one\n\n(0/1 completed)"));
    let answer = todowrite.write("a", Dialect::Todowrite, list("in_progress"));
    assert!(answer.text.contains("[>] two"), "it was told and wants it all the same: {}", answer.text);

    for merge in [false, true] {
        let world = world();
        world.write("a", Dialect::Cursor, cursor(false, &[("1", "one", "pending"), ("2", "two", "pending")]));
        rm(&world, "two");
        let again = [("1", "one", "pending"), ("2", "two", "in_progress")];
        let answer = world.write("a", Dialect::Cursor, cursor(merge, &again));
        assert!(answer.text.starts_with(note), "{}", answer.text);
        assert_eq!(world.lines(), ["pending one"]);
    }
}

/// What one conversation does: the same calls alone on a plan give the same list.
#[derive(Clone, Debug)]
struct Step {
    session: usize,
    /// Ids, statuses, and what each depends on.
    rows: Vec<(u8, u8, u8)>,
    replace: bool,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let rows = prop::collection::vec((0..5_u8, 0..3_u8, 0..8_u8), 0..5);
    let step = (0..3_usize, rows, any::<bool>());
    prop::collection::vec(step.prop_map(|(session, rows, replace)| Step { session, rows, replace }), 1..14)
}

const STATUSES: [&str; 3] = ["pending", "in_progress", "completed"];

/// The rows of a list whose content belongs to a session, without what differs by design: an id that is made.
fn own_rows(rows: &Value, session: usize, content: &str) -> Vec<Value> {
    let own = |row: &&Value| row[content].as_str().is_some_and(|text| text.starts_with(&format!("s{session} ")));
    let mut rows: Vec<Value> = rows.as_array().into_iter().flatten().filter(own).cloned().collect();
    rows.iter_mut().filter_map(Value::as_object_mut).for_each(|row| drop(row.remove("parallelGroup")));
    rows
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn cursor_conversations_do_not_notice_each_other(steps in steps()) {
        let shared = world();
        let mut alone: BTreeMap<usize, World> = BTreeMap::new();
        for Step { session, rows, replace } in steps {
            let mut seen = std::collections::BTreeSet::new();
            let rows = rows.into_iter().filter(|(id, ..)| seen.insert(*id));
            let todos: Vec<Value> = rows.map(|(id, status, dep)| json!({
                "id": id.to_string(), "content": format!("s{session} todo {id}"),
                "status": STATUSES[usize::from(status)],
                "dependencies": if dep < id { vec![dep.to_string()] } else { Vec::new() },
            })).collect();
            let todos = with_known_dependencies(todos);
            let call = json!({"merge": !replace, "todos": todos});
            let name = format!("session {session}");
            let together = shared.write(&name, Dialect::Cursor, call.clone());
            let by_itself = alone.entry(session).or_insert_with(world).write(&name, Dialect::Cursor, call);
            prop_assert_eq!(
                own_rows(&together.structured["finalTodos"], session, "content"),
                own_rows(&by_itself.structured["finalTodos"], session, "content")
            );
        }
    }

    #[test]
    fn extended_conversations_do_not_notice_each_other(steps in steps()) {
        let shared = world();
        let mut alone: BTreeMap<usize, World> = BTreeMap::new();
        for Step { session, rows, .. } in steps {
            let mut seen = std::collections::BTreeSet::new();
            let rows = rows.into_iter().filter(|(id, ..)| seen.insert(*id));
            let todos: Vec<Value> = rows.map(|(id, status, dep)| json!({
                "id": format!("T-{id}"), "title": format!("s{session} todo {id}"),
                "status": if status == 2 { "completed" } else { "pending" },
                "dependsOn": if dep < id { vec![format!("T-{dep}")] } else { Vec::new() },
            })).collect();
            let todos = with_known_dependencies(todos);
            let call = json!({"mode": "replace", "todos": todos});
            let name = format!("session {session}");
            let together = shared.call(&name, Dialect::Extended, Tool::Write, &call);
            let by_itself = alone.entry(session).or_insert_with(world).call(&name, Dialect::Extended, Tool::Write, &call);
            prop_assert_eq!(together.is_error, by_itself.is_error, "{} {}", together.text, by_itself.text);
            prop_assert_eq!(
                own_rows(&together.structured["todos"], session, "title"),
                own_rows(&by_itself.structured["todos"], session, "title")
            );
        }
    }
}

/// Dependencies on rows of the same call only: an id alone may mean any todo.
fn with_known_dependencies(mut todos: Vec<Value>) -> Vec<Value> {
    let ids: Vec<Value> = todos.iter().map(|todo| todo["id"].clone()).collect();
    for todo in &mut todos {
        for key in ["dependencies", "dependsOn"] {
            if let Some(deps) = todo[key].as_array_mut() {
                deps.retain(|dep| ids.contains(dep));
            }
        }
    }
    todos
}
