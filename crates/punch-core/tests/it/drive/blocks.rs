//! Choosing what is next, and naming what stands in the way, against a naive model.

use proptest::prelude::*;
use punch_core::drive::{roots, select, survey};
use punch_core::reason::Cause;
use punch_core::{Footprint, Plan, Status, Todo, Uid};
use punch_testkit::batches::{batch, sequences};
use punch_testkit::drive::{DriveState, DriveTodo, blocking};

use crate::pair::Pair;

const NOW: i64 = 5_000;

fn todo(uid: u64, content: &str) -> Todo {
    let mut todo = Todo::blank(Uid(uid));
    (todo.id, todo.content, todo.position) = (format!("T-{uid}"), content.to_owned(), uid.cast_signed());
    todo
}

fn with(mut todo: Todo, change: impl FnOnce(&mut Todo)) -> Todo {
    change(&mut todo);
    todo
}

fn running(uid: u64, owner: Option<&str>) -> Todo {
    with(todo(uid, &format!("task {uid}")), |t| {
        t.status = Status::InProgress;
        t.owner = owner.map(str::to_owned);
    })
}

fn chosen(running: &[Todo], ready: &[Todo]) -> String {
    let ready: Vec<&Todo> = ready.iter().collect();
    select(running, &ready, Some("me"), false, NOW).next.map(|next| next.id).unwrap_or_default()
}

#[test]
fn the_owners_own_comes_first_then_the_best_that_nobody_is_in_the_way_of() {
    let ready = [todo(5, ""), todo(6, " \n"), todo(7, "seven"), todo(8, "eight")];
    assert_eq!(chosen(&[], &ready), "T-7", "what says nothing is skipped");
    assert_eq!(chosen(&[running(3, Some("me"))], &ready), "T-3");
    assert_eq!(chosen(&[running(3, None)], &ready), "T-3", "nobody's is everybody's");
    assert_eq!(chosen(&[running(3, Some("you"))], &ready), "T-7");
    let stalled = with(running(3, Some("me")), |t| t.derived.unmet = 1);
    assert_eq!(chosen(&[stalled], &ready), "T-7", "it cannot continue");
    let expired = with(running(3, Some("me")), |t| t.lease_until = Some(NOW));
    assert_eq!(chosen(&[expired], &ready), "T-7", "it reads as pending and is among the ready ones");
    let same = with(running(3, Some("you")), |t| t.content = "Seven!".into());
    assert_eq!(chosen(&[same], &ready), "T-7", "the same words in another list are other work");
    let files = |t: Todo, glob: &str| with(t, |t| t.files = vec![glob.to_owned()]);
    let others = [files(running(3, Some("you")), "src/**")];
    assert_eq!(chosen(&others, &[files(todo(7, "seven"), "src/a.rs"), todo(8, "eight")]), "T-8");
    let selected = select(&[], &[&todo(7, "seven"), &todo(8, "SEVEN.")], Some("me"), false, NOW);
    assert_eq!(selected.conflicts.iter().map(|c| c.id.as_str()).collect::<Vec<_>>(), ["T-8"]);
}

#[test]
fn what_was_reported_is_no_work_and_a_reason() {
    let reported = with(running(1, Some("me")), |t| t.flags.reported = true);
    assert_eq!(chosen(std::slice::from_ref(&reported), &[]), "");
    let mut plan = Plan::new();
    plan.put(reported);
    let found = roots(&plan, &[Uid(1)], Some("me"), NOW, 10).unwrap();
    let named: Vec<_> = found.named.iter().map(|block| (block.id.as_str(), block.cause)).collect();
    assert_eq!(named, [("T-1", Cause::Reported)]);
}

#[test]
fn optional_todos_are_left_where_that_was_chosen() {
    let optional = with(todo(7, "if time allows"), |t| t.priority = 5);
    assert!(select(&[], &[&optional], None, false, NOW).next.is_some());
    assert!(select(&[], &[&optional], None, true, NOW).next.is_none());
    let needed = with(optional, |t| t.derived.pull = 1);
    assert!(select(&[], &[&needed], None, true, NOW).next.is_some(), "something stronger waits for it");
}

