//! What a checkpoint holds of a plan.

use punch_core::{Hold, HoldKind, Op, Ref};
use punch_engine::{CheckpointReason, Saving};

use super::World;

fn id(name: &str) -> Ref {
    Ref::Id(name.into())
}

#[test]
fn the_lists_are_those_of_the_extended_format_and_more() {
    let world = World::new();
    for (content, needs) in
        [("one", &[][..]), ("two", &[]), ("three", &["T-2"]), ("four", &[]), ("five", &[]), ("six", &[])]
    {
        world.add(content, needs);
    }
    world.done("T-1");
    world.submit(&[Op::Start(id("T-2"))]).unwrap();
    let hold = Hold { kind: HoldKind::Human, reason: "ask".into(), until: None, by: String::new(), at: 0 };
    world.submit(&[Op::Drop(id("T-4")), Op::Hold(id("T-5"), hold)]).unwrap();
    let saved = world.save();
    assert_eq!(saved.id, format!("chk-{}", punch_core::time::stamp(saved.at)));
    let todos = serde_json::to_value(&saved.todos).unwrap();
    let expected = serde_json::json!({
        "completed": ["T-1"],
        "remaining": ["T-2", "T-3", "T-5", "T-6"],
        "blocked": ["T-3", "T-5"],
        "inProgress": "T-2",
        "inProgressAll": ["T-2"],
        "cancelled": ["T-4"],
        "failed": [],
    });
    assert_eq!(todos, expected);
    assert_eq!(saved.verification.unverified, ["T-1"]);
    let git = saved.git.as_ref().unwrap();
    assert_eq!((git.branch.as_deref(), git.dirty), (Some("main"), false));
    assert_eq!(git.commit, Some(world.git(&["rev-parse", "HEAD"])));
    assert_eq!(world.engine.saved(world.plan, &saved.id).unwrap(), saved);
    assert_eq!(world.engine.saved(world.plan, "latest").unwrap(), saved);
}

#[test]
fn two_in_one_second_have_names_of_their_own() {
    let world = World::new();
    let frozen = punch_engine::Engine::new(Box::new(punch_store::MemoryStore::new()), Box::new(|| 1_700_000_000_000));
    let plan = frozen.choose_or_create(&Default::default()).unwrap();
    let code = punch_engine::Code::look(&world.tree());
    let save = || frozen.checkpoint(plan, &code, &Saving { by: "t", ..Saving::default() }).unwrap().id;
    assert_eq!([save(), save(), save()], ["chk-20231114-221320", "chk-20231114-221320-2", "chk-20231114-221320-3"]);
}

#[test]
fn unknown_ids_get_the_nearest_ones() {
    let world = World::new();
    let saved = world.save();
    let error = world.engine.saved(world.plan, &saved.id[..saved.id.len() - 1]).unwrap_err();
    assert_eq!(error.code(), "unknown_checkpoint");
    assert!(error.message().contains(&saved.id), "{}", error.message());
}

#[test]
fn old_ones_are_forgotten_on_demand_and_automatic_ones_by_themselves() {
    let world = World::new();
    let code = punch_engine::Code::default();
    let asked = world.save().id;
    for _ in 0..30 {
        let saving = Saving { why: CheckpointReason::Context, by: "t", notes: None };
        world.engine.checkpoint(world.plan, &code, &saving).unwrap();
    }
    let all = world.engine.checkpoints(world.plan, 100).unwrap();
    assert_eq!(all.len(), 21);
    assert_eq!(all.last().unwrap().id, asked);
    assert_eq!(world.engine.prune_checkpoints(world.plan, 3).unwrap().len(), 18);
    assert_eq!(world.engine.checkpoints(world.plan, 100).unwrap().len(), 3);
    assert_eq!(world.engine.prune_checkpoints(world.plan, 3).unwrap(), [""; 0]);
}

#[test]
fn what_differs_is_told_in_list_order() {
    let world = World::new();
    world.add("one", &[]);
    world.add("two", &[]);
    world.add("three", &[]);
    let saved = world.save();
    world.done("T-2");
    world.submit(&[Op::Rm(id("T-1"))]).unwrap();
    world.add("four", &[]);
    let told: Vec<String> = world
        .engine
        .differs(world.plan, &saved)
        .unwrap()
        .iter()
        .map(|d| format!("{} {:?} {:?}", d.id, d.then, d.now))
        .collect();
    assert_eq!(told, ["T-2 Some(Pending) Some(Completed)", "T-4 None Some(Pending)", "T-1 Some(Pending) None"]);
}
