//! The outside formats: each reads a projection of the plan and asks for ops.

pub mod phases;
