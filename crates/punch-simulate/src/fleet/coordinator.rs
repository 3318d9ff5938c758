//! The coordinator of the plan on one machine: takes the lease, opens todos of dead workers again, merges what was handed in
//! and completes it. Every look does one of these; whatever it knew may be outdated at the next one.

use std::path::Path;

use punch_core::{Actor, Op, Ref, Status, Todo, Uid, WorkerId};
use punch_engine::{Engine, EngineError, HandedIn, ReadyQuery, RunHolder, RunRecord, RunStart, WriteRequest};
use serde_json::json;

use super::machine::{ProcessPlace, claim_as, is_claimed, reopen};
use super::record::Commit;
use super::{CLAIM, FleetMutant, FleetState};

/// A coordinator.
pub(super) struct Coordinator {
    /// Carries the epoch of the lease.
    engine: Engine,
    run: RunRecord,
    /// The number of the grant in the record of the simulation.
    grant: u64,
    renewed: i64,
    task: CoordinatorTask,
}

/// What a coordinator does next.
enum CoordinatorTask {
    /// Looks for work that was handed in.
    Look,
    /// Opens todos of dead workers again.
    TakeOver(Vec<Todo>),
    /// Checks work that is merged with the result branch, until the check is over.
    Check(ResultMerge, i64),
    /// Moves the result branch.
    Publish(ResultMerge),
    /// Completes a todo whose work is on the result branch.
    Complete(Todo),
}

/// Work that is merged with the result branch.
struct ResultMerge {
    work: Box<HandedIn>,
    todo: Todo,
    /// How many commits the result branch had when it was fetched.
    fetched: usize,
}

impl Coordinator {
    /// Takes the plan if no worker coordinates it, or does the next thing. `own` is the connection of the worker.
    pub fn tick(slot: &mut Option<Self>, own: &Engine, at: &ProcessPlace<'_>, folder: &Path, shared: &mut FleetState) {
        match slot.as_mut() {
            None => *slot = Self::begin(own, at, folder, shared),
            Some(coordinator) => {
                if let Err(EngineError::RunReplaced) = coordinator.next(own, at, shared) {
                    shared.record.replaced += 1;
                    *slot = None;
                }
            }
        }
    }

    fn begin(own: &Engine, at: &ProcessPlace<'_>, folder: &Path, shared: &mut FleetState) -> Option<Self> {
        let answered = shared.call(at.cut_off)?;
        let (plan, now, lease) = (shared.plan, shared.now, shared.scene.lease);
        let holder = RunHolder::this_process(folder).with_lease(lease);
        if !own.is_run_free(plan, &holder).unwrap_or(false) {
            return None;
        }
        let engine = shared.connect();
        engine.take_run(plan, &holder).ok()?;
        let grant = shared.record.granted(now, at.index, now + lease);
        let options = json!({"fleet": true, "agents": 0, "worktrees": true});
        let run = engine.begin_run(plan, &RunStart { options, ..RunStart::default() }).ok()?;
        answered.then_some(Self { engine, run, grant, renewed: now, task: CoordinatorTask::Look })
    }

    fn next(&mut self, own: &Engine, at: &ProcessPlace<'_>, shared: &mut FleetState) -> Result<(), EngineError> {
        let Some(answered) = shared.call(at.cut_off) else { return Ok(()) };
        let (plan, run, now) = (shared.plan, self.run.id, shared.now);
        let engine = if shared.has(FleetMutant::NoEpoch) { own } else { &self.engine };
        // Checks run on threads of their own: one may end before the renewal that shows that the plan is lost.
        if now - self.renewed >= shared.scene.lease / 3 && shared.random.percent(50) {
            match self.engine.renew_run(plan) {
                Ok(()) => shared.record.grant_renewed(self.grant, now + shared.scene.lease),
                Err(EngineError::RunReplaced) if shared.has(FleetMutant::NoEpoch) => {}
                Err(error) => return Err(error),
            }
            let orphans = match shared.has(FleetMutant::TakesOverLive) {
                true => engine.todos_of_workers(plan)?,
                false => engine.orphaned_todos(plan, run, self.run.body.epoch)?,
            };
            let handed_in = engine.handed_in(plan, run)?;
            let is_lost = |todo: &Todo| handed_in.iter().all(|(work, _)| work.uid != todo.uid);
            if answered {
                self.renewed = now;
                let orphans: Vec<Todo> = orphans.into_iter().filter(is_lost).collect();
                if !orphans.is_empty() {
                    self.task = CoordinatorTask::TakeOver(orphans);
                }
            }
            return Ok(());
        }
        self.task = match std::mem::replace(&mut self.task, CoordinatorTask::Look) {
            CoordinatorTask::Look => {
                // Several are checked at a time in a real fleet; here any of them may be the next one.
                let mut handed_in = engine.handed_in(plan, run)?;
                let any = usize::try_from(shared.random.below(handed_in.len() as u64)).unwrap_or(0);
                let next = (answered && !handed_in.is_empty()).then(|| handed_in.swap_remove(any));
                match next {
                    Some((work, todo)) => self.adopt(engine, Box::new(work), todo, at, shared)?,
                    None => {
                        self.give_out_again(engine, at, shared)?;
                        CoordinatorTask::Look
                    }
                }
            }
            CoordinatorTask::TakeOver(mut orphans) => match orphans.pop() {
                None => CoordinatorTask::Look,
                Some(todo) => {
                    if reopen(engine, shared, run, &todo)? {
                        shared.record.coordinated(self.grant, "opened a todo");
                        shared.record.taken_over(now, todo.uid.0);
                    }
                    CoordinatorTask::TakeOver(orphans)
                }
            },
            CoordinatorTask::Check(merge, until) if until > now => CoordinatorTask::Check(merge, until),
            // Work without a valid claim must not get onto the result branch.
            CoordinatorTask::Check(merge, _) => match is_claimed(engine, shared, merge.todo.uid.0, merge.todo.fence) {
                true => CoordinatorTask::Publish(merge),
                false => CoordinatorTask::Look,
            },
            CoordinatorTask::Publish(merge) => publish(merge, shared),
            CoordinatorTask::Complete(todo) => {
                let request = WriteRequest::of(Actor::runner(run, todo.owner.as_deref()));
                let done = Op::Done { target: Ref::Uid(todo.uid), evidence: None, fence: Some(todo.fence) };
                match engine.submit(plan, &request, &[done]) {
                    Ok(_) => {
                        shared.record.coordinated(self.grant, "completed a todo");
                        shared.record.completes(todo.uid.0, todo.fence);
                        if answered {
                            shared.record.remote.branches.remove(&todo.uid.0);
                        }
                    }
                    Err(error @ EngineError::RunReplaced) => return Err(error),
                    Err(_) => {}
                }
                // Without an answer, the next look finds out.
                CoordinatorTask::Look
            }
        };
        Ok(())
    }

