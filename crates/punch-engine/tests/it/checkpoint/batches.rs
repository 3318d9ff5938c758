//! A batch that someone was given leaves a checkpoint when the last of it is done: once, whatever closes it.

use punch_core::drive::HostEvent;
use punch_core::{Op, Ref};
use punch_engine::config::{Config, ConfigInputs};
use punch_engine::plan_file::SyncOptions;
use punch_engine::{CheckpointReason, HostReport, PlanChoice, SavedCheckpoint, WriteRequest};
use punch_store::SessionKey;

use super::World;

impl World {
    fn give(&self, who: &str, ids: &[&str]) {
        let ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
        self.engine.give_batch(self.plan, who, &ids).unwrap();
    }

    /// What a write leads to under the setting `checkpoint.batches`.
    fn closing(&self, batches: &str, op: Op) -> Option<SavedCheckpoint> {
        let flags = vec![("checkpoint.batches".to_owned(), batches.to_owned())];
        let config = Config::load(&ConfigInputs { flags, ..ConfigInputs::default() }).unwrap();
        self.submit_under(Some(&config.settings), &[op]).unwrap();
        self.news()
    }

    /// The checkpoint that nobody asked for since the last look.
    fn news(&self) -> Option<SavedCheckpoint> {
        let mut saved = std::mem::take(&mut *self.saved.lock().unwrap());
        assert!(saved.len() <= 1);
        saved.pop()
    }

    fn three(&self) {
        self.add("one", &[]);
        self.add("two", &[]);
        self.add("three", &["T-1", "T-2"]);
    }
}

fn done(id: &str) -> Op {
    Op::Done { target: Ref::Id(id.into()), evidence: None, fence: None }
}

fn given_up(id: &str) -> Op {
    Op::Drop(Ref::Id(id.into()))
}

#[test]
fn the_last_of_a_batch_leaves_one_checkpoint() {
    let world = World::new();
    world.three();
    world.give("s", &["T-1", "T-2"]);
    assert_eq!(world.closing("given", done("T-1")), None);
    let saved = world.closing("given", done("T-2")).unwrap();
    assert_eq!((saved.why, saved.by.as_str(), saved.todos.completed.len()), (CheckpointReason::Batch, "t", 2));
    assert!(saved.git.is_some_and(|git| git.commit.is_some()));
    assert_eq!(world.closing("given", done("T-3")), None, "nobody was given it as a batch");
}

#[test]
fn what_was_given_anew_counts_and_others_have_their_own() {
    let world = World::new();
    world.three();
    world.give("s", &["T-1"]);
    world.give("s", &["T-1", "T-2"]);
    world.give("other", &["T-1"]);
    assert!(world.closing("given", done("T-1")).is_some(), "the batch of the other one");
    // Given up is over too, and a batch of which nothing was done leaves nothing.
    assert!(world.closing("given", given_up("T-2")).is_some());
    world.add("four", &[]);
    world.give("s", &["T-4"]);
    assert_eq!(world.closing("given", given_up("T-4")), None);
}

#[test]
fn what_closes_in_other_ways_ends_a_batch_too() {
    let world = World::new();
    world.three();
    world.give("s", &["T-1", "T-2"]);
    world.closing("given", done("T-1"));
    assert_eq!(world.closing("given", Op::Start(Ref::Id("T-2".into()))), None);
    assert!(world.closing("given", Op::Rm(Ref::Id("T-2".into()))).is_some());
}

#[test]
fn nothing_is_written_where_nothing_is_new_or_due() {
    let world = World::new();
    world.three();
    let batches = || world.engine.read(world.plan, |snapshot| Ok(snapshot.batches()?)).unwrap();
    world.give("s", &[]);
    world.give("s", &["nobody"]);
    assert_eq!(batches(), []);
    world.give("s", &["T-1"]);
    let first = batches();
    world.give("s", &["T-1"]);
    assert!(first.len() == 1 && batches() == first);
    assert_eq!(world.closing("off", done("T-1")), None);
    world.closing("off", Op::Reopen(Ref::Id("T-1".into())));
    assert!(world.closing("given", done("T-1")).is_some());
    assert_eq!(batches(), [], "forgotten");
    for n in 0..100 {
        world.give(&format!("s{n}"), &["T-2"]);
    }
    assert_eq!(batches().len(), punch_store::BATCHES_KEPT);
}

