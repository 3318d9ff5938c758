//! The tools with which a backend outside of this crate keeps the promises of [`crate::Store`] in the same way as those
//! inside.

use punch_core::{Dep, Fields, HoldKind, Todo};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

pub use crate::baseline::{advance, export};
pub use crate::columns::{Columns, FromColumns, add_up, control_key, count, most};
pub use crate::record::ACTIVITY_SWEEP;
pub use crate::store::{begins, closing, follows, name_taken};

/// The number of a content, for an index: FNV-1a. Stores hold it, so it never changes. Two contents may share one.
pub fn content_number(content: &str) -> i32 {
    let mix = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    content.bytes().fold(0x811C_9DC5, mix).cast_signed()
}

/// The end of the hold as a column: none, the end of a timer, or "until released".
pub fn held_until(todo: &Todo) -> Option<i64> {
    todo.hold.as_ref().map(|hold| match (hold.kind, hold.until) {
        (HoldKind::Timer, Some(until)) => until,
        _ => i64::MAX,
    })
}

/// The dependencies of a todo that count: a removed todo has none.
pub fn live_deps(todo: &Todo) -> &[Dep] {
    if todo.is_live() { &todo.depends_on } else { &[] }
}

/// A map with every field name: what is at its default is left out of the JSON of [`Fields`].
pub struct EveryField;

impl Serialize for EveryField {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(Fields::NAMES.iter().map(|name| (name, ())))
    }
}

/// The JSON of `value` with those keys of `old` that are not keys of `known`: what a newer program wrote stays.
pub fn keep_unknown(value: &impl Serialize, old: &str, known: &impl Serialize) -> Result<String, serde_json::Error> {
    let (mut new, known) = (serde_json::to_value(value)?, serde_json::to_value(known)?);
    let old: Map<String, Value> = serde_json::from_str(old)?;
    if let Value::Object(new) = &mut new {
        new.extend(old.into_iter().filter(|(key, _)| known.get(key).is_none()));
    }
    serde_json::to_string(&new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_content_is_what_stores_hold() {
        // The published values of FNV-1a.
        assert_eq!(content_number(""), 0x811C_9DC5_u32.cast_signed());
        assert_eq!(content_number("a"), 0xE40C_292C_u32.cast_signed());
        assert_eq!(content_number("foobar"), 0xBF9C_F968_u32.cast_signed());
    }
}
