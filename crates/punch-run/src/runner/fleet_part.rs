//! The roles of a runner in a fleet. A worker gives todos to agents, alongside other workers, and hands in their work.
//! The coordinator holds the lease of the plan: it verifies handed-in work and takes over the todos of dead workers.
//! Each of its writes carries the epoch of its lease, so a coordinator that was replaced changes nothing.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use punch_core::runs_on::may_take;
use punch_core::{Status, Todo, Uid, WorkerId};
use punch_engine::config::VerifyPlace;
use punch_engine::process::end_marked_processes;
use punch_engine::{EngineError, HandedIn, RunOutcome, RunRecord, RunStart};
use serde_json::json;

use super::begin::{Begun, PlanLease};
use super::journal::RunJournal;
use super::seat::Seat;
use super::{RunProject, RunResult, Runner, StopCause};
use crate::error::RunError;
use crate::fleet::{FleetPart, FleetRole, Watchdog, WorkerProcess};
use crate::folder::{self, Folder};
use crate::observer::{RunEvent, line};
use crate::options::RunOptions;
use crate::worktree::{Lanes, Remote, RemotePart, WorktreeError, lanes_name, plan_part};

/// How often a coordinator looks for work that was handed in.
const LOOK: Duration = Duration::from_millis(300);

/// How many todos a coordinator verifies at a time, at most: whoever is not first has to merge and check again.
const AT_ONCE: usize = 4;

/// Begins the part of a runner in a fleet.
pub(super) fn begin<'e>(
    world: &'e RunProject<'e>,
    options: &RunOptions,
    journal: &RunJournal<'_>,
    FleetPart { fleet, part }: FleetPart<'_>,
) -> Result<Begun<'e>, RunError> {
    match part {
        FleetRole::Coordinator => {
            let lease = PlanLease::take_for(world, &fleet.holder())?;
            let begin = RunStart {
                agents: Vec::new(),
                options: json!({
                    "fleet": true, "agents": 0, "limits": options.limits, "todoLimits": options.todo_limits,
                    "worktrees": true,
                }),
                fresh: false,
                lanes: Some(plan_part(&world.plan_name, world.plan.0)),
            };
            let record = world.engine.begin_run(world.plan, &begin)?;
            let lanes = Some(lanes(world, &record, fleet, RemotePart::Coordinator)?);
            let what =
                format!("{} coordinates run {} of plan {}", fleet.worker.name, record.id, line(&world.plan_name));
            journal.report(&RunEvent::Remark { what });
            let folder = Folder::make_in(&fleet.folder, world.plan, record.id)?;
            Ok(Begun { _lease: Some(lease), record, lanes, folder, seats_before: 0, watchdog: None })
        }
        FleetRole::Worker => {
            // Agents that an earlier part of this process left must not work beside new ones.
            end_marked_processes("PUNCH_SESSION_FILE", &sessions(fleet, world));
            let record = world.engine.fleet_run(world.plan)?.ok_or(EngineError::RunReplaced)?;
            let lanes = Some(lanes(world, &record, fleet, RemotePart::Worker)?);
            let agents: Vec<String> = options.specs.iter().map(ToString::to_string).collect();
            let seats = options.seats.max(1);
            let seats_before = world.engine.join_run(world.plan, record.id, &fleet.worker, seats, &agents)?;
            let folder = Folder::make_in(&fleet.folder, world.plan, record.id)?;
            let watchdog = Some(Watchdog::new(fleet.lease));
            Ok(Begun { _lease: None, record, lanes, folder, seats_before, watchdog })
        }
    }
}

/// Begins the names of the session files of this worker's agents in a plan.
fn sessions(fleet: &WorkerProcess, world: &RunProject<'_>) -> String {
    fleet.folder.join(format!("{}-", world.plan.0)).display().to_string()
}

fn lanes(
    world: &RunProject<'_>,
    record: &RunRecord,
    fleet: &WorkerProcess,
    part: RemotePart,
) -> Result<Lanes, WorktreeError> {
    let beside = || folder::runs(&world.store).with_file_name("trees");
    // Each part cleans up its own folder when it begins.
    let place = world.trees.clone().unwrap_or_else(beside).join(&fleet.worker.name).join(match part {
        RemotePart::Worker => "work",
        RemotePart::Coordinator => "merge",
    });
    let remote = Remote { name: fleet.remote.clone(), part };
    Lanes::begin_shared(&world.root, &place, lanes_name(&world.plan_name, record), remote).map(|(lanes, _)| lanes)
}

impl FleetPart<'_> {
    /// Returns true if this part of the fleet takes a todo that can be started.
    pub(super) fn takes(&self, world: &RunProject<'_>, todo: &Todo) -> bool {
        match self.part {
            FleetRole::Coordinator => todo.flags.reported,
            FleetRole::Worker => !todo.flags.reported && may_take(&self.fleet.labels, todo) && may_check(world, todo),
        }
    }
}

