//! Labels of other formats. Words that are valid labels become labels; the others are kept as extras of the todo, so
//! that an export to the same format writes them again.

use std::collections::BTreeSet;

use serde_json::Value;

use super::extra;
use super::input_object::InputObject;
use crate::{Label, Record};

/// Takes the labels out of a field that holds a list of words.
pub(super) fn take(item: &mut InputObject, key: &str) -> BTreeSet<Label> {
    let (mut labels, mut others) = (BTreeSet::new(), Vec::new());
    for word in item.list(key) {
        match word.as_str().and_then(|word| Label::parse(word).ok()) {
            Some(label) if labels.len() < Label::MOST => drop(labels.insert(label)),
            _ => others.push(word),
        }
    }
    if !others.is_empty() {
        item.put(key, others.into());
    }
    labels
}

/// Returns the words for a field: the labels, then the extras.
pub(super) fn list(record: &Record, format: &str, key: &str) -> Option<Value> {
    let kept = extra::get(record, format, key).and_then(Value::as_array);
    let labels = record.labels.iter().map(|label| Value::from(label.as_str()));
    let words: Vec<Value> = labels.chain(kept.into_iter().flatten().cloned()).collect();
    (!words.is_empty()).then(|| words.into())
}
