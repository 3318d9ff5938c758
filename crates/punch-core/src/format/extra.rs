//! Fields of other formats that Punchlist does not know: kept with the todo under the name of their format, so that an
//! export to that format writes them again.

use serde_json::{Map, Value};

use crate::Record;

/// How much of it one todo may keep, in bytes of JSON.
pub(super) const LIMIT: usize = 32 * 1024;

/// What a record keeps for a format.
pub(super) fn of<'a>(record: &'a Record, format: &str) -> Option<&'a Map<String, Value>> {
    record.extra.as_ref()?.get(format)?.as_object()
}

/// One field that is kept.
pub(super) fn get<'a>(record: &'a Record, format: &str, key: &str) -> Option<&'a Value> {
    of(record, format)?.get(key)
}

/// Adds the extras to an object that is being written; keys that are there already stay.
pub(super) fn restore(record: &Record, format: &str, out: &mut Map<String, Value>) {
    for (key, value) in of(record, format).into_iter().flatten() {
        if !out.contains_key(key) {
            out.insert(key.clone(), value.clone());
        }
    }
}

/// Stores fields as extras of a record. Returns false and stores nothing if they are too large.
pub(super) fn keep(record: &mut Record, format: &str, fields: Map<String, Value>) -> bool {
    if fields.is_empty() {
        return true;
    }
    let fields = Value::Object(fields);
    if fields.to_string().len() > LIMIT {
        return false;
    }
    record.extra.get_or_insert_default().insert(format.to_owned(), fields);
    true
}
