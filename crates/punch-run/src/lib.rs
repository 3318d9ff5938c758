//! The runner: works a plan to its end with agents that it starts, watches and ends.
//!
//! Nothing here prints or reads the command line, the environment or the home folder: whatever comes from there is
//! handed in, and what happens is reported as values. Rules are the core's; what is kept is the engine's.

pub mod agent;
mod error;
mod folder;
mod interrupt;
mod lock;
mod meter;
mod options;
pub mod permission;
mod run_event;
mod runner;
pub mod worktree;

pub use error::RunError;
pub use folder::of_run;
pub use interrupt::Interrupt;
pub use options::{Limits, Options, Permissions, dollars, micros};
pub use run_event::{RunEvent, RunObserver};
pub use runner::{Finished, World, run};
