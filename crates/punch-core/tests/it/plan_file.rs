//! Plan files: edits in place, and the merge of two sides.

mod checklists;
mod edits;
mod merging;
mod places;
