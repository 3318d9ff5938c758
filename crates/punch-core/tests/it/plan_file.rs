//! Plan files: edits in place, and the merge of two sides.

mod edits;
mod merging;
mod places;
