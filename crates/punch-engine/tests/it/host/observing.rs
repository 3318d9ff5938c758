//! What hooks see of the work on a todo, and what completions make of it.

use punch_core::dialect::mirror::HostStatus;
use punch_core::drive::{HostEvent, ToolKind, ToolUse};
use punch_core::{Actor, Op, Proof, Ref, Status, Todo, Warning};
use punch_engine::call::{Dialect, Tool};
use punch_engine::{SessionState, WriteRequest};
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
    world.engine.submit(world.plan, &WriteRequest::by("user", None), &[Op::SetPolicy(policy)]).unwrap();
    world
}

fn native(world: &World, ops: serde_json::Value) -> punch_engine::call::ToolAnswer {
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
    let request = WriteRequest { preset: punch_core::Policy::for_user, ..WriteRequest::of(Actor::user()) };
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
    world.copy("s", &[("port it", HostStatus::Pending)]);
    world.report("s", super::person());
    let before = state(&world, &key);
    world.report("s", edited("src/a.rs"));
    world.report("s", ran("cargo test", Some(0)));
    assert_eq!(state(&world, &key), before, "no todo is in progress");
    world.copy("s", &[("port it", HostStatus::InProgress)]);
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
    world.copy("s", &[("port it", HostStatus::InProgress)]);
    world.report("s", super::person());
    let helper = SessionKey::new("s", Some("helper"));
    for event in [edited("src/a.rs"), ran("cargo test", Some(0))] {
        world.engine.observe(&world.moment(helper.clone(), event), &world.settings).unwrap();
    }
    world.copy("s", &[("port it", HostStatus::Completed)]);
    assert_eq!(todo(&world, "T-1").proof(), Some(Proof::Checked));
}

#[test]
fn a_todo_that_is_started_again_is_observed_anew() {
    let world = world();
    world.copy("s", &[("port it", HostStatus::InProgress)]);
    world.report("s", super::person());
    world.report("s", ran("cargo test", Some(0)));
    world.copy("s", &[("port it", HostStatus::Pending)]);
    world.copy("s", &[("port it", HostStatus::InProgress)]);
    world.report("s", edited("src/a.rs"));
    world.copy("s", &[("port it", HostStatus::Completed)]);
    assert_eq!(todo(&world, "T-1").proof(), Some(Proof::Unchecked));
}

/// Completes todos in the agent's own list; all of them were in progress one after the other.
fn ticked(world: &World, contents: &[&str]) {
    let rows = |count: usize, word: HostStatus| -> Vec<(&str, HostStatus)> {
        let before = contents[..count].iter().map(|content| (*content, HostStatus::Completed));
        before.chain(std::iter::once((contents[count], word))).collect()
    };
    for (at, content) in contents.iter().enumerate() {
        world.copy("s", &rows(at, HostStatus::InProgress));
        if at == 0 {
            world.report("s", super::person());
        }
        world.report("s", edited(&format!("src/{content}.rs")));
        world.copy("s", &rows(at, HostStatus::Completed));
    }
}

#[test]
fn a_check_of_a_part_counts_for_the_todos_with_files_in_that_part() {
    let world = evidence_world();
    ticked(&world, &["parser", "lexer", "printer"]);
    let open = |ids: &[&str]| ids.iter().all(|id| todo(&world, id).status == Status::InProgress);
    assert!(open(&["T-1", "T-2", "T-3"]), "each waits for a check");
    world.report("s", ran("cargo test lexer", Some(0)));
    assert_eq!(todo(&world, "T-2").proof(), Some(Proof::Checked));
    assert!(open(&["T-1", "T-3"]), "the tests of one say nothing about the others");
    world.report("s", ran("cargo test", Some(0)));
    for id in ["T-1", "T-3"] {
        assert_eq!(todo(&world, id).proof(), Some(Proof::Checked), "a check of everything counts for {id}");
    }
}

