//! What can be started now, beside a plain look at every todo.

use proptest::prelude::*;
use punch_core::schedule::{budget, startable};
use punch_core::{Status, files};

use super::scene::{NOW, Task, asks, effective, plan, tasks, workable};

/// The longest way from a task to the end, itself included, over what is open.
fn path(tasks: &[Task], workable: &[bool], at: usize) -> u64 {
    let behind = (0..tasks.len()).filter(|&later| workable[later] && tasks[later].deps.contains(&at));
    tasks[at].tokens + behind.map(|later| path(tasks, workable, later)).max().unwrap_or(0)
}

fn clash(a: &Task, b: &Task) -> bool {
    a.files.iter().any(|a| b.files.iter().any(|b| files::overlap(a, b)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn what_can_be_started_is_ready_free_and_in_order(tasks in tasks(), ask in asks()) {
        let plan = plan(&tasks);
        let (workable, urgency) = (workable(&tasks, ask.skip_optional), effective(&tasks));
        let met = |task: &Task| task.deps.iter().all(|&dep| tasks[dep].status == Status::Completed);
        let running: Vec<&Task> =
            tasks.iter().filter(|task| task.status == Status::InProgress && met(task)).collect();
        let mut expected: Vec<usize> = (0..tasks.len())
            .filter(|&at| workable[at] && tasks[at].status == Status::Pending && !tasks[at].held && met(&tasks[at]))
            .filter(|&at| !running.iter().any(|other| clash(&tasks[at], other)))
            .collect();
        let oversize = |at: usize| tasks[at].tokens > budget(ask.context);
        expected.sort_by_key(|&at| (oversize(at), urgency[at], std::cmp::Reverse(path(&tasks, &workable, at)), at));
        let found: Vec<usize> = startable(&plan, &ask, &[], NOW)
            .into_iter()
            .map(|uid| plan.get(uid).unwrap().id.parse().unwrap())
            .collect();
        prop_assert_eq!(&found, &expected);
        // What is given out already stands in the way like what runs.
        if let Some(first) = expected.first() {
            let uid = plan.by_id(&first.to_string()).unwrap().uid;
            let rest: Vec<usize> =
                expected[1..].iter().copied().filter(|&at| !clash(&tasks[at], &tasks[*first])).collect();
            let found: Vec<usize> = startable(&plan, &ask, &[uid], NOW)
                .into_iter()
                .map(|uid| plan.get(uid).unwrap().id.parse().unwrap())
                .collect();
            prop_assert_eq!(found, rest);
        }
    }
}
