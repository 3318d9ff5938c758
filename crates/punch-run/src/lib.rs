//! The runner: works a plan to its end with agents. Starts and watches them, keeps their work apart, merges it.
//!
//! Nothing here prints or reads the environment: whatever comes from there is handed in.

pub mod worktree;
