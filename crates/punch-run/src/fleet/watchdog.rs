//! Stops the agents of a worker that could not reach the store for too long, because others take over its todos when
//! its record expires and none of its agents may be left by then. Uses the monotonic clock of this machine and a
//! separate thread, because the runner may hang in a call to the store. Finds processes by a mark in their environment,
//! which only Linux shows; elsewhere the runner stops the agents that it started.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use punch_engine::process::end_marked_processes;

use crate::interrupt::Interrupt;

/// How often it looks.
const LOOK: Duration = Duration::from_millis(100);

/// Watches whether a runner reaches the store.
pub(crate) struct Watchdog {
    /// When the last renewal was asked for that the store has acknowledged.
    renewed: Mutex<Instant>,
    limit: Duration,
    cut_off: AtomicBool,
    over: AtomicBool,
}

impl Watchdog {
    /// Ends agents after two thirds of the lease without a renewal.
    pub fn new(lease: Duration) -> Self {
        Self {
            renewed: Mutex::new(Instant::now()),
            limit: lease * 2 / 3,
            cut_off: AtomicBool::new(false),
            over: AtomicBool::new(false),
        }
    }

    /// Watches until [`Watchdog::end`]. `sessions` begins the names of the session files of the agents.
    pub fn watch(&self, sessions: &str, interrupt: &Interrupt) {
        while !self.over.load(Ordering::Relaxed) {
            if self.is_late() {
                if !self.cut_off.swap(true, Ordering::Relaxed) {
                    // Whatever waits for the store gives up.
                    interrupt.ask();
                    interrupt.ask();
                }
                end_marked_processes("PUNCH_SESSION_FILE", sessions);
            }
            thread::sleep(LOOK);
        }
    }

    /// Records a renewal that was asked for at this time. Too late once the agents were ended.
    pub fn renewed(&self, asked: Instant) {
        *self.renewed.lock().unwrap_or_else(PoisonError::into_inner) = asked;
    }

    /// Returns true if the agents were ended, or have to be.
    pub fn is_cut_off(&self) -> bool {
        self.cut_off.load(Ordering::Relaxed) || self.is_late()
    }

    /// Ends the watch.
    pub fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    fn is_late(&self) -> bool {
        self.renewed.lock().unwrap_or_else(PoisonError::into_inner).elapsed() >= self.limit
    }
}
