//! Retries while the store does not respond, because it was moved, locked or made read-only, or is full. Does the same
//! for the git remote of a fleet.

use std::thread;
use std::time::{Duration, Instant};

use punch_engine::{Engine, EngineError};
use punch_store::{StoreError, StoreObstacle};

use super::RunProject;
use super::journal::RunJournal;
use crate::interrupt::Interrupt;
use crate::observer::{RunEvent, line};
use crate::worktree::WorktreeError;

/// How long the runner waits for a store or a git remote that does not answer.
const PATIENCE: Duration = Duration::from_secs(300);

/// The longest pause between two tries.
const LONGEST: Duration = Duration::from_secs(1);

/// The longest pause between two tries of a git remote.
const LONGEST_OF_REMOTE: Duration = Duration::from_secs(10);

/// Access to the store that retries while it does not respond. Agents keep working while it does.
#[derive(Clone, Copy)]
pub(super) struct StoreRetry<'e> {
    pub world: &'e RunProject<'e>,
    pub journal: &'e RunJournal<'e>,
    pub interrupt: &'e Interrupt,
}

impl StoreRetry<'_> {
    pub fn persist<T>(self, mut body: impl FnMut(&Engine) -> Result<T, EngineError>) -> Result<T, EngineError> {
        let (begun, mut pause, mut told) = (Instant::now(), Duration::from_millis(20), false);
        loop {
            match body(self.world.engine) {
                Err(EngineError::Store(error @ StoreError::Unavailable { reason, .. }))
                    if reason != StoreObstacle::Unsure && begun.elapsed() < PATIENCE && !self.interrupt.is_urgent() =>
                {
                    if !told {
                        let what = format!("the store does not answer, trying again: {}", line(&error.message()));
                        self.journal.report(&RunEvent::Remark { what });
                        told = true;
                    }
                    thread::sleep(pause);
                    pause = (pause * 2).min(LONGEST);
                }
                done => return done,
            }
        }
    }

    /// Uses the git remote of a fleet, waiting for one that cannot be reached. One that refuses is not asked again.
    pub fn with_remote<T>(self, mut ask: impl FnMut() -> Result<T, WorktreeError>) -> Result<T, WorktreeError> {
        let (begun, mut pause, mut is_known) = (Instant::now(), Duration::from_millis(200), false);
        loop {
            match ask() {
                Err(error @ WorktreeError::Remote { .. })
                    if begun.elapsed() < PATIENCE && !self.interrupt.is_asked() =>
                {
                    if !is_known {
                        let what = line(&format!("the git remote does not answer, trying again: {error}"));
                        self.journal.report(&RunEvent::Remark { what });
                        is_known = true;
                    }
                    thread::sleep(pause);
                    pause = (pause * 2).min(LONGEST_OF_REMOTE);
                }
                done => return done,
            }
        }
    }
}
