//! The outside formats. Each reads a projection of the plan and asks for ops; none of them writes.
//!
//! Cursor, phases and todowrite are list dialects: `project` a plan to their list, `step` the list by the seed's own
//! algorithm, and [`list::diff`] asks for the ops that bring the plan to the new list. Extended and native ask for ops
//! directly. Mirror copies the list of a host's own todo tool.

pub mod cursor;
pub mod extended;
pub(crate) mod input;
pub mod list;
pub mod mirror;
pub mod native;
pub mod phases;
pub mod todowrite;
