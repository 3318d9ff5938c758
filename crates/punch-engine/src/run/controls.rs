//! The user's controls for a run or one of its seats: work, pause or stop. Any process stores them, and the runner
//! reads them.

use std::collections::BTreeMap;

use punch_core::Actor;
use punch_store::{ControlRecord, ControlScope, Durability, PlanId, RequestedState};

use crate::activity::{self, ActivityKind};
use crate::{Engine, EngineError};

/// What the user requests of a run and of its seats.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunControls {
    /// The requested state of the run as a whole.
    pub run: RequestedState,
    /// The requested state of single seats, by number, if it is not [`RequestedState::Go`].
    pub seats: BTreeMap<u32, RequestedState>,
}

/// The result of a control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlResult {
    /// The runner will find it.
    Stored,
    /// The run has ended, or was killed.
    NotRunning,
    /// The run has no such seat.
    NoSeat,
    /// No run has this number.
    NoRun,
}

impl Engine {
    /// Returns what the user requests of a run.
    pub fn run_controls(&self, plan: PlanId, run: u64) -> Result<RunControls, EngineError> {
        self.read(plan, |snapshot| {
            let mut out = RunControls::default();
            for control in snapshot.run_controls(run)? {
                match control.scope {
                    ControlScope::Run { .. } => out.run = control.wanted,
                    ControlScope::Seat { seat, .. } => drop(out.seats.insert(seat, control.wanted)),
                    ControlScope::Session(_) | ControlScope::Sessions => {}
                }
            }
            Ok(out)
        })
    }

    /// Stores what the user requests of a run, or of one of its seats. The runner acts on it within a second. Resuming
    /// a run does not change requests for single seats.
    pub fn control_run(
        &self,
        plan: PlanId,
        run: u64,
        seat: Option<u32>,
        wanted: RequestedState,
        by: &Actor,
    ) -> Result<ControlResult, EngineError> {
        self.write(plan, Durability::Full, |tx, now| {
            let Some(record) = tx.run(run)?.as_ref().map(super::record::read) else { return Ok(ControlResult::NoRun) };
            if !super::record::is_running(tx, &record, now)? {
                return Ok(ControlResult::NotRunning);
            }
            let seats = record.body.options["agents"].as_u64().unwrap_or(1);
            if seat.is_some_and(|seat| seat == 0 || u64::from(seat) > seats) {
                return Ok(ControlResult::NoSeat);
            }
            let scope = match seat {
                Some(seat) => ControlScope::Seat { plan, run, seat },
                None => ControlScope::Run { plan, run },
            };
            let name = seat.map_or_else(|| format!("run {run}"), |seat| format!("seat {seat} of run {run}"));
            tx.put_control(&ControlRecord { scope, wanted, by: by.by().to_owned(), at: now })?;
            let kind =
                ActivityKind::Control { scope: name, wanted: wanted.as_str().to_owned(), by: by.by().to_owned() };
            activity::record(tx, Some(&activity::of_run(run, seat)), None, &kind, now)?;
            Ok(ControlResult::Stored)
        })
    }

    /// Returns the run of a plan that a runner works on now.
    pub fn running(&self, plan: PlanId) -> Result<Option<super::RunRecord>, EngineError> {
        let now = self.now();
        self.read(plan, |snapshot| {
            let last = snapshot.runs(1)?.first().map(super::record::read);
            Ok(match last {
                Some(run) if super::record::is_running(snapshot, &run, now)? => Some(run),
                _ => None,
            })
        })
    }
}
