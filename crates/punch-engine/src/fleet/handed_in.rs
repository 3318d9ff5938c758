//! Work that workers of a fleet have pushed to the git remote and reported, and that waits for the coordinator. Stored with
//! the run, together with the seats that each worker has in it.

use punch_core::{Actor, Evidence, Footprint, Op, Plan, Ref, Status, Todo, Uid, WorkerId};
use punch_store::{Ahead, Durability, PlanId, Tx};
use serde::{Deserialize, Serialize};

use super::{WorkerName, is_dead};
use crate::run::{RunRecord, charge_turns, read_run, written_run};
use crate::submit::apply_in_transaction;
use crate::{Engine, EngineError, WriteRequest};

/// The work on a todo that a worker pushed before it reported the todo as done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandedIn {
    /// The todo.
    pub uid: Uid,
    /// The fence of the claim under which the work was done.
    pub fence: u64,
    /// The commit. What the coordinator merges contains it.
    pub commit: String,
    /// The branch of the git remote that has it.
    pub branch: String,
    /// The check that passed for this very commit, if the worker ran it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Evidence>,
}

/// The seats of a worker in a run: a range of numbers that no other worker has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FleetSeats {
    /// The name of the worker.
    worker: String,
    /// The process with that name, by its epoch.
    epoch: u32,
    /// The first number.
    first: usize,
    /// The number of seats.
    seats: usize,
}

impl HandedIn {
    /// Returns true if the todo was reported with this work. A coordinator that takes over the verification claims the
    /// todo again.
    fn fits(&self, todo: &Todo) -> bool {
        let of_coordinator = || todo.owner.as_deref().and_then(WorkerId::of).is_some_and(|owner| owner.fleet.is_none());
        todo.is_live() && todo.status.is_open() && todo.flags.reported && (todo.fence == self.fence || of_coordinator())
    }
}

impl Engine {
    /// Returns the run that the workers of a fleet work on, if there is one. It may have no coordinator at the moment.
    pub fn fleet_run(&self, plan: PlanId) -> Result<Option<RunRecord>, EngineError> {
        let last = self.runs(plan, 1)?.into_iter().next();
        Ok(last.filter(|run| run.is_fleet() && run.ended_at.is_none()))
    }

    /// Gives a worker its seats in a run and returns the number before the first one. A process that comes back gets the
    /// same numbers.
    pub fn join_run(
        &self,
        plan: PlanId,
        run: u64,
        worker: &WorkerName,
        seats: usize,
        agents: &[String],
    ) -> Result<usize, EngineError> {
        self.change_run(plan, run, |_, run, _| {
            let body = &mut run.body;
            let known = body.fleet.iter_mut().find(|known| known.worker == worker.name && known.seats == seats);
            let before = match known {
                Some(known) => {
                    known.epoch = worker.epoch;
                    known.first - 1
                }
                None => {
                    let before = body.fleet.iter().map(|known| known.first - 1 + known.seats).max().unwrap_or(0);
                    let (worker, epoch) = (worker.name.clone(), worker.epoch);
                    body.fleet.push(FleetSeats { worker, epoch, first: before + 1, seats });
                    before
                }
            };
            let all = body.fleet.iter().map(|known| known.first - 1 + known.seats).max().unwrap_or(0);
            if let Some(options) = body.options.as_object_mut() {
                options.insert("agents".to_owned(), all.into());
            }
            for agent in agents {
                if !body.agents.contains(agent) {
                    body.agents.push(agent.clone());
                }
            }
            Ok(before)
        })
        .map(Option::unwrap_or_default)
    }

