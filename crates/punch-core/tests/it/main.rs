//! Integration tests of the core, one binary.

mod graph;
