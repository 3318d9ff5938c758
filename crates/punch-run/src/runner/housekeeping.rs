//! What is looked at again and again while agents work: leases, time, signs of life, changes of the plan by others.

use std::time::Instant;

use punch_core::{Op, Ref, Status};
use punch_engine::{EngineError, Request};
use punch_store::Durability;

use super::seat::{EndReason, Stage};
use super::{Runner, Stop};
use crate::error::RunError;

impl Runner<'_, '_> {
    pub(super) fn housekeeping(&mut self) -> Result<(), RunError> {
        self.apply_stop_requests()?;
        self.renew()?;
        self.watch_plan()?;
        self.watch_agents()
    }

    /// Somebody asked to stop, or the time of the run is over: agents are asked to end.
    fn apply_stop_requests(&mut self) -> Result<(), RunError> {
        if self.interrupt.is_asked() && self.stop != Some(Stop::Interrupted) {
            self.stop = Some(Stop::Interrupted);
            self.asked = None;
        }
        if self.meter.time_left().is_some_and(|left| left.is_zero()) && self.stop.is_none() {
            self.stop = self.meter.stops_run().map(Stop::Budget);
        }
        let over = self.stop.is_some() && self.meter.time_left().is_some_and(|left| left.is_zero());
        if (self.stop == Some(Stop::Interrupted) || over) && self.asked.is_none() {
            self.asked = Some(Instant::now());
            for at in 0..self.seats.len() {
                self.ask_to_end(at, EndReason::RunEnds);
            }
        }
        if self.stop.is_some() {
            // Conversations without a todo have nothing left to do.
            for seat in self.seats.iter_mut().filter(|seat| seat.job.is_none()) {
                seat.conversation = None;
            }
        }
        Ok(())
    }

    /// Leases are lengthened when a third of their time has passed.
    fn renew(&mut self) -> Result<(), RunError> {
        let lease = self.world.settings.lease.value;
        let until = self.world.engine.now().saturating_add(self.lease());
        let due = |job: &super::Job| job.stage != Stage::Asking && job.renewed.elapsed() >= lease / 3;
        let due: Vec<_> = self.jobs().filter(|job| due(job)).map(|job| (job.todo.uid, job.owner.clone())).collect();
        for (uid, owner) in due {
            let request = Request { durability: Durability::Relaxed, ..Request::of(self.actor(Some(&owner))) };
            let ops = [Op::Renew(Ref::Uid(uid), until)];
            match self.persist(|engine| engine.submit(self.world.plan, &request, &ops)) {
                // Whose it is by now is seen when the plan is looked at.
                Ok(_) | Err(EngineError::Refused(_)) => {}
                Err(error) => return Err(error.into()),
            }
            let jobs = self.seats.iter_mut().filter_map(|seat| seat.job.as_mut()).chain(&mut self.loose);
            jobs.filter(|job| job.todo.uid == uid).for_each(|job| job.renewed = Instant::now());
        }
        Ok(())
    }

    /// What people and other agents did to todos that are being worked on.
    fn watch_plan(&mut self) -> Result<(), RunError> {
        let stamp = self.persist(|engine| Ok(engine.store().stamp()?))?;
        // Not the stamp of the plan as it was last seen: giving out looks at it too, and would see a change first.
        if self.watched.is_some() && self.watched == stamp {
            return Ok(());
        }
        self.watched = stamp;
        for at in 0..self.seats.len() {
            let Some(job) = self.seats[at].job.as_ref().filter(|job| job.stage == Stage::Working) else { continue };
            let (uid, fence) = (job.todo.uid, job.todo.fence);
            let Some(todo) = self.plan()?.get(uid).cloned() else { continue };
            if !todo.is_live() {
                self.lost(at, "it was removed from the plan");
            } else if let Some(why) = Self::closed(todo.status).filter(|_| todo.status != Status::Failed) {
                self.lost(at, why);
            } else if todo.status == Status::InProgress && todo.fence != fence {
                self.lost(at, "somebody else has it by now");
            }
            // What its own agent did to it, a hold or a failure, is seen when its turn ends.
        }
        Ok(())
    }

    /// Agents that give no sign of life, take too long, or do not end when asked to.
    fn watch_agents(&mut self) -> Result<(), RunError> {
        let (idle, grace) = (self.world.settings.run_idle.value, self.world.settings.run_grace.value);
        let urgent = self.interrupt.is_urgent();
        for at in 0..self.seats.len() {
            let seat = &mut self.seats[at];
            let working = seat.job.as_ref().filter(|job| job.stage == Stage::Working);
            let working = working.map(|job| (job.todo.uid, job.since));
            let Some(conversation) = &mut seat.conversation else { continue };
            conversation.running.tend();
            match &conversation.ending {
                Some((since, _)) if since.elapsed() >= grace || urgent => conversation.running.kill(),
                Some(_) => {}
                None => {
                    let Some((uid, since)) = working else { continue };
                    let print = punch_engine::config::print_duration;
                    let seen = conversation.seen.max(conversation.running.printed());
                    let doom = if seen.elapsed() >= idle {
                        Some(format!("the agent gave no sign of life for {}", print(idle)))
                    } else if self.meter.todo_time_left(uid, since).is_some_and(|left| left.is_zero()) {
                        Some("the time for one todo is over".to_owned())
                    } else {
                        None
                    };
                    if let Some(why) = doom {
                        self.ask_to_end(at, EndReason::Failed(why));
                    }
                }
            }
        }
        Ok(())
    }
}
