//! The integration tests of the core, one binary.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed assertion is what a test is for")]

mod bad_input;
mod batch;
mod big;
mod bridge;
mod checks;
mod claims;
mod diff;
mod drive;
mod enumerate;
mod equality;
mod format;
mod fuzz;
mod graph;
mod lists;
mod markdown;
mod merge;
mod pair;
mod phases;
mod plan_file;
mod record;
mod reported;
mod sample;
mod schedule;
mod schema;
mod slices;
mod transitions;
mod undo;
mod undo_history;
mod vectors;
mod view;
mod writes;