#[test]
fn a_parallel_group_ends_with_its_last_todo_if_that_is_wanted() {
    let world = World::new();
    world.three();
    assert_eq!(world.closing("groups", done("T-1")), None);
    assert_eq!(world.closing("given", done("T-2")), None);
    world.closing("off", Op::Reopen(Ref::Id("T-2".into())));
    let saved = world.closing("groups", done("T-2")).unwrap();
    assert_eq!(saved.notes.as_deref(), Some("parallel group 1 is done"));
    assert!(world.closing("groups", done("T-3")).is_some());
}

/// Two todos of a plan file that were given as a batch.
fn of_a_file() -> (World, std::path::PathBuf) {
    let world = World::new();
    let path = world.sandbox.path("p").join("a.plan.md");
    let todo = |id: &str| format!("  - id: {id}\n    content: {id}\n    status: pending\n");
    std::fs::write(&path, format!("---\nname: x\ntodos:\n{}{}---\n", todo("a"), todo("b"))).unwrap();
    world.engine.link_plan_file(world.plan, &WriteRequest::by("user", None), &path, SyncOptions::default()).unwrap();
    world.give("s", &["a", "b"]);
    (world, path)
}

/// The user writes into the file that everything is done.
fn all_done(path: &std::path::Path) {
    let text = std::fs::read_to_string(path).unwrap();
    std::fs::write(path, text.replace("pending", "completed")).unwrap();
}

#[test]
fn a_plan_file_that_closes_the_last_of_a_batch_leaves_a_checkpoint() {
    let (world, path) = of_a_file();
    all_done(&path);
    let settings = Config::load(&ConfigInputs::default()).unwrap().settings;
    let tree = world.tree();
    let request = WriteRequest { settings: Some(&settings), tree: Some(&tree.root), ..WriteRequest::by("user", None) };
    let synced = world.engine.sync_plan_file(world.plan, &request, SyncOptions::default()).unwrap();
    assert_eq!(synced.changed, ["a", "b"]);
    let saved = world.news().unwrap();
    assert_eq!((saved.why, saved.todos.completed.len()), (CheckpointReason::Batch, 2));
    let commit = saved.git.and_then(|git| git.commit);
    assert!(commit.is_some());
    let done = world.engine.read(world.plan, |s| Ok(s.find("a")?)).unwrap().unwrap();
    assert_eq!(done.evidence.last().and_then(|evidence| evidence.commit.clone()), commit, "a restore can judge it");
    world.engine.sync_plan_file(world.plan, &request, SyncOptions::default()).unwrap();
    assert_eq!(world.news(), None);
}

#[test]
fn a_plan_file_that_an_agent_is_told_of_leaves_one_too() {
    let (world, path) = of_a_file();
    all_done(&path);
    let settings = Config::load(&ConfigInputs::default()).unwrap().settings;
    let moment = HostReport {
        agent: "claude".into(),
        key: SessionKey::new("s-1", None),
        choice: PlanChoice::default(),
        event: HostEvent::Prompted { by_person: true },
        context: None,
        host_cap: None,
        turn: None,
        tree: Some(world.tree().root),
        earlier: Default::default(),
        by_runner: false,
        upcoming: None,
        checks: Default::default(),
        agent_process: || None,
    };
    world.engine.observe(&moment, &settings).unwrap();
    let saved = world.news().unwrap();
    assert_eq!((saved.why, saved.by.as_str()), (CheckpointReason::Batch, "user"));
    assert!(saved.git.is_some_and(|git| git.commit.is_some()));
}
