//! Applies hook reports to the plan. `punch-agents` reads what agents send and writes what they are answered.

mod checks;
mod run;
mod transcript;

pub use run::{HookResult, HookRunner};
