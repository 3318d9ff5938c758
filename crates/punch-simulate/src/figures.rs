//! What a simulation measures.

use crate::options::{HOUR, MINUTE, SECOND};

/// Sums over one simulation.
#[derive(Debug, Default)]
pub struct SimulationFigures {
    /// Simulated time until the last todo was completed, in milliseconds.
    pub span: i64,
    /// Requests that the store served.
    pub requests: u64,
    /// Messages that got lost.
    pub lost: u64,
    /// Crashes of workers.
    pub crashes: u64,
    /// Pauses and suspensions.
    pub pauses: u64,
    /// Hosts that lost their connection for a while.
    pub partitions: u64,
    /// Agents that were stopped, or died, before their todo was completed.
    pub interrupted: u64,
    /// Work that led to a completion.
    pub useful: i64,
    /// Work that was thrown away, as far as its worker lived to see it.
    pub wasted: i64,
    /// How long each claimed todo had been ready.
    pub waits: Vec<i64>,
    /// Completions of each worker.
    pub completed: Vec<u64>,
}

impl SimulationFigures {
    /// Empty sums for a fleet.
    pub fn new(workers: u32) -> Self {
        Self { completed: vec![0; workers as usize], ..Self::default() }
    }

    /// The wait that this share of the claims did not exceed.
    fn wait(&self, percent: usize) -> i64 {
        let mut waits = self.waits.clone();
        waits.sort_unstable();
        waits.get(waits.len().saturating_sub(1) * percent / 100).copied().unwrap_or_default()
    }

    /// Jain's index of the completions per worker: 1 if all have done the same.
    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    fn fairness(&self) -> f64 {
        let sum: u64 = self.completed.iter().sum();
        let squares: u64 = self.completed.iter().map(|n| n * n).sum();
        let (sum, squares, n) = (sum as f64, squares as f64, self.completed.len() as f64);
        if squares == 0.0 { 1.0 } else { sum * sum / (n * squares) }
    }

    /// The share of work that was thrown away, in percent.
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of years fit")]
    fn waste(&self) -> f64 {
        100.0 * self.wasted as f64 / (self.wasted + self.useful).max(1) as f64
    }

    /// A row of the table.
    pub fn row(&self) -> String {
        format!(
            "{:>9} {:>9} {:>9} {:>7.1} % {:>9.2} {:>8}",
            time(self.span),
            time(self.wait(50)),
            time(self.wait(99)),
            self.waste(),
            self.fairness(),
            self.interrupted
        )
    }

    /// The names over [`SimulationFigures::row`].
    pub const HEAD: &str = "     span  wait p50  wait p99    wasted  fairness  stopped";

    /// What went wrong on purpose, in one line.
    pub fn faults(&self) -> String {
        format!(
            "{} requests, {} messages lost, {} crashes, {} pauses, {} partitions",
            self.requests, self.lost, self.crashes, self.pauses, self.partitions
        )
    }
}

/// A span as people write it.
pub fn time(ms: i64) -> String {
    match ms {
        ..SECOND => format!("{ms} ms"),
        SECOND..MINUTE => format!("{} s", ms / SECOND),
        MINUTE..HOUR => format!("{} min", ms / MINUTE),
        _ => format!("{}.{} h", ms / HOUR, ms % HOUR * 10 / HOUR),
    }
}
