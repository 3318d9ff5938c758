//! Derived values: updated for the todos that a write touched, or recomputed for a whole plan (folding, checking,
//! undo).

use std::collections::BTreeSet;
use std::sync::Arc;

use super::ApplyStop;
use super::draft::PlanDraft;
use crate::graph::hash::Map;
use crate::graph::kahn::{self, Csr};
use crate::graph::{Net, relevel, repull, strengthen};
use crate::{CancelledDep, Counts, Dep, Derived, Event, Footprint, NO_PULL, Need, Patch, Plan, Status, Todo, Uid};

/// Brings levels and pulls in step with what the write changed.
pub(super) fn settle(draft: &mut PlanDraft<'_>) -> Result<(), ApplyStop> {
    let seeds = std::mem::take(&mut draft.relevel);
    let seeds = live_only(draft, seeds)?;
    relevel(draft, &seeds)?;
    let seeds = std::mem::take(&mut draft.repull);
    let seeds = live_only(draft, seeds)?;
    Footprint::gather(seeds.iter().filter(|uid| draft.open(**uid) == Ok(true)).map(|uid| draft.has_dependents(*uid)))?;
    repull(draft, &seeds)?;
    let seeds = std::mem::take(&mut draft.strengthen);
    let seeds = live_only(draft, seeds)?;
    strengthen(draft, &seeds)?;
    Ok(())
}

fn live_only(draft: &PlanDraft<'_>, seeds: BTreeSet<Uid>) -> Result<Vec<Uid>, Need> {
    Footprint::gather(seeds.iter().map(|uid| draft.get(*uid)))?;
    let mut out = Vec::with_capacity(seeds.len());
    for uid in seeds {
        if draft.get(uid)?.is_live() {
            out.push(uid);
        }
    }
    Ok(out)
}

/// Counts everybody's unmet dependencies again.
pub(super) fn recount_all(draft: &mut PlanDraft<'_>) -> Result<(), Need> {
    draft.plan.need_whole()?;
    for uid in super::edges::live(draft).collect::<Vec<_>>() {
        draft.recount(uid)?;
    }
    Ok(())
}

/// Folds one event into a whole plan. A dumb patch: no rule is asked. [`derive()`] follows after the last one.
pub fn fold(plan: &mut Plan, event: &Event) {
    plan.row.revision = event.revision;
    plan.row.last_time = event.at;
    match &event.patch {
        Patch::Todo(uid, changes) => {
            let mut todo = plan.get(*uid).cloned().unwrap_or_else(|| Todo::blank(*uid));
            for change in changes {
                todo.fields.forward(change);
            }
            todo.updated_at = event.at;
            if todo.status != Status::InProgress {
                todo.lease_until = None;
            }
            plan.put(todo);
        }
        Patch::Phases(swap) => plan.row.phases.clone_from(&swap.after),
        Patch::Policy(swap) => plan.row.policy = swap.after,
    }
}

/// Recomputes every derived value of a whole plan from its stored fields. High-water marks (next numbers, last
/// position) are raised where rows show that they are too low, never lowered: what was given is not given again.
///
/// Returns the todos whose derived values changed, as they were before.
pub fn derive(plan: &mut Plan) -> Vec<Arc<Todo>> {
    let mut row = plan.row.clone();
    let live: Vec<&Todo> = plan.all().filter(|todo| todo.is_live()).collect();
    let number: Map<Uid, u32> = live.iter().zip(0..).map(|(todo, n)| (todo.uid, n)).collect();
    let satisfies = |todo: &Todo| match todo.status {
        Status::Completed => true,
        Status::Cancelled | Status::Failed => row.policy.cancelled_dep == CancelledDep::Satisfy,
        Status::Pending | Status::InProgress => false,
    };
    let satisfied: Vec<bool> = live.iter().map(|todo| satisfies(todo)).collect();
    let mut edges = Vec::new();
    let mut derived = vec![Derived::default(); live.len()];
    row.counts = Counts::default();
    (row.dangling, row.suspended) = (0, 0);
    for (n, todo) in live.iter().enumerate() {
        row.counts.add(&todo.fields);
        for dep in &todo.depends_on {
            let target = dep.target().and_then(|to| number.get(&to)).copied();
            match dep {
                Dep::On(_) => edges.extend(target.map(|to| (n as u32, to))),
                Dep::Suspended(_) => row.suspended += 1,
                Dep::Dangling(_) => row.dangling += 1,
            }
            derived[n].unmet += u32::from(!target.is_some_and(|to| satisfied[to as usize]));
        }
    }
    let graph = Csr::from_edges(live.len(), &edges);
    let levels = kahn::levels(&graph).unwrap_or_else(|_| vec![1; live.len()]);
    let mut order: Vec<u32> = (0..live.len() as u32).collect();
    order.sort_by_key(|n| std::cmp::Reverse(levels[*n as usize]));
    for n in order {
        let at = n as usize;
        derived[at].level = levels[at];
        if !live[at].status.is_open() {
            derived[at].pull = NO_PULL;
            continue;
        }
        let reach = derived[at].pull.min(live[at].priority);
        for to in graph.row(n) {
            let pull = &mut derived[*to as usize].pull;
            *pull = reach.min(*pull);
        }
    }
    let mut changed: Vec<(Uid, Derived)> = Vec::new();
    for todo in plan.all() {
        row.next_uid = row.next_uid.max(todo.uid.0 + 1);
        row.last_position = row.last_position.max(todo.position);
        row.last_fence = row.last_fence.max(todo.fence);
        let fresh = number.get(&todo.uid).map(|n| derived[*n as usize]).unwrap_or_default();
        changed.extend((todo.derived != fresh).then_some((todo.uid, fresh)));
    }
    let phases = row.phases.iter().map(|p| p.uid.0 + 1).max().unwrap_or(0);
    row.next_phase = row.next_phase.max(phases);
    plan.row = row;
    let fresh = |(uid, derived)| plan.get(uid).cloned().map(|todo| Todo { derived, ..todo });
    let changed: Vec<Todo> = changed.into_iter().filter_map(fresh).collect();
    changed.into_iter().filter_map(|todo| plan.replace(todo)).collect()
}
