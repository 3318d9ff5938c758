//! What people do in the file comes into the plan.

use punch_core::drive::{Decision, Finish, HostEvent, SessionStart, ToolKind, ToolUse};
use punch_core::{Edit, Keep, Op};
use punch_engine::call::{Dialect, Tool, ToolCaller};
use punch_engine::config::{Config, ConfigInputs, Settings};
use punch_engine::plan_file::SyncOptions;
use punch_engine::{HostReport, PlanChoice, WriteRequest};
use punch_store::SessionKey;
use serde_json::{Value, json};

use super::{FILE, World, done, id, linked};

#[test]
fn words_order_statuses_and_new_todos_come_in_and_only_ids_are_written() {
    let world = linked(FILE);
    let by_hand = "---\nname: Plan # ours\noverview: 'x'\ntodos:\n  - id: b\n    content: \"Second, really\"\n    \
                   status: 'pending'\n  - content: Third\n  # then\n  - id: a\n    content: First\n    status: done\n---\n";
    std::fs::write(&world.path, by_hand).unwrap();
    let synced = world.sync();
    assert_eq!(synced.added, ["T-1"]);
    assert_eq!(world.todos(), ["b Second, really pending", "T-1 Third pending", "a First completed"]);
    assert!(world.engine.whole(world.plan).unwrap().by_id("b").unwrap().depends_on.is_empty());
    assert_eq!(world.text(), by_hand.replace("  - content: Third", "  - id: T-1\n    content: Third"));
    world.untouched(|| assert!(!world.sync().took()));
}

#[test]
fn a_deleted_todo_is_archived_and_never_comes_back() {
    let world = linked(FILE);
    world.edit("  - id: a\n    content: First\n    status: pending\n", "");
    assert_eq!(world.sync().archived, ["a"]);
    assert_eq!(world.todos(), ["b Second pending"]);
    world.ask(&[Op::Rm(id("b"))]);
    let synced = world.sync();
    assert_eq!((synced.gone, synced.wrote), (vec!["b".to_owned()], false));
    assert!(world.todos().is_empty());
}

#[test]
fn words_and_dependencies_of_the_plan_are_written_by_a_sync() {
    let world = linked(FILE);
    let edit = Edit { content: Keep::Set("Prime".into()), ..Edit::default() };
    let free = Edit { depends_on: Keep::Set(Vec::new()), ..Edit::default() };
    world.ask(&[Op::Edit(id("a"), edit), Op::Edit(id("b"), free)]);
    let synced = world.sync();
    assert_eq!((synced.edits, synced.took()), (2, false));
    assert_eq!(world.text(), FILE.replace("First", "Prime").replace("[a]", "[]"));
}

#[test]
fn todos_that_the_file_lacks_are_added_only_on_request() {
    let world = linked(FILE);
    world.ask(&[super::super::host::add("Third")]);
    world.untouched(|| assert_eq!(world.sync().absent, ["T-1"]));
    world.engine.sync_plan_file(world.plan, &WriteRequest::by("user", None), SyncOptions { add: true }).unwrap();
    let new = "    dependencies: [a]\n  - id: T-1\n    content: Third\n    status: pending\n";
    assert_eq!(world.text(), FILE.replace("    dependencies: [a]\n", new));
    world.ask(&[done("T-1")]);
    assert!(world.text().contains("content: Third\n    status: completed\n"));
}

#[test]
fn a_status_that_is_refused_stays_in_the_file_and_the_rest_comes_in() {
    let world = linked(FILE);
    let lease = WriteRequest::by("agent", Some("worker"));
    let plan = world.engine.whole(world.plan).unwrap();
    world.engine.claim(world.plan, &lease, plan.by_id("a").unwrap().uid, 1_000_000).unwrap();
    world.edit("status: in_progress", "status: completed");
    world.edit("Second", "Second, really");
    // A user may end the claim; an agent that synchronises the file may not.
    let agent = WriteRequest::by("claude", Some("other"));
    let sync = || world.engine.sync_plan_file(world.plan, &agent, SyncOptions::default()).unwrap();
    let synced = sync();
    assert_eq!(synced.refused.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ["a"]);
    assert_eq!(world.todos(), ["a First in_progress", "b Second, really pending"]);
    world.untouched(|| assert_eq!(sync().refused.len(), 1));
    assert!(world.text().contains("status: completed"));
    assert!(world.sync().refused.is_empty());
    assert_eq!(world.todos()[0], "a First completed");
}

#[test]
fn a_circle_is_refused_as_a_whole() {
    let world = linked(FILE);
    world.edit("content: First\n", "content: First!\n    dependencies: [b]\n");
    world.untouched(|| assert_eq!(world.try_sync().unwrap_err().code(), "cycle"));
    assert_eq!(world.todos()[0], "a First pending");
}

