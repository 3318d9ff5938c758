//! Limits how often others may send requests. Applies only beyond loopback, because any program on this machine could
//! otherwise use up what is meant for the user's browser.
//!
//! Callers are counted by their token or session, and addresses only for requests without a valid one: behind a proxy
//! everyone has the same address, and no client must be able to lock the others out. A valid token gets in whatever its
//! address did before. That does not help with guessing one, because secrets have 256 random bits.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use axum::http::StatusCode;

use crate::ApiProblem;

/// Requests of one caller in a minute, and of one address where no token is needed.
const REQUESTS: u32 = 1_200;
/// Wrong tokens of one address in a minute.
const FAILURES: u32 = 10;
/// Counts that are remembered.
const COUNTS: usize = 10_000;
const MINUTE: i64 = 60_000;

/// What is counted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum RateKey {
    /// Requests of a caller.
    Caller(String),
    /// Requests of an address that need no token.
    Address(IpAddr),
    /// Wrong tokens of an address.
    Failures(IpAddr),
}

struct RateCount {
    since: i64,
    seen: u32,
}

/// Counts requests and wrong tokens.
pub(crate) struct Rate {
    counts: Option<Mutex<HashMap<RateKey, RateCount>>>,
}

impl Rate {
    /// Counts nothing on loopback.
    pub fn new(is_loopback: bool) -> Self {
        Self { counts: (!is_loopback).then(Mutex::default) }
    }

    /// Refuses a caller that asks too often.
    pub fn asked(&self, caller: &str, now: i64) -> Result<(), ApiProblem> {
        self.count(Some(RateKey::Caller(caller.to_owned())), REQUESTS, now)
    }

    /// Refuses an address that asks too often for what needs no token.
    pub fn probed(&self, peer: Option<IpAddr>, now: i64) -> Result<(), ApiProblem> {
        self.count(peer.map(RateKey::Address), REQUESTS, now)
    }

    /// Records a wrong token. Refuses an address that has sent too many.
    pub fn failed(&self, peer: Option<IpAddr>, now: i64) -> Result<(), ApiProblem> {
        self.count(peer.map(RateKey::Failures), FAILURES, now)
    }

    fn count(&self, what: Option<RateKey>, most: u32, now: i64) -> Result<(), ApiProblem> {
        let (Some(counts), Some(what)) = (&self.counts, what) else { return Ok(()) };
        let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.len() >= COUNTS {
            counts.retain(|_, count| now - count.since < MINUTE);
            if counts.len() >= COUNTS {
                counts.clear();
            }
        }
        let count = counts.entry(what).or_insert(RateCount { since: now, seen: 0 });
        if now - count.since >= MINUTE {
            *count = RateCount { since: now, seen: 0 };
        }
        count.seen = count.seen.saturating_add(1);
        if count.seen <= most {
            return Ok(());
        }
        let left = u64::try_from((count.since + MINUTE - now) / 1_000 + 1).unwrap_or(60);
        let message = "too many requests";
        let hint = "wait a minute";
        Err(ApiProblem::new(StatusCode::TOO_MANY_REQUESTS, "too_many_requests", message, hint).retry(left))
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const ADDRESS: Option<IpAddr> = Some(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)));
    const OTHER: Option<IpAddr> = Some(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2)));

    /// How many of 2,000 requests within a minute are let through.
    fn passed(mut ask: impl FnMut(i64) -> Result<(), ApiProblem>) -> usize {
        (0..2_000).filter(|n| ask(n * 29).is_ok()).count()
    }

    #[test]
    fn a_caller_asks_1200_times_a_minute_and_a_new_minute_begins_anew() {
        let rate = Rate::new(false);
        assert_eq!(passed(|now| rate.asked("phone", now)), 1_200);
        let refused = rate.asked("phone", MINUTE - 1).unwrap_err();
        assert_eq!((refused.status.as_u16(), refused.code.as_str()), (429, "too_many_requests"));
        assert_eq!(refused.retry_after, Some(1));
        assert!(rate.asked("desk", MINUTE - 1).is_ok(), "another caller");
        assert!(rate.asked("phone", MINUTE).is_ok());
        assert_eq!(passed(|now| rate.probed(ADDRESS, now)), 1_200);
        assert!(rate.probed(OTHER, 0).is_ok());
    }

    #[test]
    fn an_address_may_be_wrong_ten_times_a_minute_and_locks_no_caller_out() {
        let rate = Rate::new(false);
        assert_eq!(passed(|now| rate.failed(ADDRESS, now)), 10);
        assert!(rate.failed(OTHER, 0).is_ok() && rate.asked("phone", 0).is_ok() && rate.probed(ADDRESS, 0).is_ok());
        assert!(rate.failed(ADDRESS, MINUTE).is_ok());
    }

    #[test]
    fn nothing_is_counted_on_loopback() {
        let rate = Rate::new(true);
        assert_eq!(passed(|now| rate.asked("phone", now)), 2_000);
        assert_eq!(passed(|now| rate.failed(ADDRESS, now)), 2_000);
    }

    #[test]
    fn what_is_counted_has_a_bound() {
        let rate = Rate::new(false);
        for n in 0..COUNTS * 2 {
            rate.asked(&n.to_string(), 0).unwrap();
        }
        assert!(rate.counts.as_ref().unwrap().lock().unwrap().len() <= COUNTS);
    }
}
