//! Hosts' own todo tools, copied into the plan.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use proptest::prelude::*;
use punch_core::Status;
use punch_core::dialect::mirror::{HostListUpdate, HostRow, HostRowChange, HostStatus};
use punch_engine::call::{Dialect, Family, TodoUse, Tool, ToolCaller};
use punch_engine::{Engine, PlanChoice, WriteRequest};
use punch_store::{MemoryStore, PlanId, SessionKey};
use serde_json::{Value, json};

const LIST: Family<'static> = Family { name: "TodoWrite", shared: false };
const TASKS: Family<'static> = Family { name: "Tasks", shared: true };

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

fn caller(host: &str, subagent: Option<&str>) -> ToolCaller<'static> {
    let session = SessionKey::new(host, subagent);
    ToolCaller {
        actor: punch_core::Actor::agent("claude", owner_of(&session)),
        session,
        role: None,
        mode: Default::default(),
        limits: Default::default(),
        open_limit: 10,
        settings: None,
        structured: true,
        work: Default::default(),
        server: None,
        embedding: Default::default(),
    }
}

impl World {
    fn told(&self, session: &str, family: Family<'_>, told: &HostListUpdate) -> Option<u64> {
        self.engine.mirror(self.plan, &TodoUse { caller: &caller(session, None), family, told, key: None }).unwrap()
    }

    fn ours(&self, session: &str, dialect: Dialect, arguments: Value) {
        let answer = self.engine.call(self.plan, &caller(session, None), dialect, Tool::Write, &arguments, None);
        assert!(!answer.unwrap().is_error);
    }

    fn todos(&self) -> Vec<(String, Status)> {
        let plan = self.engine.whole(self.plan).unwrap();
        plan.live().iter().map(|todo| (todo.content.clone(), todo.status)).collect()
    }

    fn waits(&self, content: &str) -> Vec<String> {
        let plan = self.engine.whole(self.plan).unwrap();
        let todo = plan.live().into_iter().find(|todo| todo.content == content).unwrap().clone();
        let on = |dep: &punch_core::Dep| plan.get(dep.target()?).map(|todo| todo.content.clone());
        todo.depends_on.iter().filter_map(on).collect()
    }
}

fn row(content: &str, status: HostStatus) -> HostRow {
    HostRow { content: content.into(), status, ..HostRow::default() }
}

fn list(rows: &[(&str, HostStatus)]) -> HostListUpdate {
    HostListUpdate::List(rows.iter().map(|(content, status)| row(content, *status)).collect())
}

fn task(key: &str, content: &str) -> HostListUpdate {
    HostListUpdate::Create(HostRow { key: Some(key.into()), ..row(content, HostStatus::Pending) })
}

fn change(key: &str) -> HostRowChange {
    HostRowChange { key: key.into(), ..HostRowChange::default() }
}

use HostStatus::{Blocked, Cancelled, Completed, InProgress, Pending};

#[test]
fn a_list_is_followed_and_what_leaves_it_is_archived() {
    let world = world();
    world.told("s", LIST, &list(&[("a", InProgress), ("b", Pending), ("b", Pending)]));
    world.told("s", LIST, &list(&[("c", Pending), ("a", Completed), ("b", Cancelled)]));
    let expected = [("c", Status::Pending), ("a", Status::Completed), ("b", Status::Cancelled)];
    assert_eq!(world.todos(), expected.map(|(c, s)| (c.to_owned(), s)));
    assert_eq!(world.told("s", LIST, &list(&[("c", Pending), ("a", Completed), ("b", Cancelled)])), None);
}

#[test]
fn what_the_list_never_had_stays() {
    let world = world();
    world.ours("other", Dialect::Native, json!({"ops": [{"op": "add", "content": "not of this session"}]}));
    world.told("s", LIST, &list(&[("mine", Pending)]));
    world.told("s", LIST, &list(&[]));
    assert_eq!(world.todos(), [("not of this session".to_owned(), Status::Pending)]);
}

#[test]
fn what_others_changed_meanwhile_stays() {
    let world = world();
    world.told("s", LIST, &list(&[("a", Pending), ("b", Pending)]));
    let plan = world.engine.whole(world.plan).unwrap();
    let b = plan.live().iter().find(|todo| todo.content == "b").unwrap().id.clone();
    world.ours("person", Dialect::Native, json!({"ops": [{"op": "done", "id": b}]}));
    world.told("s", LIST, &list(&[("a", InProgress), ("b", Pending)]));
    assert_eq!(world.todos(), [("a".to_owned(), Status::InProgress), ("b".to_owned(), Status::Completed)]);
}

