//! Reasons over small plans.

use std::collections::BTreeSet;

use proptest::prelude::*;
use punch_core::apply::derive;
use punch_core::reason::{Cause, Clash, PlanReader, conflicts, is_startable, need, standstill, unblocks, why};
use punch_core::{CancelledDep, Dep, Footprint, Hold, HoldKind, Plan, ShownStatus, Status, Todo, Uid};

const NOW: i64 = 1_000;

fn todo(uid: u64, deps: &[u64]) -> Todo {
    let mut todo = Todo::blank(Uid(uid));
    todo.id = format!("T-{uid}");
    todo.content = format!("task {uid}");
    todo.position = uid as i64;
    todo.depends_on = deps.iter().map(|d| Dep::On(Uid(*d))).collect();
    todo
}

fn hold(reason: &str) -> Option<Hold> {
    Some(Hold { kind: HoldKind::Human, reason: reason.to_owned(), until: None, by: "me".to_owned(), at: 0 })
}

/// A plan with its derived values, the way a write leaves it.
fn plan_under(cancelled: CancelledDep, todos: Vec<Todo>) -> Plan {
    let mut plan = Plan::new();
    plan.row.policy.cancelled_dep = cancelled;
    todos.iter().for_each(|t| plan.put(t.clone()));
    derive(&mut plan);
    plan
}

fn plan(todos: Vec<Todo>) -> Plan {
    plan_under(CancelledDep::Block, todos)
}

fn with(mut todo: Todo, change: impl FnOnce(&mut Todo)) -> Todo {
    change(&mut todo);
    todo
}

#[test]
fn a_chain_begins_with_its_first_todo() {
    let plan = plan(vec![todo(1, &[]), todo(2, &[1]), todo(3, &[2])]);
    let Some(answer) = why(&plan, Uid(3), NOW) else { panic!("it is there") };
    assert_eq!(answer.shown, ShownStatus::Waiting);
    assert_eq!(answer.text(), "T-3 is waiting for T-2 (waiting)\nultimately waiting for T-1 (ready)");
    assert_eq!(why(&plan, Uid(1), NOW).map(|w| w.text()), Some("T-1 is ready".to_owned()));
    assert_eq!(why(&plan, Uid(9), NOW), None);
    let one = unblocks(&plan, Uid(1), NOW).map(|u| u.text());
    assert_eq!(one, Some("finishing T-1 unblocks T-2; 2 todos are waiting for it".to_owned()));
    let two = unblocks(&plan, Uid(2), NOW).map(|u| u.text());
    assert_eq!(two, Some("finishing T-2 unblocks T-3; 1 todo is waiting for it".to_owned()));
    assert_eq!(unblocks(&plan, Uid(3), NOW).map(|u| u.text()), Some("nothing is waiting for T-3".to_owned()));
}

#[test]
fn every_kind_of_waiting_is_named() {
    let plan = plan(vec![
        with(todo(1, &[]), |t| t.status = Status::Cancelled),
        with(todo(2, &[]), |t| t.status = Status::InProgress),
        with(todo(3, &[]), |t| t.hold = hold("ask \u{1b}[31mAnn\nnow")),
        with(todo(4, &[]), |t| t.depends_on = vec![Dep::Suspended(Uid(5)), Dep::Dangling("deploy".to_owned())]),
        with(todo(5, &[1, 2, 3, 4]), |t| t.hold = hold("budget")),
        with(todo(6, &[5]), |t| t.status = Status::InProgress),
        with(todo(7, &[]), |t| t.hold = hold("x")),
        with(todo(8, &[]), |t| t.status = Status::Completed),
    ]);
    let standing = |uid| why(&plan, Uid(uid), NOW).map(|w| w.shown);
    assert_eq!(standing(2), Some(ShownStatus::InProgress));
    assert_eq!(standing(4), Some(ShownStatus::Waiting));
    assert_eq!(standing(6), Some(ShownStatus::Stalled));
    assert_eq!(standing(7), Some(ShownStatus::Held));
    assert_eq!(why(&plan, Uid(8), NOW).map(|w| w.text()), Some("T-8 is completed".to_owned()));
    let Some(answer) = why(&plan, Uid(5), NOW) else { panic!("it is there") };
    assert_eq!(answer.shown, ShownStatus::Stuck);
    let causes: Vec<Cause> = answer.waits_for.list.iter().map(|b| b.cause).collect();
    assert_eq!(causes, [Cause::Dropped, Cause::Running, Cause::Person, Cause::Waiting]);
    assert_eq!(
        answer.text(),
        "T-5 is stuck\non hold: budget\nit is waiting for 4 todos: T-1 (cancelled), T-2 (in progress), \
         T-3 (waiting for you: ask ␛[31mAnn now), T-4 (waiting)\nultimately waiting for T-1 (cancelled), \
         T-2 (in progress), T-3 (waiting for you: ask ␛[31mAnn now), T-5 (in a cycle with T-4, on hold: budget), \
         deploy (no such todo)"
    );
    // Seen from further up the hold of T-5 is a beginning too, though T-5 waits for todos as well.
    let above = why(&plan, Uid(6), NOW).map(|w| w.roots.list);
    assert!(above.is_some_and(|roots| roots.iter().any(|b| b.id == "T-5" && b.cause == Cause::Waiting)));
}

