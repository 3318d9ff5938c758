//! Events of the new todos, the revision, and what the caller gets.

use super::Outcome;
use super::draft::Draft;
use super::resolve::Batch;
use crate::{Fields, Kind, Patch, Uid};

pub(super) fn finish(mut draft: Draft<'_>, batch: &Batch<'_>) -> Outcome {
    let blank = Fields::default();
    for (uid, _) in &batch.added {
        if let Some(todo) = draft.rows.get(uid) {
            let changes = blank.changes(&todo.fields);
            draft.event(Kind::Added, Patch::Todo(*uid, changes));
        }
    }
    if !draft.events.is_empty() {
        draft.row.revision += 1;
        draft.row.last_time = draft.now;
    }
    let plan = draft.plan;
    let now = draft.now;
    let rows: Vec<_> = draft.rows.into_values().filter(|todo| plan.get(todo.uid) != Some(todo)).collect();
    let mut unblocked: Vec<(i64, Uid)> = rows
        .iter()
        .filter(|t| t.is_ready(now) && plan.get(t.uid).is_some_and(|old| old.is_blocked(now)))
        .map(|t| (t.position, t.uid))
        .collect();
    unblocked.sort_unstable();
    Outcome {
        events: draft.events,
        rows,
        plan: draft.row,
        unblocked: unblocked.into_iter().map(|(_, uid)| uid).collect(),
        added: batch.added.iter().map(|(uid, _)| *uid).collect(),
        warnings: draft.warnings,
        undone: draft.undoes,
    }
}