    /// Hands the work on a todo over to the coordinator: reports the todo as done, if its agent has not, and records the
    /// commit, in one transaction. False if the claim no longer holds: then nothing is recorded.
    pub fn hand_in(&self, plan: PlanId, run: u64, owner: &str, work: &HandedIn) -> Result<bool, EngineError> {
        let first = Footprint { todos: [work.uid].into(), ..Footprint::default() };
        let ahead = Ahead { dependents: true, ..Ahead::load(&first) };
        let handed = self.change_run_ahead(plan, run, ahead, |tx, run, now| {
            let mut part = Plan::slice(tx.row()?);
            tx.load(&first, &mut part)?;
            let ours = |todo: &&Todo| {
                todo.is_live()
                    && todo.status == Status::InProgress
                    && todo.fence == work.fence
                    && todo.owner.as_deref() == Some(owner)
            };
            let Some(todo) = part.get(work.uid).filter(ours) else { return Ok(false) };
            if !todo.flags.reported {
                let text = Some(format!("pushed to {}", work.branch));
                let evidence = Some(Evidence { text, commit: Some(work.commit.clone()), ..Evidence::default() });
                let op = Op::Done { target: Ref::Uid(work.uid), evidence, fence: Some(work.fence) };
                let request = WriteRequest::of(Actor::worker(format!("run {}", run.id), owner));
                apply_in_transaction(tx, now, &request, &first, &mut |_, _| Ok(vec![op.clone()]))?;
            }
            run.body.handed_in.retain(|known| known.uid != work.uid);
            run.body.handed_in.push(work.clone());
            Ok(true)
        });
        match handed {
            Ok(handed) => Ok(handed.unwrap_or(false)),
            Err(EngineError::Refused(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Returns the work that waits for the coordinator, with each todo as it is now, in the order in which it was handed
    /// in. Work on todos that were decided about since is forgotten.
    pub fn handed_in(&self, plan: PlanId, run: u64) -> Result<Vec<(HandedIn, Todo)>, EngineError> {
        let (waiting, known) = self.read(plan, |snapshot| {
            let handed = snapshot.run(run)?.as_ref().map(read_run).map(|run| run.body.handed_in).unwrap_or_default();
            let known = handed.len();
            let mut part = Plan::slice(snapshot.row()?);
            let todos = handed.iter().map(|work| work.uid).collect();
            snapshot.load(&Footprint { todos, ..Footprint::default() }, &mut part)?;
            let fits =
                |work: HandedIn| part.get(work.uid).filter(|todo| work.fits(todo)).cloned().map(|todo| (work, todo));
            Ok((handed.into_iter().filter_map(fits).collect::<Vec<_>>(), known))
        })?;
        if waiting.len() < known {
            let stays = |work: &HandedIn| waiting.iter().any(|(known, _)| known == work);
            self.change_run(plan, run, |tx, run, _| {
                let mut part = Plan::slice(tx.row()?);
                let todos = run.body.handed_in.iter().map(|work| work.uid).collect();
                tx.load(&Footprint { todos, ..Footprint::default() }, &mut part)?;
                run.body.handed_in.retain(|work| stays(work) || part.get(work.uid).is_some_and(|todo| work.fits(todo)));
                Ok(())
            })?;
        }
        Ok(waiting)
    }

    /// Records the fence of the claim under which the coordinator verifies work that was handed in.
    pub fn adopt_handed_in(&self, plan: PlanId, run: u64, uid: Uid, fence: u64) -> Result<(), EngineError> {
        self.change_run(plan, run, |_, run, _| {
            run.body.handed_in.iter_mut().filter(|work| work.uid == uid).for_each(|work| work.fence = fence);
            Ok(())
        })
        .map(drop)
    }

    /// Charges the turns that dead workers left open in a run.
    pub fn charge_dead_workers(&self, plan: PlanId, run: u64) -> Result<(), EngineError> {
        let clock = self.now();
        let is_due = self.read(plan, |snapshot| {
            let now = snapshot.now().unwrap_or(clock);
            let Some(run) = snapshot.run(run)?.as_ref().map(read_run) else { return Ok(false) };
            let workers = snapshot.workers()?;
            let dead =
                |seat| run.body.fleet.iter().any(|of| of.has(seat) && is_dead(&workers, &of.worker, of.epoch, now));
            Ok(run.body.open_turns.iter().any(|turn| dead(turn.seat)))
        })?;
        if !is_due {
            return Ok(());
        }
        self.change_run(plan, run, |tx, run, now| {
            let workers = tx.workers()?;
            let fleet = run.body.fleet.clone();
            let dead = |seat| fleet.iter().any(|of| of.has(seat) && is_dead(&workers, &of.worker, of.epoch, now));
            charge_turns(tx, run, now, |turn| dead(turn.seat))
        })
        .map(drop)
    }

    /// Changes the record of a run in one transaction; `None` if there is no such run.
    fn change_run<T>(
        &self,
        plan: PlanId,
        run: u64,
        change: impl FnMut(&mut dyn Tx, &mut RunRecord, i64) -> Result<T, EngineError>,
    ) -> Result<Option<T>, EngineError> {
        self.change_run_ahead(plan, run, Ahead::default(), change)
    }

    /// Changes the record of a run as [`Engine::change_run`] does, and says what else it is about to read.
    fn change_run_ahead<T>(
        &self,
        plan: PlanId,
        run: u64,
        ahead: Ahead<'_>,
        mut change: impl FnMut(&mut dyn Tx, &mut RunRecord, i64) -> Result<T, EngineError>,
    ) -> Result<Option<T>, EngineError> {
        self.write_ahead(plan, Durability::Full, Ahead { run: Some(run), ..ahead }, |tx, now| {
            let Some(mut record) = tx.run(run)?.as_ref().map(read_run) else { return Ok(None) };
            let done = change(tx, &mut record, now)?;
            tx.put_run(&written_run(&record))?;
            Ok(Some(done))
        })
    }
}

impl FleetSeats {
    const fn has(&self, seat: usize) -> bool {
        seat >= self.first && seat < self.first + self.seats
    }
}
