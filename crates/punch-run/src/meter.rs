//! Sums up what a run has spent and compares it with the limits. The ledger in the store is authoritative.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use punch_core::Uid;
use punch_engine::Sum;
use punch_store::LedgerEntry;

use crate::options::RunLimits;

/// What a run and its todos have spent so far.
#[derive(Debug)]
pub struct RunMeter {
    run: RunLimits,
    todo: RunLimits,
    sum: Sum,
    todos: HashMap<Uid, Sum>,
    /// The seats whose turn has begun and not ended.
    open_turns: HashSet<usize>,
    began: Instant,
    before: Duration,
}

impl RunMeter {
    /// Starts with the entries of the ledger and the time that earlier parts of the run took.
    pub fn new(run: RunLimits, todo: RunLimits, ledger: &[LedgerEntry], before: Duration) -> Self {
        let mut meter = Self {
            run,
            todo,
            sum: Sum::default(),
            todos: HashMap::new(),
            open_turns: HashSet::new(),
            began: Instant::now(),
            before,
        };
        ledger.iter().for_each(|spent| meter.add(spent));
        meter
    }

    /// Adds an entry of the ledger.
    pub fn add(&mut self, spent: &LedgerEntry) {
        self.sum.add(spent);
        self.todos.entry(spent.uid).or_default().add(spent);
    }

    /// Replaces what was counted by the entries of the ledger.
    pub fn reload(&mut self, ledger: &[LedgerEntry]) {
        (self.sum, self.todos) = (Sum::default(), HashMap::new());
        ledger.iter().for_each(|spent| self.add(spent));
    }

    /// Counts a turn of a seat from its beginning, so that turns at the same time do not exceed the limit together.
    pub fn begin_turn(&mut self, seat: usize) {
        self.open_turns.insert(seat);
    }

    /// Returns true if the seat had an open turn, and closes it.
    pub fn end_turn(&mut self, seat: usize) -> bool {
        self.open_turns.remove(&seat)
    }

    /// Returns what the run has spent.
    pub const fn sum(&self) -> Sum {
        self.sum
    }

    /// Returns what a todo took in this run.
    pub fn of(&self, uid: Uid) -> Sum {
        self.todos.get(&uid).copied().unwrap_or_default()
    }

    /// Returns the limit of the run that is reached, in words. Nothing more is started or continued then. Turns count as
    /// soon as they begin.
    pub fn stops_run(&self) -> Option<String> {
        let turns = self.sum.turns.saturating_add(self.open_turns.len() as u64);
        self.run.reached(&Sum { turns, ..self.sum }, self.wall())
    }

    /// Returns the limit that a todo has reached, in words.
    pub fn stops_todo(&self, uid: Uid) -> Option<String> {
        let sum = self.of(uid);
        self.todo.reached(&sum, Duration::from_millis(sum.ms))
    }

    /// Returns how much time the run has left; `None` if its time is not limited.
    pub fn time_left(&self) -> Option<Duration> {
        self.run.time.map(|most| most.saturating_sub(self.wall()))
    }

    /// Returns how much time is left for a todo whose attempt began at `since`; `None` if its time is not limited.
    pub fn todo_time_left(&self, uid: Uid, since: Instant) -> Option<Duration> {
        let used = Duration::from_millis(self.of(uid).ms) + since.elapsed();
        self.todo.time.map(|most| most.saturating_sub(used))
    }

    /// Returns how long the run took, with the parts before it was interrupted.
    pub fn wall(&self) -> Duration {
        self.before + self.began.elapsed()
    }
}
