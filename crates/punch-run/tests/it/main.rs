//! The integration tests of the runner, one binary. Repositories are real and made by git.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed assertion is what a test is for")]

#[cfg(unix)]
mod hosts;
mod worktree;
