//! Whatever is written, cut off, pruned, reopened or restored: the picture of a follower is the plan of the store.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;
use std::time::Duration;

use proptest::prelude::*;
use punch_core::{Add, Edit, EventKind, Hold, HoldKind, Keep, Op, Plan, Ref, Uid, apply};
use punch_engine::{Cursor, Engine, Follower, FollowerItem, Gap, Revision, Revisions, WriteRequest};
use punch_store::{MemoryStore, OpenMode, PlanId, SqliteStore, Store, StoreAdmin, restore};

const TODOS: u8 = 6;
const SOON: Duration = Duration::from_secs(20);

fn id(n: u8) -> Ref {
    Ref::Id(format!("T-{}", n % TODOS + 1))
}

fn add(content: &str) -> Op {
    Op::Add(Add { edit: Edit { content: Keep::Set(content.to_owned()), ..Edit::default() }, ..Add::default() })
}

fn op((kind, n, more): (u8, u8, u8), now: i64) -> Op {
    let later = now + i64::from(more);
    let timer = Hold { kind: HoldKind::Timer, reason: "wait".into(), until: Some(later), by: "t".into(), at: now };
    match kind % 10 {
        0 | 1 => Op::Claim(id(n), later),
        2 => Op::Done { target: id(n), evidence: None, fence: None },
        3 | 4 => Op::Hold(id(n), timer),
        5 => Op::Release(id(n)),
        6 => Op::Reopen(id(n)),
        7 => Op::Edit(id(n), Edit { depends_on: Keep::Set(vec![id(more)]), ..Edit::default() }),
        8 => add("more"),
        _ => Op::Note(id(n), "n".into()),
    }
}

#[derive(Clone, Debug)]
enum Step {
    Write(u8, u8, u8),
    TimePasses(u8),
    Look,
    /// The follower is gone; another one continues from its cursor.
    Cut,
    Prune(u8),
    /// The process starts again.
    Reopen,
    Copy,
    /// The copy takes the place of the store.
    Restore,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => any::<(u8, u8, u8)>().prop_map(|(a, b, c)| Step::Write(a, b, c)),
        4 => any::<u8>().prop_map(Step::TimePasses),
        4 => Just(Step::Look),
        1 => Just(Step::Cut),
        1 => any::<u8>().prop_map(Step::Prune),
        1 => Just(Step::Reopen),
        1 => Just(Step::Copy),
        1 => Just(Step::Restore),
    ]
}

/// A store that can be opened again, and one that is gone with its process.
enum Place<'a> {
    Memory,
    File(&'a Path),
}

struct World<'a> {
    place: Place<'a>,
    time: Arc<AtomicI64>,
    engine: Engine,
    plan: PlanId,
    follower: Follower,
    picture: Plan,
    /// Up to which time ended leases and timers were delivered.
    looked: i64,
}

fn engine(place: &Place<'_>, time: &Arc<AtomicI64>) -> Engine {
    let store: Box<dyn Store> = match place {
        Place::Memory => Box::new(MemoryStore::new()),
        Place::File(folder) => Box::new(SqliteStore::open(&folder.join("store.db"), OpenMode::Create).unwrap()),
    };
    let clock = Arc::clone(time);
    Engine::new(store, Box::new(move || clock.load(Ordering::Relaxed)))
}

impl<'a> World<'a> {
    fn new(place: Place<'a>) -> Self {
        let time = Arc::new(AtomicI64::new(1_000));
        let engine = engine(&place, &time);
        let plan = engine.store().create_plan("main", 1_000).unwrap();
        let ops: Vec<Op> = (0..TODOS).map(|n| add(&format!("todo {n}"))).collect();
        engine.submit(plan, &WriteRequest::by("t", Some("w")), &ops).unwrap();
        let follower = Follower::new(&engine, plan, Cursor::at(0, 1_000));
        Self { place, time, engine, plan, follower, picture: Plan::new(), looked: 1_000 }
    }