/// Returns true if this worker may run the check of a todo, or does not have to.
fn may_check(world: &RunProject<'_>, todo: &Todo) -> bool {
    world.settings.verify_where.value != VerifyPlace::Worker || is_approved(world, todo)
}

/// Returns true if the check of a todo is approved on this machine, or the todo has none.
fn is_approved(world: &RunProject<'_>, todo: &Todo) -> bool {
    let Some(command) = &todo.verify else { return true };
    world.settings.plan_check().as_ref() == Some(command)
        || world.consents.as_ref().is_some_and(|consents| consents.has(command))
}

impl<'s, 'e> Runner<'s, 'e> {
    pub(super) fn is_worker(&self) -> bool {
        self.fleet.is_some_and(|part| part.part == FleetRole::Worker)
    }

    pub(super) fn is_coordinator(&self) -> bool {
        self.fleet.is_some_and(|part| part.part == FleetRole::Coordinator)
    }

    /// Returns true if a worker takes no more todos.
    pub(super) fn is_draining(&self) -> bool {
        self.fleet.is_some_and(|part| part.fleet.is_draining() || !part.fleet.serves(self.world.plan))
    }

    /// Starts the thread that ends the agents of a worker that is cut off.
    pub(super) fn watch_agents(&self) {
        if let (Some(watchdog), Some(part)) = (self.watchdog, self.fleet) {
            let (sessions, interrupt) = (sessions(part.fleet, self.world), self.interrupt);
            self.scope.spawn(move || watchdog.watch(&sessions, interrupt));
        }
    }

    /// Handles what an earlier process left in the plan, at the beginning.
    pub(super) fn recover_part(&mut self, FleetPart { fleet, part }: FleetPart<'e>) -> Result<(), RunError> {
        if part == FleetRole::Coordinator {
            self.persist(|engine| engine.close_other_questions(self.world.plan, self.run.id))?;
            return self.take_over_dead_workers();
        }
        self.renew_claims(fleet, Instant::now())?;
        self.persist(|engine| engine.close_questions_of_worker(self.world.plan, &fleet.worker))?;
        let now = self.world.engine.now();
        let handed_in = self.persist(|engine| engine.handed_in(self.world.plan, self.run.id))?;
        for todo in self.persist(|engine| engine.todos_of_workers(self.world.plan))? {
            let owner = todo.owner.as_deref().and_then(WorkerId::of).and_then(|owner| owner.fleet);
            if owner.as_ref() != Some(&fleet.worker.name) || handed_in.iter().any(|(work, _)| work.uid == todo.uid) {
                continue;
            }
            let has_work = self.lanes.is_some_and(|lanes| lanes.has_work(&todo.id).unwrap_or(false));
            let owner = todo.owner.clone().filter(|_| has_work && todo.status_at(now) == Status::InProgress);
            match owner.filter(|_| todo.flags.reported) {
                Some(owner) => self.check_reported(todo, owner)?,
                None if todo.flags.reported => self.reopen_because(&todo, "was reported, but its work is lost")?,
                None => self.reopen(&todo)?,
            }
        }
        Ok(())
    }

    /// Renews the record of the worker and all its claims on the plan, in one transaction.
    pub(super) fn renew_claims(&mut self, fleet: &WorkerProcess, asked: Instant) -> Result<(), RunError> {
        let jobs = self.seats.iter().filter_map(|seat| seat.state.parts().1);
        let claims: Vec<(Uid, String)> = jobs.map(|job| (job.todo.uid, job.owner.clone())).collect();
        let (plan, run, lease) = (self.world.plan, self.run.id, self.claim_lease_ms());
        let body = fleet.body();
        self.persist(|engine| {
            engine.renew_worker(plan, &fleet.worker, &body, fleet.lease_ms(), (run, &claims, lease))
        })?;
        self.watchdog.into_iter().for_each(|watchdog| watchdog.renewed(asked));
        fleet.note_renewed(asked);
        // Other workers spend too.
        let ledger = self.persist(|engine| engine.ledger(plan, run))?;
        self.meter.reload(&ledger);
        Ok(())
    }

    /// Opens the todos of dead workers again, unless their work was handed in. Workers that are alive keep theirs.
    pub(super) fn take_over_dead_workers(&mut self) -> Result<(), RunError> {
        let (plan, run, epoch) = (self.world.plan, self.run.id, self.run.body.epoch);
        self.persist(|engine| engine.charge_dead_workers(plan, run))?;
        self.persist(|engine| engine.close_orphaned_questions(plan, run, epoch))?;
        let orphans = self.persist(|engine| engine.orphaned_todos(plan, run, epoch))?;
        if orphans.is_empty() {
            return Ok(());
        }
        let handed_in = self.persist(|engine| engine.handed_in(plan, run))?;
        for todo in orphans.iter().filter(|todo| handed_in.iter().all(|(work, _)| work.uid != todo.uid)) {
            if todo.flags.reported {
                self.reopen_because(todo, "was reported by a worker that is gone, and its work was never pushed")?;
            } else if self.persist(|engine| engine.reopen_unreported(plan, run, todo))? {
                self.remark(format!("{} was reopened: its worker is gone", line(&todo.id)));
            }
        }
        Ok(())
    }

