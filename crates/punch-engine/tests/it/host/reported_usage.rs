//! What models say about what todos took, and what is learnt from all plans.

use punch_core::drive::ToolKind;
use punch_engine::call::{Dialect, Tool};
use punch_engine::{ConversationReading, Engine, UsageDelta};
use punch_store::SessionKey;
use serde_json::{Value, json};

use super::{World, ended, world};

fn taken(engine: &Engine, plan: punch_store::PlanId) -> Vec<(u32, u64)> {
    let usage = engine.read(plan, |snapshot| Ok(snapshot.usage(None)?)).unwrap();
    usage.iter().map(|one| (one.attempt, one.tokens)).collect()
}

fn ops(world: &World, ops: Value) {
    let answer = world.write("s", Dialect::Native, json!({ "ops": ops }));
    assert!(!answer.is_error, "{}", answer.text);
}

#[test]
fn done_and_fail_may_say_what_it_took_and_saying_it_again_adds_nothing() {
    let world = world();
    ops(&world, json!([{"op": "add", "content": "a"}, {"op": "start", "id": "T-1"}]));
    ops(&world, json!([{"op": "fail", "id": "T-1", "error": "broke", "actualTokens": 900}]));
    ops(&world, json!([{"op": "start", "id": "T-1"}]));
    ops(&world, json!([{"op": "done", "id": "T-1", "actualTokens": 400}]));
    ops(&world, json!([{"op": "done", "id": "T-1", "actualTokens": 400}]));
    assert_eq!(taken(&world.engine, world.plan), [(1, 900), (2, 400)]);
    ops(&world, json!([{"op": "add", "content": "b"}, {"op": "add", "content": "c"}]));
    ops(&world, json!([{"op": "done", "ids": ["T-2", "T-3"], "actualTokens": 101}]));
    assert_eq!(taken(&world.engine, world.plan), [(1, 900), (2, 400), (1, 51), (1, 50)]);
    for wrong in [json!(-1), json!("many"), json!(1.5)] {
        let call = json!({"ops": [{"op": "done", "id": "T-2", "actualTokens": wrong}]});
        assert!(world.write("s", Dialect::Native, call).is_error);
    }
}

#[test]
fn the_extended_format_says_it_with_the_todo() {
    let world = world();
    let todos = |status: &str, actual: u64| {
        json!({"mode": "patch", "todos": [
        {"id": "a", "title": "a", "status": status, "actualTokens": actual, "estimatedTokens": 500}]})
    };
    world.write("s", Dialect::Extended, todos("in_progress", 0));
    world.write("s", Dialect::Extended, todos("completed", 700));
    world.write("s", Dialect::Extended, todos("completed", 700));
    assert_eq!(taken(&world.engine, world.plan), [(1, 700)]);
    let report = world.engine.usage_report(world.plan).unwrap();
    assert_eq!((report.total.estimated, report.total.actual), (500, 700));
}

#[test]
fn what_is_measured_counts_more_than_what_is_said() {
    let world = world();
    ops(&world, json!([{"op": "add", "content": "a"}, {"op": "start", "id": "T-1"}]));
    let hear = |size: u64| {
        world.pass(1);
        let moment = world.moment(SessionKey::new("s", None), ended("Bash", ToolKind::Other));
        let read = |mark: &punch_engine::ConversationMark| {
            let mut to = mark.clone();
            let grown = to.take(size);
            Some(ConversationReading { to, grown })
        };
        world.engine.observe_reading(&moment, &world.settings, Some(&read)).unwrap();
    };
    hear(1_000);
    ops(&world, json!([{"op": "done", "id": "T-1", "actualTokens": 99_999}]));
    hear(1_250);
    assert_eq!(taken(&world.engine, world.plan), [(1, 250)]);
}

#[test]
fn a_batch_fills_70_percent_of_what_is_left_of_the_context() {
    let world = world();
    ops(&world, json!([{"op": "add", "content": "a"}]));
    let key = SessionKey::new("s", None);
    let budget = |arguments: serde_json::Value| {
        let answer = world.call(key.clone(), Dialect::Native, Tool::Read, arguments);
        answer.structured["budget"].as_u64().unwrap()
    };
    assert_eq!(budget(json!({"view": "schedule"})), 140_000, "of a whole window");
    assert_eq!(budget(json!({"view": "schedule", "budget": 60_000})), 42_000, "of what the agent says");
    let context = Some(punch_core::drive::ContextUse { used: 120_000, limit: 200_000 });
    let stops = punch_engine::HostReport { context, ..world.moment(key.clone(), super::stop()) };
    world.engine.observe(&stops, &world.settings).unwrap();
    assert_eq!(budget(json!({"view": "schedule"})), 56_000, "of what hooks measured");
    let start = punch_core::drive::HostEvent::SessionStarted { how: punch_core::drive::SessionStart::Compact };
    world.report("s", start);
    assert_eq!(budget(json!({"view": "schedule"})), 140_000, "the context is empty again");
}

#[test]
fn the_schedule_view_knows_what_other_plans_have_taught() {
    let world = world();
    ops(&world, json!([{"op": "add", "content": "a", "complexity": "large"}]));
    let other = world.engine.create_plan("other").unwrap();
    let batch = || {
        let key = SessionKey::new("s", None);
        let answer =
            world.call(key.clone(), Dialect::Native, Tool::Read, json!({"view": "schedule", "budget": 100_000}));
        answer.structured["estimatedTokens"].as_u64().unwrap()
    };
    assert_eq!(batch(), 50_000);
    let edit = punch_core::Edit {
        content: punch_core::Keep::Set("x".into()),
        estimated_tokens: punch_core::Keep::Set(Some(100_000)),
        ..Default::default()
    };
    let add = punch_core::Op::Add(punch_core::Add { edit, ..Default::default() });
    let request = punch_engine::WriteRequest::by("t", None);
    world.engine.submit(other, &request, &[add]).unwrap();
    let done = punch_core::Op::Done { target: super::id("T-1"), evidence: None, fence: None };
    world.engine.submit(other, &request, &[done]).unwrap();
    let uid = world.engine.resolve(other, "T-1").unwrap();
    world.engine.record_usage(other, uid, None, UsageDelta { tokens: 140_000, ms: 0 }).unwrap();
    let ratio = world.engine.calibration().unwrap();
    assert_eq!((ratio, batch()), (1.2, 60_000));
}
