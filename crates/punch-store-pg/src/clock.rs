//! The time of the server. All machines judge leases by this one clock. Between round trips, the monotonic clock of
//! this machine advances it, and it never goes backwards.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// The last time that the server gave, and when it came.
pub struct ServerClock(Mutex<(i64, Instant)>);

impl ServerClock {
    pub fn new(server: i64) -> Self {
        Self(Mutex::new((server, Instant::now())))
    }

    /// The time now, as far as it is known: the server is at least as far.
    pub fn now(&self) -> i64 {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        carried(&known)
    }

    /// Takes a time that the server just gave. Returns the time that counts.
    pub fn heard(&self, server: i64) -> i64 {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let time = server.max(carried(&known));
        *known = (time, Instant::now());
        time
    }
}

/// A `timestamptz` as it comes over the wire, in milliseconds since 1970. Asked for in this form, because `extract` computes
/// with decimal numbers, which costs more than reading the clock.
pub const fn millis(timestamp: i64) -> i64 {
    /// From 1970 to 2000, where timestamps of the server begin.
    const EPOCH: i64 = 946_684_800_000;
    timestamp.div_euclid(1_000).saturating_add(EPOCH)
}

fn carried((server, heard): &(i64, Instant)) -> i64 {
    server.saturating_add(i64::try_from(heard.elapsed().as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_of_the_server_are_milliseconds_rounded_down() {
        assert_eq!(millis(0), 946_684_800_000);
        assert_eq!(millis(848_361_600_123_999), 1_795_046_400_123);
        assert_eq!(millis(-1), 946_684_799_999);
    }
}
