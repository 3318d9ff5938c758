//! The neighborhood of one todo: what it needs, and what waits for it, as two trees. Each todo is in a tree once, on
//! the shortest path.

use std::collections::HashSet;

use serde::Serialize;

use crate::reason::PlanReader;
use crate::{Dep, Todo, Uid};

/// A todo in a tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Branch {
    /// The todo.
    pub uid: Uid,
    /// What follows from it: its own needs, or what waits for it.
    pub branches: Vec<Branch>,
    /// How many of these are left out for want of room.
    pub more: usize,
}

/// A todo with what is around it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Neighborhood {
    /// The todos that it needs.
    pub needs: Branch,
    /// The todos that wait for it.
    pub blocks: Branch,
}

impl Neighborhood {
    /// Follows dependencies from a todo for `depth` steps both ways, and names at most `most` todos each way.
    pub fn of(reader: PlanReader<'_>, center: Uid, depth: usize, most: usize) -> Self {
        let needs = |uid: Uid| -> Vec<Uid> {
            let todo = reader.plan.get(uid);
            todo.into_iter().flat_map(|todo| &todo.depends_on).filter_map(Dep::target).collect()
        };
        let blocks = |uid: Uid| -> Vec<Uid> {
            let found = reader.plan.dependents_of(uid).into_iter().flatten().copied();
            let mut found: Vec<&Todo> = found.filter_map(|uid| reader.plan.get(uid)).collect();
            found.sort_by_key(|todo| (todo.derived.level, todo.position, todo.uid));
            found.into_iter().map(|todo| todo.uid).collect()
        };
        // What is part of a cycle through the todo would stand on both sides; it is something that the todo needs.
        let mut seen = HashSet::from([center]);
        let needs = tree(reader, center, depth, most, &mut seen, &needs);
        Self { needs, blocks: tree(reader, center, depth, most, &mut seen, &blocks) }
    }
}

/// Step by step, so that a todo that can be reached in several ways stands where the shortest one leads.
fn tree(
    reader: PlanReader<'_>,
    center: Uid,
    depth: usize,
    most: usize,
    seen: &mut HashSet<Uid>,
    next: &dyn Fn(Uid) -> Vec<Uid>,
) -> Branch {
    // Every todo with the place of its parent; a parent comes before what follows from it.
    let mut found: Vec<(Branch, usize)> = vec![(Branch { uid: center, branches: Vec::new(), more: 0 }, 0)];
    let mut from = 0;
    for _ in 0..depth {
        let to = found.len();
        for parent in from..to {
            for uid in next(found[parent].0.uid) {
                if reader.plan.get(uid).is_none_or(|todo| !todo.is_live()) || !seen.insert(uid) {
                    continue;
                }
                if found.len() > most {
                    found[parent].0.more += 1;
                } else {
                    found.push((Branch { uid, branches: Vec::new(), more: 0 }, parent));
                }
            }
        }
        from = to;
    }
    while found.len() > 1 {
        if let Some((branch, parent)) = found.pop() {
            found[parent].0.branches.insert(0, branch);
        }
    }
    found.swap_remove(0).0
}
