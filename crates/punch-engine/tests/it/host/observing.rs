//! What hooks see of the work on a todo, and what completions make of it.

use punch_core::dialect::mirror::Word;
use punch_core::drive::{HostEvent, ToolKind, ToolUse};
use punch_core::{Actor, Op, Proof, Ref, Status, Todo, Warning};
use punch_engine::call::{Dialect, Tool};
use punch_engine::{Request, SessionState};
use punch_store::SessionKey;
use serde_json::json;

use super::{World, settings, world};

fn edited(path: &str) -> HostEvent {
    let tool = ToolUse::new("Edit", ToolKind::Edit).changing([path]);
    HostEvent::ToolEnded { tool }
}

fn ran(line: &str, exit_code: Option<i32>) -> HostEvent {
    HostEvent::ToolEnded { tool: ToolUse::new("Bash", ToolKind::Command).running(line, exit_code) }
}

fn state(world: &World, key: &SessionKey) -> SessionState {
    world.engine.session(key).unwrap().unwrap().1
}

fn todo(world: &World, id: &str) -> Todo {
    world.engine.whole(world.plan).unwrap().by_id(id).unwrap().clone()
}

fn evidence_world() -> World {
    let mut world = world();
    world.settings = settings(&[("policy.verify", "evidence"), ("reminders.enabled", "false")]);
    let policy = punch_core::Policy { verify: punch_core::VerifyMode::Evidence, ..Default::default() };
    world.engine.submit(world.plan, &Request::by("user", None), &[Op::SetPolicy(policy)]).unwrap();
    world
}

fn native(world: &World, ops: serde_json::Value) -> punch_engine::call::Answer {
    world.call(SessionKey::new("s", None), Dialect::Native, Tool::Write, json!({"ops": ops}))
}

fn started(world: &World) {
    native(world, json!([{"op": "add", "content": "port it"}, {"op": "start", "id": "T-1"}]));
    // The agent reports through hooks.
    world.report("s", super::person());
}

#[test]
fn our_own_tools_ask_once_and_then_complete_it_as_unchecked() {
    let world = evidence_world();
    started(&world);
    let done = || native(&world, json!([{"op": "done", "id": "T-1"}]));
    let refused = done();
    assert!(refused.is_error && refused.text.contains("no passing check was seen"), "{}", refused.text);
    assert!(!refused.text.contains("punch "), "{}", refused.text);
    let accepted = done();
    assert!(!accepted.is_error && accepted.text.contains("unchecked"), "{}", accepted.text);
    assert_eq!(todo(&world, "T-1").proof(), Some(Proof::Unchecked));
}

#[test]
fn words_are_enough_where_nothing_can_be_run() {
    let world = evidence_world();
    started(&world);
    let done = native(&world, json!([{"op": "done", "id": "T-1", "evidence": "only a comment changed"}]));
    assert!(!done.is_error, "{}", done.text);
    assert_eq!(todo(&world, "T-1").proof(), None);
}

#[test]
fn a_failing_check_is_refused_whatever_the_agent_says_and_the_user_may_overrule_it() {
    let world = evidence_world();
    started(&world);
    world.report("s", edited("src/a.rs"));
    world.report("s", ran("cargo test", Some(101)));
    for _ in 0..3 {
        let done = native(&world, json!([{"op": "done", "id": "T-1", "evidence": "all tests pass"}]));
        assert!(done.is_error && done.text.contains("`cargo test` failed with exit code 101"), "{}", done.text);
    }
    assert_eq!(todo(&world, "T-1").status, Status::InProgress);
    let request = Request { preset: punch_core::Policy::for_user, ..Request::of(Actor::user()) };
    let op = Op::Done { target: Ref::Id("T-1".into()), evidence: None, fence: None };
    let changed = world.engine.submit(world.plan, &request, &[op]).unwrap();
    let warned = |warning: &Warning| matches!(warning, Warning::FailedCheck { command, .. } if command == "cargo test");
    assert!(changed.outcome.warnings.iter().any(warned), "{:?}", changed.outcome.warnings);
    assert_eq!(todo(&world, "T-1").proof(), Some(Proof::Failing));
}

#[test]
fn a_passing_check_is_enough() {
    let world = evidence_world();
    started(&world);
    world.report("s", edited("src/a.rs"));
    world.report("s", ran("cargo test", Some(0)));
    let done = native(&world, json!([{"op": "done", "id": "T-1"}]));
    assert!(!done.is_error, "{}", done.text);
    assert_eq!(todo(&world, "T-1").proof(), Some(Proof::Checked));
    let read = world.call(SessionKey::new("s", None), Dialect::Native, Tool::Read, json!({"view": "all"}));
    assert!(!read.text.contains("checked"), "a model need not read what is in order: {}", read.text);
}

#[test]
fn nothing_is_stored_without_a_todo_in_progress_and_nothing_that_is_known() {
    let mut world = world();
    world.settings = settings(&[("reminders.enabled", "false")]);
    let key = SessionKey::new("s", None);
    world.copy("s", &[("port it", Word::Pending)]);
    world.report("s", super::person());
    let before = state(&world, &key);
    world.report("s", edited("src/a.rs"));
    world.report("s", ran("cargo test", Some(0)));
    assert_eq!(state(&world, &key), before, "no todo is in progress");
    world.copy("s", &[("port it", Word::InProgress)]);
    world.report("s", edited("src/a.rs"));
    let before = state(&world, &key);
    assert_eq!(before.observed.len(), 1);
    let revision = world.engine.whole(world.plan).unwrap().row.revision;
    for event in
        [edited("src/a.rs"), ran("ls -la", Some(0)), ran("cargo test", None), ran("cargo test | tail", Some(0))]
    {
        world.report("s", event);
    }
    assert_eq!(state(&world, &key), before, "what is known already is not stored again");
    assert_eq!(world.engine.whole(world.plan).unwrap().row.revision, revision);
}

#[test]
fn a_subagent_works_on_the_todo_of_its_main_agent() {
    let world = world();
    world.copy("s", &[("port it", Word::InProgress)]);
    world.report("s", super::person());
    let helper = SessionKey::new("s", Some("helper"));
    for event in [edited("src/a.rs"), ran("cargo test", Some(0))] {
        world.engine.observe(&world.moment(helper.clone(), event), &world.settings).unwrap();
    }
    world.copy("s", &[("port it", Word::Completed)]);
    assert_eq!(todo(&world, "T-1").proof(), Some(Proof::Checked));
}

#[test]
fn a_todo_that_is_started_again_is_observed_anew() {
    let world = world();
    world.copy("s", &[("port it", Word::InProgress)]);
    world.report("s", super::person());
    world.report("s", ran("cargo test", Some(0)));
    world.copy("s", &[("port it", Word::Pending)]);
    world.copy("s", &[("port it", Word::InProgress)]);
    world.report("s", edited("src/a.rs"));
    world.copy("s", &[("port it", Word::Completed)]);
    assert_eq!(todo(&world, "T-1").proof(), Some(Proof::Unchecked));
}
