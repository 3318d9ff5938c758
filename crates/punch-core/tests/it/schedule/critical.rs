//! The critical path beside a plain model that tries every chain.

use proptest::prelude::*;
use punch_core::schedule::critical_path;

use super::scene::{Task, plan, tasks};

/// The longest sum of estimates along any chain of open todos with more than one todo in it.
fn longest(tasks: &[Task]) -> Option<u64> {
    fn back(tasks: &[Task], at: usize) -> u64 {
        let before = tasks[at].deps.iter().filter(|dep| tasks[**dep].is_open()).map(|dep| back(tasks, *dep)).max();
        tasks[at].tokens.max(1) + before.unwrap_or(0)
    }
    let chained = |at: &usize| tasks[*at].is_open() && tasks[*at].deps.iter().any(|dep| tasks[*dep].is_open());
    (0..tasks.len()).filter(chained).map(|at| back(tasks, at)).max()
}

proptest! {
    #[test]
    fn no_chain_of_open_todos_takes_longer(tasks in tasks()) {
        let plan = plan(&tasks);
        let path = critical_path(&plan, 1.0);
        let at = |uid| plan.get(uid).unwrap().id.parse::<usize>().unwrap();
        let length: u64 = path.iter().map(|uid| tasks[at(*uid)].tokens.max(1)).sum();
        prop_assert_eq!(Some(length).filter(|_| !path.is_empty()), longest(&tasks));
        for pair in path.windows(2) {
            prop_assert!(tasks[at(pair[1])].deps.contains(&at(pair[0])), "each todo needs the one before it");
        }
    }
}
