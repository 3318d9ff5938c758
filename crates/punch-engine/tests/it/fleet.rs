//! Workers of a fleet in the store: names, renewals, work that is handed in, and who takes over from whom.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use punch_core::view::WorkerState;
use punch_core::{Actor, Add, Edit, Evidence, Keep, Op, Ref, Status, Todo, Uid, WorkerId};
use punch_engine::{
    Engine, EngineError, FleetRefresher, HandedIn, PlanChoice, QuestionOption, QuestionRequest, RunRecord, RunStart,
    WorkerBody, WorkerName, WriteRequest, is_worker_name,
};
use punch_store::{OpenMode, PlanId, QuestionFilter, QuestionState, SessionKey, open_file};
use serde_json::json;

/// How long a worker counts as alive.
const LEASE: i64 = 30_000;
/// How long a claim lasts.
const CLAIM: i64 = 900_000;

struct Fleet {
    _folder: tempfile::TempDir,
    clock: Arc<AtomicI64>,
    engine: Engine,
    plan: PlanId,
    run: RunRecord,
}

impl Fleet {
    /// A plan with todos, and a run of a fleet on it.
    fn with(contents: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(AtomicI64::new(1_000));
        let time = Arc::clone(&clock);
        let store = open_file(&folder.path().join("store.db"), OpenMode::Create, None).unwrap();
        let engine = Engine::new(store, Box::new(move || time.load(Ordering::Relaxed)));
        let plan = engine.choose_or_create(&PlanChoice::default()).unwrap();
        let add = |content: &&str| {
            Op::Add(Add {
                edit: Edit { content: Keep::Set((*content).to_owned()), ..Edit::default() },
                ..Add::default()
            })
        };
        engine.submit(plan, &WriteRequest::of(Actor::user()), &contents.iter().map(add).collect::<Vec<_>>()).unwrap();
        let begin = RunStart { options: json!({"fleet": true, "agents": 0}), ..RunStart::default() };
        let run = engine.begin_run(plan, &begin).unwrap();
        Self { _folder: folder, clock, engine, plan, run }
    }

    fn later(&self, ms: i64) {
        self.clock.fetch_add(ms, Ordering::Relaxed);
    }

    fn worker(&self, name: &str, folder: &str) -> Result<WorkerName, EngineError> {
        self.engine.register_worker(name, &WorkerBody::this_process(Path::new(folder), "1"), LEASE)
    }

    fn claim(&self, worker: &WorkerName, uid: u64) -> (Todo, String) {
        let (run, epoch, fleet) = (self.run.id, worker.epoch, Some(worker.name.clone()));
        let owner = WorkerId { run, epoch, number: uid, fleet }.to_string();
        let request = WriteRequest::of(Actor::runner(run, Some(&owner)));
        let key = SessionKey::new(format!("s-{owner}"), None);
        (self.engine.claim_for_worker(self.plan, &request, &key, Uid(uid), CLAIM).unwrap(), owner)
    }

    fn todo(&self, uid: u64) -> Todo {
        self.engine.whole(self.plan).unwrap().get(Uid(uid)).unwrap().clone()
    }

    fn orphans(&self) -> Vec<u64> {
        let found = self.engine.orphaned_todos(self.plan, self.run.id, self.run.body.epoch).unwrap();
        found.iter().map(|todo| todo.uid.0).collect()
    }

    fn waiting(&self) -> Vec<u64> {
        self.engine.handed_in(self.plan, self.run.id).unwrap().iter().map(|(work, _)| work.uid.0).collect()
    }
}

fn work(todo: &Todo) -> HandedIn {
    HandedIn { uid: todo.uid, fence: todo.fence, commit: "c".into(), branch: "punch/1/T-1".into(), proof: None }
}

