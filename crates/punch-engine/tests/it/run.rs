//! Runs as they are kept, and what workers of a runner may do.

use punch_core::{Actor, Add, Edit, Evidence, Keep, Op, Ref, Status, Todo, Warning, WorkerId};
use punch_engine::call::{CompletionSupport, Dialect, Tool, ToolCaller};
use punch_engine::{Engine, EngineError, PlanChoice, RunEnd, RunOutcome, RunStart, Sum, WriteRequest};
use punch_store::{LedgerEntry, MemoryStore, PlanId, SessionKey};
use serde_json::json;

fn worker_name(epoch: u32, number: u64) -> String {
    WorkerId { run: 1, epoch, number, fleet: None }.to_string()
}

const LEASE: i64 = 60_000;

fn engine() -> (Engine, PlanId) {
    let engine = Engine::new(Box::new(MemoryStore::new()), Box::new(|| 1_000));
    let plan = engine.choose_or_create(&PlanChoice::default()).unwrap();
    for content in ["one", "two"] {
        let edit = Edit { content: Keep::Set(content.into()), ..Edit::default() };
        engine.submit(plan, &WriteRequest::by("t", None), &[Op::Add(Add { edit, ..Add::default() })]).unwrap();
    }
    (engine, plan)
}

fn todo(engine: &Engine, plan: PlanId, id: &str) -> Todo {
    engine.read(plan, |s| Ok(s.find(id)?)).unwrap().unwrap()
}

fn claim(engine: &Engine, plan: PlanId, owner: &str, id: &str) -> u64 {
    let uid = todo(engine, plan, id).uid;
    engine.claim(plan, &WriteRequest::by("run", Some(owner)), uid, LEASE).unwrap();
    todo(engine, plan, id).fence
}

fn done(id: &str, fence: Option<u64>) -> Op {
    let evidence = Some(Evidence { text: Some("tests pass".into()), ..Evidence::default() });
    Op::Done { target: Ref::Id(id.into()), evidence, fence }
}

#[test]
fn a_workers_done_is_reported_and_only_the_runner_completes() {
    let (engine, plan) = engine();
    let worker = worker_name(1, 1);
    let fence = claim(&engine, plan, &worker, "T-1");
    let changed = engine.submit(plan, &WriteRequest::by("claude", Some(&worker)), &[done("T-1", None)]).unwrap();
    assert_eq!(changed.outcome.warnings, [Warning::Reported { id: "T-1".into() }]);
    let found = todo(&engine, plan, "T-1");
    assert_eq!((found.status, found.flags.reported, found.evidence.len()), (Status::InProgress, true, 1));
    let late = engine.submit(plan, &WriteRequest::by("claude", Some(&worker)), &[done("T-1", Some(fence + 1))]);
    assert!(matches!(late, Err(EngineError::Refused(_))));
    let runner = WriteRequest::of(Actor::runner(1, Some(&worker)));
    engine.submit(plan, &runner, &[done("T-1", Some(fence))]).unwrap();
    let found = todo(&engine, plan, "T-1");
    assert_eq!((found.status, found.flags.reported, found.evidence.len()), (Status::Completed, false, 2));
}

#[test]
fn every_surface_reports_and_says_so() {
    for (dialect, arguments) in [
        (Dialect::Native, json!({"ops": [{"op": "done", "id": "T-1"}]})),
        (Dialect::Todowrite, json!({"todos": [{"content": "one", "activeForm": "One", "status": "completed"}]})),
        (Dialect::Cursor, json!({"merge": true, "todos": [{"id": "T-1", "status": "completed"}]})),
    ] {
        let (engine, plan) = engine();
        let worker = worker_name(1, 1);
        claim(&engine, plan, &worker, "T-1");
        let caller = ToolCaller {
            session: SessionKey::new("s", None),
            actor: punch_core::Actor::agent("claude", worker),
            role: None,
            mode: Default::default(),
            limits: Default::default(),
            open_limit: 100,
            settings: None,
            structured: false,
            work: CompletionSupport::default(),
            server: None,
            embedding: Default::default(),
        };
        let answer = engine.call(plan, &caller, dialect, Tool::Write, &arguments, None).unwrap();
        let found = todo(&engine, plan, "T-1");
        assert_eq!((found.status, found.flags.reported), (Status::InProgress, true), "{dialect:?}: {}", answer.text);
        assert!(answer.text.contains("verifies"), "{dialect:?}: {}", answer.text);
    }
}

