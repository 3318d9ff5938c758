//! The user's controls of a running run, stored by other processes: pause, resume or stop the run or a seat.

use punch_engine::RunControls;
use punch_store::RequestedState;

use super::seat::{Seat, SeatEvent};
use super::{Runner, StopCause};
use crate::error::RunError;

impl Runner<'_, '_> {
    /// Reads the user's controls, and acts on new ones.
    pub(super) fn apply_controls(&mut self) -> Result<(), RunError> {
        let (plan, run) = (self.world.plan, self.run.id);
        let wanted = self.persist(|engine| engine.run_controls(plan, run))?;
        if wanted == self.controls {
            return Ok(());
        }
        let before = std::mem::replace(&mut self.controls, wanted.clone());
        if before.run != wanted.run {
            self.remark(match wanted.run {
                RequestedState::Go => "the run was resumed".to_owned(),
                RequestedState::Pause => {
                    "the run was paused: work in progress is finished, nothing new is started".to_owned()
                }
                RequestedState::Stop => "the run was asked to stop".to_owned(),
            });
        }
        self.paused = wanted.run == RequestedState::Pause;
        self.waiting = false;
        if wanted.run == RequestedState::Stop {
            self.stop.get_or_insert(StopCause::Interrupted);
        } else if before.run == RequestedState::Stop
            && self.fleet.is_some()
            && self.stop == Some(StopCause::Interrupted)
        {
            // The part of a fleet has waited for this.
            self.stop = None;
            let is_stopped = |seat: &Seat| {
                wanted.seats.iter().any(|(number, wanted)| {
                    *wanted == RequestedState::Stop && u32::try_from(seat.number) == Ok(*number)
                })
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
            RequestedState::Go => "resumed",
            RequestedState::Pause => "paused",
            RequestedState::Stop => "asked to stop",
        };
        self.remark(format!("seat {number} was {word}"));
        self.seats[at].paused = wanted == RequestedState::Pause;
        if wanted == RequestedState::Stop {
            return self.dispatch(at, SeatEvent::StopRequested);
        }
        if self.stop.is_none() {
            self.seats[at].stop_requested = false;
        }
        Ok(())
    }
}
