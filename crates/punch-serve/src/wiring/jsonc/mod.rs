//! JSON with comments and trailing commas, as users write agents' settings. Parsed into a tree of byte ranges, and
//! changed only by cutting and inserting bytes, so everything else in the file stays as it was.

mod edit;
mod print;
mod scan;
mod tree;

pub use edit::{insert, member, put, remove};
pub use tree::{JsonKind, JsonTree};
