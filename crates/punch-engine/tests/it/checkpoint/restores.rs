//! What a restore leads to, whatever happened since.

use punch_core::{Hold, HoldKind, Lists, Op, Plan, Ref, Status, TodoProgress, Uid, apply};
use punch_engine::{EngineError, WriteRequest};

use super::{GENTLY, World};
use crate::sandbox::Sandbox;

fn id(n: u64) -> Ref {
    Ref::Id(format!("T-{n}"))
}

/// Outside git nothing is judged: only the plan counts here.
fn plain(todos: u64) -> World {
    let sandbox = Sandbox::new();
    sandbox.folder("p");
    let world = World::beside(sandbox);
    for n in 1..=todos {
        let needs: Vec<String> = [n / 2, n / 3].iter().filter(|m| **m > 0).map(|m| format!("T-{m}")).collect();
        world.add(&format!("todo {n}"), &needs.iter().map(String::as_str).collect::<Vec<_>>());
    }
    world
}

/// One of the things that happen to todos; refused ones change nothing.
fn something(world: &World, dice: &mut u64, todos: u64) {
    *dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let (what, n) = ((*dice >> 33) % 9, (*dice >> 40) % todos + 1);
    let hold = Hold { kind: HoldKind::Human, reason: "ask".into(), until: None, by: String::new(), at: 0 };
    let op = match what {
        0 => Op::Start(id(n)),
        1..4 => Op::Done { target: id(n), evidence: None, fence: None },
        4 => Op::Drop(id(n)),
        5 => Op::Fail(id(n), "broke".into()),
        6 => Op::Reopen(id(n)),
        7 => Op::Hold(id(n), hold),
        _ => Op::Release(id(n)),
    };
    match world.submit(&[op]) {
        Ok(_) | Err(EngineError::Refused(_)) => {}
        Err(error) => panic!("{error:?}"),
    }
}

fn work(plan: &Plan) -> Vec<(Uid, TodoProgress)> {
    plan.live().into_iter().map(|todo| (todo.uid, TodoProgress::of(todo))).collect()
}

#[test]
fn a_restore_leads_back_whatever_happened_and_twice_is_once() {
    for seed in 0..60 {
        let (todos, mut dice) = (12, seed);
        let world = plain(todos);
        (0..20).for_each(|_| something(&world, &mut dice, todos));
        let (then, saved) = (world.engine.whole(world.plan).unwrap(), world.save());
        // At once, nothing changes.
        assert_eq!(world.restore(&saved.id, GENTLY).unwrap().safety, None);
        assert_eq!(world.engine.whole(world.plan).unwrap(), then, "seed {seed}");
        (0..20).for_each(|_| something(&world, &mut dice, todos));
        let before = world.engine.whole(world.plan).unwrap();
        let restored = world.restore(&saved.id, GENTLY).unwrap();
        let now = world.engine.whole(world.plan).unwrap();
        for ((uid, was), (other, is)) in work(&then).into_iter().zip(work(&now)) {
            assert_eq!(uid, other);
            if was.status == Status::InProgress {
                // Who worked on it then may be gone: it runs on, or is to be resumed.
                let running = before.get(uid).unwrap().status == Status::InProgress;
                assert_eq!(is.status == Status::InProgress, running, "seed {seed}");
                assert!(running || is.flags.resume);
            } else {
                assert_eq!(is, was, "seed {seed} {uid:?}");
            }
        }
        let mut recount = now.clone();
        apply::derive(&mut recount);
        assert_eq!(recount, now, "seed {seed}: blocked is derived again");
        let again = world.restore(&saved.id, GENTLY).unwrap();
        assert_eq!((again.safety, again.reopened), (None, Vec::new()), "seed {seed}");
        assert_eq!(world.engine.whole(world.plan).unwrap(), now);
        // The safety copy leads forward again.
        if let Some(safety) = restored.safety {
            world.restore(&safety, GENTLY).unwrap();
            let ahead = world.engine.whole(world.plan).unwrap();
            let closed = |plan: &Plan| {
                let lists = Lists::of(plan, 0);
                (lists.completed, lists.cancelled, lists.failed, lists.remaining)
            };
            assert_eq!(closed(&ahead), closed(&before), "seed {seed}");
        }
    }
}

#[test]
fn what_came_later_stays_and_what_was_archived_stays_archived() {
    let world = plain(2);
    let saved = world.save();
    world.submit(&[Op::Rm(id(1))]).unwrap();
    world.add("later", &[]);
    let restored = world.restore(&saved.id, GENTLY).unwrap();
    assert_eq!((restored.newer, restored.gone.len()), (vec!["T-3".to_owned()], 1));
}

#[test]
fn an_answer_of_whoever_worked_on_it_comes_late() {
    let world = plain(1);
    let saved = world.save();
    let uid = world.engine.resolve(world.plan, "T-1").unwrap();
    let claimed = world.engine.claim(world.plan, &WriteRequest::by("a", Some("a")), uid, 600_000_000).unwrap();
    let fence = claimed.changed.plan.get(uid).unwrap().fence;
    world.restore(&saved.id, GENTLY).unwrap();
    let late = world.submit(&[Op::Done { target: id(1), evidence: None, fence: Some(fence) }]).unwrap_err();
    assert_eq!(late.code(), "stale_fence");
}

#[test]
fn a_restore_can_be_undone() {
    let world = plain(3);
    let saved = world.save();
    world.done("T-1");
    let before = work(&world.engine.whole(world.plan).unwrap());
    world.restore(&saved.id, GENTLY).unwrap();
    assert_eq!(world.status("T-1"), Status::Pending);
    world.engine.undo(world.plan, &WriteRequest::by("t", None), None, true).unwrap();
    assert_eq!(work(&world.engine.whole(world.plan).unwrap()), before);
}
