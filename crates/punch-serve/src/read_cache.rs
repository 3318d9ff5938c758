//! Caches the answers to the last reads, each valid until a write, the end of a lease or the end of a timer. Agents ask
//! what is next before every step.

use std::sync::{Mutex, PoisonError};

use punch_engine::call::{CachedRead, ToolAnswer};

use crate::service::ToolRequest;

/// The most answers in the cache.
const CAPACITY: usize = 8;

/// An answer, and when it was true.
struct CachedAnswer {
    request: ToolRequest,
    stamp: u64,
    read: CachedRead,
}

/// The last readings, oldest first.
#[derive(Default)]
pub struct ReadCache(Mutex<Vec<CachedAnswer>>);

impl ReadCache {
    /// The answer to the same question, if the store is still at `stamp` and it holds at `now`.
    pub fn find(&self, request: &ToolRequest, stamp: u64, now: i64) -> Option<ToolAnswer> {
        let entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = entries
            .iter()
            .find(|entry| entry.stamp == stamp && entry.read.holds(now) && entry.request.is_same_as(request))?;
        Some(found.read.answer.clone())
    }

    /// Stores an answer. `stamp` was looked at before it was read, so it is never older than the stamp says.
    pub fn store(&self, request: &ToolRequest, stamp: u64, read: CachedRead) {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.retain(|entry| entry.stamp == stamp && !entry.request.is_same_as(request));
        if entries.len() >= CAPACITY {
            entries.remove(0);
        }
        entries.push(CachedAnswer { request: request.clone(), stamp, read });
    }
}
