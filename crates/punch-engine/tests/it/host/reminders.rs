//! Reminders and advice through the engine.

use punch_core::drive::{HostEvent, ToolKind, ToolUse};
use punch_engine::call::Dialect;
use serde_json::json;

use super::{World, ended, settings, todos, world};

fn uses(world: &World, kind: ToolKind, times: usize) -> Vec<String> {
    (0..times).filter_map(|_| world.report("s", ended("x", kind)).context).collect()
}

fn failed(name: &str, kind: ToolKind) -> HostEvent {
    let tool = ToolUse::new(name, kind);
    HostEvent::ToolFailed { tool, error: "exit 1".into(), interrupted: false }
}

#[test]
fn a_busy_session_without_a_list_is_told_once_that_there_is_one() {
    let world = world();
    let said: Vec<String> = [uses(&world, ToolKind::Edit, 3), uses(&world, ToolKind::Other, 40)].concat();
    assert_eq!(said.len(), 1);
    assert!(said[0].starts_with("punch keeps a todo list for this project."));
    let seen = world.sessions()[0].seen_at;
    uses(&world, ToolKind::Edit, 5);
    assert_eq!(world.sessions()[0].seen_at, seen, "nothing more is counted");
}

#[test]
fn a_list_that_does_not_move_is_remembered_after_ten() {
    let world = world();
    world.write("s", Dialect::Todowrite, todos(&[("one", "in_progress")]));
    assert_eq!(uses(&world, ToolKind::Other, 9), [""; 0]);
    assert_eq!(uses(&world, ToolKind::Ours, 1), [""; 0]);
    assert_eq!(uses(&world, ToolKind::Other, 9), [""; 0]);
    let said = uses(&world, ToolKind::Other, 1);
    assert!(said[0].contains("In progress: T-1 \"one\""), "{said:?}");
    world.write("s", Dialect::Todowrite, todos(&[("one", "completed")]));
    assert_eq!(uses(&world, ToolKind::Other, 50), [""; 0], "never when finished");
}

#[test]
fn edits_without_a_todo_in_progress_are_remembered() {
    let world = world();
    world.write("s", Dialect::Native, json!({"ops": [{"op": "add", "content": "a"}]}));
    let said = uses(&world, ToolKind::Edit, 4);
    assert_eq!(
        said,
        ["You are editing files, but no todo is in progress. Next: T-1 \"a\". Mark the one you are working on."]
    );
}

#[test]
fn reminders_can_be_switched_off_and_have_a_budget() {
    let mut world = world();
    world.write("s", Dialect::Todowrite, todos(&[("one", "in_progress")]));
    world.settings = settings(&[("reminders.enabled", "false")]);
    assert_eq!(uses(&world, ToolKind::Other, 30), [""; 0]);
    world.settings = settings(&[("reminders.tokens", "100")]);
    assert_eq!(uses(&world, ToolKind::Other, 200).len(), 2);
    let spent = world.engine.spent().unwrap();
    assert!(spent.sessions == 1 && (40..=100).contains(&spent.reminders), "{spent:?}");
}

#[test]
fn a_first_failure_asks_for_a_retry_and_a_second_to_give_up() {
    let world = world();
    assert_eq!(world.report("s", failed("Bash", ToolKind::Other)), Default::default(), "nothing is bound");
    world.write("s", Dialect::Native, json!({"ops": [{"op": "add", "content": "a"}, {"op": "start", "id": "T-1"}]}));
    let first = world.report("s", failed("Bash", ToolKind::Other)).context.unwrap();
    assert_eq!(first, "A tool failed while T-1 is in progress. Try once more, in another way.");
    let second = world.report("s", failed("Bash", ToolKind::Other)).context.unwrap();
    assert!(second.contains("mark it failed with the reason"), "{second}");
    assert_eq!(world.report("s", failed("Bash", ToolKind::Other)).context, None);
    assert_eq!(world.decided("s"), "tool_failed", "and it is logged with its todo");
    let text = world.report("s", super::stop()).go_on.unwrap();
    assert!(text.ends_with("Tools keep failing on it: mark it failed and take the next one."), "{text}");
    let write = world.report("s", failed("todo_write", ToolKind::Ours)).context.unwrap();
    assert!(write.starts_with("That todo call had errors. Its answer says what was applied"), "{write}");
}

#[test]
fn a_failed_write_of_a_list_is_told_to_the_agent_and_to_the_user_and_not_held_against_the_todo() {
    for kind in [ToolKind::Ours, ToolKind::HostTodo] {
        let world = world();
        let effect = world.report("s", failed("TodoWrite", kind));
        assert!(
            effect.context.unwrap().starts_with("That todo call had errors."),
            "{kind:?}: the first call of a session"
        );
        assert!(effect.tell.unwrap().starts_with("punch: todo update failed: "), "{kind:?}");
        world.write(
            "s",
            Dialect::Native,
            json!({"ops": [{"op": "add", "content": "a"}, {"op": "start", "id": "T-1"}]}),
        );
        for _ in 0..3 {
            world.report("s", failed("TodoWrite", kind));
        }
        let text = world.report("s", super::stop()).go_on.unwrap();
        assert!(!text.contains("Tools failed on it"), "{kind:?}: {text}");
    }
}
