//! The world around the rules: where the store of a project lives and how Punchlist is configured.
//!
//! Nothing here prints or reads arguments, environment or home folder: the caller hands them in as plain values, so
//! that a library user, a server and a test decide for themselves.

pub mod config;
pub mod copies;
pub mod locate;
mod platform;
