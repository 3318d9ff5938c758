//! Literal models of two outside formats, written from their descriptions over plain JSON values.

pub mod cursor;
pub mod todowrite;
