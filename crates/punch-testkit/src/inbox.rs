//! A naive model of the inbox, as far as it follows from a plan: which todos need the user, and how many open todos wait
//! for each, found by looking at everything again and again.

use std::collections::BTreeSet;

use crate::ask::ModelStatus;
use crate::model::{Edge, Model, ModelRow};
use crate::rules::CancelledRule;

/// What needs the user: the kind, the todo that is named, and how many open todos wait for it.
pub type ModelNeed = (&'static str, String, usize);

/// Looks at everything. `blocked` is the reason of holds that no one asked the user for.
pub fn needs(model: &Model, blocked: &str) -> Vec<ModelNeed> {
    let rows = model.state().rows;
    let find = |id: &str| rows.iter().position(|row| row.item.id == *id);
    let satisfies = model.rules.cancelled == CancelledRule::Satisfy;
    let open = |row: &ModelRow| matches!(row.item.status, ModelStatus::Pending | ModelStatus::Active);
    let parked = |row: &ModelRow| row.item.hold.as_ref().is_some_and(|hold| hold.parked);
    let met = |row: &ModelRow| !open(row) && (satisfies || row.item.status == ModelStatus::Completed);
    let stuck = |row: &ModelRow| open(row) && !parked(row);
    // Todos that wait for something, beginning with some of them.
    let behind = |mut waiting: BTreeSet<usize>, root: Option<usize>| {
        loop {
            let waits = |at: &usize| {
                rows[*at].edges.iter().any(|edge| {
                    let Edge::Active(id) = edge else { return false };
                    let on = find(id);
                    on.is_some_and(|on| {
                        !met(&rows[on]) && (root == Some(on) || (waiting.contains(&on) && open(&rows[on])))
                    })
                })
            };
            let Some(more) = (0..rows.len()).filter(|at| !waiting.contains(at)).find(waits) else { break };
            waiting.insert(more);
        }
        waiting.into_iter().filter(|at| stuck(&rows[*at])).count()
    };
    let mut out: Vec<ModelNeed> = Vec::new();
    let (mut missing, mut cycles): (BTreeSet<String>, Vec<BTreeSet<usize>>) = Default::default();
    for (at, row) in rows.iter().enumerate() {
        let alone = |kind| (kind, row.item.id.clone(), behind(BTreeSet::new(), Some(at)));
        if row.item.status == ModelStatus::Failed {
            out.push(alone("failed"));
        }
        let asked = |hold: &crate::ask::ModelHold| hold.until.is_none() && !hold.parked && hold.reason != blocked;
        if row.item.status == ModelStatus::Pending && row.item.hold.as_ref().is_some_and(asked) {
            out.push(alone("hold"));
        }
        let waited_for = rows.iter().filter(|other| stuck(other)).any(|other| {
            other.edges.iter().any(|edge| matches!(edge, Edge::Active(id) | Edge::Suspended(id) if *id == row.item.id))
        });
        let dropped = row.item.status == ModelStatus::Cancelled && !satisfies;
        if waited_for && (dropped || (open(row) && parked(row))) {
            out.push(alone("stuck"));
        }
        for edge in row.edges.iter().filter(|_| stuck(row)) {
            match edge {
                Edge::Missing(id) => drop(missing.insert(id.clone())),
                Edge::Suspended(id) => {
                    let Some(on) = find(id).filter(|on| stuck(&rows[*on])) else { continue };
                    let mut merged = BTreeSet::from([at, on]);
                    cycles.retain(|cycle| {
                        let apart = cycle.is_disjoint(&merged);
                        if !apart {
                            merged.extend(cycle);
                        }
                        apart
                    });
                    cycles.push(merged);
                }
                Edge::Active(_) => {}
            }
        }
    }
    for id in missing {
        let waits = |row: &ModelRow| stuck(row) && row.edges.contains(&Edge::Missing(id.clone()));
        let waiting: BTreeSet<usize> = (0..rows.len()).filter(|at| waits(&rows[*at])).collect();
        let first = waiting.first().map(|at| rows[*at].item.id.clone()).unwrap_or_default();
        out.push(("stuck", first, behind(waiting, None)));
    }
    for cycle in cycles {
        let first = cycle.first().map(|at| rows[*at].item.id.clone()).unwrap_or_default();
        out.push(("stuck", first, behind(cycle, None)));
    }
    out.sort();
    out
}
