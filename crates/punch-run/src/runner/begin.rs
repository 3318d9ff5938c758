//! The beginning of a run: the lease of the plan, approvals of checks, the record, and todos left over by dead runners.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::Scope;
use std::time::{Duration, Instant};

use punch_core::{Op, Ref, Status, Todo, Verify, WorkerId};
use punch_engine::process::end_marked_processes;
use punch_engine::{EngineError, RunControls, RunEnd, RunHolder, RunOutcome, RunRecord, RunStart, WriteRequest};
use serde_json::json;

use super::journal::RunJournal;
use super::notify::InboxWatch;
use super::plan_cache::PlanCache;
use super::prepare::LaneSetup;
use super::seat::{Seat, SeatEvent, SeatRules};
use super::{RunProject, Runner, RunnerMessage};
use crate::agent::{self, AgentKind, AgentSpec, LimitSigns};
use crate::error::{MissingApprovals, RunError};
use crate::fleet::{FleetPart, FleetRole, Watchdog};
use crate::folder::{self, Folder};
use crate::interrupt::Interrupt;
use crate::lock::{Lock, LockError};
use crate::meter::RunMeter;
use crate::observer::{RunEvent, line};
use crate::options::RunOptions;
use crate::worktree::{Lanes, WorktreeError, lanes_name, plan_part};

/// Capacity of the channel for messages.
const WAITING: usize = 256;

/// Number of todos named in the error about missing approvals.
const NAMED: usize = 10;

/// The right to run a plan, given up when dropped. The lease in the store counts for all machines; the lock file shows
/// on this machine whether the holder is alive.
pub(super) struct PlanLease<'e> {
    world: &'e RunProject<'e>,
    /// A worker of a fleet has a separate lock.
    _lock: Option<Lock>,
}

impl<'e> PlanLease<'e> {
    fn take(world: &'e RunProject<'e>) -> Result<Self, RunError> {
        let runs = folder::runs(&world.store);
        let lock = Lock::take(&runs, world.plan).map_err(|error| match error {
            LockError::Taken { by } => RunError::Engine(EngineError::RunTaken { by }),
            LockError::Failed(error) => RunError::File(error),
        })?;
        world.engine.take_run(world.plan, &RunHolder::this_process(&runs))?;
        Ok(Self { world, _lock: Some(lock) })
    }

    /// Takes the plan for the coordinator of a fleet, whose worker holds the lock of its folder.
    pub(super) fn take_for(world: &'e RunProject<'e>, holder: &RunHolder) -> Result<Self, RunError> {
        world.engine.take_run(world.plan, holder)?;
        Ok(Self { world, _lock: None })
    }
}

impl Drop for PlanLease<'_> {
    fn drop(&mut self) {
        // A lease that cannot be given up runs out, and counts as released on this machine.
        let _ = self.world.engine.release_run(self.world.plan);
    }
}

/// What a run holds from its beginning to its end: the lease, its record, its lanes.
pub(super) struct Begun<'e> {
    /// `None` for a worker of a fleet, which works beside the coordinator.
    pub _lease: Option<PlanLease<'e>>,
    pub record: RunRecord,
    pub lanes: Option<Lanes>,
    pub folder: Folder,
    /// The number before that of the first seat.
    pub seats_before: usize,
    pub watchdog: Option<Watchdog>,
}

/// What a runner and its threads share.
pub(super) struct RunShared<'e> {
    pub world: &'e RunProject<'e>,
    pub options: &'e RunOptions,
    pub journal: &'e RunJournal<'e>,
    pub interrupt: &'e Interrupt,
    pub lanes: Option<&'e Lanes>,
    pub fleet: Option<FleetPart<'e>>,
    pub watchdog: Option<&'e Watchdog>,
}

/// Takes the lease and begins or resumes the run.
pub(super) fn begin<'e>(
    world: &'e RunProject<'e>,
    options: &RunOptions,
    journal: &RunJournal<'_>,
) -> Result<Begun<'e>, RunError> {
    let limits = LimitSigns::of(world.settings);
    options.specs.iter().try_for_each(|spec| agent::agent(spec, &limits).map(drop))?;
    options.permissions.rules()?;
    let lease = PlanLease::take(world)?;
    // The holder of the lease is the only runner. Agents of dead runners that are still alive would keep working on
    // files that other agents get now.
    end_marked_processes("PUNCH_SESSION_FILE", &folder::prefix(&world.store, world.plan));
    require_approvals(world)?;
    let last = world.engine.runs(world.plan, 1)?.into_iter().next();
    let kept = last.filter(|last| !options.fresh && last.is_resumable() && last.has_worktrees()).is_some();
    let worktrees = options.worktrees || kept;
    if worktrees {
        // A run that cannot work is not begun: it would stay in the list of runs.
        Lanes::check(&world.root)?;
    }
    let begin = RunStart {
        agents: options.specs.iter().map(ToString::to_string).collect(),
        options: json!({
            "agents": options.seats, "limits": options.limits, "todoLimits": options.todo_limits,
            "worktrees": worktrees,
        }),
        fresh: options.fresh,
        lanes: Some(plan_part(&world.plan_name, world.plan.0)),
    };
    let record = world.engine.begin_run(world.plan, &begin)?;
    let resumed = record.body.epoch > 1;
    journal.report(&RunEvent::Begun { run: record.id, resumed, agents: options.seats });
    if worktrees && !options.worktrees {
        let what = "it continues in worktrees, where its work is; `--fresh` starts a new run without them";
        journal.report(&RunEvent::Remark { what: what.into() });
    }
    let lanes = match worktrees.then(|| lanes(world, &record, journal)).transpose() {
        Ok(lanes) => lanes,
        Err(error) => {
            // The run never began, so the next one must not resume it.
            let ended = RunEnd { outcome: RunOutcome::Stalled, because: vec![line(&error.to_string())], result: None };
            world.engine.end_run(world.plan, record.id, &ended)?;
            return Err(error.into());
        }
    };
    let folder = Folder::make(&world.store, world.plan, record.id)?;
    Ok(Begun { _lease: Some(lease), record, lanes, folder, seats_before: 0, watchdog: None })
}

