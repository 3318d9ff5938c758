//! Eight processes at once: how many durable changes they make in a second, and how long the slowest one waits.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use super::call::call;

const WORKERS: usize = 8;
const CALLS: usize = 25;

/// What a crowd achieved.
#[derive(Clone, Copy, Debug, Default)]
pub struct Crowd {
    changes: usize,
    time: Duration,
    /// The longest that one call took.
    pub slowest: Duration,
}

impl Crowd {
    /// Changes a second.
    pub fn pace(&self) -> f64 {
        self.changes as f64 / self.time.as_secs_f64()
    }

    /// Lets eight workers call it one after the other, all at once.
    pub fn work(&mut self, command: impl Fn() -> Command + Sync) -> Result<(), String> {
        let start = Instant::now();
        let worker = || -> Result<Duration, String> {
            let mut slowest = Duration::ZERO;
            for _ in 0..CALLS {
                slowest = slowest.max(call(&mut command())?.wall);
            }
            Ok(slowest)
        };
        let results: Vec<Result<Duration, String>> = thread::scope(|scope| {
            let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(worker)).collect();
            workers.into_iter().map(|w| w.join().unwrap_or_else(|_| Err("a worker panicked".into()))).collect()
        });
        for result in results {
            self.slowest = self.slowest.max(result?);
        }
        self.changes += WORKERS * CALLS;
        self.time += start.elapsed();
        Ok(())
    }
}
