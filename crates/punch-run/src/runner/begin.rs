//! The beginning of a run: the lock, approvals of checks, the record, and todos left over by dead runners.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::Scope;
use std::time::Duration;

use punch_core::{Op, Ref, Status, Todo, Verify, WorkerId};
use punch_engine::process::end_marked_processes;
use punch_engine::{Begin, Ended, EngineError, Request, RunOutcome, RunRecord};
use serde_json::json;

use super::plan_cache::PlanCache;
use super::seat::{Rules, Seat, SeatEvent};
use super::{Message, Runner, World};
use crate::agent::{self, Kind, Spec};
use crate::error::RunError;
use crate::folder::{self, Folder};
use crate::interrupt::Interrupt;
use crate::lock::{Lock, LockError};
use crate::meter::Meter;
use crate::options::Options;
use crate::run_event::{RunEvent, RunObserver, line};
use crate::worktree::{Lanes, WorktreeError};

/// Capacity of the channel for messages.
const WAITING: usize = 256;

/// Number of todos named in the error about missing approvals.
const NAMED: usize = 10;

/// What a run holds from its beginning to its end: the lock, its record, its lanes.
pub(super) struct Begun {
    _lock: Lock,
    record: RunRecord,
    pub lanes: Option<Lanes>,
}

/// Takes the lock and begins or resumes the run.
pub(super) fn begin(world: &World<'_>, options: &Options, observer: &dyn RunObserver) -> Result<Begun, RunError> {
    options.specs.iter().try_for_each(|spec| agent::agent(spec).map(drop))?;
    options.permissions.rules().map_err(RunError::Rule)?;
    let lock = Lock::take(&folder::runs(&world.store), world.plan).map_err(|error| match error {
        LockError::Taken { by } => RunError::Taken { by },
        LockError::Failed(error) => RunError::File(error),
    })?;
    // The holder of the lock is the only runner. Agents of dead runners that are still alive would keep working on
    // files that other agents get now.
    end_marked_processes("PUNCH_SESSION_FILE", &folder::prefix(&world.store, world.plan));
    require_approvals(world)?;
    let last = world.engine.runs(world.plan, 1)?.into_iter().next();
    let kept = last.filter(|last| !options.fresh && last.is_resumable() && last.has_worktrees()).is_some();
    let worktrees = options.worktrees || kept;
    let begin = Begin {
        agents: options.specs.iter().map(ToString::to_string).collect(),
        options: json!({
            "agents": options.seats, "limits": options.limits, "todoLimits": options.todo_limits,
            "worktrees": worktrees,
        }),
        fresh: options.fresh,
    };
    let record = world.engine.begin_run(world.plan, &begin)?;
    let resumed = record.body.epoch > 1;
    observer.on_event(&RunEvent::Begun { run: record.id, resumed, agents: options.seats });
    if worktrees && !options.worktrees {
        let what = "it goes on in work trees, where its work is; `--fresh` begins a new one without them";
        observer.on_event(&RunEvent::Remark { what: what.into() });
    }
    let lanes = match worktrees.then(|| lanes(world, &record, observer)).transpose() {
        Ok(lanes) => lanes,
        Err(error) => {
            // The run never began, so the next one must not resume it.
            let ended = Ended { outcome: RunOutcome::Stalled, because: vec![line(&error.to_string())] };
            world.engine.end_run(world.plan, record.id, &ended)?;
            return Err(error.into());
        }
    };
    Ok(Begun { _lock: lock, record, lanes })
}

fn lanes(world: &World<'_>, record: &RunRecord, observer: &dyn RunObserver) -> Result<Lanes, WorktreeError> {
    // Not among the files of the run: those are deleted one day, and agents avoid changing anything below `.git`.
    let beside = || folder::runs(&world.store).with_file_name("trees");
    let place = world.trees.clone().unwrap_or_else(beside);
    let (lanes, remarks) = Lanes::begin(&world.root, &place, &lanes_name(&world.plan_name, record))?;
    remarks.iter().for_each(|remark| observer.on_event(&RunEvent::Remark { what: remark.to_string() }));
    Ok(lanes)
}