#[test]
fn a_satisfied_policy_lets_go() {
    let todos = vec![with(todo(1, &[]), |t| t.status = Status::Failed), todo(2, &[1])];
    let satisfied = plan_under(CancelledDep::Satisfy, todos);
    assert_eq!(why(&satisfied, Uid(2), NOW).map(|w| w.shown), Some(ShownStatus::Ready));
}

#[test]
fn long_lists_are_cut_and_counted() {
    let mut todos: Vec<Todo> = (1..=100).map(|n| todo(n, &[])).collect();
    todos.push(todo(101, &(1..=100).collect::<Vec<_>>()));
    todos.extend((102..=201).map(|n| todo(n, &[101])));
    let plan = plan(todos);
    let Some(answer) = why(&plan, Uid(101), NOW) else { panic!("it is there") };
    assert_eq!((answer.waits_for.total, answer.waits_for.list.len(), answer.roots.total), (100, 20, 100));
    assert!(answer.text().ends_with("T-5 (ready), 95 more"), "{}", answer.text());
    let Some(free) = unblocks(&plan, Uid(101), NOW) else { panic!("it is there") };
    assert_eq!((free.ready.total, free.ready.list.len(), free.waiting), (100, 20, 100));
}

#[test]
fn the_same_words_conflict() {
    let plan = plan(vec![
        with(todo(1, &[]), |t| t.content = "Write   the Docs!".to_owned()),
        with(todo(2, &[]), |t| t.content = "write the docs".to_owned()),
        with(todo(3, &[]), |t| (t.content, t.priority) = ("WRITE-THE-DOCS".to_owned(), 1)),
        with(todo(4, &[]), |t| (t.content, t.status) = ("write the docs".to_owned(), Status::Completed)),
        // Ordered: meant to be done again.
        with(todo(5, &[]), |t| t.content = "run tests".to_owned()),
        with(todo(6, &[5]), |t| t.content = "run tests".to_owned()),
        with(todo(7, &[]), |t| t.content = "!!".to_owned()),
        with(todo(8, &[]), |t| t.content = "??".to_owned()),
    ]);
    let found = conflicts(&plan, NOW);
    let pairs: Vec<_> = found.pairs.list.iter().map(|c| (c.first.0, c.second.0)).collect();
    assert_eq!(pairs, [(3, 1), (3, 2)]);
    assert_eq!(found.text(), "2 in conflict: T-1 has the same text as T-3, T-2 has the same text as T-3");
}

#[test]
fn the_same_files_conflict_unless_ordered() {
    let files = |uid, deps: &[u64], globs: &[&str]| {
        with(todo(uid, deps), |t| t.files = globs.iter().map(|g| (*g).to_owned()).collect())
    };
    let plan = plan(vec![
        files(1, &[], &["src/**", "src/a.rs"]),
        files(2, &[], &["src/a.rs"]),
        files(3, &[1, 2], &["src/b.rs"]),
        files(4, &[], &["docs/x", "srca"]),
        files(5, &[], &["docs/x.md"]),
        files(6, &[3], &["docs"]),
    ]);
    let found = conflicts(&plan, NOW);
    let pairs: Vec<_> = found.pairs.list.iter().map(|c| (c.first.0, c.second.0)).collect();
    assert_eq!(pairs, [(1, 2), (4, 6), (5, 6)]);
    assert!(matches!(&found.pairs.list[0].clash, Clash::Files(_, b) if b == "src/a.rs"));
    assert_eq!(found.pairs.list[1].text(), "T-6 touches docs, T-4 touches docs/x");
    // Everything over everything is cut, not compared.
    let many = plan_under(CancelledDep::Block, (1..=2_000).map(|n| files(n, &[], &["src/**"])).collect());
    let found = conflicts(&many, NOW);
    assert!(found.cut && found.pairs.total >= 1_000 && found.text().contains("or more"));
}

