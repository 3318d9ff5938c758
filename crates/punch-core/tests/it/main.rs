//! The integration tests of the core, one binary.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed assertion is what a test is for")]

mod bridge;
mod diff;
mod equality;
mod graph;
mod markdown;
mod pair;
mod phases;
mod record;
mod sample;
mod slices;
mod undo;
mod vectors;
mod view;
mod writes;
