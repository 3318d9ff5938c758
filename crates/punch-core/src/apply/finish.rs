//! Finishes a write: events of the new todos, the revision, and the outcome for the caller.

use super::draft::PlanDraft;
use super::resolve::ResolvedBatch;
use super::{ApplyStop, Outcome};
use crate::reason::{is_busy, is_empty, is_startable};
use crate::{EventKind, Fields, Patch, Todo, Uid};

pub(super) fn finish(mut draft: PlanDraft<'_>, batch: &ResolvedBatch<'_>) -> Result<Outcome, ApplyStop> {
    let blank = Fields::default();
    for (uid, _) in &batch.added {
        if let Some(todo) = draft.rows.get(uid) {
            let changes = blank.changes(&todo.fields);
            draft.event(EventKind::Added, Patch::Todo(*uid, changes));
        }
    }
    if !draft.events.is_empty() {
        draft.row.revision += 1;
        draft.row.last_time = draft.now;
    }
    let plan = draft.plan;
    let now = draft.clock;
    let freed = |t: &&Todo| t.is_ready(now) && !is_empty(t) && plan.get(t.uid).is_some_and(|old| old.is_blocked(now));
    let freed: Vec<&Todo> = draft.rows.values().filter(freed).collect();
    let mut busy: Vec<&Todo> = Vec::new();
    if draft.row.counts.in_progress > 0 && freed.iter().any(|t| !t.files.is_empty()) {
        let before = plan.all_running()?.filter(|t| !draft.rows.contains_key(&t.uid));
        busy = before.chain(draft.rows.values()).filter(|t| is_busy(t, now)).collect();
    }
    let freed = freed.into_iter().filter(|t| is_startable(t, busy.iter().copied(), now));
    let mut unblocked: Vec<(i64, Uid)> = freed.map(|t| (t.position, t.uid)).collect();
    unblocked.sort_unstable();
    let rows: Vec<_> = draft.rows.into_values().filter(|todo| plan.get(todo.uid) != Some(todo)).collect();
    Ok(Outcome {
        events: draft.events,
        rows,
        plan: draft.row,
        unblocked: unblocked.into_iter().map(|(_, uid)| uid).collect(),
        added: batch.added.iter().map(|(uid, _)| *uid).collect(),
        warnings: draft.warnings,
        undone: draft.undoes,
    })
}
