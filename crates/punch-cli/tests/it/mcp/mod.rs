//! `punch mcp` as a client meets it.

mod abuse;
mod checkpoint;
mod checks;
pub mod client;
mod golden;
mod handshake;
mod http;
mod many;
mod roles;
mod session;
mod subscribe;
mod waiting;
