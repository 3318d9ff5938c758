//! A batch that somebody was given leaves a checkpoint when the last of it is done: once.

use punch_core::{Op, Ref};
use punch_engine::config::Batches;
use punch_engine::{Code, Saved, Why};

use super::World;

impl World {
    fn give(&self, who: &str, ids: &[&str]) {
        let ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
        self.engine.give_batch(self.plan, who, &ids).unwrap();
    }

    /// What a look behind a write leads to; git is not asked where nothing is due.
    fn after(&self, when: Batches) -> Option<Saved> {
        let looked = std::cell::Cell::new(false);
        let look = || {
            looked.set(true);
            Code::look(&self.tree())
        };
        let saved = self.engine.checkpoint_batch(self.plan, "t", when, &look).unwrap();
        assert_eq!(looked.get(), saved.is_some());
        saved
    }

    fn three(&self) {
        self.add("one", &[]);
        self.add("two", &[]);
        self.add("three", &["T-1", "T-2"]);
    }
}

#[test]
fn the_last_of_a_batch_leaves_one_checkpoint() {
    let world = World::new();
    world.three();
    world.give("s", &["T-1", "T-2"]);
    world.done("T-1");
    assert_eq!(world.after(Batches::Given), None);
    world.done("T-2");
    let saved = world.after(Batches::Given).unwrap();
    assert_eq!((saved.why, saved.todos.completed.len()), (Why::Batch, 2));
    assert!(saved.git.is_some_and(|git| git.commit.is_some()));
    assert_eq!(world.after(Batches::Given), None, "once");
    world.done("T-3");
    assert_eq!(world.after(Batches::Given), None, "nobody was given it as a batch");
}

#[test]
fn what_was_given_anew_counts_and_others_have_their_own() {
    let world = World::new();
    world.three();
    world.give("s", &["T-1"]);
    world.give("s", &["T-1", "T-2"]);
    world.give("other", &["T-1"]);
    world.done("T-1");
    assert!(world.after(Batches::Given).is_some(), "the batch of the other one");
    assert_eq!(world.after(Batches::Given), None);
    // Given up is over too, and a batch of which nothing was done leaves nothing.
    world.submit(&[Op::Drop(Ref::Id("T-2".into()))]).unwrap();
    assert!(world.after(Batches::Given).is_some());
    world.add("four", &[]);
    world.give("s", &["T-4"]);
    world.submit(&[Op::Drop(Ref::Id("T-4".into()))]).unwrap();
    assert_eq!(world.after(Batches::Given), None);
}

#[test]
fn nothing_is_written_where_nothing_is_new_or_due() {
    let world = World::new();
    world.three();
    let stamp = || world.engine.browse(|catalogue| catalogue.setting(&format!("batches:{}", world.plan.0))).unwrap();
    world.give("s", &[]);
    world.give("s", &["nobody"]);
    assert_eq!(stamp(), None);
    world.give("s", &["T-1"]);
    let first = stamp();
    world.give("s", &["T-1"]);
    assert!(first.is_some() && stamp() == first);
    world.done("T-1");
    assert_eq!(world.after(Batches::Off), None);
    assert!(world.after(Batches::Given).is_some());
    assert_eq!(stamp(), None, "forgotten");
    for n in 0..100 {
        world.give(&format!("s{n}"), &["T-2"]);
    }
    assert!(stamp().unwrap().len() < 4_000);
}

#[test]
fn a_parallel_group_ends_with_its_last_todo_if_that_is_wanted() {
    let world = World::new();
    world.three();
    world.done("T-1");
    assert_eq!(world.after(Batches::Groups), None);
    world.done("T-2");
    assert_eq!(world.after(Batches::Given), None);
    let saved = world.after(Batches::Groups).unwrap();
    assert_eq!(saved.notes.as_deref(), Some("parallel group 1 is done"));
    assert_eq!(world.after(Batches::Groups), None, "once");
    world.done("T-3");
    assert!(world.after(Batches::Groups).is_some());
}