    /// Begins to verify what workers handed in, as many todos at a time as the worker has seats, or a few.
    pub(super) fn verify_handed_in(&mut self) -> Result<(), RunError> {
        let (plan, run, now) = (self.world.plan, self.run.id, self.world.engine.now());
        // The others may hand in more than this one could ever verify.
        if self.fleet.is_some_and(|part| part.fleet.drained.load(Ordering::Relaxed)) && self.last_batch.is_none() {
            let waiting = self.persist(|engine| engine.handed_in(plan, run))?;
            self.last_batch = Some(waiting.iter().map(|(work, _)| work.uid).collect());
        }
        let most = self.options.seats.clamp(1, AT_ONCE);
        let is_early = self.looked.is_some_and(|looked| looked.elapsed() < LOOK);
        if self.stop.is_some() || self.gives_up.is_some() || self.seats.len() >= most || is_early {
            return Ok(());
        }
        self.looked = Some(Instant::now());
        let waiting = self.persist(|engine| engine.handed_in(plan, run))?;
        let last_batch = self.last_batch.clone();
        let is_due = |uid: &Uid| last_batch.as_ref().is_none_or(|last| last.contains(uid));
        for (work, todo) in waiting.iter().filter(|(work, _)| is_due(&work.uid)) {
            let is_busy = self.seats.iter().any(|seat| seat.state.todo() == Some(todo.uid));
            let claimed = todo.status_at(now) == Status::InProgress && !is_busy && self.seats.len() < most;
            if let Some(owner) = todo.owner.clone().filter(|_| claimed) {
                if self.passes_on(work, todo)? {
                    return Ok(());
                }
                self.handed_in.insert(todo.uid, work.clone());
                self.check_reported(todo.clone(), owner)?;
            }
        }
        // Claims that ran out while the work waited, and todos that the user took off hold.
        let mut refused: HashSet<Uid> = HashSet::new();
        while self.seats.len() < most
            && let Some(uid) = self.best(&refused)?
        {
            refused.insert(uid);
            let found = waiting.iter().find(|(work, _)| work.uid == uid);
            if !is_due(&uid) {
                continue;
            }
            if let Some((work, todo)) = found
                && self.passes_on(work, todo)?
            {
                return Ok(());
            }
            let owner = self.next_owner().to_string();
            let Some(todo) = self.claim_for(&owner, None, uid)? else { continue };
            match found {
                Some((work, _)) => {
                    self.persist(|engine| engine.adopt_handed_in(plan, run, uid, todo.fence))?;
                    self.handed_in.insert(uid, work.clone());
                    self.check_reported(todo, owner)?;
                }
                None => self.reopen_because(&todo, "was reported, but its work was never pushed")?,
            }
        }
        Ok(())
    }

    /// Returns true if a coordinator leaves the plan to other workers, because the check of a todo is not approved on this
    /// machine. Once all of them had their chance, the todo is put on hold like in any run.
    fn passes_on(&mut self, work: &HandedIn, todo: &Todo) -> Result<bool, RunError> {
        let Some(part) = self.fleet.filter(|_| !is_approved(self.world, todo)) else { return Ok(false) };
        let (plan, name, worker) = (self.world.plan, &self.world.plan_name, &part.fleet.worker.name);
        if !self.persist(|engine| engine.has_other_coordinator(plan, name, worker))?
            || !part.fleet.passes_on(plan, work)
        {
            return Ok(false);
        }
        let id = line(&todo.id);
        self.gives_up =
            Some(format!("the check of {id} is not approved on this machine: another worker may coordinate"));
        Ok(true)
    }

    /// Looks whether the run of the fleet has ended, and for todos that this machine may not check.
    pub(super) fn look_at_run(&mut self) -> Result<(), RunError> {
        if let Some(part) = self.fleet.filter(|part| part.part == FleetRole::Worker) {
            let run = self.persist(|engine| engine.fleet_run(self.world.plan))?;
            self.run_over = run.is_none_or(|run| run.id != self.run.id);
            let (world, now) = (self.world, self.world.engine.now());
            let is_left = |todo: &&Todo| {
                todo.is_ready(now)
                    && !todo.flags.reported
                    && may_take(&part.fleet.labels, todo)
                    && !may_check(world, todo)
            };
            let left = self.plan()?.live().into_iter().filter(is_left).map(|todo| (todo.uid, line(&todo.id)));
            for (uid, id) in left.collect::<Vec<_>>() {
                if part.fleet.notes_unapproved(self.world.plan, uid) {
                    self.remark(format!(
                        "{id} was skipped: its check is not approved on this machine; `punch verify --allow {id}` \
                         approves it"
                    ));
                }
            }
        }
        Ok(())
    }