    fn run(&mut self, step: &Step) {
        match *step {
            Step::Write(a, b, c) => {
                let now = self.time.fetch_add(1, Ordering::Relaxed) + 1;
                // Refused ones change nothing, which is as good.
                let _ = self.engine.submit(self.plan, &WriteRequest::by("t", Some("w")), &[op((a, b, c), now)]);
            }
            Step::TimePasses(ms) => drop(self.time.fetch_add(ms.into(), Ordering::Relaxed)),
            Step::Look => self.look(),
            Step::Cut => self.follower = Follower::new(&self.engine, self.plan, self.follower.cursor()),
            Step::Prune(part) => {
                let last = self.engine.whole(self.plan).unwrap().row.revision;
                let before = last * u64::from(part) / 256;
                self.engine.prune(self.plan, before, &mut Vec::new()).unwrap();
            }
            Step::Reopen => {
                if let Place::File(_) = self.place {
                    self.engine = engine(&self.place, &self.time);
                    self.follower = Follower::new(&self.engine, self.plan, self.follower.cursor());
                }
            }
            Step::Copy => {
                if let Place::File(folder) = self.place {
                    let store = SqliteStore::open(&folder.join("store.db"), OpenMode::Existing).unwrap();
                    let _ = std::fs::remove_file(folder.join("copy.db"));
                    store.backup_to(&folder.join("copy.db")).unwrap();
                }
            }
            Step::Restore => {
                if let Place::File(folder) = self.place
                    && folder.join("copy.db").exists()
                {
                    restore(&folder.join("copy.db"), &folder.join("store.db")).unwrap();
                }
            }
        }
    }