#[test]
fn a_name_belongs_to_one_process_at_a_time() {
    let fleet = Fleet::with(&["One"]);
    let first = fleet.worker("gpu", "/a").unwrap();
    assert_eq!(first.epoch, 1);
    assert!(matches!(fleet.worker("gpu", "/b"), Err(EngineError::WorkerTaken { .. })));
    let copy = WorkerBody { instance: "copy".into(), ..WorkerBody::this_process(Path::new("/a"), "1") };
    let copy = fleet.engine.register_worker("gpu", &copy, LEASE);
    assert!(matches!(copy, Err(EngineError::WorkerTaken { .. })), "a copy of the machine has the same folder");
    assert_eq!(fleet.worker("gpu", "/a").unwrap().epoch, 2, "the lock of the folder says that the first one is dead");
    let body = WorkerBody::default();
    let renew = |name: &WorkerName| fleet.engine.renew_worker(fleet.plan, name, &body, LEASE, (1, &[], CLAIM));
    assert!(matches!(renew(&first), Err(EngineError::WorkerReplaced { .. })));
    fleet.later(LEASE);
    assert_eq!(fleet.worker("gpu", "/b").unwrap().epoch, 3, "its record has expired");
    assert!(is_worker_name("gpu-1.lab") && !is_worker_name("a b") && !is_worker_name("") && !is_worker_name("-x"));
}

#[test]
fn a_worker_that_was_killed_with_a_clock_ahead_does_not_keep_its_name() {
    let fleet = Fleet::with(&["One"]);
    fleet.later(1_000 * LEASE);
    let dead = fleet.worker("gpu", "/a").unwrap();
    fleet.claim(&dead, 1);
    let is_other = || fleet.engine.has_other_coordinator(fleet.plan, "main", "next").unwrap();
    assert!(is_other() && fleet.orphans().is_empty());
    // The clock is right again, or somewhat behind.
    fleet.later(-2 * LEASE);
    assert!(is_other() && fleet.worker("gpu", "/b").is_err(), "clocks differ a little");
    fleet.later(-998 * LEASE);
    assert!(!is_other());
    assert_eq!(fleet.orphans(), [1]);
    assert_eq!(fleet.worker("gpu", "/b").unwrap().epoch, 2);
}

#[test]
fn one_renewal_keeps_the_worker_and_its_claims_alive() {
    let fleet = Fleet::with(&["One", "Two"]);
    let worker = fleet.worker("a", "/a").unwrap();
    let claims: Vec<(Uid, String)> = [1, 2].map(|uid| (Uid(uid), fleet.claim(&worker, uid).1)).into();
    for _ in 0..100 {
        fleet.later(LEASE / 3);
        let given = (fleet.run.id, &claims[..], CLAIM);
        fleet.engine.renew_worker(fleet.plan, &worker, &WorkerBody::default(), LEASE, given).unwrap();
    }
    assert_eq!(fleet.orphans(), [0; 0]);
    let now = fleet.engine.now();
    assert!([1, 2].iter().all(|uid| fleet.todo(*uid).status_at(now) == Status::InProgress));
    // A claim that was lost stays lost.
    let todo = fleet.todo(1);
    fleet.engine.reopen_unreported(fleet.plan, fleet.run.id, &todo).unwrap();
    let given = (fleet.run.id, &claims[..], CLAIM);
    fleet.engine.renew_worker(fleet.plan, &worker, &WorkerBody::default(), LEASE, given).unwrap();
    assert_eq!(fleet.todo(1).status, Status::Pending);
}

