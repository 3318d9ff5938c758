//! Limits for clients of the HTTP server. Without them, a client that never finishes its requests or that opens endless
//! sessions would keep everyone else out.

use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::http::header::CONTENT_LENGTH;
use axum::http::request::Parts;
use serde::Deserialize;

use crate::http_access::Denial;

/// Limits of one server.
#[derive(Clone, Copy, Debug)]
pub struct HttpLimits {
    /// Connections that are open at once; further ones wait until one of them ends.
    pub connections: usize,
    /// Sessions that are open at once. Idle ones end after five minutes.
    pub sessions: usize,
    /// Bytes of one request's body.
    pub bytes: usize,
    /// How long the head of a request may take, and how long a connection may wait for its next request.
    pub head: Duration,
    /// How long the body of a request may take.
    pub body: Duration,
    /// How long a client may take to read a piece of an answer.
    pub stall: Duration,
}

impl HttpLimits {
    /// The limits of a server whose requests have at most `bytes` bytes.
    pub const fn new(bytes: usize) -> Self {
        Self {
            connections: 256,
            sessions: 256,
            bytes,
            head: Duration::from_secs(15),
            body: Duration::from_secs(30),
            stall: Duration::from_secs(60),
        }
    }

    /// Reads the body of a request.
    pub async fn read(&self, head: &Parts, body: Body) -> Result<Bytes, Denial> {
        let announced = head.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        if announced.is_some_and(|length| length > self.bytes as u64) {
            return Err(Denial::TooLarge);
        }
        match tokio::time::timeout(self.body, to_bytes(body, self.bytes)).await {
            Ok(Ok(bytes)) => Ok(bytes),
            // Either the limit was reached, or the client broke off and will not read the answer.
            Ok(Err(_)) => Err(Denial::TooLarge),
            Err(_) => Err(Denial::TooSlow),
        }
    }

    /// Returns true if a request with this body opens a session.
    pub fn opens_session(&self, body: &[u8]) -> bool {
        #[derive(Deserialize)]
        struct HttpMessage {
            method: String,
        }
        serde_json::from_slice::<HttpMessage>(body).is_ok_and(|message| message.method == "initialize")
    }

    /// Fails if as many sessions are open as may be.
    pub const fn room_for_session(&self, open: usize) -> Result<(), Denial> {
        if open < self.sessions { Ok(()) } else { Err(Denial::TooMany) }
    }
}