#[test]
fn the_same_list_in_a_new_conversation_means_the_same_todos() {
    let world = world();
    world.told("s", LIST, &list(&[("a", Completed), ("b", Pending)]));
    world.told("t", LIST, &list(&[("b", InProgress), ("c", Pending)]));
    let names: Vec<String> = world.todos().into_iter().map(|(content, _)| content).collect();
    assert_eq!(names, ["a", "b", "c"]);
}

#[test]
fn the_list_of_the_last_conversation_is_found_behind_many_other_todos() {
    let world = world();
    let many: Vec<Value> = (0..500).map(|n| json!({"op": "add", "content": format!("other {n}")})).collect();
    let mut person = caller("person", None);
    person.open_limit = 1_000;
    let added = world.engine.call(world.plan, &person, Dialect::Native, Tool::Write, &json!({"ops": many}), None);
    assert!(!added.unwrap().is_error);
    world.told("s", LIST, &list(&[("a", Completed), ("b", Pending)]));
    world.told("t", LIST, &list(&[("b", InProgress), ("c", Pending), ("other 7", Completed)]));
    let mine: Vec<(String, Status)> = world.todos().into_iter().filter(|(c, _)| !c.starts_with("other")).collect();
    let expected = [("a", Status::Completed), ("b", Status::InProgress), ("c", Status::Pending)];
    assert_eq!(mine, expected.map(|(c, s)| (c.to_owned(), s)));
    assert!(world.todos().contains(&("other 7".to_owned(), Status::Completed)));
    assert_eq!(world.todos().len(), 503);
}

#[test]
fn a_repeated_call_happens_once() {
    let world = world();
    let again = |told: &HostListUpdate, key: &str| {
        let used = TodoUse { caller: &caller("s", None), family: LIST, told, key: Some(key) };
        world.engine.mirror(world.plan, &used).unwrap().is_some()
    };
    assert!(again(&list(&[("a", Pending)]), "k1"));
    assert!(again(&list(&[("a", Completed)]), "k2"));
    assert!(!again(&list(&[("a", Pending)]), "k1"));
    assert_eq!(world.todos(), [("a".to_owned(), Status::Completed)]);
    for n in 0..200 {
        again(&list(&[("a", if n % 2 == 0 { Pending } else { Completed })]), &format!("more {n}"));
    }
    assert!(!again(&list(&[("a", Pending)]), "more 175"), "with others between them");
    let (_, state) = world.engine.session(&SessionKey::new("s", None)).unwrap().unwrap();
    assert!(serde_json::to_string(&state).unwrap().len() < 1_500, "what is remembered is bounded");
}

#[test]
fn a_conversation_that_goes_on_elsewhere_does_not_double_what_is_done() {
    let world = world();
    world.told("s", LIST, &list(&[("a", Completed), ("b", Pending)]));
    world.told("fork", LIST, &list(&[("a", Completed), ("b", Completed), ("c", InProgress)]));
    let now = [("a", Status::Completed), ("b", Status::Completed), ("c", Status::InProgress)];
    assert_eq!(world.todos(), now.map(|(c, s)| (c.to_owned(), s)));
    world.told("later", LIST, &list(&[("a", Pending)]));
    assert_eq!(world.todos().len(), 4, "to do once more is something new");
}

#[test]
fn tasks_keep_their_numbers() {
    let world = world();
    world.told("s", TASKS, &task("1", "a"));
    world.told("s", TASKS, &task("2", "b"));
    world.told("s", TASKS, &task("2", "b"));
    world.told(
        "s",
        TASKS,
        &HostListUpdate::Change(HostRowChange { blocked_by: vec!["1".into(), "9".into()], ..change("2") }),
    );
    assert_eq!(world.waits("b"), ["a"]);
    world.told("s", TASKS, &HostListUpdate::Change(HostRowChange { status: Some(Completed), ..change("1") }));
    world.told("s", TASKS, &HostListUpdate::Change(HostRowChange { content: Some("b, better".into()), ..change("2") }));
    world.told("s", TASKS, &HostListUpdate::Change(HostRowChange { status: Some(InProgress), ..change("7") }));
    assert_eq!(world.todos(), [("a".to_owned(), Status::Completed), ("b, better".to_owned(), Status::Pending)]);
    world.told("s", TASKS, &HostListUpdate::Change(HostRowChange { deleted: true, ..change("2") }));
    assert_eq!(world.todos(), [("a".to_owned(), Status::Completed)]);
}

#[test]
fn two_tasks_of_one_name_are_two_todos() {
    let world = world();
    world.told("s", TASKS, &task("1", "test"));
    world.told("s", TASKS, &task("2", "test"));
    world.told("s", TASKS, &HostListUpdate::Change(HostRowChange { status: Some(Completed), ..change("2") }));
    assert_eq!(world.todos(), [("test".to_owned(), Status::Pending), ("test".to_owned(), Status::Completed)]);
}

