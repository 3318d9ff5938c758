//! Schedules: invariants by an independent checker, level scheduling beside a plain model, and what the orders gain.

mod cases;
mod check;
mod critical;
mod level;
mod next;
pub mod scene;
