//! What sessions use is entered for what they work on: once, and for nothing else.

use std::cell::RefCell;

use proptest::prelude::*;
use punch_core::drive::{HostEvent, SessionStart, ToolKind};
use punch_engine::call::Dialect;
use punch_engine::{ConversationMark, ConversationReading};
use punch_store::SessionKey;
use serde_json::json;

use super::{World, ended, settings, stop, world};

/// A conversation as the sizes of its context, one for each answer.
#[derive(Default)]
struct Talk(RefCell<Vec<u64>>);

impl Talk {
    fn grows_to(&self, size: u64) {
        self.0.borrow_mut().push(size);
    }

    fn read(&self, mark: &ConversationMark) -> Option<ConversationReading> {
        let sizes = self.0.borrow();
        let mut to = mark.clone();
        let new = sizes.get(usize::try_from(mark.at).unwrap()..).unwrap();
        let grown = new.iter().map(|size| to.take(*size)).sum();
        to.at = sizes.len() as u64;
        Some(ConversationReading { to, grown })
    }
}

fn hear(world: &World, key: &SessionKey, talk: &Talk, event: HostEvent) {
    world.pass(1);
    let moment = world.moment(key.clone(), event);
    world.engine.observe_reading(&moment, &world.settings, Some(&|mark| talk.read(mark))).unwrap();
}

fn tool_used() -> HostEvent {
    ended("Bash", ToolKind::Other)
}

fn status(world: &World, id: &str, status: &str) {
    let todos = json!([{"id": id, "content": id, "status": status}]);
    let answer = world.write("s", Dialect::Cursor, json!({"merge": true, "todos": todos}));
    assert!(!answer.is_error, "{}", answer.text);
}

/// (todo, attempt, tokens), and the time of all.
fn taken(world: &World) -> (Vec<(String, u32, u64)>, u64) {
    let whole = world.engine.whole(world.plan).unwrap();
    let usage = world.engine.read(world.plan, |snapshot| Ok(snapshot.usage(None)?)).unwrap();
    let ms = usage.iter().map(|one| one.ms).sum();
    (usage.iter().map(|one| (whole.get(one.uid).unwrap().id.clone(), one.attempt, one.tokens)).collect(), ms)
}

fn one(id: &str, attempt: u32, tokens: u64) -> (String, u32, u64) {
    (id.to_owned(), attempt, tokens)
}

#[test]
fn what_is_used_between_start_and_end_is_entered_and_nothing_else() {
    let (world, talk, key) = (world(), Talk::default(), SessionKey::new("s", None));
    status(&world, "a", "pending");
    talk.grows_to(10_000);
    hear(&world, &key, &talk, tool_used());
    talk.grows_to(12_000);
    status(&world, "a", "in_progress");
    hear(&world, &key, &talk, tool_used());
    assert_eq!(taken(&world).0, [], "before the first start it is nobody's");
    world.pass(5_000);
    talk.grows_to(13_000);
    hear(&world, &key, &talk, tool_used());
    assert_eq!(taken(&world).0, [], "nothing has ended");
    talk.grows_to(15_500);
    status(&world, "a", "completed");
    world.pass(700);
    hear(&world, &key, &talk, tool_used());
    let (tokens, ms) = taken(&world);
    assert_eq!(tokens, [one("a", 1, 3_500)]);
    assert_eq!(ms, 5_003, "from its start to its end, not to the report");
    talk.grows_to(20_000);
    hear(&world, &key, &talk, stop());
    assert_eq!(taken(&world), (tokens, ms), "between two todos it is nobody's");
    assert_eq!(world.engine.usage_report(world.plan).unwrap().todos[0].actual, 3_500);
}

#[test]
fn several_share_evenly_and_a_stop_enters_what_there_is() {
    let (world, talk, key) = (world(), Talk::default(), SessionKey::new("s", None));
    talk.grows_to(1_000);
    status(&world, "a", "in_progress");
    status(&world, "b", "in_progress");
    hear(&world, &key, &talk, tool_used());
    talk.grows_to(1_101);
    hear(&world, &key, &talk, stop());
    hear(&world, &key, &talk, stop());
    assert_eq!(taken(&world).0, [one("a", 1, 51), one("b", 1, 50)], "a report that comes twice adds nothing");
    status(&world, "b", "completed");
    hear(&world, &key, &talk, tool_used());
    talk.grows_to(1_111);
    hear(&world, &key, &talk, HostEvent::SessionEnded);
    assert_eq!(taken(&world).0, [one("a", 1, 61), one("b", 1, 50)]);
}

#[test]
fn a_shortened_or_resumed_conversation_neither_doubles_nor_resets() {
    let (world, talk, key) = (world(), Talk::default(), SessionKey::new("s", None));
    talk.grows_to(100_000);
    status(&world, "a", "in_progress");
    hear(&world, &key, &talk, tool_used());
    talk.grows_to(110_000);
    hear(&world, &key, &talk, HostEvent::Compacting);
    talk.grows_to(8_000);
    hear(&world, &key, &talk, HostEvent::SessionStarted { how: SessionStart::Compact });
    talk.grows_to(9_000);
    hear(&world, &key, &talk, stop());
    hear(&world, &key, &talk, HostEvent::SessionEnded);
    hear(&world, &key, &talk, HostEvent::SessionStarted { how: SessionStart::Resume });
    talk.grows_to(9_500);
    hear(&world, &key, &talk, stop());
    assert_eq!(taken(&world).0, [one("a", 1, 11_500)]);
}

