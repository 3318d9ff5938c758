//! The integration tests of the core, one binary.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed assertion is what a test is for")]

mod bridge;
mod equality;
mod graph;
mod lists;
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