    /// Takes everything that there is, and compares.
    fn look(&mut self) {
        let now = self.engine.now();
        let (mut ended, mut gaps) = (BTreeSet::new(), 0);
        while let Some(found) = self.follower.next(&self.engine, Duration::ZERO).unwrap() {
            match found {
                FollowerItem::Revisions(page) => {
                    assert_eq!(page.revisions.last().unwrap().number, page.next);
                    for revision in &page.revisions {
                        assert_eq!(revision.number, self.picture.row.revision + 1);
                        revision.events.iter().for_each(|event| apply::fold(&mut self.picture, event));
                    }
                    for uid in page.revisions.iter().flat_map(Revision::todos) {
                        assert_eq!(page.touched.get(uid), self.engine.whole(self.plan).unwrap().get(uid));
                    }
                }
                FollowerItem::TimePassed { at, todos } => {
                    assert_eq!(at, now);
                    todos.iter().for_each(|todo| assert!(ended.insert(todo.uid), "{} twice", todo.id));
                }
                FollowerItem::Activity(page) => panic!("not asked for: {page:?}"),
                FollowerItem::Gap(gap) => {
                    self.picture = self.engine.whole(self.plan).unwrap();
                    assert_eq!(gap, Gap { revision: self.picture.row.revision });
                    gaps += 1;
                }
            }
        }
        let whole = self.engine.whole(self.plan).unwrap();
        assert_eq!(self.picture.row.revision, whole.row.revision);
        assert_eq!(self.picture.all().count(), whole.all().count());
        for (mine, todo) in self.picture.all().zip(whole.all()) {
            assert_eq!(mine.fields, todo.fields);
        }
        let ends = |after: i64| move |at: i64| at > after && at <= now;
        let expected: BTreeSet<Uid> =
            whole.live().into_iter().filter(|t| t.ends_at().is_some_and(ends(self.looked))).map(|t| t.uid).collect();
        if gaps == 0 {
            assert_eq!(ended, expected);
        }
        self.looked = now;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn a_followed_plan_in_memory_is_the_plan(steps in proptest::collection::vec(step(), 1..50)) {
        let mut world = World::new(Place::Memory);
        steps.iter().for_each(|step| world.run(step));
        world.look();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_followed_plan_in_a_file_is_the_plan(steps in proptest::collection::vec(step(), 1..50)) {
        let folder = tempfile::tempdir().unwrap();
        let mut world = World::new(Place::File(folder.path()));
        steps.iter().for_each(|step| world.run(step));
        world.look();
    }
}

/// The restored store has as many revisions as the other one had, so only the time of the last one tells them apart.
#[test]
fn a_store_that_is_restored_and_written_to_after_a_gap_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = World::new(Place::File(folder.path()));
    for step in [
        Step::Copy,
        Step::Write(9, 0, 0),
        Step::Write(9, 1, 0),
        // The follower has seen nothing of it: a gap.
        Step::Prune(255),
        Step::Look,
        Step::Restore,
        Step::Write(8, 0, 0),
        Step::TimePasses(1),
        Step::Write(9, 2, 0),
        Step::Look,
    ] {
        world.run(&step);
    }
}

#[test]
fn a_timer_that_ended_while_its_todo_waited_is_not_reported_when_the_waiting_ends() {
    let mut world = World::new(Place::Memory);
    // T-4 waits for T-3 and is held by a timer that is over at once; the lease of T-1 ends when T-3 is done.
    for step in [
        Step::Write(177, 3, 20),
        Step::Write(23, 153, 0),
        Step::Write(0, 0, 1),
        Step::Look,
        Step::Write(92, 98, 0),
        Step::Look,
    ] {
        world.run(&step);
    }
}

#[test]
fn a_page_has_whole_revisions_and_says_whether_more_follow() {
    let mut world = World::new(Place::Memory);
    (0..3).for_each(|_| world.run(&Step::Write(8, 0, 0)));
    let page = |since: u64, limit: usize| match world.engine.revisions(world.plan, since, limit).unwrap() {
        Revisions::Page(page) => {
            let numbers: Vec<u64> = page.revisions.iter().map(|revision| revision.number).collect();
            (numbers, page.next, page.more)
        }
        Revisions::Gap(_) => panic!("a gap after {since}"),
    };
    assert_eq!(page(0, 1), (vec![1], 1, true));
    assert_eq!(page(1, 2), (vec![2, 3], 3, true));
    assert_eq!(page(1, 9), (vec![2, 3, 4], 4, false));
    assert_eq!((page(4, 9), page(2, 0)), ((vec![], 4, false), (vec![], 2, true)));
    let revisions = world.engine.revisions(world.plan, 5, 9).unwrap();
    assert!(matches!(revisions, Revisions::Gap(Gap { revision: 4 })));
    world.engine.prune(world.plan, 3, &mut Vec::new()).unwrap();
    assert!(matches!(world.engine.revisions(world.plan, 1, 9).unwrap(), Revisions::Gap(Gap { revision: 4 })));
    assert!(matches!(world.engine.revisions(world.plan, 2, 9).unwrap(), Revisions::Page(_)));
}

#[test]
fn a_write_of_another_thread_and_the_end_of_a_lease_wake_a_follower() {
    let clock = || std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis() as i64;
    let engine = Engine::new(Box::new(MemoryStore::new()), Box::new(clock));
    let plan = engine.store().create_plan("main", 0).unwrap();
    let mut follower = engine.follow(plan).unwrap();
    let request = WriteRequest::by("t", Some("w"));
    thread::scope(|scope| {
        scope.spawn(|| engine.submit(plan, &request, &[add("a")]).unwrap());
        let Some(FollowerItem::Revisions(page)) = follower.next(&engine, SOON).unwrap() else { panic!("not woken") };
        assert_eq!((page.revisions[0].by.by(), page.revisions[0].events[0].kind), ("t", EventKind::Added));
    });
    engine.submit(plan, &request, &[Op::Claim(id(0), clock() + 50)]).unwrap();
    assert!(matches!(follower.next(&engine, SOON).unwrap(), Some(FollowerItem::Revisions(_))));
    let Some(FollowerItem::TimePassed { todos, .. }) = follower.next(&engine, SOON).unwrap() else {
        panic!("not woken")
    };
    assert_eq!(todos[0].id, "T-1");
    assert!(follower.next(&engine, Duration::ZERO).unwrap().is_none());
    // A single wait begins anew: what ended before is not reported again.
    assert!(engine.wait(plan, 2, Duration::ZERO).unwrap().is_none());
    assert!(matches!(engine.wait(plan, 1, Duration::ZERO).unwrap(), Some(FollowerItem::Revisions(_))));
}

#[test]
fn a_store_that_is_gone_is_an_error_and_not_silence() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = World::new(Place::File(folder.path()));
    world.look();
    let (path, away) = (folder.path().join("store.db"), folder.path().join("away.db"));
    std::fs::rename(&path, &away).unwrap();
    assert!(world.follower.next(&world.engine, SOON).is_err());
    std::fs::rename(&away, &path).unwrap();
    world.run(&Step::Write(8, 0, 0));
    world.look();
}
