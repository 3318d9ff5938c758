//! What the user wants of the run while it works, stored by other processes: pause, resume, stop, for the run or a seat.

use punch_engine::RunControls;
use punch_store::Wanted;

use super::seat::{Seat, SeatEvent};
use super::{Runner, Stop};
use crate::error::RunError;

impl Runner<'_, '_> {
    /// Reads what the user wants, and acts on what is new.
    pub(super) fn apply_controls(&mut self) -> Result<(), RunError> {
        let (plan, run) = (self.world.plan, self.run.id);
        let wanted = self.persist(|engine| engine.run_controls(plan, run))?;
        if wanted == self.controls {
            return Ok(());
        }
        let before = std::mem::replace(&mut self.controls, wanted.clone());
        if before.run != wanted.run {
            self.remark(match wanted.run {
                Wanted::Go => "the run was resumed".to_owned(),
                Wanted::Pause => "the run was paused: work in progress is finished, nothing new is started".to_owned(),
                Wanted::Stop => "the run was asked to stop".to_owned(),
            });
        }
        self.paused = wanted.run == Wanted::Pause;
        self.waiting = false;
        if wanted.run == Wanted::Stop {
            self.stop.get_or_insert(Stop::Interrupted);
        } else if before.run == Wanted::Stop && self.fleet.is_some() && self.stop == Some(Stop::Interrupted) {
            // The part of a fleet has waited for this.
            self.stop = None;
            let is_stopped = |seat: &Seat| {
                wanted
                    .seats
                    .iter()
                    .any(|(number, wanted)| *wanted == Wanted::Stop && u32::try_from(seat.number) == Ok(*number))
            };
            self.seats.iter_mut().for_each(|seat| seat.stop_requested = is_stopped(seat));
        }
        for at in 0..self.seats.len() {
            self.control_seat(at, &before, &wanted)?;
        }
        Ok(())
    }

    fn control_seat(&mut self, at: usize, before: &RunControls, wanted: &RunControls) -> Result<(), RunError> {
        let Ok(number @ 1..) = u32::try_from(self.seats[at].number) else { return Ok(()) };
        let of = |controls: &RunControls| controls.seats.get(&number).copied().unwrap_or_default();
        let (before, wanted) = (of(before), of(wanted));
        if before == wanted {
            return Ok(());
        }
        let word = match wanted {
            Wanted::Go => "resumed",
            Wanted::Pause => "paused",
            Wanted::Stop => "asked to stop",
        };
        self.remark(format!("seat {number} was {word}"));
        self.seats[at].paused = wanted == Wanted::Pause;
        if wanted == Wanted::Stop {
            return self.dispatch(at, SeatEvent::StopRequested);
        }
        if self.stop.is_none() {
            self.seats[at].stop_requested = false;
        }
        Ok(())
    }
}