    /// Takes a seat of the worker for a todo; false if another plan needs it more.
    pub(super) fn take_seat(&mut self, uid: Uid) -> Result<bool, RunError> {
        let Some(part) = self.fleet else { return Ok(true) };
        let plan = self.world.plan;
        let priority = self.plan()?.get(uid).map_or(u8::MAX, Todo::effective_priority);
        Ok(part.fleet.pool.take(plan, priority))
    }

    /// Tells the other plans of the worker how many seats this one uses.
    pub(super) fn settle_seats(&self) {
        if let Some(part) = self.fleet {
            let taken = self.seats.iter().filter(|seat| !seat.state.is_idle()).count();
            part.fleet.pool.settle(self.world.plan, taken);
        }
    }

    pub(super) fn count_handed_in(&mut self, todo: &Todo) {
        let Some(part) = self.fleet else { return };
        part.fleet.count_handed_in();
        self.completed += 1;
        let branch = self.lanes.map(|lanes| lanes.remote_branch(&todo.id)).unwrap_or_default();
        self.remark(format!("{} was pushed to {branch} and is waiting for the coordinator", line(&todo.id)));
    }

    /// Returns true if a part of a fleet has nothing more to do. No seat is at work.
    pub(super) fn is_part_over(&mut self, FleetPart { fleet, part }: FleetPart<'_>) -> Result<bool, RunError> {
        match part {
            FleetRole::Worker => Ok(self.run_over || self.is_draining() || self.seats.iter().all(Seat::is_broken)),
            FleetRole::Coordinator if self.gives_up.is_some() || !fleet.serves(self.world.plan) => Ok(true),
            FleetRole::Coordinator if self.plan()?.row.counts.open() == 0 => Ok(!self.check_plan()?),
            // What the last agents handed in is verified before the end.
            FleetRole::Coordinator if fleet.drained.load(Ordering::Relaxed) => {
                self.looked = None;
                self.verify_handed_in()?;
                Ok(self.seats.is_empty())
            }
            FleetRole::Coordinator => Ok(false),
        }
    }

    /// Returns true if a part of a fleet that starts nothing more, because of the user or a limit, has come to its end.
    pub(super) fn is_stopped_part_over(&mut self, part: FleetPart<'_>) -> Result<bool, RunError> {
        if part.part == FleetRole::Coordinator && self.plan()?.row.counts.open() == 0 {
            self.stop = None;
            return self.is_part_over(part);
        }
        let is_over = match part.part {
            FleetRole::Worker => self.run_over || self.is_draining(),
            FleetRole::Coordinator => part.fleet.drained.load(Ordering::Relaxed) || !part.fleet.serves(self.world.plan),
        };
        if !is_over && part.part == FleetRole::Worker {
            self.report_waiting(&match &self.stop {
                Some(StopCause::Budget(why)) => format!("{why}; a worker with a higher limit continues the run"),
                _ => "the run is stopped; `punch run resume` continues it".to_owned(),
            });
        }
        Ok(is_over)
    }

    /// Ends a part of a fleet; `None` if the run itself has come to its end, which the coordinator records.
    pub(super) fn end_part(&mut self) -> Result<Option<RunResult>, RunError> {
        let Some(part) = self.fleet else { return Ok(None) };
        let is_served = part.fleet.serves(self.world.plan);
        if part.part == FleetRole::Coordinator
            && is_served
            && self.stop.is_none()
            && self.plan()?.row.counts.open() == 0
        {
            return Ok(None);
        }
        if let Some(lanes) = self.lanes {
            for left in lanes.sweep("Work that was not merged\n")? {
                let branch = left.branch.map(|branch| format!("branch `{branch}`"));
                let folder = left.folder.map(|folder| format!("folder {}", folder.display()));
                let what: Vec<String> = [branch, folder, left.reason].into_iter().flatten().collect();
                self.remark(line(&format!("work left behind: {}", what.join(", "))));
            }
        }
        self.publish();
        let because = self.seats.iter().find(|seat| seat.is_broken()).map(|seat| seat.start_error.clone());
        let (completed, spent) = (self.completed, self.meter.sum());
        let because = because.or_else(|| self.gives_up.clone()).into_iter().collect();
        Ok(Some(RunResult { run: self.run.id, outcome: RunOutcome::Interrupted, because, completed, spent }))
    }
}
