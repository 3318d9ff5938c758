//! The process of a worker: takes its name, follows which plans there are, and gives each of them a thread for agents and
//! one that coordinates. Ends when it is asked to, after its agents have finished.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use punch_core::Label;
use punch_engine::process::end_marked_processes;
use punch_engine::{Engine, EngineError, RunHolder, WorkerBody};
use punch_store::{PlanId, PlanInfo};

use super::{Fleet, FleetPart, Part, SeatPool};
use crate::agent::{self, LimitSigns};
use crate::error::RunError;
use crate::folder;
use crate::interrupt::Interrupt;
use crate::lock::{Lock, LockError};
use crate::observer::{RunEvent, RunObserver, line};
use crate::options::Options;
use crate::runner::{World, run_part};
use crate::worktree::{WorktreeError, require_remote};

/// How often the supervisor looks around.
const LOOK: Duration = Duration::from_millis(300);

/// The pause before a part of a plan that ended is started again.
const PAUSE: Duration = Duration::from_secs(1);

/// The pause after a part that failed, in which another worker can take its place.
const LONG_PAUSE: Duration = Duration::from_secs(10);

/// The project that a worker works on.
pub struct FleetWorld<'a> {
    /// The project. Its plan is replaced by each plan of the worker.
    pub base: World<'a>,
    /// Opens the store once more. What a coordinator writes goes through a connection of its own, which carries the epoch of
    /// its lease.
    pub open: &'a (dyn Fn() -> Result<Engine, EngineError> + Sync),
}

/// Options of a worker.
#[derive(Clone, Debug)]
pub struct FleetOptions {
    /// The name of the worker.
    pub name: String,
    /// Its labels.
    pub labels: BTreeSet<Label>,
    /// The plans that it takes todos of; every plan in use if there are none.
    pub plans: Vec<String>,
    /// The version of the program, for others to see.
    pub version: String,
}

/// Works on the plans of a project beside other workers, until `signals` asks for the end. After the first request it takes
/// no more todos and waits for its agents; after the second one it asks them to end.
pub fn work(
    world: &FleetWorld<'_>,
    options: &Options,
    given: &FleetOptions,
    observer: &dyn RunObserver,
    signals: &Interrupt,
) -> Result<(), RunError> {
    let settings = world.base.settings;
    let limits = LimitSigns::of(settings);
    options.specs.iter().try_for_each(|spec| agent::agent(spec, &limits).map(drop))?;
    options.permissions.rules()?;
    let remote = settings.worker_remote.value.clone().unwrap_or_else(|| "origin".to_owned());
    require_remote(&world.base.root, &remote)?;
    let folder = folder::of_worker(&world.base.store, &given.name);
    let _lock = Lock::take_file(&folder, "worker.lock").map_err(|error| match error {
        LockError::Taken { by } => EngineError::WorkerTaken { name: given.name.clone(), by }.into(),
        LockError::Failed(error) => RunError::File(error),
    })?;
    // An earlier process of this worker may have left agents.
    end_marked_processes("PUNCH_SESSION_FILE", &format!("{}/", folder.display()));
    let body = WorkerBody {
        labels: given.labels.clone(),
        seats: options.seats.max(1),
        agents: options.specs.iter().map(ToString::to_string).collect(),
        plans: given.plans.clone(),
        ..WorkerBody::this_process(&folder, &given.version)
    };
    let engine = world.base.engine;
    let lease = settings.worker_lease.value;
    let asked = Instant::now();
    let lease_ms = i64::try_from(lease.as_millis()).unwrap_or(i64::MAX);
    let worker = engine.register_worker(&given.name, &body, lease_ms)?;
    let fleet = Fleet {
        worker,
        labels: given.labels.clone(),
        remote,
        lease,
        folder,
        pool: SeatPool::new(options.seats.max(1)),
        signals: signals.clone(),
        drained: AtomicBool::new(false),
        body: Mutex::new(WorkerBody { started_at: engine.now(), ..body }),
        renewed: Mutex::new(asked),
        starts: AtomicU64::new(0),
    };
    let supervisor = Supervisor { world, options, given, observer, fleet: &fleet, failure: Mutex::new(None) };
    supervisor.remark(&format!("worker {} has started", given.name));
    supervisor.run();
    // A name that another process has taken since stays that process's.
    let _ = engine.release_worker(&fleet.worker, &fleet.body());
    let failure = supervisor.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
    failure.map_or(Ok(()), Err)
}

struct Supervisor<'a> {
    world: &'a FleetWorld<'a>,
    options: &'a Options,
    given: &'a FleetOptions,
    observer: &'a dyn RunObserver,
    fleet: &'a Fleet,
    /// What ends the worker.
    failure: Mutex<Option<RunError>>,
}