#[test]
fn cycles_and_unknown_rows_are_no_reason_to_refuse() {
    let world = world();
    let row = |key: &str, waits: &[&str]| HostRow {
        key: Some(key.into()),
        blocked_by: Some(waits.iter().map(|key| (*key).to_owned()).collect()),
        ..row(&format!("row {key}"), Pending)
    };
    let told = HostListUpdate::List(vec![row("1", &["2", "1", "nobody"]), row("2", &["1"]), row("3", &["2"])]);
    assert!(world.told("s", Family { name: "todo_write", shared: false }, &told).is_some());
    assert_eq!(world.waits("row 3"), ["row 2"]);
    assert_eq!(world.todos().len(), 3);
}

#[test]
fn numbers_that_are_counted_anew_are_other_rows() {
    let world = world();
    let told =
        |content: &str, status| HostListUpdate::List(vec![HostRow { key: Some("1".into()), ..row(content, status) }]);
    world.told("s", LIST, &told("first", Completed));
    world.told("s", LIST, &told("second", Pending));
    let plan = world.engine.whole(world.plan).unwrap();
    let first = plan.all().find(|todo| todo.content == "first").unwrap();
    assert_eq!((first.status, first.is_live()), (Status::Completed, true), "what is finished stays");
    assert_eq!(world.todos(), [("first".to_owned(), Status::Completed), ("second".to_owned(), Status::Pending)]);
}

#[test]
fn a_blocked_row_is_held_until_it_is_not() {
    let world = world();
    world.told("s", LIST, &list(&[("a", Blocked)]));
    let held = || world.engine.whole(world.plan).unwrap().live()[0].hold.is_some();
    assert!(held());
    world.told("s", LIST, &list(&[("a", Pending)]));
    assert!(!held());
    world.told("s", LIST, &list(&[("a", Blocked)]));
    world.told("s", LIST, &list(&[("a", Completed)]));
    assert_eq!(world.todos(), [("a".to_owned(), Status::Completed)]);
}

#[test]
fn where_our_tools_came_first_a_copy_moves_known_todos_and_makes_none() {
    let world = world();
    world.ours("s", Dialect::Native, json!({"ops": [{"op": "add", "content": "a"}, {"op": "add", "content": "b"}]}));
    world.told("s", LIST, &list(&[("a", Completed), ("something else", Pending)]));
    assert_eq!(world.todos(), [("a".to_owned(), Status::Completed), ("b".to_owned(), Status::Pending)]);
    world.told("s", LIST, &list(&[("a", Pending)]));
    assert_eq!(world.todos(), [("a".to_owned(), Status::Completed), ("b".to_owned(), Status::Pending)]);
}

#[test]
fn a_second_family_makes_nothing() {
    let world = world();
    world.told("s", LIST, &list(&[("a", Pending)]));
    world.told("s", TASKS, &task("1", "a"));
    world.told("s", TASKS, &task("2", "new"));
    assert_eq!(world.todos(), [("a".to_owned(), Status::Pending)]);
}

#[test]
fn a_subagent_removes_nothing_from_the_list_it_shares_and_makes_no_list_of_its_own() {
    let world = world();
    world.told("s", TASKS, &task("1", "a"));
    let sub = caller("s", Some("sub"));
    let tell = |family, told: &HostListUpdate| {
        world.engine.mirror(world.plan, &TodoUse { caller: &sub, family, told, key: None }).unwrap()
    };
    tell(TASKS, &HostListUpdate::Change(HostRowChange { deleted: true, ..change("1") }));
    tell(TASKS, &HostListUpdate::Change(HostRowChange { status: Some(Completed), ..change("1") }));
    tell(LIST, &list(&[("private", Pending)]));
    assert_eq!(world.todos(), [("a".to_owned(), Status::Completed)]);
}

#[test]
fn what_a_subagent_deletes_keeps_its_place() {
    let world = world();
    for (key, content) in [("1", "a"), ("2", "b"), ("3", "c")] {
        world.told("s", TASKS, &task(key, content));
    }
    let sub = caller("s", Some("sub"));
    let tell = |told: &HostListUpdate| {
        world.engine.mirror(world.plan, &TodoUse { caller: &sub, family: TASKS, told, key: None }).unwrap()
    };
    for key in ["1", "2"] {
        tell(&HostListUpdate::Change(HostRowChange { deleted: true, ..change(key) }));
        tell(&HostListUpdate::Change(HostRowChange { status: Some(Completed), ..change("3") }));
        let order: Vec<String> = world.todos().into_iter().map(|(content, _)| content).collect();
        assert_eq!(order, ["a", "b", "c"], "{key}");
    }
    tell(&task("4", "d"));
    let order: Vec<String> = world.todos().into_iter().map(|(content, _)| content).collect();
    assert_eq!(order, ["a", "b", "c", "d"]);
}

