//! Which todos can no longer start because another one was cancelled or failed.

use super::{PlanReader, shown};
use crate::{ShownStatus, Status, Todo};

/// Ids that are written out of one list.
const NAMED: usize = 5;
/// Todos that are reported.
const REPORTED: usize = 10;

/// One sentence for each of these todos that was cancelled or failed and that open todos depend on. Dependents that are not
/// loaded are not judged.
pub fn stranded(reader: PlanReader<'_>, closed: &[&Todo]) -> Vec<String> {
    let dropped = closed.iter().filter(|todo| matches!(todo.status, Status::Cancelled | Status::Failed));
    let sentence = |todo: &&Todo| {
        let dependents = reader.plan.dependents_of(todo.uid).ok()?;
        let dependents = dependents.iter().filter_map(|uid| reader.plan.get(*uid));
        let stuck: Vec<&Todo> = dependents.filter(|other| reader.shown(other) == ShownStatus::Stuck).collect();
        let mut names: Vec<String> = stuck.iter().take(NAMED).map(|other| shown(&other.id)).collect();
        if stuck.len() > names.len() {
            names.push(format!("{} more", stuck.len() - names.len()));
        }
        let names = match names.as_slice() {
            [] => return None,
            [one] => one.clone(),
            [first @ .., last] => format!("{} and {last}", first.join(", ")),
        };
        let how = if todo.status == Status::Failed { "failed" } else { "is cancelled" };
        Some(format!("{names} can no longer start: {} {how}", shown(&todo.id)))
    };
    dropped.filter_map(sentence).take(REPORTED).collect()
}
