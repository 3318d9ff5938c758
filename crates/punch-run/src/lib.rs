//! The runner: works a plan to its end with agents that it starts, watches and ends.
//!
//! Nothing here prints or reads the command line, the environment or the home folder: whatever comes from there is
//! handed in, and what happens is reported as values. Rules are the core's; what is kept is the engine's.

pub mod agent;
pub mod permission;
pub mod worktree;
