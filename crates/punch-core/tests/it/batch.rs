//! The next batch for one agent.

use proptest::prelude::*;
use punch_core::schedule::{ScheduleRequest, batch, estimate, schedule};
use punch_core::{Dep, Plan, Status, Todo, Uid, apply};

/// Todos with estimates, each waiting for the one before if said so.
fn plan(sizes: &[(u64, bool)]) -> Plan {
    let mut plan = Plan::new();
    for (n, (tokens, waits)) in sizes.iter().enumerate() {
        let mut todo = Todo::blank(Uid(n as u64 + 1));
        todo.fields.id = format!("T-{}", n + 1);
        todo.fields.content = "x".into();
        todo.fields.position = n as i64;
        todo.fields.estimated_tokens = Some(*tokens);
        if *waits && n > 0 {
            todo.fields.depends_on = vec![Dep::On(Uid(n as u64))];
        }
        plan.put(todo);
    }
    apply::derive(&mut plan);
    plan
}

#[test]
fn what_fits_is_taken_and_what_does_not_is_advice() {
    let plan = plan(&[(8_000, false), (20_000, true), (50_000, true)]);
    let ids = |left| batch(&plan, left, 1.0, 0).todos.into_iter().map(|(id, _)| id).collect::<Vec<_>>();
    // 70 % of what is left.
    assert_eq!(ids(11_428), [""; 0]);
    assert_eq!(ids(11_429), ["T-1"]);
    assert_eq!(ids(40_000), ["T-1", "T-2"]);
    assert_eq!(ids(u64::MAX), ["T-1", "T-2", "T-3"]);
    let large_first = self::plan(&[(100_000, false), (8_000, false), (9_000, true)]);
    let found = batch(&large_first, 70_000, 1.0, 0);
    assert_eq!(found.todos.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ["T-2", "T-3"]);
    let nothing = batch(&plan, 100, 1.0, 0);
    assert_eq!(nothing.advice(), Some("checkpoint now, and continue in a new context window"));
    insta::assert_snapshot!(nothing.text(&plan), @"
    Nothing fits into 70 tokens; T-1 needs 8000: checkpoint now, and continue in a new context window.
    ");
    insta::assert_snapshot!(batch(&plan, 40_000, 1.0, 0).text(&plan), @"
    8000 tokens  T-1 x
    20000 tokens  T-2 x
    28000 of 28000 tokens; checkpoint when they are done
    ");
    assert!(batch(&plan, 12_000, 1.5, 0).advice().is_some(), "calibration counts");
    let huge = batch(&self::plan(&[(900_000, false)]), 200_000, 1.0, 0);
    assert_eq!(huge.advice(), Some("split it, no context window can hold it"));
    assert_eq!(batch(&Plan::new(), 5, 1.0, 0).text(&Plan::new()), "Nothing is open.");
}

proptest! {
    #[test]
    fn a_batch_fits_and_is_in_order(
        sizes in proptest::collection::vec((0u64..60_000, any::<bool>()), 1..20),
        left in 0u64..200_000,
    ) {
        let plan = plan(&sizes);
        let found = batch(&plan, left, 1.0, 0);
        let sum: u64 = found.todos.iter().map(|(id, _)| estimate(plan.by_id(id).unwrap(), 1.0).tokens).sum();
        prop_assert_eq!(sum, found.tokens);
        let windows = schedule(&plan, &ScheduleRequest { context: left, ..ScheduleRequest::default() }, 0).windows;
        let first = windows.first().map(|window| window.todos.clone()).unwrap_or_default();
        prop_assert_eq!(found.todos.iter().map(|(id, _)| id.clone()).collect::<Vec<_>>(), first);
        prop_assert!(sum <= found.budget && found.budget == left * 7 / 10);
        let place = |id: &str| found.todos.iter().position(|(other, _)| other == id);
        for (id, _) in &found.todos {
            let todo = plan.by_id(id).unwrap();
            prop_assert_eq!(todo.status, Status::Pending);
            for dep in todo.depends_on.iter().filter_map(Dep::target) {
                let dep = &plan.get(dep).unwrap().id;
                prop_assert!(place(dep).is_some_and(|at| at < place(id).unwrap()));
            }
        }
        // Nothing fits only if the first does not.
        prop_assert_eq!(found.todos.is_empty(), found.too_large.is_some());
    }
}