#[test]
fn work_in_progress_on_the_same_files_is_a_reason_to_wait_unless_it_is_stalled() {
    let files = |uid, deps: &[u64]| with(todo(uid, deps), |t| t.files = vec!["src/**".to_owned()]);
    let running = |t: Todo| with(t, |t| (t.status, t.owner) = (Status::InProgress, Some("ann".to_owned())));
    let busy = plan(vec![running(files(1, &[])), files(2, &[]), todo(3, &[2])]);
    let reader = PlanReader::new(&busy, NOW);
    let second = busy.get(Uid(2)).unwrap();
    assert_eq!((reader.is_ready(second), reader.shown(second)), (false, ShownStatus::Waiting));
    let Some(answer) = why(&busy, Uid(2), NOW) else { panic!("it is there") };
    assert_eq!(answer.text(), "T-2 is waiting for T-1 (in progress on the same files: src/**)");
    assert_eq!((answer.standing(), answer.waits_for.list[0].cause), ("blocked", Cause::Files));
    // Further up, the files are where the waiting begins.
    assert_eq!(why(&busy, Uid(3), NOW).map(|w| w.roots.list[0].cause), Some(Cause::Files));
    let still = standstill(&busy, NOW);
    assert_eq!((still.ready.total, still.standing()), (0, "running"));
    // What the stalled one waits for must be able to start.
    let stalled = plan(vec![running(files(1, &[2])), files(2, &[])]);
    assert!(PlanReader::new(&stalled, NOW).is_ready(stalled.get(Uid(2)).unwrap()));
}

#[test]
fn a_todo_without_content_is_not_ready_and_not_open_work() {
    let plan = plan(vec![with(todo(1, &[]), |t| t.content = " \n".to_owned()), todo(2, &[1])]);
    let reader = PlanReader::new(&plan, NOW);
    assert_eq!(reader.shown(plan.get(Uid(1)).unwrap()), ShownStatus::Empty);
    assert!(!reader.is_ready(plan.get(Uid(1)).unwrap()));
    assert_eq!(why(&plan, Uid(1), NOW).map(|w| w.text()), Some("T-1 is empty: it has no text".to_owned()));
    let still = standstill(&plan, NOW);
    assert_eq!((still.open, still.ready.total, still.roots.list[0].reason.cause), (1, 0, Cause::Blank));
}

/// Any small plan: the statuses and holds are drawn, edges go downwards, some are suspended or dangling.
fn any_plan() -> impl Strategy<Value = Plan> {
    let one = (0usize..7, prop::bool::weighted(0.2), prop::collection::btree_set(0u64..12, 0..4), 0u8..12);
    prop::collection::vec(one, 1..12).prop_map(|drawn| {
        let todos = drawn.into_iter().zip(1u64..).map(|((status, held, deps, extra), uid)| {
            with(todo(uid, &deps.into_iter().filter(|d| *d > 0 && *d < uid).collect::<Vec<_>>()), |t| {
                t.status = [Status::InProgress, Status::Completed, Status::Cancelled][status.min(2)];
                if status > 2 {
                    t.status = Status::Pending;
                    t.hold = if held { hold("no") } else { None };
                }
                match extra {
                    0 => t.depends_on.push(Dep::Suspended(Uid(uid))),
                    1 => t.depends_on.push(Dep::Dangling("later".to_owned())),
                    _ => {}
                }
            })
        });
        plan(todos.collect())
    })
}