#[test]
fn what_the_rules_refuse_is_left_out_and_the_rest_happens() {
    let world = world();
    world.told("s", LIST, &list(&[("a", Pending), ("b", Pending)]));
    let plan = world.engine.whole(world.plan).unwrap();
    let uid = plan.live()[0].uid;
    world.engine.claim(world.plan, &WriteRequest::by("other", Some("other")), uid, 3_600_000_000).unwrap();
    world.told("s", LIST, &list(&[("a", Completed), ("b", Completed), ("c", Pending)]));
    let expected = [("a", Status::InProgress), ("b", Status::Completed), ("c", Status::Pending)];
    assert_eq!(world.todos(), expected.map(|(c, s)| (c.to_owned(), s)));
}

#[test]
fn contents_are_cut_to_one_line_and_there_is_no_limit_of_twenty() {
    let world = world();
    let long = format!("first\nsecond \u{1b}[31m {}", "x".repeat(5_000));
    let mut rows = vec![row(&long, Pending), row("   ", Pending)];
    rows.extend((0..100).map(|n| row(&format!("row {n}"), Pending)));
    world.told("s", LIST, &HostListUpdate::List(rows.clone()));
    assert_eq!(world.told("s", LIST, &HostListUpdate::List(rows)), None);
    let todos = world.todos();
    assert_eq!(todos.len(), 101);
    assert_eq!(todos[0].0.chars().count(), 500);
    assert!(todos[0].0.starts_with("first second \u{241b}[31m"), "{:?}", todos[0].0);
}

fn words() -> impl Strategy<Value = HostStatus> {
    prop_oneof![Just(Pending), Just(InProgress), Just(Completed), Just(Cancelled), Just(Blocked)]
}

fn status(word: HostStatus) -> Status {
    match word {
        Pending | Blocked => Status::Pending,
        InProgress => Status::InProgress,
        Completed => Status::Completed,
        Cancelled => Status::Cancelled,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever lists a host goes through, its todos in the plan are its last list, in order, and what it finished
    /// before.
    #[test]
    fn the_plan_is_the_last_list_and_what_was_finished(lists in prop::collection::vec(prop::collection::vec((0..5_u8, words()), 0..7), 1..6)) {
        let world = world();
        for (n, told) in lists.iter().enumerate() {
            let rows: Vec<HostRow> = told.iter().map(|(n, word)| row(&format!("row {n}"), *word)).collect();
            let key = format!("call {n}");
            let mirror = |told: &HostListUpdate| {
                let used = TodoUse { caller: &caller("s", None), family: LIST, told, key: Some(&key) };
                world.engine.mirror(world.plan, &used).unwrap()
            };
            mirror(&HostListUpdate::List(rows.clone()));
            // Told again it changes nothing, whatever it says.
            prop_assert_eq!(mirror(&HostListUpdate::List(Vec::new())), None);
            let mut listed = told.iter().map(|(n, word)| (format!("row {n}"), status(*word))).peekable();
            for todo in world.todos() {
                if listed.next_if_eq(&todo).is_none() {
                    prop_assert!(!todo.1.is_open(), "{:?} left the list", todo);
                }
            }
            prop_assert_eq!(listed.next(), None);
        }
    }

    /// Tasks against a map of them.
    #[test]
    fn the_plan_is_the_map_of_tasks(calls in prop::collection::vec((0..4_u8, 0..6_u8), 1..20)) {
        let world = world();
        let mut model: Vec<(u8, Status)> = Vec::new();
        for (key, what) in calls {
            let known = model.iter().position(|(k, _)| *k == key);
            let name = key.to_string();
            let told = match what {
                0 | 1 => {
                    if known.is_none() {
                        model.push((key, Status::Pending));
                    } else if let Some(at) = known {
                        model[at].1 = Status::Pending;
                    }
                    task(&name, &format!("task {key}"))
                }
                2 => {
                    known.map(|at| model.remove(at));
                    HostListUpdate::Change(HostRowChange { deleted: true, ..change(&name) })
                }
                n => {
                    let word = [Pending, InProgress, Completed][usize::from(n - 3)];
                    if let Some(at) = known {
                        model[at].1 = status(word);
                    }
                    HostListUpdate::Change(HostRowChange { status: Some(word), ..change(&name) })
                }
            };
            world.told("s", TASKS, &told);
            let expected: Vec<(String, Status)> =
                model.iter().map(|(key, status)| (format!("task {key}"), *status)).collect();
            prop_assert_eq!(world.todos(), expected);
        }
    }
}

fn owner_of(session: &SessionKey) -> String {
    match session.subagent() {
        Some(subagent) => format!("{}/{subagent}", session.session_id()),
        None => session.session_id().to_owned(),
    }
}
