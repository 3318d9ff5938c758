//! Whatever is written, what the runner has taken over is what it would read.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use proptest::prelude::*;
use punch_core::schedule::startable;
use punch_core::{Add, Edit, Hold, HoldKind, Keep, ListPosition, Op, Ref};
use punch_engine::WriteRequest;
use punch_store::MemoryStore;

use super::*;

const TODOS: u8 = 12;

fn id(n: u8) -> Ref {
    Ref::Id(format!("T-{}", n % TODOS + 1))
}

/// One write out of three numbers: mostly what a run does, now and then anything else.
fn op((kind, n, more): (u8, u8, u8), now: i64) -> Op {
    let later = now + i64::from(more);
    let hold = |kind, until| Hold { kind, reason: String::new(), until, by: String::new(), at: 0 };
    match kind % 28 {
        0..6 => Op::Claim(id(n), later),
        6..12 => Op::Done { target: id(n), evidence: None, fence: None },
        12 => Op::Start(id(n)),
        13 => Op::Renew(id(n), later),
        14 => Op::Report { target: id(n), evidence: None, fence: None },
        15 => Op::Hold(id(n), hold(HoldKind::Timer, Some(later))),
        16 => Op::Hold(id(n), hold(HoldKind::Human, None)),
        17 => Op::Release(id(n)),
        18 => Op::Note(id(n), "n".into()),
        19 => Op::Fail(id(n), "no".into()),
        20 => Op::Reopen(id(n)),
        21 => Op::Drop(id(n)),
        22 => Op::Edit(id(n), Edit { priority: Keep::Set(more % 5 + 1), ..Edit::default() }),
        23 => Op::Rm(id(n)),
        24 => Op::Move(id(n), ListPosition::First),
        25 => Op::Undo { revision: None, any: true },
        26 => add(n, (more, n, more)),
        _ => Op::Edit(id(n), Edit { depends_on: Keep::Set(vec![id(more)]), ..Edit::default() }),
    }
}

fn add(n: u8, (needs, priority, path): (u8, u8, u8)) -> Op {
    let needs = if n > 0 && needs.is_multiple_of(2) { vec![id(needs % n)] } else { Vec::new() };
    let edit = Edit {
        content: Keep::Set(format!("todo {n}")),
        depends_on: Keep::Set(needs),
        priority: Keep::Set(priority % 5 + 1),
        files: Keep::Set(vec![format!("src/{}/**", path % 4)]),
        ..Edit::default()
    };
    Op::Add(Add { edit, ..Add::default() })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_plan_of_a_runner_is_the_plan_of_the_store(
        shape in proptest::collection::vec(any::<(u8, u8, u8)>(), TODOS as usize),
        writes in proptest::collection::vec((any::<(u8, u8, u8)>(), 0..20i64, any::<bool>()), 1..40),
    ) {
        let time = Arc::new(AtomicI64::new(1_000));
        let clock = Arc::clone(&time);
        let engine = Engine::new(Box::new(MemoryStore::new()), Box::new(move || clock.load(Ordering::Relaxed)));
        let plan = engine.store().create_plan("main", 1_000).unwrap();
        let request = WriteRequest::by("t", Some("w"));
        for (n, todo) in (0u8..).zip(shape) {
            engine.submit(plan, &request, &[add(n, todo)]).unwrap();
        }
        let (mut cache, ask) = (PlanCache::default(), ScheduleRequest::default());
        for (write, elapsed, looks) in writes {
            time.fetch_add(elapsed, Ordering::Relaxed);
            let now = engine.now();
            // Refused ones change nothing, which is as good.
            let _ = engine.submit(plan, &request, &[op(write, now)]);
            if !looks {
                continue;
            }
            cache.refresh(&engine, plan).unwrap();
            let whole = engine.whole(plan).unwrap();
            let mine = cache.plan().unwrap();
            prop_assert_eq!(&mine.row, &whole.row);
            prop_assert_eq!(mine.all().count(), whole.all().count());
            for (mine, todo) in mine.all().zip(whole.all()) {
                if todo.status.is_open() {
                    prop_assert_eq!(mine, todo);
                } else {
                    // The urgency of a closed todo does not matter.
                    prop_assert_eq!(&mine.fields, &todo.fields);
                }
            }
            let wanted = startable(&whole, &ask, &[Uid(1)], now).first().copied();
            prop_assert_eq!(cache.best(&ask, &[Uid(1)], now, |_| true), wanted);
        }
    }
}

#[test]
fn work_that_is_finished_behind_something_given_up_lets_go_of_those_who_waited_for_it() {
    let engine = Engine::new(Box::new(MemoryStore::new()), Box::new(|| 1_000));
    let plan = engine.store().create_plan("main", 1_000).unwrap();
    let request = WriteRequest::by("t", Some("w"));
    // The second needs the first, the third the second.
    (0..3).for_each(|n| drop(engine.submit(plan, &request, &[add(n, (n.saturating_sub(1) * 3, 0, n))]).unwrap()));
    let edit = Edit { depends_on: Keep::Set(vec![id(1)]), ..Edit::default() };
    engine.submit(plan, &request, &[Op::Edit(id(2), edit)]).unwrap();
    let done = |n| Op::Done { target: id(n), evidence: None, fence: None };
    for op in [done(0), Op::Claim(id(1), 2_000), Op::Drop(id(0))] {
        engine.submit(plan, &request, &[op]).unwrap();
    }
    let (mut cache, ask) = (PlanCache::default(), ScheduleRequest::default());
    cache.refresh(&engine, plan).unwrap();
    assert_eq!(cache.best(&ask, &[], 1_000, |_| true), None);
    engine.submit(plan, &request, &[done(1)]).unwrap();
    cache.refresh(&engine, plan).unwrap();
    assert_eq!(cache.best(&ask, &[], 1_000, |_| true), Some(Uid(3)));
}