proptest! {
    #[test]
    fn reasons_agree_with_the_counters(plan in any_plan()) {
        for t in plan.all() {
            let Some(answer) = why(&plan, t.uid, NOW) else { panic!("it is there") };
            let open = matches!(t.status, Status::Pending | Status::InProgress);
            prop_assert_eq!(answer.shown == ShownStatus::Ready, t.is_ready(NOW));
            prop_assert_eq!(answer.shown == ShownStatus::Stalled, t.is_stalled(NOW));
            if open {
                prop_assert_eq!(answer.waits_for.total, t.derived.unmet as usize);
                // Whatever waits has a beginning, and no beginning is only waiting.
                prop_assert_eq!(answer.roots.total > 0, t.derived.unmet > 0);
                prop_assert!(answer.roots.list.iter().all(|b| b.cause != Cause::Waiting || b.about.is_some()));
            }
        }
    }

    #[test]
    fn a_status_follows_from_the_reasons_and_a_slice_says_the_same(plan in any_plan(), globs in prop::collection::vec(0u8..4, 12)) {
        let mut plan = plan;
        let with_files = plan.all().zip(globs).map(|(t, glob)| with(t.clone(), |t| {
            t.files = if glob == 0 { vec!["src/**".to_owned()] } else { Vec::new() };
            if glob == 1 { t.content.clear(); }
        }));
        for todo in with_files.collect::<Vec<_>>() {
            plan.put(todo);
        }
        derive(&mut plan);
        let reader = PlanReader::new(&plan, NOW);
        let running: Vec<&Todo> = plan.running().filter(|t| t.derived.unmet == 0).collect();
        for t in plan.all() {
            let (shown, reasons) = (reader.shown(t), reader.reasons(t));
            if t.status == Status::Pending {
                prop_assert_eq!(shown == ShownStatus::Ready, reasons.is_empty(), "{:?} {:?}", shown, reasons);
                prop_assert_eq!(shown == ShownStatus::Ready, reader.is_ready(t));
                prop_assert_eq!(reader.is_ready(t), is_startable(t, running.iter().copied(), NOW));
                prop_assert_eq!(shown == ShownStatus::Stuck, reasons.iter().any(|r| r.cause == Cause::Dropped));
            }
            prop_assert!(t.status.is_open() || reasons.is_empty());
            let mut slice = Plan::slice(plan.row.clone());
            slice.put(t.clone());
            if let Err(asked) = need(&slice, [t]) {
                let Footprint { todos, all_running, .. } = *asked;
                todos.iter().filter_map(|uid| plan.get(*uid)).for_each(|t| slice.put(t.clone()));
                plan.running().filter(|_| all_running).for_each(|t| slice.put(t.clone()));
            }
            prop_assert_eq!(PlanReader::new(&slice, NOW).shown(t), shown);
        }
    }

    #[test]
    fn unblocks_is_what_completing_does(plan in any_plan()) {
        for t in plan.all().filter(|t| matches!(t.status, Status::Pending | Status::InProgress)) {
            let mut after = plan.clone();
            after.put(with(t.clone(), |t| (t.status, t.hold) = (Status::Completed, None)));
            derive(&mut after);
            let freed = after.all().filter(|t| t.is_ready(NOW) && !plan.get(t.uid).is_some_and(|t| t.is_ready(NOW)));
            let ids: Vec<String> = freed.map(|t| t.id.clone()).collect();
            prop_assert_eq!(unblocks(&plan, t.uid, NOW).map(|u| u.ready.list), Some(ids));
        }
    }

    #[test]
    fn a_standstill_begins_where_the_reasons_of_open_todos_do(plan in any_plan(), blank in 0u64..12) {
        let mut plan = plan;
        if let Some(t) = plan.get(Uid(blank)).cloned() {
            plan.put(with(t, |t| t.content.clear()));
        }
        let reader = PlanReader::new(&plan, NOW);
        let open = || plan.all().filter(|t| t.status.is_open() && !t.is_parked());
        let is_running = |t: &&Todo| t.status_at(NOW) == Status::InProgress && t.derived.unmet == 0;
        let begins = |t: &Todo| reader.reasons(t).into_iter().filter(|r| match r.cause {
            Cause::Dropped | Cause::Missing | Cause::Cycle | Cause::Parked | Cause::Blank | Cause::Files => true,
            cause => cause.is_hold() && r.is_own(),
        }).map(|r| r.id).collect::<Vec<_>>();
        let mut expected: BTreeSet<String> = open().filter(|t| !is_running(t)).flat_map(begins).collect();
        expected.extend(open().filter(is_running).map(|t| t.id.clone()));
        let still = standstill(&plan, NOW);
        prop_assert_eq!(still.roots.list.iter().map(|root| root.reason.id.clone()).collect::<BTreeSet<_>>(), expected);
        prop_assert_eq!(still.ready.total, open().filter(|t| !is_running(t) && reader.reasons(t).is_empty()).count());
        for root in &still.roots.list {
            let Some(uid) = root.reason.uid else { continue };
            prop_assert_eq!(root.waiting, waiting_for(&plan, uid), "{}", root.reason.id);
            prop_assert_eq!(unblocks(&plan, uid, NOW).map(|u| u.waiting), Some(root.waiting));
        }
    }
}

/// How many open todos wait for one, found by adding dependents until nothing changes.
fn waiting_for(plan: &Plan, start: Uid) -> usize {
    let is_met = |t: &Todo| match t.status_at(NOW) {
        Status::Completed => true,
        Status::Cancelled | Status::Failed => plan.row.policy.cancelled_dep == CancelledDep::Satisfy,
        Status::Pending | Status::InProgress => false,
    };
    let mut found = BTreeSet::from([start]);
    loop {
        let depends = |t: &&Todo| t.depends_on.iter().filter_map(Dep::target).any(|uid| found.contains(&uid));
        let more: Vec<Uid> = plan.all().filter(|t| t.is_live() && !is_met(t)).filter(depends).map(|t| t.uid).collect();
        let before = found.len();
        found.extend(more);
        if found.len() == before {
            let open = |uid: &&Uid| **uid != start && plan.get(**uid).is_some_and(|t| t.status_at(NOW).is_open());
            return found.iter().filter(open).count();
        }
    }
}
