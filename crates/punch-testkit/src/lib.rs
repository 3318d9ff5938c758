//! Test tools: a naive model of the engine, literal models of two outside formats, generators, fuzz bodies, and a
//! scripted language model with a scripted agent.
//!
//! Nothing here uses the engine or shares code with it: what judges must not repeat the mistakes of what it judges.
//! Tests translate between the words of both sides.

pub mod ask;
pub mod batches;
pub mod calls;
pub mod drive;
pub mod fleet_scenarios;
pub mod fuzz;
pub mod goals;
pub mod inbox;
pub mod model;
#[cfg(unix)]
pub mod postgres;
#[cfg(unix)]
pub mod postgres_pooler;
#[cfg(unix)]
pub mod postgres_proxy;
pub mod random;
pub mod rules;
pub mod schema;
pub mod scripted;
pub mod seeds;
pub mod source;
pub mod terminal;
pub mod undo;
pub mod work;