#[test]
fn only_the_todos_of_dead_workers_are_orphans() {
    let fleet = Fleet::with(&["One", "Two", "Three"]);
    let dead = fleet.worker("dead", "/d").unwrap();
    fleet.claim(&dead, 1);
    fleet.later(LEASE - 1);
    let alive = fleet.worker("alive", "/a").unwrap();
    fleet.claim(&alive, 2);
    assert_eq!(fleet.orphans(), [0; 0]);
    fleet.later(1);
    assert_eq!(fleet.orphans(), [1]);
    // A process that comes back under the name does not have the claims of the one before it.
    let again = fleet.worker("dead", "/d").unwrap();
    fleet.claim(&again, 3);
    assert_eq!(fleet.orphans(), [1]);
    fleet.engine.release_worker(&alive, &WorkerBody::default()).unwrap();
    assert_eq!(fleet.orphans(), [1, 2]);
    let view = fleet.engine.fleet().unwrap();
    let states: Vec<_> = view.workers.iter().map(|worker| (worker.name.as_str(), worker.state)).collect();
    assert_eq!(states, [("alive", WorkerState::Gone), ("dead", WorkerState::Working)]);
    assert_eq!((view.stuck.len(), view.workers[1].claims.len()), (2, 1));
}

#[test]
fn questions_of_agents_whose_worker_is_dead_are_closed() {
    let fleet = Fleet::with(&["One", "Two"]);
    let (engine, plan, run) = (&fleet.engine, fleet.plan, fleet.run.id);
    let ask = |asker: &str, text: &str| {
        let options = vec![QuestionOption { id: "y".into(), label: "Yes".into(), allows: true }];
        let (todo, agent) = (Uid(1), "claude");
        let request =
            QuestionRequest { run, seat: 1, worker: asker, todo, agent, text, options, remote_answers: false };
        engine.ask(plan, &request).unwrap()
    };
    let of = |worker: &WorkerName| {
        let fleet = Some(worker.name.clone());
        WorkerId { run, epoch: worker.epoch, number: 7, fleet }.to_string()
    };
    let open = || -> Vec<u64> {
        let open = engine.questions(plan, QuestionFilter::Open, 99).unwrap();
        open.into_iter().rev().map(|question| question.id).collect()
    };
    let (dead, other) = (fleet.worker("dead", "/d").unwrap(), fleet.worker("other", "/o").unwrap());
    let (of_dead, of_other) = (ask(&of(&dead), "ls"), ask(&of(&other), "cat"));
    let close = || engine.close_orphaned_questions(plan, run, fleet.run.body.epoch).unwrap();
    close();
    assert_eq!(open(), [of_dead, of_other], "both workers are alive");
    // The process that comes back asks for itself.
    let again = fleet.worker("dead", "/d").unwrap();
    let of_again = ask(&of(&again), "rm");
    close();
    assert_eq!(open(), [of_other, of_again]);
    let state = engine.question(plan, of_dead).unwrap().unwrap().state;
    assert!(matches!(&state, QuestionState::Closed { reason, .. } if reason == "its worker is gone"), "{state:?}");
    // Cut off and back: its agents were ended.
    engine.close_questions_of_worker(plan, &again).unwrap();
    assert_eq!(open(), [of_other]);
    // The coordinator finds nothing to do and writes nothing.
    let writes = || engine.store().stamp(Some(plan)).unwrap();
    let before = writes();
    close();
    assert_eq!(writes(), before);
    fleet.later(LEASE);
    close();
    assert_eq!(open(), [0; 0]);
}

#[test]
fn work_is_handed_in_under_a_claim_that_holds_and_forgotten_once_it_is_decided() {
    let fleet = Fleet::with(&["One", "Two"]);
    let worker = fleet.worker("a", "/a").unwrap();
    let (todo, owner) = fleet.claim(&worker, 1);
    let hand_in = |owner: &str, work: &HandedIn| fleet.engine.hand_in(fleet.plan, fleet.run.id, owner, work).unwrap();
    assert!(!hand_in("run:1/1.9@b", &work(&todo)), "someone else's claim");
    assert!(!hand_in(&owner, &HandedIn { fence: todo.fence + 1, ..work(&todo) }));
    assert!(fleet.waiting().is_empty() && !fleet.todo(1).flags.reported);
    assert!(hand_in(&owner, &work(&todo)));
    assert!(fleet.todo(1).flags.reported, "it is reported in the same transaction");
    assert_eq!(fleet.waiting(), [1]);
    // The agent reports, and its worker dies before the push: that is not handed in.
    let (other, owner) = fleet.claim(&worker, 2);
    let op = Op::Done { target: Ref::Uid(Uid(2)), evidence: Some(Evidence::default()), fence: Some(other.fence) };
    fleet.engine.submit(fleet.plan, &WriteRequest::of(Actor::worker("agent", &owner)), &[op]).unwrap();
    assert_eq!(fleet.waiting(), [1]);
    let fail = Op::Fail(Ref::Uid(Uid(1)), "the check failed".into());
    fleet
        .engine
        .submit(fleet.plan, &WriteRequest::of(Actor::runner(fleet.run.id, todo.owner.as_deref())), &[fail])
        .unwrap();
    assert_eq!(fleet.waiting(), [0; 0]);
    assert!(fleet.engine.run(fleet.plan, fleet.run.id).unwrap().unwrap().body.handed_in.is_empty());
}

