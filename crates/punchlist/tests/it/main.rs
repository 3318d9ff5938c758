//! The library as an agent builder uses it.
#![expect(clippy::unwrap_used, reason = "a test that cannot run what it tests has failed")]

#[path = "../../examples/agent/agent/mod.rs"]
mod agent;

mod agent_example;
mod calls;
mod changed;
mod cookbook;
mod dialects;
mod events;
mod evidence;
#[cfg(feature = "verify")]
mod following;
mod history;
mod own_store;
mod repeated_rows;
mod seeds;
mod snapshots;
mod texts;
mod turns;
mod typed;
mod ways_in;
