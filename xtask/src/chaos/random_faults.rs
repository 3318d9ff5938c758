//! Random faults of a fleet: machines are cut off, workers and coordinators killed and stopped, each for a while.

use std::time::{Duration, Instant};

use punch_testkit::random::Random;

use super::fleet::WorkerFleet;
use crate::TaskResult;

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FaultKind {
    CutOff,
    KillWorker,
    StopWorker,
    KillCoordinator,
    StopCoordinator,
}

impl FaultKind {
    pub const ALL: [Self; 5] =
        [Self::CutOff, Self::KillWorker, Self::StopWorker, Self::KillCoordinator, Self::StopCoordinator];

    pub const fn name(self) -> &'static str {
        match self {
            Self::CutOff => "machines cut off",
            Self::KillWorker => "workers killed",
            Self::StopWorker => "workers stopped",
            Self::KillCoordinator => "coordinators killed",
            Self::StopCoordinator => "coordinators stopped",
        }
    }
}

/// A fault that lasts.
struct Fault {
    kind: FaultKind,
    machine: usize,
    until: Instant,
}

/// Faults of one round.
pub(super) struct RandomFaults<'a> {
    random: &'a mut Random,
    lasting: Vec<Fault>,
    next: Instant,
    /// How many there were of each kind.
    pub counts: [u64; FaultKind::ALL.len()],
    /// Workers that ended by themselves and were started again.
    pub restarts: u64,
}

impl<'a> RandomFaults<'a> {
    pub fn new(random: &'a mut Random) -> Self {
        Self { random, lasting: Vec::new(), next: Instant::now() + Duration::from_secs(3), counts: [0; 5], restarts: 0 }
    }

    /// Ends what is over, starts what is due, and starts workers again that ended by themselves.
    pub fn tick(&mut self, fleet: &mut WorkerFleet<'_>) -> TaskResult {
        let now = Instant::now();
        let (over, lasting) = std::mem::take(&mut self.lasting).into_iter().partition(|fault| fault.until <= now);
        self.lasting = lasting;
        Vec::into_iter(over).try_for_each(|fault: Fault| end(fleet, &fault))?;
        if self.next <= now {
            self.next = now + self.span(500, 3_000);
            self.begin(fleet)?;
        }
        for machine in 0..fleet.machines.len() {
            if !self.has_fault(machine) && !fleet.is_running(machine) {
                self.restarts += 1;
                println!("    {} ended by itself: {}", fleet.machines[machine].name, fleet.last_line(machine));
                fleet.start(machine)?;
            }
        }
        Ok(())
    }

    /// Ends all faults.
    pub fn end(&mut self, fleet: &mut WorkerFleet<'_>) -> TaskResult {
        std::mem::take(&mut self.lasting).iter().try_for_each(|fault| end(fleet, fault))
    }

    fn begin(&mut self, fleet: &mut WorkerFleet<'_>) -> TaskResult {
        let machines = fleet.machines.len();
        let choice = usize::try_from(self.random.below(FaultKind::ALL.len() as u64)).unwrap_or(0);
        let kind = FaultKind::ALL[choice];
        let free: Vec<usize> = (0..machines).filter(|machine| !self.has_fault(*machine)).collect();
        let any = usize::try_from(self.random.below(free.len() as u64)).unwrap_or(0);
        let until = Instant::now() + self.span(300, 7_000);
        let machine = match kind {
            FaultKind::KillCoordinator | FaultKind::StopCoordinator => fleet.coordinator(),
            _ => free.get(any).copied(),
        };
        // One machine is left alone, so that the fleet gets somewhere.
        let Some(machine) = machine.filter(|one| free.contains(one) && free.len() > 1) else { return Ok(()) };
        match kind {
            FaultKind::CutOff => fleet.set_connected(machine, false)?,
            FaultKind::KillWorker | FaultKind::KillCoordinator => fleet.kill(machine),
            FaultKind::StopWorker | FaultKind::StopCoordinator => fleet.signal(machine, "STOP"),
        }
        self.counts[choice] += 1;
        self.lasting.push(Fault { kind, machine, until });
        Ok(())
    }

    fn has_fault(&self, machine: usize) -> bool {
        self.lasting.iter().any(|fault| fault.machine == machine)
    }

    fn span(&mut self, low: i64, high: i64) -> Duration {
        Duration::from_millis(self.random.between(low, high).unsigned_abs())
    }
}

fn end(fleet: &mut WorkerFleet<'_>, fault: &Fault) -> TaskResult {
    match fault.kind {
        FaultKind::CutOff => fleet.set_connected(fault.machine, true),
        FaultKind::KillWorker | FaultKind::KillCoordinator => fleet.start(fault.machine),
        FaultKind::StopWorker | FaultKind::StopCoordinator => {
            fleet.signal(fault.machine, "CONT");
            Ok(())
        }
    }
}
