//! The facts of the inbox as the engine gathers them: questions, runs with their limits, seats and sessions that are quiet.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use punch_core::inbox::InboxItem;
use punch_core::{Actor, Add, Edit, Keep, Op};
use punch_engine::config::{Config, ConfigInputs};
use punch_engine::{Engine, InboxQuery, PlanChoice, READER, RunEnd, RunHolder, RunOutcome, RunStart, WriteRequest};
use punch_store::{Durability, LedgerEntry, MemoryStore, PlanId, Question, QuestionAnswer, QuestionState, SeatRecord};
use serde_json::json;

const MINUTE: i64 = 60_000;

struct World {
    engine: Engine,
    plan: PlanId,
    now: Arc<AtomicI64>,
    config: Config,
}

impl World {
    fn new() -> Self {
        let now = Arc::new(AtomicI64::new(1_000));
        let clock = Arc::clone(&now);
        let engine = Engine::new(Box::new(MemoryStore::new()), Box::new(move || clock.load(Ordering::Relaxed)));
        let plan = engine.choose_or_create(&PlanChoice::default()).unwrap();
        for content in ["one", "two"] {
            let edit = Edit { content: Keep::Set(content.into()), ..Edit::default() };
            engine.submit(plan, &WriteRequest::of(Actor::user()), &[Op::Add(Add { edit, ..Add::default() })]).unwrap();
        }
        Self { engine, plan, now, config: Config::load(&ConfigInputs::default()).unwrap() }
    }

    fn later(&self, ms: i64) {
        self.now.fetch_add(ms, Ordering::Relaxed);
    }

    fn items(&self) -> Vec<InboxItem> {
        self.engine.inbox(self.plan, &InboxQuery::new(&self.config.settings, None)).unwrap()
    }

    fn shown(&self) -> Vec<String> {
        self.items().iter().map(|item| format!("{}: {}", item.kind.name(), item.text)).collect()
    }

    fn run(&self, limits: serde_json::Value) -> u64 {
        let options = json!({"agents": 1, "limits": limits});
        self.engine
            .begin_run(self.plan, &RunStart { agents: vec!["claude".into()], options, fresh: true, lanes: None })
            .unwrap()
            .id
    }

    fn spend(&self, run: u64, tokens: u64) {
        let uid = self.engine.resolve(self.plan, "T-1").unwrap();
        let spent = LedgerEntry {
            uid,
            attempt: 1,
            run: Some(run),
            agent: "claude".into(),
            subagent: None,
            tokens_in: tokens,
            tokens_out: 0,
            again: 0,
            cost: None,
            ms: 1,
            turns: 1,
            estimated: false,
            at: 0,
        };
        self.engine.end_turn(self.plan, run, 1, Some(&spent)).unwrap();
    }
}

#[test]
fn a_question_is_listed_until_it_is_answered() {
    let world = World::new();
    let question = Question {
        id: 0,
        asked_at: 7,
        run: Some(1),
        seat: Some(1),
        session: None,
        todo: Some(world.engine.resolve(world.plan, "T-2").unwrap()),
        agent: "claude".into(),
        text: "May I?".into(),
        options: "[]".into(),
        state: QuestionState::Open,
    };
    let write = |f: &mut dyn FnMut(&mut dyn punch_store::Tx) -> Result<(), punch_store::StoreError>| {
        world.engine.store().write(world.plan, Durability::Full, f).unwrap();
    };
    write(&mut |tx| tx.put_question(&question).map(drop));
    let items = world.items();
    assert_eq!((items.len(), items[0].todo.as_deref(), items[0].since), (1, Some("T-2"), 7));
    assert_eq!(world.shown(), ["question: two: claude asks: May I?"]);
    let answer = QuestionAnswer {
        answer: "yes".into(),
        by: "user".into(),
        via: "terminal".into(),
        reason: None,
        at: 9,
        taken_at: None,
    };
    write(&mut |tx| tx.answer_question(1, &answer).map(drop));
    assert_eq!(world.shown(), [""; 0]);
}

#[test]
fn a_run_beyond_four_fifths_of_a_limit_is_listed_since_it_got_there() {
    let world = World::new();
    let run = world.run(json!({"tokens": 1_000, "turns": 100}));
    world.spend(run, 800);
    assert_eq!(world.shown(), [""; 0]);
    world.later(MINUTE);
    world.spend(run, 50);
    world.later(MINUTE);
    world.spend(run, 50);
    assert_eq!(world.shown(), ["budget: run 1 has used 90% of its tokens: 900 of 1000 tokens"]);
    assert_eq!(world.items()[0].since, 1_000 + MINUTE);
    assert_eq!(world.items()[0].action, "punch run show 1");
}