#[test]
fn phases_come_in_with_their_todos() {
    let text = "---\nname: x\nphases:\n  - name: One\n    todos:\n      - {id: a, content: A}\n  - name: Two\n    todos:\n      \
                - {id: b, content: B}\n---\n";
    let world = linked(text);
    let plan = world.engine.whole(world.plan).unwrap();
    assert_eq!(plan.row.phases.iter().map(|p| p.name.as_str()).collect::<Vec<_>>(), ["One", "Two"]);
    assert_eq!(plan.by_id("b").unwrap().phase, Some(plan.row.phases[1].uid));
    world.ask(&[Op::Start(id("b"))]);
    assert_eq!(world.text(), text.replace("content: B", "content: B, status: in_progress"));
}

fn report(world: &World, event: HostEvent) -> Option<String> {
    world.engine.observe(&moment(event), &settings()).unwrap().context
}

fn settings() -> Settings {
    Config::load(&ConfigInputs::default()).unwrap().settings
}

fn stopping() -> HostEvent {
    HostEvent::Stopping { finish: Finish::EndTurn, background: 0, kept_going: false }
}

fn moment(event: HostEvent) -> HostReport {
    let key = SessionKey::new("s-1", None);
    HostReport {
        agent: "claude".into(),
        key,
        choice: PlanChoice::default(),
        event,
        context: None,
        host_cap: None,
        turn: None,
        tree: None,
        earlier: Default::default(),
        by_runner: false,
        upcoming: None,
        checks: Default::default(),
        agent_process: || None,
    }
}

#[test]
fn an_agent_is_told_at_its_next_turn_what_people_changed_in_the_file() {
    let world = linked(FILE);
    let caller = ToolCaller {
        session: SessionKey::new("s-1", None),
        actor: punch_core::Actor::agent("claude-code", "s-1"),
        role: None,
        mode: Default::default(),
        limits: Default::default(),
        open_limit: 100,
        settings: None,
        structured: false,
        work: Default::default(),
        server: None,
        embedding: Default::default(),
    };
    let start = json!({"ops": [{"op": "start", "id": "a"}]});
    world.engine.call(world.plan, &caller, Dialect::Native, Tool::Write, &start, None).unwrap();
    assert_eq!(report(&world, HostEvent::Prompted { by_person: true }), None);
    world.edit("Second", "Second, but faster");
    let told = report(&world, HostEvent::Prompted { by_person: true }).unwrap();
    assert!(told.contains("The user changed the plan") && told.contains("Second, but faster"), "{told}");
    assert_eq!(report(&world, HostEvent::Prompted { by_person: true }), None);
    std::fs::write(&world.path, "---\ntodos: []\n---\n").unwrap();
    let told = report(&world, HostEvent::Prompted { by_person: true }).unwrap();
    assert!(told.contains("removed"), "{told}");
    assert!(world.todos().is_empty());
    assert!(world.troubles().is_empty());
    std::fs::write(&world.path, "---\ntodos: [\n---\n").unwrap();
    report(&world, HostEvent::SessionStarted { how: SessionStart::Startup });
    assert_eq!(world.troubles(), ["plan_file_unclear"]);
}

#[test]
fn a_working_agent_learns_of_changes_in_the_file_at_its_next_tool_and_does_not_stop_before_new_lines() {
    let world = linked(FILE);
    let settings = settings();
    let call = |ops: Value| {
        let caller = ToolCaller::under(&settings, SessionKey::new("s-1", None), "claude".into());
        world.engine.call(world.plan, &caller, Dialect::Native, Tool::Write, &json!({"ops": ops}), None).unwrap();
    };
    let used = |tool: ToolUse| report(&world, HostEvent::ToolEnded { tool });
    let read = || ToolUse::new("Read", ToolKind::Other);
    call(json!([{"op": "start", "id": "a"}]));
    assert_eq!(used(read()), None);
    world.edit("Second", "Second, but faster");
    let told = used(read()).unwrap();
    assert!(told.contains("The user changed the plan: b now \"Second, but faster\""), "{told}");
    assert_eq!(used(read()), None, "once");
    // What the agent itself wrote is not the user's.
    world.edit("Second, but faster", "Second, as before");
    let mut edit = ToolUse::new("Edit", ToolKind::Edit);
    edit.files.push(world.path.display().to_string());
    assert!(!used(edit).unwrap_or_default().contains("The user changed"));
    assert_eq!(world.todos(), ["a First in_progress", "b Second, as before pending"]);
    // A file that is being written is not reported until the agent stops.
    let text = world.text();
    std::fs::write(&world.path, "---\ntodos: [\n---\n").unwrap();
    assert_eq!((used(read()), world.troubles()), (None, Vec::new()));
    report(&world, stopping());
    assert_eq!(world.troubles(), ["plan_file_unclear"]);
    std::fs::write(&world.path, text).unwrap();
    call(json!([{"op": "done", "id": "a"}, {"op": "start", "id": "b"}]));
    call(json!([{"op": "done", "id": "b"}]));
    let stops = || {
        let found = world.engine.observe_stop(&moment(stopping()), &settings).unwrap();
        found.map(|(decision, _)| matches!(decision, Decision::Continue { .. }))
    };
    assert_eq!(stops(), Some(false));
    world.edit("---\n\nText.", "  - id: c\n    content: Third\n---\n\nText.");
    assert_eq!(stops(), Some(true), "{:?}", world.todos());
}
