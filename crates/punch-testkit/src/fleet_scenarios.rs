//! Small scenarios of a fleet as data. The simulator plays them on the real engine with a virtual clock, and
//! `cargo xtask chaos --workers` plays them with real processes, PostgreSQL and git: both have to end alike.

use std::collections::{BTreeMap, BTreeSet};

/// One step of a scenario. Workers have one seat and are named by letters; todos are named by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FleetStep {
    /// Starts a worker on a machine of its own.
    Start(&'static str),
    /// Kills a worker; its machine stays up.
    Kill(&'static str),
    /// Stops the process of a worker without a warning.
    Stop(&'static str),
    /// Lets a stopped worker continue.
    Continue(&'static str),
    /// Cuts the machine of a worker off from the store and the git remote.
    Cut(&'static str),
    /// Connects a machine again.
    Heal(&'static str),
    /// Lets agents finish a todo that is held.
    Release(u64),
    /// Waits until an agent of a worker has started on a todo.
    AgentStarts(u64, &'static str),
    /// Waits until a worker coordinates the plan.
    Coordinates(&'static str),
    /// Waits until every todo is completed.
    Finished,
}

/// A scenario and how it has to end.
#[derive(Clone, Copy, Debug)]
pub struct FleetScenario {
    /// What happens, in a few words.
    pub name: &'static str,
    /// How many todos there are. None depends on another one.
    pub todos: u64,
    /// Todos that no agent finishes before they are released.
    pub held: &'static [u64],
    /// What happens, in this order.
    pub steps: &'static [FleetStep],
    /// Todos whose work has to come from a certain worker.
    pub delivered: &'static [(u64, &'static str)],
    /// Starts of agents whose work must not arrive; all others have to.
    pub lost: &'static [(u64, &'static str)],
}

/// How a scenario ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScenarioOutcome {
    /// The workers whose commits are on the result branch, for each todo: one entry for each commit.
    pub merged: BTreeMap<u64, Vec<String>>,
    /// Agents that started: todo and worker.
    pub started: BTreeSet<(u64, String)>,
}

/// Every scenario.
pub const SCENARIOS: [FleetScenario; 3] = [
    FleetScenario {
        name: "a worker is cut off and comes back",
        todos: 2,
        held: &[1],
        steps: &[
            FleetStep::Start("a"),
            FleetStep::AgentStarts(1, "a"),
            FleetStep::Start("b"),
            FleetStep::AgentStarts(2, "b"),
            FleetStep::Cut("a"),
            FleetStep::AgentStarts(1, "b"),
            FleetStep::Heal("a"),
            FleetStep::Release(1),
            FleetStep::Finished,
        ],
        delivered: &[(1, "b"), (2, "b")],
        lost: &[(1, "a")],
    },
    FleetScenario {
        name: "a worker is killed",
        todos: 2,
        held: &[1],
        steps: &[
            FleetStep::Start("a"),
            FleetStep::AgentStarts(1, "a"),
            FleetStep::Kill("a"),
            FleetStep::Start("b"),
            FleetStep::AgentStarts(1, "b"),
            FleetStep::Release(1),
            FleetStep::Finished,
        ],
        delivered: &[(1, "b"), (2, "b")],
        lost: &[(1, "a")],
    },
    FleetScenario {
        name: "a coordinator is stopped and replaced",
        todos: 3,
        held: &[1],
        steps: &[
            FleetStep::Start("a"),
            FleetStep::AgentStarts(1, "a"),
            FleetStep::Coordinates("a"),
            FleetStep::Stop("a"),
            FleetStep::Start("b"),
            FleetStep::Coordinates("b"),
            FleetStep::AgentStarts(1, "b"),
            FleetStep::Continue("a"),
            FleetStep::Release(1),
            FleetStep::Finished,
        ],
        delivered: &[(1, "b")],
        lost: &[(1, "a")],
    },
];

impl FleetScenario {
    /// Returns everything that ended differently than it has to.
    pub fn differences(&self, outcome: &ScenarioOutcome) -> Vec<String> {
        let mut wrong = Vec::new();
        for todo in 1..=self.todos {
            let merged = outcome.merged.get(&todo).map_or(&[][..], Vec::as_slice);
            if merged.len() != 1 {
                wrong.push(format!("todo {todo} was merged {} times, by {merged:?}", merged.len()));
            }
        }
        for (todo, worker) in self.delivered {
            let merged = outcome.merged.get(todo).into_iter().flatten().next();
            if merged.is_none_or(|by| by != worker) {
                wrong.push(format!("the work on todo {todo} is not from {worker}, but from {merged:?}"));
            }
        }
        let arrived =
            |(todo, worker): &(u64, String)| outcome.merged.get(todo).is_some_and(|workers| workers.contains(worker));
        let lost: BTreeSet<(u64, &str)> = outcome
            .started
            .iter()
            .filter(|start| !arrived(start))
            .map(|(todo, worker)| (*todo, worker.as_str()))
            .collect();
        if lost != self.lost.iter().copied().collect() {
            wrong.push(format!("the work of {lost:?} was lost instead of {:?}", self.lost));
        }
        wrong
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_compared_with_what_a_scenario_demands() {
        let [scenario, ..] = SCENARIOS;
        let start = |todo: u64, worker: &str| (todo, worker.to_owned());
        let good = ScenarioOutcome {
            merged: [(1, vec!["b".to_owned()]), (2, vec!["b".to_owned()])].into(),
            started: [start(1, "a"), start(1, "b"), start(2, "b")].into(),
        };
        assert_eq!(scenario.differences(&good), [""; 0]);
        let twice = ScenarioOutcome { merged: [(1, vec!["b".into(), "a".into()])].into(), ..good.clone() };
        assert_eq!(scenario.differences(&twice).len(), 4, "twice, not at all, from nobody, and something else lost");
        let other = ScenarioOutcome { started: [start(1, "b"), start(2, "b")].into(), ..good };
        assert_eq!(scenario.differences(&other).len(), 1);
    }
}