#[test]
fn a_check_of_a_part_that_no_file_is_in_answers_the_last_question() {
    let world = evidence_world();
    ticked(&world, &["parser", "lexer"]);
    world.copy(
        "s",
        &[("parser", HostStatus::Completed), ("lexer", HostStatus::Completed), ("docs", HostStatus::InProgress)],
    );
    world.report("s", ran("cargo test -p elsewhere", Some(0)));
    assert_eq!(todo(&world, "T-2").proof(), Some(Proof::Checked), "it was asked about last");
    assert_eq!(todo(&world, "T-1").status, Status::InProgress);
    world.report("s", ran("cargo test -p elsewhere", Some(0)));
    assert_eq!(todo(&world, "T-1").proof(), Some(Proof::Checked));
    world.report("s", ran("cargo test -p elsewhere", Some(0)));
    world.copy(
        "s",
        &[("parser", HostStatus::Completed), ("lexer", HostStatus::Completed), ("docs", HostStatus::Completed)],
    );
    assert_eq!(todo(&world, "T-3").proof(), Some(Proof::Checked), "nothing else is in progress");
}

#[test]
fn a_failing_check_of_a_part_says_nothing_about_the_other_todos() {
    let world = evidence_world();
    ticked(&world, &["parser", "lexer"]);
    world.report("s", ran("cargo test parser", Some(101)));
    let state = state(&world, &SessionKey::new("s", None));
    let failing = state.observed.iter().filter(|(_, seen)| seen.proof() == Proof::Failing).map(|(uid, _)| *uid);
    assert_eq!(failing.collect::<Vec<_>>(), [todo(&world, "T-1").uid]);
}

#[test]
fn a_todo_that_waits_for_its_check_keeps_its_files() {
    let world = evidence_world();
    ticked(&world, &["parser"]);
    world.copy("s", &[("parser", HostStatus::Completed), ("lexer", HostStatus::InProgress)]);
    world.report("s", ran("cargo test parser", Some(101)));
    world.report("s", edited("src/parser.rs"));
    world.report("s", ran("cargo test parser", Some(0)));
    assert_eq!(todo(&world, "T-1").proof(), Some(Proof::Checked));
    world.copy("s", &[("parser", HostStatus::Completed), ("lexer", HostStatus::Completed)]);
    assert_eq!(todo(&world, "T-2").status, Status::InProgress, "what fixed the parser was no work on the lexer");
}

#[test]
fn a_todo_that_was_never_started_is_asked_about_too() {
    let world = evidence_world();
    world.copy("s", &[("parser", HostStatus::Pending), ("lexer", HostStatus::Pending)]);
    world.report("s", super::person());
    let ticks = [("parser", HostStatus::Completed), ("lexer", HostStatus::InProgress)];
    world.copy("s", &ticks);
    assert_eq!(todo(&world, "T-1").status, Status::InProgress, "its check can be seen from now on");
    assert_eq!(state(&world, &SessionKey::new("s", None)).asked, [todo(&world, "T-1").uid]);
    world.report("s", edited("src/lexer.rs"));
    world.report("s", ran("cargo test parser", Some(0)));
    assert_eq!(todo(&world, "T-1").proof(), Some(Proof::Checked));
    assert_eq!(todo(&world, "T-2").status, Status::InProgress);
}

#[test]
fn our_own_tools_ask_about_a_todo_that_was_never_started() {
    let world = evidence_world();
    native(&world, json!([{"op": "add", "content": "port it"}, {"op": "add", "content": "test it"}]));
    world.report("s", super::person());
    for call in
        [json!([{"op": "done", "id": "T-1"}]), json!([{"op": "start", "id": "T-2"}, {"op": "done", "id": "T-2"}])]
    {
        let refused = native(&world, call.clone());
        assert!(refused.is_error && refused.text.contains("no passing check was seen"), "{}", refused.text);
        let accepted = native(&world, call);
        assert!(!accepted.is_error && accepted.text.contains("unchecked"), "{}", accepted.text);
    }
}

#[test]
fn users_are_not_asked_for_checks() {
    let world = evidence_world();
    native(&world, json!([{"op": "add", "content": "port it"}]));
    world.report("s", super::person());
    let request = WriteRequest { preset: punch_core::Policy::for_user, ..WriteRequest::of(Actor::user()) };
    let op = Op::Done { target: Ref::Id("T-1".into()), evidence: None, fence: None };
    world.engine.submit(world.plan, &request, &[op]).unwrap();
    assert_eq!(todo(&world, "T-1").status, Status::Completed);
}
