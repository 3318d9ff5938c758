//! A plan that several machines work on, with a coordinator that merges what they hand in. Machines are killed, stopped and
//! cut off; answers of the store get lost; reports of agents come late and twice. The store is the real engine over one
//! memory store, with a connection for each process and each coordinator: epochs are compared as in a real fleet.

mod coordinator;
mod machine;
mod record;
mod scenario;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use punch_core::{Actor, Add, Edit, Keep, Op, Ref};
use punch_engine::{Engine, EngineError, PlanChoice, WriteRequest};
use punch_store::{MemoryStore, PlanId};
use punch_testkit::random::Random;

use crate::options::{HOUR, MINUTE, SECOND};
use machine::{HookMessage, SimulatedMachine};
use record::FleetRecord;
pub use scenario::play;

/// How long a claim lasts unless renewed.
const CLAIM: i64 = 10 * MINUTE;

/// No simulation lasts longer; one that does has come to a standstill.
const LONGEST: i64 = 48 * HOUR;

/// A bug that is planted into the fleet on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FleetMutant {
    /// Writes of a coordinator do not compare the epoch of its lease.
    NoEpoch,
    /// A coordinator opens the todos of workers that are alive.
    TakesOverLive,
    /// A coordinator overwrites the result branch although it has moved.
    NoForceWithLease,
    /// Workers hand in before they push.
    HandsInFirst,
    /// Agents keep working when their worker cannot renew its record.
    NeverStops,
}

impl FleetMutant {
    /// Every planted bug, with the name that the report gives it.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::NoEpoch, "coordinators without an epoch"),
        (Self::TakesOverLive, "live workers taken over"),
        (Self::NoForceWithLease, "pushes without a lease"),
        (Self::HandsInFirst, "handed in before the push"),
        (Self::NeverStops, "agents continue when cut off"),
    ];
}

/// One simulation. Equal options and seeds give the same history.
#[derive(Clone, Copy, Debug)]
pub struct FleetScene {
    /// Everything random follows from it.
    pub seed: u64,
    /// Machines, each with one worker.
    pub machines: u32,
    /// Todos of the plan.
    pub todos: u64,
    /// How long workers and coordinators count as alive unless renewed.
    pub lease: i64,
    /// Mean time that an agent needs for a todo.
    pub work: i64,
    /// Mean time between two faults of one kind on a machine; 0 for none. Messages get lost only if there are faults.
    pub fault_every: i64,
    /// A planted bug.
    pub mutant: Option<FleetMutant>,
}

impl FleetScene {
    /// A fleet with many faults that is simulated in a moment.
    pub const fn small(seed: u64) -> Self {
        Self { seed, machines: 5, todos: 24, lease: 30 * SECOND, work: MINUTE, fault_every: 5 * MINUTE, mutant: None }
    }
}

/// Something that happens at a moment.
enum FleetEvent {
    /// A process looks around.
    Tick {
        machine: usize,
        timer: u64,
    },
    /// A report that the hooks of an agent sent.
    Report {
        machine: usize,
        report: HookMessage,
    },
    Kill(usize),
    Start {
        machine: usize,
        life: u32,
    },
    Stop(usize),
    Continue(usize),
    Cut(usize),
    Heal(usize),
}

/// What all machines share.
struct FleetState {
    scene: FleetScene,
    now: i64,
    clock: Arc<AtomicI64>,
    store: Arc<MemoryStore>,
    plan: PlanId,
    record: FleetRecord,
    random: Random,
    /// Todos that no agent finishes at the moment.
    held: BTreeSet<u64>,
    /// Reports under way: machine, arrival, report.
    reports: Vec<(usize, i64, HookMessage)>,
}

impl FleetState {
    /// Opens a connection to the store.
    fn connect(&self) -> Engine {
        connect(&self.store, &self.clock)
    }

    /// Returns what becomes of a call to the store or the git remote: `None` if it never arrives, and otherwise whether its
    /// answer does.
    fn call(&mut self, is_cut_off: bool) -> Option<bool> {
        let faulty = self.scene.fault_every > 0;
        let lost = is_cut_off || (faulty && self.random.per_ten_thousand(50));
        self.record.lost += u64::from(lost);
        (!lost).then(|| !(faulty && self.random.per_ten_thousand(100)))
    }

    fn has(&self, mutant: FleetMutant) -> bool {
        self.scene.mutant == Some(mutant)
    }
}

fn connect(store: &Arc<MemoryStore>, clock: &Arc<AtomicI64>) -> Engine {
    let time = Arc::clone(clock);
    Engine::new(Box::new(store.clone()), Box::new(move || time.load(Ordering::Relaxed)))
}

/// How a simulation ended.
pub struct FleetResult {
    /// Broken promises.
    pub anomalies: Vec<String>,
    /// Simulated time.
    pub span: i64,
    /// Writes that the store accepted.
    pub writes: u64,
    /// What went wrong on purpose, in one line.
    pub faults: String,
}

/// A fleet at work.
pub struct SimulatedFleet {
    serial: u64,
    queue: BinaryHeap<Reverse<(i64, u64)>>,
    happenings: BTreeMap<u64, FleetEvent>,
    machines: Vec<SimulatedMachine>,
    shared: FleetState,
}

impl SimulatedFleet {
    /// A fleet whose machines start in the first minute.
    pub fn new(scene: FleetScene) -> Result<Self, EngineError> {
        let mut world = Self::empty(scene, true)?;
        for machine in 0..scene.machines as usize {
            world.machines.push(SimulatedMachine::new(machine, format!("m{machine}")));
            let start = world.shared.random.between(0, MINUTE);
            world.plan(start, FleetEvent::Start { machine, life: 0 });
            if scene.fault_every > 0 {
                for fault in [FleetEvent::Kill(machine), FleetEvent::Stop(machine), FleetEvent::Cut(machine)] {
                    let at = world.shared.random.exponential(scene.fault_every);
                    world.plan(at, fault);
                }
            }
        }
        Ok(world)
    }

