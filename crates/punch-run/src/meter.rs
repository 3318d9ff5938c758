//! What a run has spent so far, and whether it may spend more. The ledger in the store is the truth; this is its sum.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use punch_core::Uid;
use punch_engine::Sum;
use punch_store::Spent;

use crate::options::Limits;

/// The meter of a run.
#[derive(Debug)]
pub struct Meter {
    run: Limits,
    todo: Limits,
    sum: Sum,
    todos: HashMap<Uid, Sum>,
    began: Instant,
    before: Duration,
}

impl Meter {
    /// Goes on from what is in the ledger, and from the time that the run went on before.
    pub fn new(run: Limits, todo: Limits, ledger: &[Spent], before: Duration) -> Self {
        let mut meter = Self { run, todo, sum: Sum::default(), todos: HashMap::new(), began: Instant::now(), before };
        ledger.iter().for_each(|spent| meter.add(spent));
        meter
    }

    /// Counts an entry.
    pub fn add(&mut self, spent: &Spent) {
        self.sum.add(spent);
        self.todos.entry(spent.uid).or_default().add(spent);
    }

    /// Everything so far.
    pub const fn sum(&self) -> Sum {
        self.sum
    }

    /// What one todo took.
    pub fn of(&self, uid: Uid) -> Sum {
        self.todos.get(&uid).copied().unwrap_or_default()
    }

    /// Why nothing more may be started or continued.
    pub fn stops_run(&self) -> Option<String> {
        self.run.reached(&self.sum, self.wall())
    }

    /// Why nothing more may be spent on a todo.
    pub fn stops_todo(&self, uid: Uid) -> Option<String> {
        let sum = self.of(uid);
        self.todo.reached(&sum, Duration::from_millis(sum.ms))
    }

    /// When the time of the run is over.
    pub fn time_left(&self) -> Option<Duration> {
        self.run.time.map(|most| most.saturating_sub(self.wall()))
    }

    /// How long an attempt that began then may go on.
    pub fn todo_time_left(&self, uid: Uid, since: Instant) -> Option<Duration> {
        let used = Duration::from_millis(self.of(uid).ms) + since.elapsed();
        self.todo.time.map(|most| most.saturating_sub(used))
    }

    /// How long the run has gone on, all its parts together.
    pub fn wall(&self) -> Duration {
        self.before + self.began.elapsed()
    }
}