fn lanes(world: &RunProject<'_>, record: &RunRecord, journal: &RunJournal<'_>) -> Result<Lanes, WorktreeError> {
    // Not among the files of the run: those are deleted one day, and agents avoid changing anything below `.git`.
    let beside = || folder::runs(&world.store).with_file_name("trees");
    let place = world.trees.clone().unwrap_or_else(beside);
    let (lanes, remarks) = Lanes::begin(&world.root, &place, lanes_name(&world.plan_name, record))?;
    remarks.iter().for_each(|remark| journal.report(&RunEvent::Remark { what: remark.to_string() }));
    Ok(lanes)
}

/// Refuses to begin while a check is not approved: the work would be paid for and could not be completed.
fn require_approvals(world: &RunProject<'_>) -> Result<(), RunError> {
    let plan = world.engine.whole(world.plan)?;
    let plan_check = world.settings.plan_check();
    let allowed = |command: &Verify| {
        plan_check.as_ref() == Some(command) || world.consents.as_ref().is_some_and(|consents| consents.has(command))
    };
    let open = plan.live().into_iter().filter(|todo| todo.status.is_open() && !todo.is_parked());
    let before = |command: &Verify| world.consents.as_ref().is_some_and(|consents| consents.is_outdated(command));
    let mut outdated = false;
    let missing: Vec<(String, String)> = open
        .filter_map(|todo| Some((todo, todo.verify.as_ref().filter(|command| !allowed(command))?)))
        .map(|(todo, command)| {
            outdated = outdated || before(command);
            (todo.id.clone(), command.line())
        })
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let total = missing.len();
    Err(MissingApprovals { todos: missing.into_iter().take(NAMED).collect(), total, outdated }.into())
}

/// Returns the runner and the receiving end of its channel.
pub(super) fn runner<'s, 'e>(
    scope: &'s Scope<'s, 'e>,
    shared: &RunShared<'e>,
    begun: &Begun<'_>,
) -> Result<(Runner<'s, 'e>, Receiver<RunnerMessage>), RunError> {
    let RunShared { world, options, journal, interrupt, lanes, fleet, watchdog } = *shared;
    let (send, receive) = sync_channel(WAITING);
    let run = begun.record.clone();
    let ledger = world.engine.ledger(world.plan, run.id)?;
    let before = Duration::from_millis(run.body.wall);
    let limits = LimitSigns::of(world.settings);
    let agents = options.specs.iter().map(|spec| agent::agent(spec, &limits)).collect::<Result<Vec<_>, _>>()?;
    let setup = LaneSetup::of(world.settings);
    let runner = Runner {
        folder: begun.folder.clone(),
        meter: RunMeter::new(options.limits, options.todo_limits, &ledger, before),
        rules: SeatRules {
            // A worker of a fleet fetches before an agent starts, which must not keep the runner waiting.
            prepares: lanes.is_some() && (!setup.is_empty() || fleet.is_some()),
            ..SeatRules::of(
                world.settings,
                run.id,
                lanes.is_some(),
                world.engine.calibration()?,
                options.permissions.rules()?,
            )
        },
        setup,
        ports: HashMap::new(),
        seats: (0..agents_of(options, fleet)).filter_map(|n| seat(n, begun.seats_before, &options.specs)).collect(),
        processes: HashMap::new(),
        agents,
        world,
        options,
        journal,
        interrupt,
        lanes,
        scope,
        run,
        send,
        count: 0,
        completed: 0,
        stop: None,
        cache: PlanCache::default(),
        compared: None,
        waiting: false,
        questions: HashMap::new(),
        controls: RunControls::default(),
        paused: false,
        published: HashMap::new(),
        inbox: InboxWatch::default(),
        renewed: Instant::now(),
        fleet,
        watchdog,
        handed_in: HashMap::new(),
        looked: None,
        heard: None,
        last_batch: None,
        gives_up: None,
        run_over: false,
    };
    Ok((runner, receive))
}

