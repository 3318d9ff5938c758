//! Plays the small scenarios that real processes play too, with a virtual clock.

use punch_engine::EngineError;
use punch_testkit::fleet_scenarios::{FleetScenario, FleetStep, ScenarioOutcome};

use super::machine::SimulatedMachine;
use super::{FleetEvent, FleetMutant, FleetScene, SimulatedFleet};
use crate::options::{HOUR, SECOND};

/// A step that takes longer never ends.
const PATIENCE: i64 = HOUR;

/// Plays a scenario to its end. Returns how it ended, with everything that is wrong.
pub fn play(
    scenario: &FleetScenario,
    mutant: Option<FleetMutant>,
) -> Result<(ScenarioOutcome, Vec<String>), EngineError> {
    let scene = FleetScene {
        seed: 1,
        machines: 0,
        todos: scenario.todos,
        lease: 30 * SECOND,
        work: 5 * SECOND,
        fault_every: 0,
        mutant,
    };
    let mut world = SimulatedFleet::empty(scene, false)?;
    world.shared.held = scenario.held.iter().copied().collect();
    for step in scenario.steps {
        let end = world.shared.now + PATIENCE;
        while !world.take(*step) {
            if !world.next() || world.shared.now > end {
                world.shared.record.anomalies.push(format!("{step:?} never came about"));
                break;
            }
        }
    }
    let engine = world.shared.connect();
    world.shared.record.audit(&engine, world.shared.plan);
    let record = world.shared.record;
    let mut outcome = ScenarioOutcome { started: record.started, ..ScenarioOutcome::default() };
    for commit in record.remote.result {
        outcome.merged.entry(commit.uid).or_default().push(commit.by);
    }
    let wrong = scenario.differences(&outcome).into_iter().chain(record.anomalies).collect();
    Ok((outcome, wrong))
}

impl SimulatedFleet {
    /// Takes a step; false if it waits for something that has not happened yet.
    fn take(&mut self, step: FleetStep) -> bool {
        let now = self.shared.now;
        match step {
            FleetStep::Start(name) => {
                let machine = self.machines.len();
                self.machines.push(SimulatedMachine::new(machine, name.to_owned()));
                self.plan(now, FleetEvent::Start { machine, life: 0 });
            }
            FleetStep::Kill(name) => {
                let machine = self.machine(name);
                self.machines[machine].kill(&mut self.shared);
            }
            FleetStep::Stop(name) => {
                let machine = self.machine(name);
                self.machines[machine].stop(&mut self.shared);
            }
            FleetStep::Continue(name) => {
                let machine = self.machine(name);
                self.plan(now, FleetEvent::Continue(machine));
            }
            FleetStep::Cut(name) => {
                let machine = self.machine(name);
                self.machines[machine].cut_off = true;
            }
            FleetStep::Heal(name) => {
                let machine = self.machine(name);
                self.machines[machine].cut_off = false;
            }
            FleetStep::Release(todo) => {
                self.shared.held.remove(&todo);
            }
            FleetStep::AgentStarts(todo, name) => return self.shared.record.started.contains(&(todo, name.to_owned())),
            FleetStep::Coordinates(name) => {
                let machine = self.shared.record.coordinator();
                return machine.is_some_and(|machine| self.machines[machine].name == name);
            }
            FleetStep::Finished => return self.shared.record.completed.len() as u64 == self.shared.scene.todos,
        }
        true
    }

    fn machine(&self, name: &str) -> usize {
        self.machines.iter().position(|machine| machine.name == name).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use punch_testkit::fleet_scenarios::SCENARIOS;

    use super::*;

    #[test]
    fn every_scenario_ends_in_the_simulator_as_it_has_to_with_real_processes() {
        for scenario in &SCENARIOS {
            let (outcome, wrong) = play(scenario, None).unwrap_or_else(|cause| panic!("{cause}"));
            assert_eq!(wrong, [""; 0], "{}: {outcome:?}", scenario.name);
        }
    }

    #[test]
    fn a_scenario_notices_a_planted_bug() {
        let caught =
            |mutant| SCENARIOS.iter().any(|scenario| play(scenario, Some(mutant)).is_ok_and(|(_, w)| !w.is_empty()));
        assert!(caught(FleetMutant::NeverStops) && caught(FleetMutant::HandsInFirst));
    }
}
