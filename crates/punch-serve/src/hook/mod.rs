//! Hooks: what a report leads to in the plan. What agents say and what they are answered is read and written by
//! `punch-agents`.

mod checks;
mod run;
mod transcript;

pub use run::{HookResult, HookRunner};
