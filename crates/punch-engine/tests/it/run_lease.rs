//! The right to run a plan: one runner at a time, and no write of one that was replaced.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use punch_core::{Add, Edit, Keep, Op};
use punch_engine::{Engine, EngineError, PlanChoice, RunEnd, RunHolder, RunOutcome, RunStart, WriteRequest};
use punch_store::{Durability, OpenMode, PlanId, open_file};

/// Engines of several processes over one store, with a clock that the test sets.
struct Shared {
    folder: tempfile::TempDir,
    clock: Arc<AtomicI64>,
    plan: PlanId,
}

impl Shared {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let shared = Self { folder, clock: Arc::new(AtomicI64::new(1_000)), plan: PlanId(1) };
        let plan = shared.engine().choose_or_create(&PlanChoice::default()).unwrap();
        Self { plan, ..shared }
    }

    fn engine(&self) -> Engine {
        let clock = Arc::clone(&self.clock);
        let store = open_file(&self.folder.path().join("store.db"), OpenMode::Create, None).unwrap();
        Engine::new(store, Box::new(move || clock.load(Ordering::Relaxed)))
    }

    fn later(&self, ms: i64) {
        self.clock.fetch_add(ms, Ordering::Relaxed);
    }

    fn add(&self, engine: &Engine) -> Result<(), EngineError> {
        let edit = Edit { content: Keep::Set("work".into()), ..Edit::default() };
        let add = [Op::Add(Add { edit, ..Add::default() })];
        engine.submit(self.plan, &WriteRequest::by("run", None), &add).map(drop)
    }

    fn revision(&self) -> u64 {
        self.engine().read(self.plan, |snapshot| Ok(snapshot.row()?.revision)).unwrap()
    }
}

fn holder(folder: &str) -> RunHolder {
    RunHolder::this_process(Path::new(folder))
}

fn is_taken(result: Result<(), EngineError>) -> bool {
    matches!(result, Err(EngineError::RunTaken { by }) if by == format!("process {}", std::process::id()))
}

#[test]
fn a_plan_is_run_by_one_runner_until_it_gives_the_plan_up_or_dies() {
    let shared = Shared::new();
    let (first, second) = (shared.engine(), shared.engine());
    first.take_run(shared.plan, &holder("/a/runs")).unwrap();
    assert!(is_taken(second.take_run(shared.plan, &holder("/b/runs"))));
    shared.later(20_000);
    first.renew_run(shared.plan).unwrap();
    shared.later(20_000);
    assert!(is_taken(second.take_run(shared.plan, &holder("/b/runs"))), "the lease was renewed");
    first.release_run(shared.plan).unwrap();
    second.take_run(shared.plan, &holder("/b/runs")).unwrap();
    assert!(is_taken(first.take_run(shared.plan, &holder("/a/runs"))));
    shared.later(30_000);
    first.take_run(shared.plan, &holder("/a/runs")).unwrap();
}

#[test]
fn the_lease_of_a_dead_runner_of_the_same_folder_does_not_block() {
    let shared = Shared::new();
    shared.engine().take_run(shared.plan, &holder("/a/runs")).unwrap();
    // Whoever asks has the lock of that folder, so the earlier holder is dead.
    shared.engine().take_run(shared.plan, &holder("/a/runs")).unwrap();
}

#[test]
fn a_runner_that_was_replaced_writes_nothing_more() {
    let shared = Shared::new();
    let (paused, other) = (shared.engine(), shared.engine());
    paused.take_run(shared.plan, &holder("/a/runs")).unwrap();
    let run = paused.begin_run(shared.plan, &RunStart::default()).unwrap();
    shared.add(&paused).unwrap();
    shared.later(40_000);
    // Nobody took the plan while it was paused, so it may continue.
    shared.add(&paused).unwrap();
    other.take_run(shared.plan, &holder("/b/runs")).unwrap();
    let before = shared.revision();
    let ended = RunEnd { outcome: RunOutcome::Done, because: Vec::new(), result: None };
    assert_eq!(shared.add(&paused), Err(EngineError::RunReplaced));
    assert_eq!(paused.end_run(shared.plan, run.id, &ended), Err(EngineError::RunReplaced));
    assert_eq!(paused.renew_run(shared.plan), Err(EngineError::RunReplaced));
    assert_eq!(shared.revision(), before);
    // Giving up what it no longer has does not hurt the new runner.
    assert_eq!(paused.release_run(shared.plan), Err(EngineError::RunReplaced));
    shared.add(&other).unwrap();
    other.renew_run(shared.plan).unwrap();
    let lease = other.read(shared.plan, |snapshot| Ok(snapshot.run_lease()?)).unwrap().unwrap();
    assert_eq!((lease.epoch, lease.until.is_some()), (2, true));
}

#[test]
fn other_processes_and_other_plans_write_while_a_plan_is_run() {
    let shared = Shared::new();
    let runner = shared.engine();
    runner.take_run(shared.plan, &holder("/a/runs")).unwrap();
    shared.add(&shared.engine()).unwrap();
    let other = runner.store().create_plan("other", 1).unwrap();
    let edit = Edit { content: Keep::Set("work".into()), ..Edit::default() };
    runner.submit(other, &WriteRequest::by("t", None), &[Op::Add(Add { edit, ..Add::default() })]).unwrap();
    runner.store().write(shared.plan, Durability::Relaxed, &mut |_| Ok(())).unwrap();
}

#[test]
fn the_lease_of_a_copied_machine_blocks() {
    let shared = Shared::new();
    let (first, second) = (shared.engine(), shared.engine());
    let (one, copy) = (holder("/a/runs").with_instance("1"), holder("/a/runs").with_instance("2"));
    first.take_run(shared.plan, &one).unwrap();
    assert!(is_taken(second.take_run(shared.plan, &copy)) && !second.is_run_free(shared.plan, &copy).unwrap());
    second.take_run(shared.plan, &one).unwrap();
}
