//! JSON with comments and trailing commas, as agents' settings are written by people. Read into a tree of byte ranges;
//! changed only by cutting and inserting bytes, so that everything else in the file stays as it was.

mod edit;
mod print;
mod scan;
mod tree;

pub use edit::{insert, member, put, remove};
pub use tree::{JsonKind, JsonTree};