impl Runner<'_, '_> {
    /// Handles the todos of dead workers: checks those that were reported as done and opens the others again. The lease
    /// guarantees that none of these workers is alive.
    pub(super) fn recover_leftovers(&mut self) -> Result<(), RunError> {
        self.persist(|engine| engine.close_other_questions(self.world.plan, self.run.id))?;
        let now = self.world.engine.now();
        for todo in self.persist(|engine| engine.todos_of_workers(self.world.plan))? {
            let mine = todo.status_at(now) == Status::InProgress;
            if todo.flags.reported && self.is_in_other_lanes(&todo)? {
                self.reopen_reported(&todo)?;
                continue;
            }
            match todo.owner.clone().filter(|_| todo.flags.reported && mine) {
                Some(owner) => self.check_reported(todo, owner)?,
                // The lease has run out, so the todo reads as pending: it is claimed and checked like any other.
                None if todo.flags.reported => {}
                None => self.reopen(&todo)?,
            }
        }
        Ok(())
    }

    /// Returns true if the todo was reported in a lane of another run, which this run cannot check.
    fn is_in_other_lanes(&self, todo: &Todo) -> Result<bool, RunError> {
        let Some(run) =
            todo.owner.as_deref().and_then(WorkerId::of).map(|seat| seat.run).filter(|run| *run != self.run.id)
        else {
            return Ok(false);
        };
        let run = self.persist(|engine| engine.run(self.world.plan, run))?;
        Ok(run.is_some_and(|run| run.has_worktrees()))
    }

    /// Opens a reported todo again: the work is not in this run, so it cannot be checked here.
    fn reopen_reported(&mut self, todo: &Todo) -> Result<(), RunError> {
        self.reopen_because(todo, "was reported in the worktrees of another run; `punch run list` names its branch")
    }

    /// Opens a todo again although it was reported. `why` completes a sentence that begins with its id.
    pub(super) fn reopen_because(&mut self, todo: &Todo, why: &str) -> Result<(), RunError> {
        let request = WriteRequest::of(self.actor(todo.owner.as_deref()));
        let ops = [Op::Reopen(Ref::Uid(todo.uid))];
        match self.persist(|engine| engine.submit(self.world.plan, &request, &ops)) {
            Ok(_) => self.remark(format!("{} {why}", line(&todo.id))),
            Err(EngineError::Refused(_)) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Claims a todo that was reported and that nobody works on, and checks it; false if it cannot be claimed. What was
    /// reported in a lane of another run becomes ready again: a check here would complete it without its work.
    pub(super) fn adopt(&mut self, todo: &Todo) -> Result<bool, RunError> {
        let elsewhere = self.is_in_other_lanes(todo)?;
        let owner = self.next_owner().to_string();
        let Some(todo) = self.claim_for(&owner, None, todo.uid)? else { return Ok(false) };
        match elsewhere {
            true => self.reopen_reported(&todo)?,
            false => self.check_reported(todo, owner)?,
        }
        Ok(true)
    }

    /// Begins the check of the whole plan on the result branch if every todo is done; false if there is nothing to check.
    /// A check that fails opens its todo, which an agent then gets like any other.
    pub(super) fn check_plan(&mut self) -> Result<bool, RunError> {
        let settings = self.world.settings;
        if settings.plan_check().is_none() {
            return Ok(false);
        }
        let owner = self.next_owner().to_string();
        let request = WriteRequest { settings: Some(settings), ..WriteRequest::of(self.actor(Some(&owner))) };
        let plan = self.world.plan;
        let Some(todo) = self.persist(|engine| engine.report_plan_check(plan, &request, settings, None))? else {
            return Ok(false);
        };
        self.check_reported(todo, owner)?;
        Ok(true)
    }

    /// Checks a todo that no agent of this run works on, on a separate seat.
    pub(super) fn check_reported(&mut self, todo: Todo, owner: String) -> Result<(), RunError> {
        self.seats.push(Seat::for_check());
        self.dispatch(self.seats.len() - 1, SeatEvent::CheckReported { todo, owner })
    }
}

/// Returns how many agents work at the same time. A coordinator has none.
fn agents_of(options: &RunOptions, fleet: Option<FleetPart<'_>>) -> usize {
    match fleet {
        Some(FleetPart { part: FleetRole::Coordinator, .. }) => 0,
        _ => options.seats.max(1),
    }
}

/// Returns the seat with this index, numbered after `before`. Seats take the agents in turn.
fn seat(index: usize, before: usize, specs: &[AgentSpec]) -> Option<Seat> {
    let at = index.checked_rem(specs.len())?;
    let spec = specs.get(at)?;
    Some(Seat {
        exit_reports_done: spec.kind == AgentKind::Exec,
        opens_conversation: spec.kind == AgentKind::Acp,
        ..Seat::new(before + index + 1, at, spec.name().to_owned(), spec.to_string())
    })
}
