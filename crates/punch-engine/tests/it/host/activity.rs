//! What hook reports leave in the activity of a plan: with writes that happen anyway, and never by themselves.

use punch_core::drive::{HostEvent, SessionStart, ToolKind, ToolUse};
use punch_engine::call::Dialect;
use punch_engine::{ActivityKind, QUESTION_LENGTH};
use punch_store::QuestionFilter;
use serde_json::json;

use super::{World, add, ended, person, stop, todos, world};

fn kinds(world: &World) -> Vec<String> {
    let page = world.engine.activity(world.plan, 0, 999).unwrap();
    let name = |kind: &ActivityKind| serde_json::to_value(kind).unwrap()["kind"].as_str().unwrap().to_owned();
    page.records.iter().map(|record| name(&record.kind)).collect()
}

fn failed(tool: &str) -> HostEvent {
    let tool = ToolUse::new(tool, ToolKind::Command);
    HostEvent::ToolFailed { tool, error: "exit 1\nno such file\u{7}".into(), interrupted: false }
}

fn working() -> World {
    let world = world();
    world.write("s", Dialect::Todowrite, todos(&[("Write it", "in_progress"), ("Test it", "pending")]));
    world
}

fn asks(text: &str) -> HostEvent {
    HostEvent::Asked { text: text.to_owned() }
}

#[test]
fn a_session_leaves_its_beginning_its_decisions_and_its_end() {
    let world = working();
    world.report("s", HostEvent::SessionStarted { how: SessionStart::Resume });
    world.report("s", person());
    world.report("s", stop());
    world.report("s", HostEvent::SessionEnded);
    assert_eq!(kinds(&world), ["session_started", "decision", "session_ended"]);
    let page = world.engine.activity(world.plan, 0, 99).unwrap();
    let ActivityKind::Decision { continues, reason, .. } = &page.records[1].kind else { panic!("{page:?}") };
    assert_eq!((*continues, reason.as_str(), page.records[1].source.as_deref()), (true, "1/1", Some("s")));
    // A reader continues where it was, and is told if it has missed something.
    let rest = world.engine.activity(world.plan, 2, 99).unwrap();
    assert_eq!((rest.records.len(), rest.next, rest.has_gap), (1, 3, false));
    assert!(world.engine.activity(world.plan, 99, 99).unwrap().has_gap, "the store was restored from a copy");
}

#[test]
fn failed_tools_stay_after_the_next_stop() {
    let world = working();
    world.report("s", failed("Bash"));
    world.report("s", stop());
    world.report("s", stop());
    let page = world.engine.activity(world.plan, 0, 99).unwrap();
    let found = page.records.iter().find_map(|record| match &record.kind {
        ActivityKind::ToolFailed { tool, todo, error, .. } => Some((tool.as_str(), todo.as_deref(), error.as_str())),
        _ => None,
    });
    assert_eq!(found, Some(("Bash", Some("T-1"), "exit 1")));
    let todo = world.engine.whole(world.plan).unwrap().by_id("T-1").unwrap().uid;
    let about: Vec<_> = page.records.iter().filter(|record| record.todo == Some(todo)).collect();
    assert!(about.iter().any(|record| matches!(record.kind, ActivityKind::ToolFailed { .. })), "{page:?}");
}

#[test]
fn a_report_that_stores_nothing_leaves_nothing() {
    let world = world();
    world.by_hand(&[add("a")]);
    for event in [ended("Bash", ToolKind::Command), asks(""), failed("Bash"), HostEvent::SessionEnded] {
        let before = (world.sessions(), kinds(&world));
        world.report("unbound", event.clone());
        if world.sessions() == before.0 {
            assert_eq!(kinds(&world), before.1, "{event:?}");
        }
    }
    assert!(kinds(&world).iter().all(|kind| kind == "session_started"), "{:?}", kinds(&world));
}

#[test]
fn a_session_asks_until_it_continues() {
    let world = working();
    let open = || world.engine.questions(world.plan, QuestionFilter::Open, 9).unwrap();
    world.report("s", asks("Bash\ncommand: rm x"));
    world.report("s", asks("Claude needs your permission"));
    let questions = open();
    assert_eq!(questions.len(), 1, "asking since the first report");
    assert_eq!(questions[0].text, "Bash\ncommand: rm x");
    assert_eq!((questions[0].session.as_deref(), questions[0].seat), (Some("s"), None));
    world.report("s", ended("Bash", ToolKind::Command));
    assert_eq!(open(), []);
    world.report("s", asks(""));
    assert_eq!(open()[0].text, "The agent asks something in its own terminal.");
    world.report("s", HostEvent::SessionEnded);
    assert_eq!(open(), []);
}

#[test]
fn what_a_session_asks_is_neutralised_and_cut() {
    let world = working();
    world.report("s", asks(&format!("rm\u{1b}[2J\n{}", "x".repeat(QUESTION_LENGTH))));
    let question = world.engine.questions(world.plan, QuestionFilter::Open, 9).unwrap().remove(0);
    assert!(question.is_cut && question.text.chars().count() <= QUESTION_LENGTH, "{}", question.text.len());
    assert!(question.text.contains('\n') && !question.text.contains('\u{1b}'));
}

#[test]
fn a_call_that_is_refused_is_a_failed_write() {
    let world = working();
    world.write("s", Dialect::Native, json!({"ops": [{"op": "done", "id": "T-99"}]}));
    let page = world.engine.activity(world.plan, 0, 99).unwrap();
    let ActivityKind::WriteFailed { agent, error } = &page.records[0].kind else { panic!("{page:?}") };
    assert!(agent == "claude-code" && error.contains("T-99"), "{error}");
}
