//! What the runner does in every round: requests to stop, answers, changes of the plan by others, and time.

use std::time::{Duration, Instant};

use super::seat::SeatEvent;
use super::{Runner, StopCause};
use crate::error::RunError;
use crate::fleet::{FleetPart, FleetRole, Watchdog};

/// How often the lease of the plan is renewed: a third of what it lasts.
const RENEWAL: Duration = Duration::from_secs(10);

/// How long a part of a fleet relies on hearing of changes before it looks for itself.
const UNHEARD: Duration = Duration::from_secs(5);

impl Runner<'_, '_> {
    pub(super) fn housekeeping(&mut self) -> Result<(), RunError> {
        if self.watchdog.is_some_and(Watchdog::is_cut_off) {
            return Err(RunError::CutOff);
        }
        self.renew_lease()?;
        self.compare_with_plan()?;
        self.apply_stop_requests()?;
        self.check_questions()?;
        self.tick()?;
        self.notify_of_inbox()?;
        self.publish();
        Ok(())
    }

    /// Renews the lease of the plan. If another runner has it, this one ends at once and writes nothing more.
    fn renew_lease(&mut self) -> Result<(), RunError> {
        let renewal = self.fleet.map_or(RENEWAL, |part| part.fleet.lease / 3);
        if self.renewed.elapsed() >= renewal {
            // The lease counts from a time before it was asked for.
            let asked = Instant::now();
            match self.fleet {
                Some(FleetPart { fleet, part: FleetRole::Worker }) => self.renew_claims(fleet, asked)?,
                Some(FleetPart { part: FleetRole::Coordinator, .. }) => {
                    self.persist(|engine| engine.renew_run(self.world.plan))?;
                    self.take_over_dead_workers()?;
                }
                None => self.persist(|engine| engine.renew_run(self.world.plan))?,
            }
            self.renewed = asked;
        }
        Ok(())
    }

    /// Asks agents to exit if the user wants the run to stop, or its time is over.
    fn apply_stop_requests(&mut self) -> Result<(), RunError> {
        if self.interrupt.is_asked() {
            self.stop = Some(StopCause::Interrupted);
        }
        let time_over = self.meter.time_left().is_some_and(|left| left.is_zero());
        // A coordinator spends nothing, and what agents have done is taken in.
        if time_over && self.stop.is_none() && !self.is_coordinator() {
            self.stop = self.meter.stops_run().map(StopCause::Budget);
        }
        if self.stop == Some(StopCause::Interrupted) || (time_over && self.stop.is_some()) {
            for at in 0..self.seats.len() {
                self.dispatch(at, SeatEvent::StopRequested)?;
            }
        }
        Ok(())
    }

    /// Passes on what others did to todos that agents work on.
    fn compare_with_plan(&mut self) -> Result<(), RunError> {
        if let Some(part) = self.fleet {
            let heard = part.fleet.changes();
            if self.heard.is_some_and(|(known, at)| known == heard && at.elapsed() < UNHEARD) {
                return Ok(());
            }
            self.heard = Some((heard, Instant::now()));
        }
        let stamp = self.persist(|engine| Ok(engine.store().stamp(Some(self.world.plan))?))?;
        // Not the stamp of the plan cache: assigning reads the plan too, and would see a change first.
        if self.compared.is_some() && self.compared == stamp {
            return Ok(());
        }
        self.compared = stamp;
        self.inbox.plan_changed();
        self.look_at_run()?;
        self.apply_controls()?;
        for at in 0..self.seats.len() {
            let Some(uid) = self.seats[at].state.job_in_work().map(|job| job.todo.uid) else { continue };
            if let Some(todo) = self.plan()?.get(uid).cloned() {
                self.dispatch(at, SeatEvent::TodoChanged(todo))?;
            }
        }
        Ok(())
    }

    fn tick(&mut self) -> Result<(), RunError> {
        for at in 0..self.seats.len() {
            let state = &self.seats[at].state;
            let time_left = state.job_in_work().and_then(|job| self.meter.todo_time_left(job.todo.uid, job.since));
            let process = state.conversation().and_then(|open| self.processes.get_mut(&open.worker.start));
            let printed = process.map(|process| {
                process.tend();
                process.printed()
            });
            let todo_time_over = time_left.is_some_and(|left| left.is_zero());
            self.dispatch(at, SeatEvent::Tick { printed, todo_time_over })?;
        }
        Ok(())
    }
}
