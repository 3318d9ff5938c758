//! Level scheduling of one agent beside a plain model of the extended format's loop.

use proptest::prelude::*;
use punch_core::schedule::{ScheduleOrder, ScheduleRequest, budget, schedule};

use super::scene::{NOW, Task, asks, plan, tasks, workable};

/// Groups by longest path, counted over everything that was not removed.
fn groups(tasks: &[Task]) -> Vec<usize> {
    let mut out: Vec<usize> = Vec::new();
    for task in tasks {
        out.push(task.deps.iter().map(|dep| out[*dep] + 1).max().unwrap_or(1));
    }
    out
}

/// The windows of one agent, by the words of the format: a batch runs in what is left of the window, else in a new one;
/// a batch beyond a whole window is split by first fit, the last part stays open.
fn windows(tasks: &[Task], ask: &ScheduleRequest) -> Vec<Vec<usize>> {
    let budget = budget(ask.context);
    let workable = workable(tasks, ask.skip_optional);
    let groups = groups(tasks);
    let mut out: Vec<Vec<usize>> = vec![vec![]];
    let mut remaining = Some(budget);
    for group in 1..=groups.iter().copied().max().unwrap_or(0) {
        let mut batch: Vec<usize> = (0..tasks.len()).filter(|at| groups[*at] == group && workable[*at]).collect();
        batch.sort_by_key(|at| (tasks[*at].priority, *at));
        let cost: u64 = batch.iter().map(|at| tasks[*at].tokens).sum();
        if batch.is_empty() {
            continue;
        }
        if remaining.is_some_and(|left| cost <= left) {
            out.last_mut().unwrap().extend(batch);
            remaining = remaining.map(|left| left - cost);
        } else if cost <= budget {
            out.push(batch);
            remaining = Some(budget - cost);
        } else {
            let mut parts: Vec<Vec<usize>> = vec![];
            let sum = |part: &[usize]| part.iter().map(|at| tasks[*at].tokens).sum::<u64>();
            for at in batch {
                let size = tasks[at].tokens;
                let room = |part: &Vec<usize>| sum(part) <= budget && size <= budget - sum(part);
                match parts.iter_mut().find(|part| room(part)) {
                    Some(part) => part.push(at),
                    None => parts.push(vec![at]),
                }
            }
            remaining = parts.last().and_then(|part| budget.checked_sub(sum(part)));
            out.extend(parts);
        }
    }
    out.retain(|window| !window.is_empty());
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn one_agent_works_as_the_loop_of_the_format_says(tasks in tasks(), ask in asks()) {
        let ask = ScheduleRequest { order: ScheduleOrder::Level, agents: 1, ..ask };
        let made = schedule(&plan(&tasks), &ask, NOW);
        let got: Vec<Vec<usize>> =
            made.windows.iter().map(|w| w.todos.iter().map(|id| id.parse().unwrap()).collect()).collect();
        prop_assert_eq!(got, windows(&tasks, &ask));
    }

    #[test]
    fn no_group_begins_before_the_one_before_it_has_ended(tasks in tasks(), ask in asks()) {
        let made = schedule(&plan(&tasks), &ScheduleRequest { order: ScheduleOrder::Level, ..ask }, NOW);
        let groups = groups(&tasks);
        let group = |id: &str| groups[id.parse::<usize>().unwrap()];
        for a in &made.slots {
            for b in &made.slots {
                prop_assert!(group(&a.todo) >= group(&b.todo) || a.end <= b.start);
            }
        }
    }
}