#[test]
fn every_attempt_has_its_own() {
    let (world, talk, key) = (world(), Talk::default(), SessionKey::new("s", None));
    let ops = |ops| assert!(!world.write("s", Dialect::Native, json!({ "ops": ops })).is_error);
    ops(json!([{"op": "add", "content": "a"}, {"op": "start", "id": "T-1"}]));
    talk.grows_to(0);
    hear(&world, &key, &talk, tool_used());
    talk.grows_to(500);
    ops(json!([{"op": "fail", "id": "T-1", "error": "broke"}, {"op": "start", "id": "T-1"}]));
    hear(&world, &key, &talk, tool_used());
    talk.grows_to(700);
    hear(&world, &key, &talk, stop());
    assert_eq!(taken(&world).0, [one("T-1", 1, 500), one("T-1", 2, 200)]);
}

#[test]
fn agents_of_a_runner_and_readers_of_nothing_enter_nothing() {
    let mut world = world();
    world.settings = settings(&[("owner", "run:1/1.1")]);
    let (talk, key) = (Talk::default(), SessionKey::new("s", None));
    status(&world, "a", "in_progress");
    talk.grows_to(1);
    hear(&world, &key, &talk, tool_used());
    talk.grows_to(1_000);
    hear(&world, &key, &talk, stop());
    assert_eq!(taken(&world), (vec![], 0));
    // Nothing is read where there is nothing to enter.
    let moment = world.moment(SessionKey::new("other", None), tool_used());
    world.engine.observe_reading(&moment, &world.settings, Some(&|_| panic!("it was read"))).unwrap();
}

#[test]
fn what_a_subagent_uses_belongs_to_what_its_main_agent_works_on_or_to_what_it_was_given() {
    let (world, talk, key) = (world(), Talk::default(), SessionKey::new("s", None));
    status(&world, "a", "in_progress");
    status(&world, "b", "pending");
    hear(&world, &key, &talk, tool_used());
    let (sub, of_sub) = (SessionKey::new("s", Some("helper")), Talk::default());
    for size in [3_000, 3_600] {
        of_sub.grows_to(size);
    }
    hear(&world, &sub, &of_sub, stop());
    hear(&world, &sub, &of_sub, stop());
    assert_eq!(taken(&world).0, [one("a", 1, 600)]);
    of_sub.grows_to(3_700);
    hear(&world, &sub, &of_sub, stop());
    assert_eq!(taken(&world).0, [one("a", 1, 700)]);
    let (worker, of_worker) = (SessionKey::new("s", Some("worker")), Talk::default());
    let b = world.engine.resolve(world.plan, "b").unwrap();
    world.engine.assign(world.plan, &worker, &[b]).unwrap();
    let done = json!({"ops": [{"op": "start", "id": "b"}, {"op": "done", "id": "b"}]});
    assert!(!world.call(worker.clone(), Dialect::Native, punch_engine::call::Tool::Write, done).is_error);
    for size in [2_000, 2_050] {
        of_worker.grows_to(size);
    }
    hear(&world, &worker, &of_worker, stop());
    assert_eq!(taken(&world).0, [one("a", 1, 700), one("b", 1, 50)]);
}

#[derive(Clone, Debug)]
enum Step {
    Status(u8, &'static str),
    Context(u64),
    Hear,
    Stop,
    Foreign,
}

fn step() -> impl Strategy<Value = Step> {
    let words = prop::sample::select(vec!["pending", "in_progress", "in_progress", "completed"]);
    prop_oneof![
        3 => (0..3_u8, words).prop_map(|(n, word)| Step::Status(n, word)),
        4 => (0..5_000_u64).prop_map(Step::Context),
        3 => Just(Step::Hear),
        1 => Just(Step::Stop),
        1 => Just(Step::Foreign),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Against the plain rule: what the context grew by since the last report is entered if something was in progress
    /// then, however reports and changes come.
    #[test]
    fn the_ledger_holds_what_was_used_while_something_was_in_progress(steps in prop::collection::vec(step(), 0..40)) {
        let (world, talk, key) = (world(), Talk::default(), SessionKey::new("s", None));
        let (mut running, mut then) = ([false; 3], false);
        let (mut last, mut grown, mut expected) = (None, 0, 0);
        status(&world, "t0", "pending");
        for step in steps.into_iter().chain([Step::Stop]) {
            let heard = match step {
                Step::Status(n, word) => {
                    status(&world, &format!("t{n}"), word);
                    running[usize::from(n)] = word == "in_progress";
                    None
                }
                Step::Context(size) => {
                    talk.grows_to(size);
                    grown += last.map_or(0, |last| size.saturating_sub(last));
                    last = Some(size);
                    None
                }
                Step::Hear => Some(tool_used()),
                Step::Stop => Some(stop()),
                Step::Foreign => {
                    hear(&world, &SessionKey::new("other", None), &talk, stop());
                    None
                }
            };
            if let Some(event) = heard {
                hear(&world, &key, &talk, event);
                expected += if then { grown } else { 0 };
                (then, grown) = (running.contains(&true), 0);
            }
        }
        let entered: u64 = taken(&world).0.iter().map(|(_, _, tokens)| tokens).sum();
        prop_assert_eq!(entered, expected);
    }
}
