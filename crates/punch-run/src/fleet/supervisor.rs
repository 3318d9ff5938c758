//! The process of a worker: takes its name, keeps track of the plans, and gives each of them a thread for agents and
//! one that coordinates. When it is asked to exit, it waits for its agents to finish first.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use punch_core::Label;
use punch_engine::process::end_marked_processes;
use punch_engine::{Engine, EngineError, WorkerBody};
use punch_store::{PlanId, PlanInfo};

use super::instance::instance_of;
use super::{FleetPart, FleetRole, SeatPool, WorkerProcess};
use crate::agent::{self, LimitSigns};
use crate::error::RunError;
use crate::folder;
use crate::interrupt::Interrupt;
use crate::lock::{Lock, LockError};
use crate::observer::{RunEvent, RunObserver, line};
use crate::options::RunOptions;
use crate::runner::{RunProject, run_part};
use crate::worktree::{WorktreeError, require_remote, shared_git_folder};

/// How often the supervisor looks around in its own process, and how often a plan is looked at that has changed.
const LOOK: Duration = Duration::from_millis(300);

/// How often the list of plans is read.
const LIST: Duration = Duration::from_secs(2);

/// The pause before a part of a plan that ended is started again.
const PAUSE: Duration = Duration::from_secs(1);

/// The pause after a part that failed, in which another worker can take its place.
const LONG_PAUSE: Duration = Duration::from_secs(10);

/// The project that a worker works on.
pub struct FleetProject<'a> {
    /// The project. Its plan is replaced by each plan of the worker.
    pub base: RunProject<'a>,
    /// Opens the store once more. A coordinator writes through a separate connection, which carries the epoch of its
    /// lease.
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
    world: &FleetProject<'_>,
    options: &RunOptions,
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
    let instance = instance_of(&folder)?;
    let body = WorkerBody {
        labels: given.labels.clone(),
        seats: options.seats.max(1),
        agents: options.specs.iter().map(ToString::to_string).collect(),
        plans: given.plans.clone(),
        instance: instance.clone(),
        only_works: !settings.worker_coordinate.value,
        ..WorkerBody::this_process(&folder, &given.version)
    };
    let engine = world.base.engine;
    let lease = settings.worker_lease.value;
    let _clone = take_clone(&world.base.root)?;
    let asked = Instant::now();
    let lease_ms = i64::try_from(lease.as_millis()).unwrap_or(i64::MAX);
    let worker = engine.register_worker(&given.name, &body, lease_ms)?;
    let fleet = WorkerProcess {
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
        served: Mutex::default(),
        passed_on: Mutex::default(),
        unapproved: Mutex::default(),
        changes: AtomicU64::new(0),
        instance,
    };
    let supervisor = Supervisor { world, options, given, observer, fleet: &fleet, failure: Mutex::new(None) };
    supervisor.remark(&format!("worker {} has started", given.name));
    supervisor.warn_unknown_plans();
    supervisor.run();
    // A name that another process has taken since stays that process's.
    let _ = engine.release_worker(&fleet.worker, &fleet.body());
    let failure = supervisor.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
    failure.map_or(Ok(()), Err)
}

/// Takes the clone of a repository for this worker. Workers that share a clone would overwrite each other's lanes.
fn take_clone(root: &Path) -> Result<Lock, RunError> {
    Lock::take_file(&shared_git_folder(root)?, "punch-worker.lock").map_err(|error| match error {
        LockError::Taken { by } => RunError::CloneTaken { by },
        LockError::Failed(error) => RunError::File(error),
    })
}

struct Supervisor<'a> {
    world: &'a FleetProject<'a>,
    options: &'a RunOptions,
    given: &'a FleetOptions,
    observer: &'a dyn RunObserver,
    fleet: &'a WorkerProcess,
    /// What ends the worker.
    failure: Mutex<Option<RunError>>,
}

/// The threads of a plan that a worker serves.
struct PlanThreads<'s> {
    /// The name of the plan.
    plan: String,
    /// Gives todos to agents.
    work: ScopedJoinHandle<'s, ()>,
    /// Coordinates the plan, where the worker may.
    coordination: Option<ScopedJoinHandle<'s, ()>>,
    /// The plan was archived: the threads finish what they have.
    is_left: bool,
}

impl PlanThreads<'_> {
    fn is_working(&self) -> bool {
        !self.work.is_finished()
    }

    fn is_coordinating(&self) -> bool {
        self.coordination.as_ref().is_some_and(|thread| !thread.is_finished())
    }
}