/// Returns the name of a run in its branches. It contains the time because a new store counts its runs from 1 again and
/// must not use the branches of the old one.
fn lanes_name(plan: &str, record: &RunRecord) -> String {
    let digit = |n: i64| char::from_digit(u32::try_from(n.rem_euclid(36)).unwrap_or_default(), 36).unwrap_or('0');
    let seconds = record.started_at / 1000;
    let tag: String = [46_656, 1_296, 36, 1].map(|unit| digit(seconds / unit)).iter().collect();
    format!("{plan}-{}-{tag}", record.id)
}

/// Refuses to begin while a check is not approved: the work would be paid for and could not be completed.
fn require_approvals(world: &World<'_>) -> Result<(), RunError> {
    let plan = world.engine.whole(world.plan)?;
    let allowed = |command: &Verify| world.consents.as_ref().is_some_and(|consents| consents.has(command));
    let open = plan.live().into_iter().filter(|todo| todo.status.is_open());
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
    Err(RunError::Consent { todos: missing.into_iter().take(NAMED).collect(), total, outdated })
}

/// Returns the runner and the receiving end of its channel.
pub(super) fn runner<'s, 'e>(
    scope: &'s Scope<'s, 'e>,
    world: &'e World<'e>,
    options: &'e Options,
    observer: &'e dyn RunObserver,
    interrupt: &'e Interrupt,
    lanes: Option<&'e Lanes>,
    begun: &Begun,
) -> Result<(Runner<'s, 'e>, Receiver<Message>), RunError> {
    let (send, receive) = sync_channel(WAITING);
    let run = begun.record.clone();
    let ledger = world.engine.ledger(world.plan, run.id)?;
    let before = Duration::from_millis(run.body.wall);
    let agents = options.specs.iter().map(agent::agent).collect::<Result<Vec<_>, _>>()?;
    let runner = Runner {
        folder: Folder::make(&world.store, world.plan, run.id)?,
        meter: Meter::new(options.limits, options.todo_limits, &ledger, before),
        rules: Rules::of(
            world.settings,
            run.id,
            lanes.is_some(),
            world.engine.calibration()?,
            options.permissions.rules().map_err(RunError::Rule)?,
        ),
        seats: (0..options.seats.max(1)).filter_map(|n| seat(n, &options.specs)).collect(),
        processes: HashMap::new(),
        agents,
        world,
        options,
        observer,
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
    };
    Ok((runner, receive))
}

impl Runner<'_, '_> {
    /// Handles the todos of dead workers: checks those that were reported as done and opens the others again. The lock
    /// guarantees that none of these workers is alive.
    pub(super) fn recover_leftovers(&mut self) -> Result<(), RunError> {
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
        let request = Request::of(self.actor(todo.owner.as_deref()));
        let ops = [Op::Reopen(Ref::Uid(todo.uid))];
        match self.persist(|engine| engine.submit(self.world.plan, &request, &ops)) {
            Ok(_) => {
                let id = line(&todo.id);
                self.remark(format!(
                    "{id} was reported in the work trees of another run; `punch runs` names its branch"
                ));
            }
            Err(EngineError::Refused(_)) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Claims a todo that was reported and has no owner, and checks it; false if it cannot be claimed.
    pub(super) fn adopt(&mut self, todo: &Todo) -> Result<bool, RunError> {
        let number = self.next_number();
        let owner = WorkerId { run: self.run.id, epoch: self.run.body.epoch, number }.to_string();
        let Some(todo) = self.claim_for(&owner, None, todo.uid)? else { return Ok(false) };
        self.check_reported(todo, owner)?;
        Ok(true)
    }

    /// Checks a todo that no agent of this run works on, on a seat of its own.
    fn check_reported(&mut self, todo: Todo, owner: String) -> Result<(), RunError> {
        self.seats.push(Seat::for_check());
        self.dispatch(self.seats.len() - 1, SeatEvent::CheckReported { todo, owner })
    }
}

/// Returns the seat with this index. Seats take the agents in turn.
fn seat(index: usize, specs: &[Spec]) -> Option<Seat> {
    let at = index.checked_rem(specs.len())?;
    let spec = specs.get(at)?;
    Some(Seat {
        exit_reports_done: spec.kind == Kind::Exec,
        opens_conversation: spec.kind == Kind::Acp,
        ..Seat::new(index + 1, at, spec.name().to_owned(), spec.to_string())
    })
}