/// The words of the naive model for a plan.
fn items(plan: &Plan) -> Vec<DriveTodo> {
    plan.live()
        .iter()
        .map(|t| DriveTodo {
            id: t.id.clone(),
            blank: t.content.trim().is_empty(),
            reported: t.flags.reported && t.status_at(NOW) == Status::InProgress,
            state: match t.status_at(NOW) {
                Status::Pending if t.is_parked() => DriveState::Parked,
                Status::Pending if t.hold_at(NOW).is_some() => DriveState::Held,
                Status::Pending => DriveState::Free,
                Status::InProgress if t.owner.is_some() && t.owner.as_deref() != Some("ann") => DriveState::Elsewhere,
                // A user works on it.
                Status::InProgress if t.owner.is_none() && t.lease_until.is_none() && t.fence > 0 => {
                    DriveState::Elsewhere
                }
                Status::InProgress => DriveState::Mine,
                Status::Completed => DriveState::Met,
                Status::Cancelled | Status::Failed => DriveState::Dropped,
            },
            deps: t
                .depends_on
                .iter()
                .map(|dep| match dep {
                    punch_core::Dep::Dangling(id) => id.clone(),
                    punch_core::Dep::On(uid) | punch_core::Dep::Suspended(uid) => {
                        plan.get(*uid).filter(|t| t.is_live()).map(|t| t.id.clone()).unwrap_or_default()
                    }
                })
                .filter(|id| !id.is_empty())
                .collect(),
        })
        .collect()
}

/// Loads what is asked for from a whole plan, and nothing else.
fn sliced(plan: &Plan, start: &[Uid]) -> punch_core::drive::Roots {
    let mut slice = Plan::slice(plan.row.clone());
    loop {
        match roots(&slice, start, Some("ann"), NOW, 1_000) {
            Ok(found) => return found,
            Err(need) => {
                let Footprint { todos, all_running, .. } = &*need;
                if *all_running {
                    plan.running().for_each(|t| slice.put(t.clone()));
                    slice.mark_loaded(Footprint { all_running: true, ..Footprint::default() });
                }
                todos.iter().filter_map(|uid| plan.get(*uid)).for_each(|t| slice.put(t.clone()));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn when_nothing_is_actionable_every_block_is_named(choices in sequences(10)) {
        let mut pair = Pair::new();
        for bytes in &choices {
            let batch = batch(bytes, &pair.model);
            let _ = pair.run(&batch).map_err(TestCaseError::fail)?;
        }
        let plan = &pair.plan;
        prop_assume!(plan.row.policy.cancelled_dep == punch_core::CancelledDep::Block);
        let start: Vec<Uid> = plan.live().iter().filter(|t| t.status.is_open()).map(|t| t.uid).collect();
        let found = roots(plan, &start, Some("ann"), NOW, 1_000).map_err(|_| TestCaseError::fail("whole"))?;
        prop_assert_eq!(&sliced(plan, &start), &found, "a slice says the same");
        let naive = blocking(&items(plan));
        let mut named: Vec<String> = found.named.iter().filter(|b| !matches!(b.cause, Cause::Cycle | Cause::Files)).map(|b| b.id.clone()).collect();
        named.sort();
        named.dedup();
        prop_assert_eq!(&named, &naive.blocks, "{:?} of {:?}", found, items(plan));
        let circles = found.named.iter().any(|b| b.cause == Cause::Cycle);
        prop_assert_eq!(circles, naive.circle);
        let (counts, selected) = survey(plan.live(), &[], Some("ann"), false, NOW);
        prop_assert_eq!(counts, plan.row.counts);
        if selected.next.is_none() && counts.open() > 0 && naive.actionable.is_empty() {
            prop_assert!(found.total > 0, "it stops early and says why");
        }
        // A clash with someone's running todo is the only reason to leave something actionable.
        let clash = naive.blocks.iter().any(|id| plan.by_id(id).is_some_and(|t| t.status == Status::InProgress));
        prop_assert!(selected.next.is_some() != naive.actionable.is_empty() || clash);
    }
}