impl Supervisor<'_> {
    fn run(&self) {
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| self.listen(&is_over));
            let mut served: BTreeMap<PlanId, PlanThreads<'_>> = BTreeMap::new();
            let mut listed: Option<Instant> = None;
            while !self.is_ending() {
                if listed.is_none_or(|listed| listed.elapsed() >= LIST)
                    && let Some(plans) = self.plans()
                {
                    listed = Some(Instant::now());
                    self.fleet.set_served(plans.iter().map(|plan| plan.id).collect());
                    for (id, threads) in &mut served {
                        let is_left = plans.iter().all(|plan| plan.id != *id);
                        if is_left && !threads.is_left {
                            let plan = &threads.plan;
                            self.remark(&format!("plan {plan} is archived: this worker takes no more of its todos"));
                        }
                        threads.is_left = is_left;
                    }
                    served.retain(|_, threads| {
                        let is_served = threads.is_working() || threads.is_coordinating();
                        if !is_served {
                            self.remark(&format!("plan {} is archived: this worker has left it", threads.plan));
                        }
                        is_served
                    });
                    for PlanInfo { id, name, .. } in plans {
                        if served.contains_key(&id) {
                            continue;
                        }
                        let (plan, of_agents) = (name.clone(), name.clone());
                        let may_coordinate = self.world.base.settings.worker_coordinate.value;
                        let work = scope.spawn(move || self.work_on(id, &of_agents));
                        let coordination = may_coordinate.then(|| scope.spawn(move || self.coordinate(id, &name)));
                        served.insert(id, PlanThreads { plan, work, coordination, is_left: false });
                    }
                }
                self.beat();
                thread::sleep(LOOK);
            }
            while served.values().any(PlanThreads::is_working) {
                self.beat();
                thread::sleep(LOOK);
            }
            self.fleet.drained.store(true, Ordering::Relaxed);
            // Others count on the worker until its coordinators have left too.
            while served.values().any(PlanThreads::is_coordinating) {
                self.beat();
                thread::sleep(LOOK);
            }
            is_over.store(true, Ordering::Relaxed);
        });
    }

    /// Notes that something was written to the store, for all plans of this process.
    fn listen(&self, is_over: &AtomicBool) {
        let mut changes = self.world.base.engine.store().changes();
        while !is_over.load(Ordering::Relaxed) {
            match changes.wait(LOOK) {
                Ok(false) => {}
                Ok(true) => self.fleet.note_change(),
                // Whoever relies on this looks for itself while nothing can be heard.
                Err(_) => {
                    self.fleet.note_change();
                    thread::sleep(LOOK);
                }
            }
        }
    }

    /// Returns the plans that the worker takes todos of; `None` while the store does not answer.
    fn plans(&self) -> Option<Vec<PlanInfo>> {
        let wanted = |plan: &PlanInfo| {
            plan.archived.is_none() && (self.given.plans.is_empty() || self.given.plans.contains(&plan.name))
        };
        Some(self.world.base.engine.plans().ok()?.into_iter().filter(wanted).collect())
    }

    /// Warns about names of plans that do not exist. The worker serves them once they do.
    fn warn_unknown_plans(&self) {
        let Ok(known) = self.world.base.engine.plans() else { return };
        for name in self.given.plans.iter().filter(|name| known.iter().all(|plan| plan.name != **name)) {
            self.remark(&format!("unknown plan `{name}`; the worker takes its todos once it exists"));
        }
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
        let (mut last, mut changes) = (String::new(), self.fleet.changes());
        while self.serves(plan) {
            let world = self.world.base.for_plan(self.world.base.engine, plan, name);
            if world.engine.fleet_run(plan).is_ok_and(|run| run.is_some()) {
                let interrupt = self.fleet.signals.below(1);
                let part = Some(self.part(FleetRole::Worker));
                let ended = run_part(&world, self.options, self.observer, &interrupt, part);
                self.rest(self.end_of(ended, &mut last));
            }
            self.rest_until_change(&mut changes);
        }
    }

    /// Coordinates a plan whenever nobody else does and there is something to do.
    fn coordinate(&self, plan: PlanId, name: &str) {
        let (mut last, mut changes) = (String::new(), self.fleet.changes());
        let holder = self.fleet.holder();
        while self.serves(plan) {
            let engine = self.world.base.engine;
            let has_work = || -> Result<bool, EngineError> {
                let open = engine.read(plan, |snapshot| Ok(snapshot.row()?.counts.open()))?;
                Ok(open > 0 || engine.fleet_run(plan)?.is_some())
            };
            if !has_work().unwrap_or(false) {
                self.rest_until_change(&mut changes);
                continue;
            }
            if engine.is_run_free(plan, &holder).unwrap_or(false) {
                let ended = (self.world.open)().map_err(RunError::from).and_then(|engine| {
                    let world = self.world.base.for_plan(&engine, plan, name);
                    let interrupt = self.fleet.signals.below(2);
                    run_part(&world, self.options, self.observer, &interrupt, Some(self.part(FleetRole::Coordinator)))
                });
                self.rest(self.end_of(ended, &mut last));
                self.rest_until_change(&mut changes);
            } else {
                // Another worker coordinates. Its own writes give no reason to look again.
                self.rest(self.standby());
            }
        }
    }

    const fn part(&self, part: FleetRole) -> FleetPart<'_> {
        FleetPart { fleet: self.fleet, part }
    }

    /// Reports how a part of a plan ended, unless that is ordinary or was reported last time. Returns the pause before the
    /// next try.
    fn end_of(&self, ended: Result<crate::RunResult, RunError>, last: &mut String) -> Duration {
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

    fn serves(&self, plan: PlanId) -> bool {
        !self.is_ending() && self.fleet.serves(plan)
    }

    fn is_ending(&self) -> bool {
        self.fleet.is_draining()
    }

    /// How often a worker looks at what it is only standing by for: soon enough after the end of a lease.
    fn standby(&self) -> Duration {
        (self.fleet.lease / 10).max(LOOK)
    }

    /// Rests until something was written since the last time, or for as long as a worker stands by.
    fn rest_until_change(&self, seen: &mut u64) {
        let begun = Instant::now();
        self.rest(LOOK);
        while self.fleet.changes() == *seen && begun.elapsed() < self.standby() && !self.is_ending() {
            thread::sleep(Duration::from_millis(50));
        }
        *seen = self.fleet.changes();
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

impl RunProject<'_> {
    /// Returns the same project with another plan, through another engine.
    fn for_plan<'b>(&'b self, engine: &'b Engine, plan: PlanId, name: &str) -> RunProject<'b> {
        RunProject {
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
