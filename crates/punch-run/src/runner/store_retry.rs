//! A store that is out of reach for a while: moved, locked, read-only, full. Nothing is given up before its time.

use std::thread;
use std::time::{Duration, Instant};

use punch_engine::{Engine, EngineError};
use punch_store::StoreError;

use super::World;
use crate::interrupt::Interrupt;
use crate::run_event::{RunEvent, RunObserver, line};

/// How long a store that does not answer is waited for.
const PATIENCE: Duration = Duration::from_secs(300);

/// Pauses grow up to this.
const LONGEST: Duration = Duration::from_secs(1);

/// Whoever does something with the store, and again for as long as it is out of reach: agents go on meanwhile.
#[derive(Clone, Copy)]
pub(super) struct StoreRetry<'e> {
    pub world: &'e World<'e>,
    pub observer: &'e dyn RunObserver,
    pub interrupt: &'e Interrupt,
}

impl StoreRetry<'_> {
    pub fn persist<T>(self, mut body: impl FnMut(&Engine) -> Result<T, EngineError>) -> Result<T, EngineError> {
        let (begun, mut pause, mut told) = (Instant::now(), Duration::from_millis(20), false);
        loop {
            match body(self.world.engine) {
                Err(EngineError::Store(error @ StoreError::Unavailable { .. }))
                    if begun.elapsed() < PATIENCE && !self.interrupt.is_urgent() =>
                {
                    if !told {
                        let what = format!("the store does not answer, trying again: {}", line(&error.message()));
                        self.observer.on_event(&RunEvent::Remark { what });
                        told = true;
                    }
                    thread::sleep(pause);
                    pause = (pause * 2).min(LONGEST);
                }
                done => return done,
            }
        }
    }
}