impl Supervisor<'_> {
    fn run(&self) {
        thread::scope(|scope| {
            let (mut known, mut workers) = (BTreeSet::new(), Vec::new());
            while !self.is_ending() {
                for plan in self.plans() {
                    if known.insert(plan.id) {
                        let (id, name) = (plan.id, plan.name.clone());
                        workers.push(scope.spawn(move || self.work_on(id, &name)));
                        scope.spawn(move || self.coordinate(plan.id, &plan.name));
                    }
                }
                self.beat();
                thread::sleep(LOOK);
            }
            while workers.iter().any(|worker| !worker.is_finished()) {
                self.beat();
                thread::sleep(LOOK);
            }
            self.fleet.drained.store(true, Ordering::Relaxed);
        });
    }

    /// Returns the plans that the worker takes todos of. None while the store does not answer.
    fn plans(&self) -> Vec<PlanInfo> {
        let wanted = |plan: &PlanInfo| {
            plan.archived.is_none() && (self.given.plans.is_empty() || self.given.plans.contains(&plan.name))
        };
        self.world.base.engine.plans().unwrap_or_default().into_iter().filter(wanted).collect()
    }

    /// Renews the record of the worker if nothing else has done so.
    fn beat(&self) {
        if self.fleet.since_renewed() < self.fleet.lease / 3 {
            return;
        }
        let (engine, asked) = (self.world.base.engine, Instant::now());
        let Some(plan) = engine.plans().ok().and_then(|plans| plans.iter().map(|plan| plan.id).min()) else { return };
        let body = self.fleet.body();
        match engine.renew_worker(plan, &self.fleet.worker, &body, self.fleet.lease_ms(), (0, &[], 0)) {
            Ok(()) => self.fleet.note_renewed(asked),
            Err(error @ EngineError::WorkerReplaced { .. }) => self.fail(error.into()),
            // Agents are ended in time by those who watch them.
            Err(_) => {}
        }
    }

    /// Gives todos of a plan to agents while the plan has a run of the fleet.
    fn work_on(&self, plan: PlanId, name: &str) {
        let mut last = String::new();
        while !self.is_ending() {
            let world = self.world.base.for_plan(self.world.base.engine, plan, name);
            if world.engine.fleet_run(plan).is_ok_and(|run| run.is_some()) {
                let interrupt = self.fleet.signals.below(1);
                let part = Some(self.part(Part::Worker));
                let ended = run_part(&world, self.options, self.observer, &interrupt, part);
                self.rest(self.end_of(ended, &mut last));
            }
            self.rest(LOOK);
        }
        self.fleet.pool.settle(plan, 0);
    }

    /// Coordinates a plan whenever nobody else does and there is something to do.
    fn coordinate(&self, plan: PlanId, name: &str) {
        let mut last = String::new();
        let holder = RunHolder::this_process(&self.fleet.folder);
        while !self.is_ending() {
            let engine = self.world.base.engine;
            let is_wanted = || -> Result<bool, EngineError> {
                let open = engine.read(plan, |snapshot| Ok(snapshot.row()?.counts.open()))?;
                Ok((open > 0 || engine.fleet_run(plan)?.is_some()) && engine.is_run_free(plan, &holder)?)
            };
            if is_wanted().unwrap_or(false) {
                let ended = (self.world.open)().map_err(RunError::from).and_then(|engine| {
                    let world = self.world.base.for_plan(&engine, plan, name);
                    let interrupt = self.fleet.signals.below(2);
                    run_part(&world, self.options, self.observer, &interrupt, Some(self.part(Part::Coordinator)))
                });
                self.rest(self.end_of(ended, &mut last));
            }
            self.rest(LOOK);
        }
    }

    const fn part(&self, part: Part) -> FleetPart<'_> {
        FleetPart { fleet: self.fleet, part }
    }

    /// Reports how a part of a plan ended, unless that is ordinary or was reported last time. Returns the pause before the
    /// next try.
    fn end_of(&self, ended: Result<crate::Finished, RunError>, last: &mut String) -> Duration {
        let what = match ended {
            Ok(finished) => finished.because.first().cloned().unwrap_or_default(),
            // Another worker was faster, or the coordinator has not begun yet.
            Err(
                RunError::Engine(EngineError::RunTaken { .. }) | RunError::Worktree(WorktreeError::NoResult { .. }),
            ) => String::new(),
            Err(RunError::Engine(error @ EngineError::WorkerReplaced { .. })) => {
                self.fail(error.into());
                String::new()
            }
            // The agents were ended; the store decides how long it takes.
            Err(error @ RunError::CutOff) => {
                self.remark(&error.message());
                String::new()
            }
            Err(error) => format!("{}; {}", error.message(), error.hint()),
        };
        if !what.is_empty() && what != *last {
            self.remark(&what);
        }
        *last = what;
        if last.is_empty() { PAUSE } else { LONG_PAUSE }
    }

    fn fail(&self, error: RunError) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        // Agents are asked to end: whoever has the name now starts its own.
        self.fleet.signals.ask();
        self.fleet.signals.ask();
    }

    fn is_ending(&self) -> bool {
        self.fleet.is_draining()
    }

    fn rest(&self, time: Duration) {
        let begun = Instant::now();
        while begun.elapsed() < time && !self.is_ending() {
            thread::sleep(Duration::from_millis(50));
        }
    }

    fn remark(&self, what: &str) {
        self.observer.on_event(&RunEvent::Remark { what: line(what) });
    }
}

impl World<'_> {
    /// Returns the same project with another plan, through another engine.
    fn for_plan<'b>(&'b self, engine: &'b Engine, plan: PlanId, name: &str) -> World<'b> {
        World {
            engine,
            plan,
            plan_name: name.to_owned(),
            settings: self.settings,
            root: self.root.clone(),
            store: self.store.clone(),
            store_variables: self.store_variables.clone(),
            trees: self.trees.clone(),
            consents: self.consents.clone(),
            punch: self.punch.clone(),
            without: self.without.clone(),
        }
    }
}
