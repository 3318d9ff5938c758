//! Completed todos that are checked again.

use std::time::Duration;

use punch_core::{Op, Ref, Status};
use punch_engine::WriteRequest;

use super::{NEVER, World, code};

impl World {
    fn to_recheck(&self, stale: bool) -> usize {
        self.engine.to_recheck(self.plan, &self.checker(Duration::from_secs(60), NEVER), stale).unwrap().len()
    }

    fn recheck(&self) -> bool {
        let checker = self.checker(Duration::from_secs(60), NEVER);
        let rechecked = self.engine.recheck(self.plan, &WriteRequest::by("t", None), &checker, &self.todo());
        rechecked.unwrap().passed
    }
}

#[test]
fn what_no_longer_passes_is_stale_until_it_passes_again() {
    let world = World::with("test ! -e broken");
    world.done().unwrap();
    assert_eq!((world.to_recheck(false), world.to_recheck(true)), (1, 0));
    world.sandbox.file("p/broken", "");
    assert!(!world.recheck());
    assert!(world.todo().flags.stale);
    assert_eq!((world.status(), world.to_recheck(true)), (Status::Completed, 1));
    std::fs::remove_file(world.root.join("broken")).unwrap();
    assert!(world.recheck());
    assert!(!world.todo().flags.stale);
    assert_eq!(world.to_recheck(true), 0);
    let codes: Vec<_> = world.todo().evidence.iter().map(|e| e.exit_code).collect();
    assert_eq!(codes, [Some(0), Some(1), Some(0)]);
}

#[test]
fn a_new_commit_makes_every_check_worth_repeating() {
    let world = World::with("true");
    world.done().unwrap();
    world.sandbox.commit("p", "b.txt");
    assert_eq!(world.to_recheck(true), 1);
    assert!(world.recheck());
    assert_eq!(world.to_recheck(true), 0);
}

#[test]
fn a_todo_checked_a_hundred_times_keeps_twenty_pieces_of_evidence() {
    let world = World::with("true");
    world.done().unwrap();
    let evidence = world.todo().evidence[0].clone();
    let vouch = Op::Vouch { target: Ref::Id("T-1".into()), stale: false, evidence: Some(evidence) };
    (0..100).for_each(|_| drop(world.submit(std::slice::from_ref(&vouch)).unwrap()));
    assert_eq!(world.todo().evidence.len(), 20);
}

#[test]
fn nothing_open_is_vouched_for() {
    let world = World::with("true");
    let vouch = Op::Vouch { target: Ref::Id("T-1".into()), stale: false, evidence: None };
    assert_eq!(code(world.submit(&[vouch])), "transition");
}

#[test]
fn verify_finishes_whatever_the_plan_asks_of_done() {
    let world = World::with("true");
    world.submit(&[Op::SetPolicy(Default::default())]).unwrap();
    let checker = world.checker(Duration::from_secs(60), NEVER);
    world.engine.verify(world.plan, &WriteRequest::by("t", None), &checker, &world.todo(), None).unwrap();
    assert_eq!((world.status(), world.todo().evidence.len()), (Status::Completed, 1));
}
