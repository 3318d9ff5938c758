//! The runner: works a plan to its end with agents that it starts, watches and ends.
//!
//! Nothing here prints or reads the command line, the environment or the home folder: whatever comes from there is
//! handed in, and what happens is reported as values. Rules are the core's; what is kept is the engine's.

pub mod agent;
mod error;
mod fleet;
mod folder;
mod interrupt;
mod lock;
mod meter;
mod observer;
mod options;
pub mod permission;
mod runner;
pub mod worktree;

pub use error::{MissingApprovals, RunError};
pub use fleet::{FleetOptions, FleetProject, work};
pub use folder::of_run;
pub use interrupt::Interrupt;
pub use observer::{QuestionSettled, RunEvent, RunObserver};
pub use options::{Permissions, RunLimits, RunOptions, micros};
pub use punch_engine::dollars;
pub use runner::{RunProject, RunResult, run};
