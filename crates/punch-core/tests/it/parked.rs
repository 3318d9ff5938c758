//! Parked todos: not open work, for counts, progress, decisions and reasons alike.

use punch_core::dialect::native::{self, TextLimits};
use punch_core::drive::{roots, survey};
use punch_core::reason::standstill;
use punch_core::view::Progress;
use punch_core::{Actor, Context, Counts, HoldKind, Plan, Policy, Uid, apply};
use serde_json::{Value, json};

const NOW: i64 = 5;

fn plan(ops: Value) -> Plan {
    let mut plan = Plan::new();
    for op in ops.as_array().unwrap() {
        change(&mut plan, op);
    }
    plan
}

fn change(plan: &mut Plan, op: &Value) {
    let ops = native::read(plan, &json!({"ops": [op]}), &TextLimits::default()).unwrap();
    let outcome = apply(plan, &ops, &Context::new(NOW, Actor::user(), Policy::default())).unwrap();
    plan.commit(&outcome);
    plan.put_events(outcome.plan.revision, outcome.events);
    let mut derived = plan.clone();
    punch_core::apply::derive(&mut derived);
    assert_eq!(derived.row.counts, plan.row.counts, "{op}");
}

fn counts(plan: &Plan) -> (u64, u64, u64, u64) {
    let counts = plan.row.counts;
    (counts.open(), counts.listed(), counts.active(), counts.parked)
}

#[test]
fn a_parked_todo_is_no_open_work_until_it_is_released() {
    let mut plan = plan(json!([
        {"op": "add", "content": "a"},
        {"op": "add", "content": "b", "status": "completed"},
        {"op": "hold", "id": "T-1", "kind": "parked"},
    ]));
    assert_eq!(counts(&plan), (0, 1, 1, 1));
    let hold = plan.by_id("T-1").unwrap().hold.clone().unwrap();
    assert_eq!((hold.kind, hold.words().as_str()), (HoldKind::Parked, "parked"));
    assert_eq!(Progress::of_counts(&plan.row.counts).percent(), 100);
    let (found, selected) = survey(plan.live(), &[], None, false, NOW);
    assert_eq!((found, selected.next), (plan.row.counts, None));
    assert_eq!((standstill(&plan, NOW).standing(), standstill(&plan, NOW).roots.total), ("closed", 0));
    assert_eq!(roots(&plan, &[Uid(1), Uid(2)], None, NOW, 10).unwrap().total, 0);
    change(&mut plan, &json!({"op": "release", "id": "T-1"}));
    assert_eq!(counts(&plan), (1, 1, 2, 0));
    change(&mut plan, &json!({"op": "undo"}));
    assert_eq!(counts(&plan), (0, 1, 1, 1));
    change(&mut plan, &json!({"op": "rm", "id": "T-1"}));
    assert_eq!(counts(&plan), (0, 0, 1, 0));
}

#[test]
fn work_in_progress_can_be_parked_and_what_is_parked_can_be_closed() {
    let mut plan = plan(json!([
        {"op": "add", "content": "a", "status": "in_progress"},
        {"op": "hold", "id": "T-1", "kind": "parked", "reason": "after the release"},
    ]));
    assert_eq!(counts(&plan), (0, 1, 0, 1));
    assert_eq!(plan.by_id("T-1").unwrap().hold.as_ref().unwrap().words(), "parked: after the release");
    change(&mut plan, &json!({"op": "hold", "id": "T-1", "kind": "human", "reason": "ask"}));
    assert_eq!(counts(&plan), (1, 1, 1, 0));
    change(&mut plan, &json!({"op": "hold", "id": "T-1", "kind": "parked"}));
    change(&mut plan, &json!({"op": "drop", "id": "T-1"}));
    assert_eq!(counts(&plan), (0, 0, 1, 0));
}

#[test]
fn what_waits_for_a_parked_todo_is_open_and_names_it() {
    let plan = plan(json!([
        {"op": "add", "content": "a"},
        {"op": "add", "content": "b", "dependsOn": ["T-1"]},
        {"op": "add", "content": "c"},
        {"op": "hold", "id": "T-1", "kind": "parked"},
        {"op": "hold", "id": "T-3", "kind": "parked"},
    ]));
    assert_eq!(counts(&plan), (1, 3, 1, 2));
    let still = standstill(&plan, NOW);
    let named: Vec<&str> = still.roots.list.iter().map(|root| root.reason.id.as_str()).collect();
    assert_eq!((still.open, still.standing(), named), (1, "waiting", vec!["T-1"]));
    let found = roots(&plan, &[Uid(1), Uid(2), Uid(3)], None, NOW, 10).unwrap();
    assert_eq!(found.named.iter().map(|block| block.id.as_str()).collect::<Vec<_>>(), ["T-1"]);
}

#[test]
fn a_row_from_before_todos_could_be_parked_reads() {
    let old = json!({"pending": 2, "in_progress": 1, "completed": 0, "cancelled": 0, "failed": 0});
    let counts: Counts = serde_json::from_value(old.clone()).unwrap();
    assert_eq!((counts.open(), counts.parked), (3, 0));
    assert_eq!(serde_json::to_value(counts).unwrap(), old);
}
