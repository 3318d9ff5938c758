//! What it takes to keep plans in a store of your own: the trait [`Store`] with its promises, and everything that its methods
//! name. The contract tests in `crates/punch-store/tests/contract` hold for every store.

pub use punch_core::{Event, Footprint, Outcome, Plan, PlanRow, Todo, Uid};
pub use punch_store::*;
