//! Reports of workers: what they leave, and what takes them away.

use punch_core::{
    Actor, Add, ApplyStop, Context, Edit, Evidence, Hold, HoldKind, Keep, Op, Plan, Policy, Ref, Status, apply,
};

const LEASE: i64 = 50;

fn context(now: i64, owner: &str) -> Context {
    Context::new(now, Actor::parse("t", Some(owner)), Policy::default())
}

fn write(plan: &mut Plan, now: i64, owner: &str, ops: &[Op]) -> Result<(), ApplyStop> {
    let outcome = apply(plan, ops, &context(now, owner))?;
    plan.commit(&outcome);
    Ok(())
}

fn id() -> Ref {
    Ref::Id("T-1".into())
}

fn report(fence: Option<u64>) -> Op {
    let evidence = Some(Evidence { text: Some("tests pass".into()), ..Evidence::default() });
    Op::Report { target: id(), evidence, fence }
}

/// A plan with one todo that `w` has claimed and reported.
fn reported() -> Plan {
    let mut plan = Plan::new();
    let edit = Edit { content: Keep::Set("x".into()), ..Edit::default() };
    write(&mut plan, 1, "w", &[Op::Add(Add { edit, ..Add::default() })]).unwrap();
    write(&mut plan, 2, "w", &[Op::Claim(id(), 2 + LEASE)]).unwrap();
    write(&mut plan, 3, "w", &[report(None)]).unwrap();
    plan
}

fn hold() -> Hold {
    Hold { kind: HoldKind::Human, reason: "look".into(), until: None, by: String::new(), at: 0 }
}

#[test]
fn a_report_keeps_status_owner_and_fence_and_happens_once() {
    let mut plan = reported();
    let todo = plan.by_id("T-1").unwrap().clone();
    assert_eq!((todo.status, todo.flags.reported, todo.evidence.len()), (Status::InProgress, true, 1));
    assert_eq!((todo.owner.as_deref(), todo.fence), (Some("w"), 1));
    let again = Op::Report { target: id(), evidence: None, fence: Some(1) };
    let outcome = apply(&plan, std::slice::from_ref(&again), &context(4, "w")).unwrap();
    assert!(outcome.events.is_empty(), "nothing new is said");
    for _ in 0..40 {
        write(&mut plan, 5, "w", &[report(None)]).unwrap();
    }
    assert_eq!(plan.by_id("T-1").unwrap().evidence.len(), 20, "evidence is bounded");
}

#[test]
fn only_the_worker_that_has_it_reports() {
    let mut plan = reported();
    assert!(write(&mut plan, 4, "other", &[report(None)]).is_err());
    assert!(write(&mut plan, 4, "w", &[report(Some(9))]).is_err());
    write(&mut plan, 4, "w", &[Op::Reopen(id())]).unwrap();
    assert!(write(&mut plan, 5, "w", &[report(None)]).is_err(), "nobody works on it");
}

#[test]
fn the_mark_survives_what_a_crash_brings_and_ends_with_a_judgement() {
    let after = |ops: &[Op], now: i64| {
        let mut plan = reported();
        write(&mut plan, now, "w", ops).unwrap();
        let todo = plan.by_id("T-1").unwrap();
        (todo.status, todo.flags.reported)
    };
    let late = 3 + 2 * LEASE;
    let done = Op::Done { target: id(), evidence: None, fence: Some(1) };
    assert_eq!(after(&[Op::Note(id(), "x".into())], late), (Status::Pending, true), "the lease ran out");
    assert_eq!(after(&[Op::Claim(id(), late + 9)], late), (Status::InProgress, true));
    assert_eq!(after(&[Op::Hold(id(), hold())], 4), (Status::Pending, true));
    assert_eq!(after(&[Op::Hold(id(), hold()), Op::Release(id())], 4), (Status::Pending, true));
    assert_eq!(after(&[done], 4), (Status::Completed, false));
    assert_eq!(after(&[Op::Fail(id(), "no".into())], 4), (Status::Pending, false));
    assert_eq!(after(&[Op::Reopen(id())], 4), (Status::Pending, false));
    assert_eq!(after(&[Op::Drop(id())], 4), (Status::Cancelled, false));
    assert_eq!(after(&[Op::Reopen(id()), Op::Start(id())], 4), (Status::InProgress, false));
}
