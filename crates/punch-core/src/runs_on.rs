//! Which workers of a fleet may take a todo. A label `runs-on:gpu` is a need: only a worker with the label `gpu` takes the
//! todo. A todo without such labels goes to any worker.

use std::collections::BTreeSet;

use crate::{Label, Todo};

/// What a label begins with that names a need.
const RUNS_ON: &str = "runs-on:";

/// Returns the labels that a worker needs to take a todo.
pub fn needed_labels(todo: &Todo) -> impl Iterator<Item = &str> {
    todo.labels.iter().filter_map(|label| label.as_str().strip_prefix(RUNS_ON)).filter(|need| !need.is_empty())
}

/// Returns true if a worker with these labels may take a todo.
pub fn may_take(labels: &BTreeSet<Label>, todo: &Todo) -> bool {
    needed_labels(todo).all(|need| labels.iter().any(|label| label.as_str() == need))
}