#[test]
fn what_was_reported_stays_so_until_it_is_judged() {
    let (engine, plan) = engine();
    let (first, second) = (worker_name(1, 1), worker_name(2, 1));
    let fence = claim(&engine, plan, &first, "T-1");
    engine.submit(plan, &WriteRequest::by("a", Some(&first)), &[done("T-1", None)]).unwrap();
    assert_eq!(engine.todos_of_workers(plan).unwrap().len(), 1);
    let hold = punch_core::Hold {
        kind: punch_core::HoldKind::Human,
        reason: "look".into(),
        until: None,
        by: String::new(),
        at: 0,
    };
    let runner = WriteRequest::of(Actor::runner(1, Some(&first)));
    engine.submit(plan, &runner, &[Op::Hold(Ref::Id("T-1".into()), hold)]).unwrap();
    assert!(todo(&engine, plan, "T-1").flags.reported);
    engine.submit(plan, &runner, &[Op::Release(Ref::Id("T-1".into()))]).unwrap();
    let again = claim(&engine, plan, &second, "T-1");
    assert!(again > fence && todo(&engine, plan, "T-1").flags.reported, "a claim takes over the verification");
    let runner = WriteRequest::of(Actor::runner(1, Some(&second)));
    engine.submit(plan, &runner, &[Op::Fail(Ref::Id("T-1".into()), "the check failed".into())]).unwrap();
    let found = todo(&engine, plan, "T-1");
    assert_eq!((found.status, found.flags.reported, found.attempts), (Status::Pending, false, 1));
}

#[test]
fn a_run_that_was_cut_short_is_taken_up_and_its_meter_goes_on() {
    let (engine, plan) = engine();
    let begin = RunStart { agents: vec!["exec:true".into()], ..RunStart::default() };
    let spent = |run, tokens| LedgerEntry {
        uid: punch_core::Uid(1),
        attempt: 1,
        run: Some(run),
        agent: "exec".into(),
        subagent: None,
        tokens_in: tokens,
        tokens_out: 0,
        again: 0,
        cost: Some(5),
        ms: 7,
        turns: 1,
        estimated: tokens > 50,
        at: 0,
    };
    let run = engine.begin_run(plan, &begin).unwrap();
    assert_eq!((run.id, run.body.epoch, run.body.from), (1, 1, 2));
    engine.end_turn(plan, 1, 1, Some(&spent(1, 10))).unwrap();
    // Killed: nobody ended it.
    let run = engine.begin_run(plan, &begin).unwrap();
    assert_eq!((run.id, run.body.epoch), (1, 2));
    engine.end_turn(plan, 1, 1, Some(&spent(1, 100))).unwrap();
    for outcome in [RunOutcome::Budget, RunOutcome::Interrupted] {
        engine.end_run(plan, 1, &RunEnd { outcome, because: vec!["tokens".into()], result: None }).unwrap();
        let kept = engine.run(plan, 1).unwrap().unwrap();
        assert_eq!((kept.body.outcome, kept.body.to, kept.ended_at), (Some(outcome), Some(2), Some(1_000)));
        assert_eq!(engine.begin_run(plan, &begin).unwrap().id, 1);
    }
    let sum = Sum::of(&engine.ledger(plan, 1).unwrap());
    assert_eq!(sum, Sum { tokens: 110, estimated: 100, cost: 10, uncosted: 0, ms: 14, turns: 2 });
    engine.end_run(plan, 1, &RunEnd { outcome: RunOutcome::Done, because: Vec::new(), result: None }).unwrap();
    assert_eq!(engine.begin_run(plan, &begin).unwrap().id, 2);
    assert_eq!(engine.begin_run(plan, &RunStart { fresh: true, ..begin }).unwrap().id, 3);
    assert_eq!(engine.runs(plan, 9).unwrap().len(), 3);
}