    /// A plan without machines. With `chained`, some todos depend on earlier ones.
    fn empty(scene: FleetScene, chained: bool) -> Result<Self, EngineError> {
        let mut random = Random::new(scene.seed, 1);
        let (store, clock) = (Arc::new(MemoryStore::new()), Arc::new(AtomicI64::new(0)));
        let engine = connect(&store, &clock);
        let plan = engine.choose_or_create(&PlanChoice::default())?;
        let add = |number: u64| {
            let needs = chained && number > 0 && random.percent(60);
            let needs = needs.then(|| usize::try_from(random.below(number)).unwrap_or(0));
            let edit = Edit {
                content: Keep::Set(format!("todo {number}")),
                depends_on: Keep::Set(needs.into_iter().map(Ref::New).collect()),
                ..Edit::default()
            };
            Op::Add(Add { edit, ..Add::default() })
        };
        engine.submit(plan, &WriteRequest::of(Actor::user()), &(0..scene.todos).map(add).collect::<Vec<_>>())?;
        let shared = FleetState {
            scene,
            now: 0,
            clock,
            store,
            plan,
            record: FleetRecord::default(),
            random,
            held: BTreeSet::new(),
            reports: Vec::new(),
        };
        Ok(Self { serial: 0, queue: BinaryHeap::new(), happenings: BTreeMap::new(), machines: Vec::new(), shared })
    }

    /// Runs until every todo is completed.
    pub fn run(mut self) -> FleetResult {
        let todos = usize::try_from(self.shared.scene.todos).unwrap_or(usize::MAX);
        while self.shared.record.completed.len() < todos && self.shared.record.anomalies.len() < 20 {
            if !self.next() || self.shared.now > LONGEST {
                let open = todos - self.shared.record.completed.len();
                self.shared.record.anomalies.push(format!("standstill: {open} todos are open"));
                break;
            }
        }
        let engine = self.shared.connect();
        let writes = self.shared.record.audit(&engine, self.shared.plan);
        let FleetState { record, now, .. } = self.shared;
        FleetResult { span: now, writes, faults: record.faults(), anomalies: record.anomalies }
    }

    /// Lets the next thing happen; false if there is none.
    fn next(&mut self) -> bool {
        let Some(Reverse((at, serial))) = self.queue.pop() else { return false };
        let Some(happening) = self.happenings.remove(&serial) else { return true };
        self.shared.now = at;
        self.shared.clock.store(at, Ordering::Relaxed);
        self.happen(happening);
        for (machine, at, report) in std::mem::take(&mut self.shared.reports) {
            self.plan(at, FleetEvent::Report { machine, report });
        }
        true
    }

    fn plan(&mut self, at: i64, happening: FleetEvent) {
        self.serial += 1;
        self.queue.push(Reverse((at, self.serial)));
        self.happenings.insert(self.serial, happening);
    }

    fn happen(&mut self, happening: FleetEvent) {
        let now = self.shared.now;
        match happening {
            FleetEvent::Tick { machine, timer } if self.machines[machine].timer == timer => self.tick(machine),
            FleetEvent::Tick { .. } => {}
            FleetEvent::Report { machine, report } => self.machines[machine].report(&report, &mut self.shared),
            FleetEvent::Start { machine, life } if self.machines[machine].life == life => {
                self.machines[machine].start(&self.shared);
                self.tick(machine);
            }
            FleetEvent::Start { .. } => {}
            FleetEvent::Kill(machine) => {
                self.machines[machine].kill(&mut self.shared);
                self.shared.record.kills += 1;
                let (back, life) = (now + self.span(), self.machines[machine].life);
                self.plan(back, FleetEvent::Start { machine, life });
                self.again(back, FleetEvent::Kill(machine));
            }
            FleetEvent::Stop(machine) => {
                self.machines[machine].stop(&mut self.shared);
                self.shared.record.stops += 1;
                let end = now + self.span();
                self.plan(end, FleetEvent::Continue(machine));
                self.again(end, FleetEvent::Stop(machine));
            }
            FleetEvent::Continue(machine) => {
                self.machines[machine].stopped = false;
                self.tick(machine);
            }
            FleetEvent::Cut(machine) => {
                self.machines[machine].cut_off = true;
                self.shared.record.cuts += 1;
                let end = now + self.span();
                self.plan(end, FleetEvent::Heal(machine));
                self.again(end, FleetEvent::Cut(machine));
            }
            FleetEvent::Heal(machine) => self.machines[machine].cut_off = false,
        }
    }

    /// How long a fault lasts: often shorter than the lease, often longer.
    fn span(&mut self) -> i64 {
        let longest = if self.shared.random.percent(50) { self.shared.scene.lease } else { 3 * MINUTE };
        self.shared.random.between(SECOND, longest)
    }

    fn again(&mut self, after: i64, fault: FleetEvent) {
        if self.shared.scene.fault_every > 0 {
            let at = after + self.shared.random.exponential(self.shared.scene.fault_every);
            self.plan(at, fault);
        }
    }

    /// Lets a process look around and sets the time of its next look. A stopped one looks when it continues.
    fn tick(&mut self, machine: usize) {
        let one = &mut self.machines[machine];
        if one.stopped || one.process.is_none() {
            return;
        }
        // One look at a time: a process that continues must not have two timers.
        one.timer += 1;
        let timer = one.timer;
        one.tick(&mut self.shared);
        let at = self.shared.now + self.shared.random.between(300, 1_500);
        self.plan(at, FleetEvent::Tick { machine, timer });
    }
}
