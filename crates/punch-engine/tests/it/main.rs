//! The integration tests of the engine, one binary. Repositories are real and made by git.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed assertion is what a test is for")]

mod call;
mod call_large;
mod care;
mod checkpoint;
mod claims;
mod config_docs;
mod config_edit;
mod config_files;
mod config_sources;
mod conversations;
mod fleet;
mod follow;
mod head;
mod host;
mod hostile_text;
mod inbox;
mod link;
mod locate_git;
mod locate_in_tree;
mod locate_outside;
mod locate_read_only;
mod mirror;
mod mirror_identity;
mod partly_applied;
mod plan_file;
mod read_large;
mod run;
mod run_lease;
mod sandbox;
#[cfg(unix)]
mod usage;
mod verify;
mod workers;
