//! Answers to the last readings, each good for as long as nobody wrote and no lease or timer ended. Agents ask the same
//! question often: before every step, what is next.

use std::sync::{Mutex, PoisonError};

use punch_engine::call::{Answer, CachedRead};

use crate::desk::Ask;

/// Answers that are kept.
const KEPT: usize = 8;

/// What was answered, and when it was true.
struct Kept {
    ask: Ask,
    stamp: u64,
    read: CachedRead,
}

/// The last readings, oldest first.
#[derive(Default)]
pub struct Readings(Mutex<Vec<Kept>>);

impl Readings {
    /// The answer to the same question, if the store is still at `stamp` and it holds at `now`.
    pub fn find(&self, ask: &Ask, stamp: u64, now: i64) -> Option<Answer> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.iter().find(|kept| kept.stamp == stamp && kept.read.holds(now) && kept.ask.asks_same(ask))?;
        Some(found.read.answer.clone())
    }

    /// Keeps an answer. `stamp` was looked at before it was read, so it is never older than the stamp says.
    pub fn keep(&self, ask: &Ask, stamp: u64, read: CachedRead) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|kept| kept.stamp == stamp && !kept.ask.asks_same(ask));
        if kept.len() >= KEPT {
            kept.remove(0);
        }
        kept.push(Kept { ask: ask.clone(), stamp, read });
    }
}
