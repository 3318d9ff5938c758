//! A plan at a glance, read from few rows.

use punch_core::reason::PlanReader;
use punch_core::view::{PlanSummary, Progress, SummarySection, TodoRow};
use punch_core::{Plan, ShownStatus, Status, Todo, Uid};
use punch_store::{Snapshot, StoreError, Which};

use crate::{ReadyQuery, load_reasons};

/// Todos looked at to find what failed, what is stuck and what is on hold.
const LOOKED_AT: usize = 2_000;

/// Todos looked for that can be started: one more than is shown, so that a view can say that there are more.
const READY: usize = 4;

/// Sums a plan up for a reader. Only a plan in which something failed or was cancelled is looked through for what is stuck.
pub fn plan_summary(snapshot: &dyn Snapshot, query: &ReadyQuery<'_>) -> Result<PlanSummary, StoreError> {
    let row = snapshot.row()?;
    let counts = row.counts;
    let mut part = Plan::slice(row);
    let mut running = match counts.in_progress {
        0 => Vec::new(),
        _ => snapshot.list(Which::Running, None, usize::MAX)?,
    };
    running.retain(|todo| todo.status_at(query.now) == Status::InProgress);
    let ready = query.ready(snapshot, READY)?;
    let next = if running.is_empty() { query.next(snapshot)? } else { None };
    let unfinished = match counts.failed + counts.cancelled {
        0 => Vec::new(),
        _ => snapshot.list(Which::Unfinished, None, LOOKED_AT)?,
    };
    let held = snapshot.list(Which::Held, None, LOOKED_AT)?;
    let mut section = |todos: &[Todo], wanted: &dyn Fn(ShownStatus) -> bool| -> Result<SummarySection, StoreError> {
        let uids: Vec<Uid> = todos.iter().map(|todo| todo.uid).collect();
        todos.iter().for_each(|todo| part.put(todo.clone()));
        load_reasons(snapshot, &mut part, &uids)?;
        let reader = PlanReader::of(&part, query.owner, query.now);
        let todos = uids.iter().filter_map(|uid| part.get(*uid)).filter(|todo| wanted(reader.shown(todo)));
        Ok(SummarySection::of(todos.map(|todo| TodoRow::of(reader, todo))))
    };
    Ok(PlanSummary {
        working: section(&running, &|_| true)?,
        ready: section(&ready, &|_| true)?,
        next: section(next.as_slice(), &|_| true)?,
        failed: section(&unfinished, &|shown| shown == ShownStatus::Failed)?,
        stuck: section(&unfinished, &|shown| shown == ShownStatus::Stuck)?,
        held: section(&held, &|shown| shown == ShownStatus::Held)?,
        progress: Progress::of_counts(&counts),
        counts,
    })
}
