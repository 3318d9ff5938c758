//! What todos took, and what that teaches.

use punch_core::{Add, Complexity, Edit, Keep, Op, Ref};
use punch_engine::{Engine, PlanChoice, Sum, UsageDelta, WriteRequest};
use punch_store::{LedgerEntry, MemoryStore, PlanId};

fn engine() -> (Engine, PlanId) {
    let engine = Engine::new(Box::new(MemoryStore::new()), Box::new(|| 1_000));
    let plan = engine.choose_or_create(&PlanChoice::default()).unwrap();
    (engine, plan)
}

fn add(engine: &Engine, plan: PlanId, size: Option<Complexity>) {
    let edit = Edit { content: Keep::Set("x".into()), complexity: Keep::Set(size), ..Edit::default() };
    let add = Op::Add(Add { edit, ..Add::default() });
    engine.submit(plan, &WriteRequest::by("t", None), &[add]).unwrap();
}

fn take(engine: &Engine, plan: PlanId, id: &str, attempt: Option<u32>, tokens: u64) -> (u32, u64) {
    let uid = engine.resolve(plan, id).unwrap();
    let (_, usage) = engine.record_usage(plan, uid, attempt, UsageDelta { tokens, ms: 1_500 }).unwrap();
    (usage.attempt, usage.tokens)
}

fn submit(engine: &Engine, plan: PlanId, op: Op) {
    engine.submit(plan, &WriteRequest::by("t", None), &[op]).unwrap();
}

fn done(engine: &Engine, plan: PlanId, id: &str) {
    submit(engine, plan, Op::Done { target: Ref::Id(id.into()), evidence: None, fence: None });
}

#[test]
fn use_adds_up_in_the_current_attempt() {
    let (engine, plan) = engine();
    add(&engine, plan, Some(Complexity::Small));
    assert_eq!(take(&engine, plan, "T-1", None, 100), (1, 100));
    assert_eq!(take(&engine, plan, "T-1", None, 50), (1, 150));
    submit(&engine, plan, Op::Start(Ref::Id("T-1".into())));
    submit(&engine, plan, Op::Fail(Ref::Id("T-1".into()), "broke".into()));
    assert_eq!(take(&engine, plan, "T-1", None, 7), (2, 7));
    assert_eq!(take(&engine, plan, "T-1", Some(1), 1), (1, 151));
    assert_eq!(take(&engine, plan, "T-1", None, u64::MAX), (2, i64::MAX as u64));
    let report = engine.usage_report(plan).unwrap();
    assert_eq!((report.todos[0].attempts, report.todos[0].ms), (2, 7_500));
    // Not an event.
    assert_eq!(engine.whole(plan).unwrap().row.revision, 3);
}

#[test]
fn only_what_is_finished_teaches_and_every_plan_of_the_store_counts() {
    let (engine, plan) = engine();
    for size in [Some(Complexity::Small), Some(Complexity::Small), None] {
        add(&engine, plan, size);
    }
    take(&engine, plan, "T-1", None, 16_000);
    take(&engine, plan, "T-3", None, 20_000);
    assert_eq!(engine.calibration().unwrap(), 1.0, "nothing is finished");
    done(&engine, plan, "T-1");
    let (prior, estimated, actual) = (100_000.0, 8_000.0, 16_000.0);
    assert_eq!(engine.calibration().unwrap(), (prior + actual) / (prior + estimated));
    done(&engine, plan, "T-3");
    let report = engine.usage_report(plan).unwrap();
    assert_eq!((report.total.count, report.total.estimated, report.total.actual), (2, 28_000, 36_000));
    assert_eq!(report.by_complexity.len(), 2);
    assert!(report.todos[1].assumed && !report.todos[0].assumed);
    let other = engine.create_plan("other").unwrap();
    add(&engine, other, Some(Complexity::Epic));
    take(&engine, other, "T-1", None, 400_000);
    done(&engine, other, "T-1");
    assert!(engine.calibration().unwrap() > 2.0);
    assert_eq!(engine.usage_report(plan).unwrap().total.count, 2);
}

#[test]
fn what_a_context_held_already_is_spent_but_teaches_nothing() {
    let (engine, plan) = engine();
    add(&engine, plan, Some(Complexity::Small));
    let uid = engine.resolve(plan, "T-1").unwrap();
    let spent = LedgerEntry {
        uid,
        attempt: 1,
        run: Some(1),
        agent: "claude".into(),
        subagent: None,
        tokens_in: 59_000,
        tokens_out: 1_000,
        again: 52_000,
        cost: None,
        ms: 1,
        turns: 6,
        estimated: false,
        at: 0,
    };
    engine.end_turn(plan, 1, 1, Some(&spent)).unwrap();
    done(&engine, plan, "T-1");
    assert_eq!(engine.usage_report(plan).unwrap().todos[0].actual, 8_000);
    assert_eq!(engine.calibration().unwrap(), 1.0, "it took what it was estimated at");
    assert_eq!(Sum::of(&engine.ledger(plan, 1).unwrap()).tokens, 60_000);
}
