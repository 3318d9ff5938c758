//! `cargo xtask bench`: what Punchlist costs. Each benchmark has a file of its own and states what it counts: instructions
//! or CPU time where a busy machine must not change the result, ratios in one run everywhere else.

pub mod boards;
mod boards_web;
pub mod cli;
pub mod finish;
mod fleet;
mod follow;
mod generated;
mod large;
mod library;
mod mcp;
pub mod run;
mod tokenizer;
pub mod tokens;
mod tokens_page;
mod tool_server;
pub mod tools;

use crate::process;

pub use fleet::fleet;
pub use follow::follow;
pub use large::large;
pub use library::library;
pub use mcp::mcp;

/// What the inbox of a large plan costs.
pub fn inbox() -> Result<(), String> {
    process::run(process::cargo().args(["bench", "--package", "punch-core", "--bench", "inbox_cost"]))
}

/// What the orders of a schedule gain and cost.
pub fn schedule() -> Result<(), String> {
    process::run(process::cargo().args(["bench", "--package", "punch-core", "--bench", "schedule_cost"]))
}