    /// Prepares to merge work that was handed in. A claim that ran out while the work waited is taken over.
    fn adopt(
        &self,
        engine: &Engine,
        work: Box<HandedIn>,
        todo: Todo,
        at: &ProcessPlace<'_>,
        shared: &mut FleetState,
    ) -> Result<CoordinatorTask, EngineError> {
        let fetched = shared.record.remote.result.len();
        let until = shared.now + shared.random.between(0, shared.scene.lease);
        if todo.status_at(shared.now) == Status::InProgress {
            return Ok(CoordinatorTask::Check(ResultMerge { work, todo, fetched }, until));
        }
        let Some(todo) = self.claim(engine, todo.uid, at, shared) else { return Ok(CoordinatorTask::Look) };
        engine.adopt_handed_in(shared.plan, self.run.id, todo.uid, todo.fence)?;
        Ok(CoordinatorTask::Check(ResultMerge { work, todo, fetched }, until))
    }

    fn claim(&self, engine: &Engine, uid: Uid, at: &ProcessPlace<'_>, shared: &mut FleetState) -> Option<Todo> {
        let (run, epoch, now) = (self.run.id, self.run.body.epoch, shared.now);
        // Two claims of one coordinator never happen at one moment.
        let number = u64::try_from(now).unwrap_or(0);
        let owner = WorkerId { run, epoch, number, fleet: None }.to_string();
        let todo = claim_as(engine, shared, run, uid, &owner)?;
        shared.record.coordinated(self.grant, "claimed a todo");
        shared.record.claimed(now, (todo.uid.0, todo.fence), at.index, &owner, None, now + CLAIM);
        Some(todo)
    }

    /// Opens a todo again that an agent has reported and no worker has handed in.
    fn give_out_again(
        &self,
        engine: &Engine,
        at: &ProcessPlace<'_>,
        shared: &mut FleetState,
    ) -> Result<(), EngineError> {
        let now = shared.now;
        let ready = engine.read(shared.plan, |snapshot| Ok(ReadyQuery::of_plan(now).ready(snapshot, 20)?))?;
        let Some(reported) = ready.iter().find(|todo| todo.flags.reported) else { return Ok(()) };
        let Some(todo) = self.claim(engine, reported.uid, at, shared) else { return Ok(()) };
        if reopen(engine, shared, self.run.id, &todo)? {
            shared.record.taken_over(now, todo.uid.0);
        }
        Ok(())
    }
}

/// Moves the result branch, unless it has moved since it was fetched: then the work is merged and checked again.
fn publish(merge: ResultMerge, shared: &mut FleetState) -> CoordinatorTask {
    let overwrites = shared.has(FleetMutant::NoForceWithLease);
    let remote = &mut shared.record.remote;
    let is_work = |commit: &&Commit| commit.name() == merge.work.commit;
    if remote.result.iter().any(|commit| is_work(&commit)) {
        return CoordinatorTask::Complete(merge.todo);
    }
    let Some(commit) = remote.branches.get(&merge.todo.uid.0).filter(is_work).cloned() else {
        let commit = &merge.work.commit;
        shared.record.anomalies.push(format!("git: {commit} was handed in, but is not on its branch"));
        return CoordinatorTask::Look;
    };
    if overwrites {
        remote.result.truncate(merge.fetched);
    } else if remote.result.len() != merge.fetched {
        let fetched = remote.result.len();
        return CoordinatorTask::Check(ResultMerge { fetched, ..merge }, shared.now);
    }
    remote.result.push(commit);
    CoordinatorTask::Complete(merge.todo)
}