#[test]
fn a_coordinator_resumes_the_run_of_its_fleet_and_leaves_the_seats_of_workers_alone() {
    let fleet = Fleet::with(&["One"]);
    let join = |name: &str, seats| {
        let worker = WorkerName { name: name.to_owned(), epoch: 1 };
        fleet.engine.join_run(fleet.plan, fleet.run.id, &worker, seats, &["exec:true".to_owned()]).unwrap()
    };
    assert_eq!((join("a", 2), join("b", 3), join("a", 2)), (0, 2, 0), "every seat has a number of its own");
    let begin = RunStart { options: json!({"fleet": true, "agents": 0}), ..RunStart::default() };
    let again = fleet.engine.begin_run(fleet.plan, &begin).unwrap();
    assert_eq!((again.id, again.body.epoch, &again.body.options["agents"]), (fleet.run.id, 2, &json!(5)));
    assert_eq!(fleet.engine.fleet_run(fleet.plan).unwrap().map(|run| run.id), Some(again.id));
    let alone = fleet.engine.begin_run(fleet.plan, &RunStart::default()).unwrap();
    assert_eq!(
        (alone.id, fleet.engine.fleet_run(fleet.plan).unwrap()),
        (again.id + 1, None),
        "`punch run` begins its own"
    );
}

#[test]
fn a_plan_is_left_only_to_a_worker_that_can_coordinate_it() {
    let fleet = Fleet::with(&["One"]);
    let has_other = || fleet.engine.has_other_coordinator(fleet.plan, "main", "a").unwrap();
    let register = |name: &str, body: WorkerBody| drop(fleet.engine.register_worker(name, &body, LEASE).unwrap());
    register("a", WorkerBody::default());
    register("leaving", WorkerBody { draining: true, ..WorkerBody::default() });
    register("agents-only", WorkerBody { only_works: true, ..WorkerBody::default() });
    register("elsewhere", WorkerBody { plans: vec!["other".into()], ..WorkerBody::default() });
    assert!(!has_other());
    register("b", WorkerBody { plans: vec!["main".into()], ..WorkerBody::default() });
    assert!(has_other());
    fleet.later(LEASE);
    assert!(!has_other(), "its record has expired");
}

#[test]
fn a_board_looks_at_the_fleet_at_once_and_then_not_after_every_write() {
    let fleet = Fleet::with(&["One"]);
    let mut refresher = FleetRefresher::default();
    let mut look = |now: i64| {
        let names = refresher.refresh(&fleet.engine, now).unwrap().workers.len();
        (names, refresher.next_look())
    };
    assert_eq!(look(1_000), (0, None), "an idle board is never woken");
    fleet.worker("a", "/a").unwrap();
    assert_eq!(look(1_500), (0, Some(3_000)), "too soon, so it is read later");
    assert_eq!(look(2_999), (0, Some(3_000)));
    assert_eq!(look(3_000), (1, None));
    assert_eq!(look(2_000), (1, None), "a clock that was set back");
}
