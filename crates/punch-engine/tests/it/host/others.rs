//! Subagents, servers without a session, leases.

use punch_core::drive::{HostEvent, SessionStart, ToolKind, ToolUse};
use punch_engine::call::{Dialect, Tool};
use punch_store::SessionKey;
use serde_json::json;

use super::{ended, stop, todos, world};

fn tool(name: &str, kind: ToolKind) -> ToolUse {
    ToolUse::new(name, kind)
}

#[test]
fn a_subagent_reads_its_parents_list_and_writes_nothing() {
    let world = world();
    world.write("s", Dialect::Native, json!({"ops": [{"op": "add", "content": "a"}]}));
    let sub = || SessionKey::new("s", Some("helper"));
    for (dialect, arguments) in [
        (Dialect::Native, json!({"ops": [{"op": "done", "id": "T-1"}]})),
        (Dialect::Native, json!({"ops": [{"op": "replace", "todos": []}]})),
        (Dialect::Todowrite, todos(&[("mine", "pending")])),
        (Dialect::Extended, json!({"mode": "replace", "todos": []})),
    ] {
        let answer = world.call(sub(), dialect, Tool::Write, arguments);
        assert!(answer.is_error && answer.text.starts_with("Error not_allowed"), "{}", answer.text);
    }
    assert!(!world.call(sub(), Dialect::Native, Tool::Read, json!({})).is_error);
    let starting = |name: &str| {
        let event = HostEvent::ToolStarting { tool: tool(name, ToolKind::Ours) };
        world.engine.observe(&world.moment(sub(), event), &world.settings).unwrap().refuse
    };
    assert!(starting("mcp__punch__todo_write").unwrap().contains("belongs to the agent that started you"));
    assert_eq!(starting("mcp__punch__todo_read"), None);
    let started = world.moment(sub(), HostEvent::SessionStarted { how: SessionStart::Startup });
    assert_eq!(world.engine.observe(&started, &world.settings).unwrap(), Default::default());
}

#[test]
fn a_subagent_with_an_assignment_sees_and_reports_on_that_alone() {
    let world = world();
    world.write("s", Dialect::Native, json!({"ops": [{"op": "add", "content": "a"}, {"op": "add", "content": "b"}]}));
    let sub = SessionKey::new("s", Some("helper"));
    let b = world.engine.resolve(world.plan, "T-2").unwrap();
    world.engine.assign(world.plan, &sub, &[b]).unwrap();
    let started = world.moment(sub.clone(), HostEvent::SessionStarted { how: SessionStart::Startup });
    let text = world.engine.observe(&started, &world.settings).unwrap().context.unwrap();
    assert!(text.contains("[ ] T-2 b") && !text.contains("T-1"), "{text}");
    let write = HostEvent::ToolStarting { tool: tool("todo_write", ToolKind::Ours) };
    assert_eq!(world.engine.observe(&world.moment(sub.clone(), write), &world.settings).unwrap().refuse, None);
    let done =
        |id: &str| world.call(sub.clone(), Dialect::Native, Tool::Write, json!({"ops": [{"op": "done", "id": id}]}));
    assert!(done("T-1").is_error);
    assert!(!done("T-2").is_error);
    let stop = |settings: &punch_engine::config::Settings| {
        world.engine.observe(&world.moment(sub.clone(), stop()), settings).unwrap();
        world.engine.decisions(Some(&sub), 1).unwrap()[0].line["decision"]["reason"]["code"].clone()
    };
    assert_eq!(stop(&world.settings), "subagent", "off for subagents");
    assert_eq!(stop(&super::settings(&[("keep_going.subagents", "true")])), "finished", "it answers for its own");
}

#[test]
fn leases_are_renewed_when_a_third_has_passed_and_not_before() {
    let world = world();
    world.write("s", Dialect::Native, json!({"ops": [{"op": "add", "content": "a"}]}));
    world.call(SessionKey::new("s", None), Dialect::Native, Tool::Claim, json!({}));
    let until = || world.engine.whole(world.plan).unwrap().by_id("T-1").unwrap().lease_until.unwrap();
    let (first, minute) = (until(), 60_000);
    let starting = || HostEvent::ToolStarting { tool: tool("Bash", ToolKind::Other) };
    world.pass(4 * minute);
    world.report("s", starting());
    assert_eq!(until(), first);
    world.report("other", starting());
    world.pass(minute + 10);
    world.report("other", starting());
    assert_eq!(until(), first, "not someone else's");
    world.report("s", starting());
    assert!(until() > first + 5 * minute - 1_000, "renewed");
    assert_eq!(world.engine.whole(world.plan).unwrap().row.revision, 2, "no event");
}

#[test]
fn most_reports_write_nothing() {
    let world = world();
    world.write("s", Dialect::Native, json!({"ops": [{"op": "add", "content": "a"}]}));
    let mut changes = world.engine.store().changes();
    let quiet = std::time::Duration::ZERO;
    for event in [
        HostEvent::ToolStarting { tool: tool("Bash", ToolKind::Other) },
        HostEvent::Prompted { by_person: false },
        ended("todo_write", ToolKind::Ours),
        HostEvent::SessionStarted { how: SessionStart::Startup },
    ] {
        world.report(if matches!(event, HostEvent::SessionStarted { .. }) { "new" } else { "s" }, event.clone());
        assert!(!changes.wait(quiet).unwrap(), "{event:?}");
    }
    world.report("s", stop());
    assert!(changes.wait(quiet).unwrap(), "a stop is counted");
}

#[test]
fn without_a_plan_nothing_happens() {
    let store = Box::new(punch_store::MemoryStore::new());
    let engine = punch_engine::Engine::new(store, Box::new(|| 5));
    let world = world();
    let moment = world.moment(SessionKey::new("s", None), stop());
    assert_eq!(engine.observe(&moment, &world.settings).unwrap(), Default::default());
}