#[test]
fn a_run_beyond_four_fifths_of_its_time_is_listed_since_it_got_there() {
    // Earlier versions recorded the limit in the second form.
    for limit in [json!(100 * MINUTE), json!({"secs": 6_000, "nanos": 0})] {
        let world = World::new();
        let run = world.run(json!({"time": limit, "tokens": null}));
        world.later(80 * MINUTE);
        assert_eq!(world.shown(), [""; 0]);
        world.later(15 * MINUTE);
        assert_eq!(world.shown(), ["budget: run 1 has used 95% of its time: 95 of 100 minutes"]);
        assert_eq!(world.items()[0].since, 1_000 + 80 * MINUTE);
        let ended = RunEnd { outcome: RunOutcome::Interrupted, because: Vec::new(), result: None };
        world.engine.end_run(world.plan, run, &ended).unwrap();
        assert!(world.shown().iter().all(|text| !text.starts_with("budget")), "{:?}", world.shown());
        // The earlier parts count.
        let options = json!({"limits": {"time": limit}});
        let resumed = world.engine.begin_run(world.plan, &RunStart { options, ..RunStart::default() }).unwrap();
        assert_eq!((resumed.id, resumed.limits().time), (run, Some(6_000_000)));
        assert_eq!(world.shown(), ["budget: run 1 has used 95% of its time: 95 of 100 minutes"]);
    }
    // A run that was killed uses no more of its time.
    let world = World::new();
    let holder = RunHolder::this_process(std::path::Path::new("/runs"));
    world.engine.take_run(world.plan, &holder).unwrap();
    world.run(json!({"time": 100 * MINUTE}));
    world.later(95 * MINUTE);
    assert!(world.shown().iter().all(|text| !text.starts_with("budget")), "{:?}", world.shown());
    for odd in [json!("1h"), json!({"secs": "x"}), json!(-1), json!(null), json!({"secs": u64::MAX, "nanos": 1})] {
        let world = World::new();
        world.run(json!({"time": odd}));
        world.later(MINUTE);
        assert_eq!(world.shown(), [""; 0], "{odd}");
    }
}

#[test]
fn a_run_that_ended_is_listed_until_the_user_looks() {
    let world = World::new();
    let run = world.run(json!({}));
    let ended = RunEnd { outcome: RunOutcome::Stalled, because: vec!["T-1 failed".into()], result: None };
    world.engine.end_run(world.plan, run, &ended).unwrap();
    assert_eq!(world.shown(), ["stuck: run 1 has stalled (T-1 failed)"]);
    world.engine.mark_seen(world.plan, "agent:claude", 2).unwrap();
    assert_eq!(world.shown().len(), 1, "another reader has looked");
    world.engine.mark_seen(world.plan, READER, 2).unwrap();
    assert_eq!(world.shown(), [""; 0]);
    world.engine.mark_seen(world.plan, READER, 1).unwrap();
    assert_eq!(world.shown().len(), 1, "marked as new again");
}

#[test]
fn seats_and_sessions_without_a_sign_of_life_are_listed() {
    let world = World::new();
    let claim = |owner: &str, id: &str| {
        let uid = world.engine.resolve(world.plan, id).unwrap();
        world.engine.claim(world.plan, &WriteRequest::of(Actor::agent("claude", owner)), uid, 15 * MINUTE).unwrap();
    };
    claim("session-1", "T-1");
    world.later(15 * MINUTE);
    assert_eq!(world.shown(), [""; 0], "half of run.idle is not over yet");
    world.later(1);
    assert_eq!(world.shown(), ["quiet: one: no activity from session-1; last seen 15 minutes ago"]);
    claim("session-2", "T-1");
    assert_eq!(world.shown(), [""; 0], "someone else has it now");
    let run = world.run(json!({}));
    let seat = |stage: &str, last_sign: i64| {
        let body = json!({"stage": stage, "todo": "T-2", "agent": "codex", "since": 1, "lastSign": last_sign});
        let record = SeatRecord { run, n: 1, at: 1, body: body.to_string() };
        world.engine.store().write(world.plan, Durability::Full, &mut |tx| tx.put_seat(&record)).unwrap();
    };
    let now = world.engine.now();
    seat("working", now - 16 * MINUTE);
    let quiet = "quiet: two: no activity from codex in seat 1 of run 1; last seen 16 minutes ago";
    assert_eq!(world.shown(), [quiet]);
    seat("asking", now - 16 * MINUTE);
    assert_eq!(world.shown(), [""; 0], "it waits for the user, which is a question");
    seat("working", now - MINUTE);
    assert_eq!(world.shown(), [""; 0]);
}

#[test]
fn large_plans_are_not_counted_at_the_side() {
    let world = World::new();
    let query = InboxQuery::new(&world.config.settings, None);
    assert_eq!(world.engine.inbox_count(world.plan, &query).unwrap(), Some(0));
    let add = |n: usize| {
        let edit = Edit { content: Keep::Set(format!("todo {n}")), ..Edit::default() };
        Op::Add(Add { edit, ..Add::default() })
    };
    let ops: Vec<Op> = (0..2_000).map(add).collect();
    world.engine.submit(world.plan, &WriteRequest::of(Actor::user()), &ops).unwrap();
    assert_eq!(world.engine.inbox_count(world.plan, &query).unwrap(), None);
    assert_eq!(world.items(), []);
}
