//! A clock that goes backwards, and what the doctor finds and repairs.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use punch_core::dialect::native::{self, TextLimits};
use punch_core::{Op, Outcome, Plan, Status};
use punch_engine::{Engine, PlanChoice, Severity, WriteRequest};
use punch_store::{Durability, MemoryStore, PlanId};
use serde_json::{Value, json};

struct World {
    engine: Engine,
    plan: PlanId,
    time: Arc<AtomicI64>,
}

fn world(ops: Value) -> World {
    let time = Arc::new(AtomicI64::new(1_000_000));
    let clock = Arc::clone(&time);
    let engine = Engine::new(Box::new(MemoryStore::new()), Box::new(move || clock.load(Ordering::Relaxed)));
    let plan = engine.choose_or_create(&PlanChoice::default()).unwrap();
    engine.submit(plan, &WriteRequest::by("t", None), &ops_of(ops)).unwrap();
    World { engine, plan, time }
}

fn ops_of(ops: Value) -> Vec<Op> {
    native::read(&Plan::new(), &json!({"ops": ops}), &TextLimits::default()).unwrap()
}

#[test]
fn a_clock_that_goes_backwards_never_makes_events_older_than_those_before() {
    let world = world(json!([{"op": "add", "content": "a", "id": "a"}, {"op": "add", "content": "b", "id": "b"}]));
    let (engine, plan) = (&world.engine, world.plan);
    let claimed = engine.claim_next(plan, &WriteRequest::by("w", Some("w")), 60_000).unwrap().unwrap();
    assert_eq!(claimed.changed.plan.get(claimed.uid).unwrap().lease_until, Some(1_060_000));
    for back in [500_000, 0, -5] {
        world.time.store(back, Ordering::Relaxed);
        engine
            .submit(plan, &WriteRequest::by("t", None), &ops_of(json!([{"op": "note", "id": "b", "text": "n"}])))
            .unwrap();
    }
    // The claim still stands: time has not passed, and it is not someone else's either.
    assert!(engine.claim(plan, &WriteRequest::by("x", Some("x")), claimed.uid, 60_000).is_err());
    engine.submit(plan, &WriteRequest::by("w", Some("w")), &ops_of(json!([{"op": "done", "id": "a"}]))).unwrap();
    let times: Vec<i64> = engine.history(plan, 100).unwrap().iter().rev().map(|entry| entry.at).collect();
    assert!(times.is_sorted(), "{times:?}");
    let done = engine.whole(plan).unwrap();
    assert_eq!(done.by_id("a").unwrap().status, Status::Completed);
    // When the clock is right again, everything continues.
    world.time.store(2_000_000, Ordering::Relaxed);
    assert!(engine.check_plan(plan, false).unwrap().iter().all(|finding| finding.severity == Severity::Ok));
    assert!(engine.claim_next(plan, &WriteRequest::by("x", Some("x")), 60_000).unwrap().is_some());
}

fn severities(engine: &Engine, plan: PlanId, repair: bool) -> Vec<(String, Severity)> {
    let findings = engine.check_plan(plan, repair).unwrap();
    findings.into_iter().map(|finding| (finding.what, finding.severity)).collect()
}

#[test]
fn wrong_derived_values_are_found_and_repaired_and_history_is_not_touched() {
    let world = world(json!([{"op": "add", "content": "a", "id": "a"},
                             {"op": "add", "content": "b", "id": "b", "dependsOn": ["a"]}]));
    let (engine, plan) = (&world.engine, world.plan);
    let said = |history, derived| vec![("history".to_owned(), history), ("derived values".to_owned(), derived)];
    assert_eq!(severities(engine, plan, false), said(Severity::Ok, Severity::Ok));
    let whole = engine.whole(plan).unwrap();
    let put = |rows, row: &punch_core::PlanRow| {
        let outcome = Outcome { rows, plan: row.clone(), ..Outcome::default() };
        engine.store().write(plan, Durability::Full, &mut |tx| tx.put(&outcome)).unwrap();
    };
    let mut wrong = whole.by_id("b").unwrap().clone();
    wrong.derived.unmet = 7;
    put(vec![wrong], &whole.row);
    assert_eq!(severities(engine, plan, false), said(Severity::Ok, Severity::Damaged));
    assert_eq!(severities(engine, plan, true), said(Severity::Ok, Severity::Repaired));
    assert_eq!(severities(engine, plan, false), said(Severity::Ok, Severity::Ok));
    // A stored field that no event explains is damage that no recount fixes.
    let mut wrong = whole.by_id("a").unwrap().clone();
    wrong.fields.content = "never written".into();
    put(vec![wrong], &whole.row);
    assert_eq!(severities(engine, plan, true), said(Severity::Damaged, Severity::Ok));
}
