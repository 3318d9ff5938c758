//! What is around a todo.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use punch_core::reason::PlanReader;
use punch_core::view::{Branch, Neighborhood};
use punch_core::{Plan, Uid};

use crate::schedule::scene::{NOW, Task, plan, tasks};

/// The shortest way from a todo to every other one, in steps.
fn steps(from: usize, count: usize, is_edge: impl Fn(usize, usize) -> bool) -> BTreeMap<usize, usize> {
    let mut found = BTreeMap::from([(from, 0)]);
    for step in 1..=count {
        let last: Vec<usize> = found.iter().filter(|(_, at)| **at == step - 1).map(|(node, _)| *node).collect();
        for to in 0..count {
            if !found.contains_key(&to) && last.iter().any(|node| is_edge(*node, to)) {
                found.insert(to, step);
            }
        }
    }
    found.remove(&from);
    found
}

/// Every todo of a tree with its depth; a branch has an edge to what it hangs on.
fn depths(plan: &Plan, branch: &Branch, depth: usize, is_edge: &dyn Fn(usize, usize) -> bool) -> Vec<(usize, usize)> {
    let at = |uid: Uid| plan.get(uid).unwrap().id.parse::<usize>().unwrap();
    let mut out = Vec::new();
    for one in &branch.branches {
        assert!(is_edge(at(branch.uid), at(one.uid)));
        out.push((at(one.uid), depth + 1));
        out.extend(depths(plan, one, depth + 1, is_edge));
    }
    out
}

fn compare(tasks: &[Task], depth: usize) {
    let plan = plan(tasks);
    for (center, todo) in plan.live().iter().map(|todo| (todo.id.parse::<usize>().unwrap(), *todo)) {
        let around = Neighborhood::of(PlanReader::new(&plan, NOW), todo.uid, depth, 1_000);
        let needs = |from: usize, to: usize| tasks[from].deps.contains(&to);
        let blocks = |from: usize, to: usize| tasks[to].deps.contains(&from);
        for (tree, is_edge) in [(&around.needs, &needs as &dyn Fn(usize, usize) -> bool), (&around.blocks, &blocks)] {
            let found: Vec<(usize, usize)> = depths(&plan, tree, 0, is_edge);
            let wanted: BTreeSet<(usize, usize)> =
                steps(center, tasks.len(), is_edge).into_iter().filter(|(_, step)| *step <= depth).collect();
            assert_eq!(found.len(), wanted.len(), "each todo once");
            assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), wanted);
        }
    }
}

proptest! {
    #[test]
    fn every_todo_within_reach_stands_once_where_the_shortest_way_leads(tasks in tasks(), depth in 0usize..4) {
        compare(&tasks, depth);
    }

    #[test]
    fn what_is_left_out_is_counted(tasks in tasks(), most in 0usize..4) {
        let plan = plan(&tasks);
        for todo in plan.live() {
            let all = Neighborhood::of(PlanReader::new(&plan, NOW), todo.uid, 1, 1_000);
            let few = Neighborhood::of(PlanReader::new(&plan, NOW), todo.uid, 1, most);
            for (all, few) in [(all.needs, few.needs), (all.blocks, few.blocks)] {
                prop_assert!(few.branches.len() <= most);
                prop_assert_eq!(few.branches.len() + few.more, all.branches.len());
            }
        }
    }
}
