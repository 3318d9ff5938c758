//! The web board from outside: requests as bytes, answers as a browser or a program gets them.
#![expect(clippy::unwrap_used, reason = "a test that cannot reach its server has failed")]

mod access;
mod agents;
mod answers;
mod client;
mod described;
mod description;
mod fleet;
mod following;
mod operation;
mod page;
mod refusals;
mod slow;
mod tls;
