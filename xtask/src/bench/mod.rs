//! `cargo xtask bench`: what Punchlist costs. Each benchmark has a file of its own and states what it counts: instructions
//! or CPU time where a busy machine must not change the result, ratios in one run everywhere else.

pub mod boards;
mod boards_web;
pub mod cli;
mod follow;
mod mcp;
pub mod run;
mod tools;

use crate::process;

pub use follow::follow;
pub use mcp::mcp;

/// What the inbox of a large plan costs.
pub fn inbox() -> Result<(), String> {
    process::run(process::cargo().args(["bench", "--package", "punch-core", "--bench", "inbox_cost"]))
}

/// What plans in PostgreSQL cost beside pgbench.
pub fn fleet() -> Result<(), String> {
    process::run(process::cargo().args(["bench", "--package", "punch-store-pg", "--bench", "fleet"]))
}

/// What the orders of a schedule gain and cost.
pub fn schedule() -> Result<(), String> {
    process::run(process::cargo().args(["bench", "--package", "punch-core", "--bench", "schedule_cost"]))
}
