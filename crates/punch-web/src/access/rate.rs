//! How often others may ask. Only beyond loopback: here every program of the machine could use up what is meant for the
//! user's browser.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use axum::http::StatusCode;

use crate::ApiProblem;

/// Requests of one address in a minute.
const REQUESTS: u32 = 1_200;
/// Wrong tokens of one address in a minute.
const FAILURES: u32 = 10;
/// Addresses that are remembered.
const ADDRESSES: usize = 10_000;
const MINUTE: i64 = 60_000;

#[derive(Default)]
struct Count {
    since: i64,
    requests: u32,
    failures: u32,
}

/// Counts requests and wrong tokens by address.
pub(crate) struct Rate {
    counts: Option<Mutex<HashMap<IpAddr, Count>>>,
}

impl Rate {
    /// Counts nothing on loopback.
    pub fn new(is_loopback: bool) -> Self {
        Self { counts: (!is_loopback).then(Mutex::default) }
    }

    /// Refuses an address that asks too often, or that was wrong too often.
    pub fn admit(&self, peer: Option<IpAddr>, now: i64) -> Result<(), ApiProblem> {
        self.count(peer, now, |count| {
            count.requests += 1;
            count.requests <= REQUESTS && count.failures < FAILURES
        })
    }

    /// Records a wrong token.
    pub fn failed(&self, peer: Option<IpAddr>, now: i64) -> Result<(), ApiProblem> {
        self.count(peer, now, |count| {
            count.failures += 1;
            count.failures <= FAILURES
        })
    }

    fn count(&self, peer: Option<IpAddr>, now: i64, add: impl FnOnce(&mut Count) -> bool) -> Result<(), ApiProblem> {
        let (Some(counts), Some(peer)) = (&self.counts, peer) else { return Ok(()) };
        let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.len() >= ADDRESSES {
            counts.retain(|_, count| now - count.since < MINUTE);
            if counts.len() >= ADDRESSES {
                counts.clear();
            }
        }
        let count = counts.entry(peer).or_insert_with(|| Count { since: now, ..Count::default() });
        if now - count.since >= MINUTE {
            *count = Count { since: now, ..Count::default() };
        }
        if add(count) {
            return Ok(());
        }
        let left = u64::try_from((count.since + MINUTE - now) / 1_000 + 1).unwrap_or(60);
        let message = "too many requests from this address";
        let hint = "wait a minute";
        Err(ApiProblem::new(StatusCode::TOO_MANY_REQUESTS, "too_many_requests", message, hint).retry(left))
    }
}
