//! The bodies, one file for each kind of edge.

pub mod agent;
pub mod dialect;
pub mod files;
pub mod filter;
pub mod hook;
pub mod http;
pub mod mcp;
pub mod store;

use std::borrow::Cow;

/// Bytes as the text that a reader of text gets.
fn text(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}
