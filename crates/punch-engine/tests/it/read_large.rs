//! Readings of plans that are too large to be read whole give the same answers as readings of the whole plan.

use punch_core::{Actor, Add, Edit, Hold, HoldKind, Keep, Op, Ref, reason};
use punch_engine::call::{Dialect, Tool, ToolCaller};
use punch_engine::{Engine, NARRATED, PlanChoice, WriteRequest};
use punch_store::{MemoryStore, PlanId, SessionKey};
use serde_json::json;

fn engine() -> (Engine, PlanId) {
    let engine = Engine::new(Box::new(MemoryStore::new()), Box::new(|| 1_000));
    let plan = engine.choose_or_create(&PlanChoice::default()).unwrap();
    (engine, plan)
}

fn id(id: &str) -> Ref {
    Ref::Id(id.to_owned())
}

fn add(name: &str, needs: &[&str], files: &[&str]) -> Op {
    let edit = Edit {
        content: Keep::Set(format!("do {name}")),
        depends_on: Keep::Set(needs.iter().map(|needs| id(needs)).collect()),
        files: Keep::Set(files.iter().map(|&file| file.to_owned()).collect()),
        ..Edit::default()
    };
    Op::Add(Add { id: Some(name.to_owned()), edit, ..Add::default() })
}

fn read(engine: &Engine, plan: PlanId, arguments: serde_json::Value) -> String {
    let caller = ToolCaller {
        session: SessionKey::new("reader", None),
        actor: Actor::agent("reader", "reader"),
        role: None,
        mode: punch_core::dialect::cursor::DelegationMode::Aggressive,
        limits: Default::default(),
        open_limit: 10_000,
        settings: None,
        structured: false,
        work: Default::default(),
        server: None,
        embedding: Default::default(),
    };
    engine.call(plan, &caller, Dialect::Native, Tool::Read, &arguments, None).unwrap().text
}

#[test]
fn the_view_why_of_a_todo_reads_a_part_and_answers_as_for_the_whole_plan() {
    let (engine, plan) = engine();
    let request = WriteRequest::by("user", None);
    let mut ops = vec![
        add("held", &[], &[]),
        add("running", &[], &["src/**"]),
        add("same-files", &["running"], &["src/a.rs"]),
        add("blocked-by-files", &[], &["src/b.rs"]),
        add("dropped", &[], &[]),
        add("stuck", &["dropped", "held"], &[]),
        add("last", &["stuck", "same-files", "blocked-by-files"], &[]),
        add("c0", &["held"], &[]),
    ];
    ops.extend((1..40).map(|n| add(&format!("c{n}"), &[&format!("c{}", n - 1), "stuck"], &[])));
    ops.extend((0..50).map(|n| add(&format!("other{n}"), &[], &[])));
    engine.submit(plan, &request, &ops).unwrap();
    let hold = Hold { kind: HoldKind::Human, reason: "ask".into(), until: None, by: String::new(), at: 0 };
    engine.submit(plan, &request, &[Op::Hold(id("held"), hold)]).unwrap();
    engine.submit(plan, &WriteRequest::by("w", Some("w")), &[Op::Start(id("running"))]).unwrap();
    engine.submit(plan, &request, &[Op::Drop(id("dropped"))]).unwrap();
    let whole = engine.whole(plan).unwrap();
    for todo in whole.live() {
        let expected = reason::why(&whole, todo.uid, 1_000).unwrap().text();
        let answer = read(&engine, plan, json!({"view": "why", "id": todo.id}));
        assert!(answer.starts_with(&expected), "{}: {answer}\nexpected: {expected}", todo.id);
    }
}

#[test]
fn a_revision_that_adds_everything_is_shown_by_its_beginning() {
    let (engine, plan) = engine();
    let ops: Vec<Op> = (0..NARRATED + 500).map(|n| add(&format!("n{n}"), &[], &[])).collect();
    engine.submit(plan, &WriteRequest::by("user", None), &ops).unwrap();
    engine.submit(plan, &WriteRequest::by("user", None), &[Op::Start(id("n7"))]).unwrap();
    let entries = engine.history(plan, 9).unwrap();
    let lengths: Vec<_> = entries.iter().map(|entry| (entry.revision, entry.events.len(), entry.more)).collect();
    assert_eq!(lengths, [(2, 1, 0), (1, NARRATED, 500)]);
    let shown = read(&engine, plan, json!({"view": "history"}));
    assert!(shown.contains("rev 1: n0, n1, n2, n3, 996 more added; 500 more changes (by user)"), "{shown}");
    assert!(shown.starts_with("rev 2: n7 started"), "{shown}");
    let full = engine.history_in_full(plan, 9).unwrap();
    assert_eq!(full.iter().map(|entry| entry.events.len()).collect::<Vec<_>>(), [1, NARRATED + 500]);
}
