//! Keeps the fleet on a board up to date without reading it after every write.

use punch_core::view::FleetView;

use crate::{Engine, EngineError};

/// The shortest time between two looks. Every worker writes several times a minute, and a look reads all plans.
const APART_MS: i64 = 2_000;

/// The fleet as of the last look, and whether another look is due.
#[derive(Debug, Default)]
pub struct FleetRefresher {
    /// The fleet.
    view: FleetView,
    looked_at: Option<i64>,
    /// Something was written since the last look.
    is_old: bool,
}

impl FleetRefresher {
    /// Returns the fleet. The caller asks after a write, and when [`Self::next_look`] has come.
    pub fn refresh(&mut self, engine: &Engine, now: i64) -> Result<&FleetView, EngineError> {
        self.is_old = self.looked_at.is_some_and(|at| (at..at.saturating_add(APART_MS)).contains(&now));
        if !self.is_old {
            self.view = engine.fleet()?;
            self.looked_at = Some(now);
        }
        Ok(&self.view)
    }

    /// Returns when to look again because a write came too soon after the last look; `None` if nothing was written.
    pub fn next_look(&self) -> Option<i64> {
        self.looked_at.filter(|_| self.is_old).map(|at| at.saturating_add(APART_MS))
    }

    /// Returns true if the next look is due.
    pub fn is_due(&self, now: i64) -> bool {
        self.next_look().is_some_and(|at| at <= now)
    }
}
