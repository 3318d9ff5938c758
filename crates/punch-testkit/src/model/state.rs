//! Everything a reader can see, as plain values that can be compared with what the engine says.

use super::{Model, ModelDep, ModelTodo};
use crate::ask::ModelStatus;

/// A dependency as a reader sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Edge {
    /// Part of the active graph.
    Active(String),
    /// On a circle.
    Suspended(String),
    /// No todo has that id.
    Missing(String),
}

/// A live todo with its derived values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ModelRow {
    /// Stored fields; the edges are in `edges`.
    pub item: ModelTodo,
    /// In the order given.
    pub edges: Vec<Edge>,
    /// Ids of those who depend on it, sorted.
    pub blocks: Vec<String>,
    /// Unmet dependencies.
    pub unmet: usize,
    /// 1 + longest path over active edges.
    pub level: usize,
    /// Best of its own priority and that of everything open behind it.
    pub effective: u8,
    /// Pending, nothing unmet, no hold.
    pub ready: bool,
    /// Pending and not ready.
    pub blocked: bool,
}

/// A plan as readers see it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ModelView {
    /// Live todos in list order.
    pub rows: Vec<ModelRow>,
    /// Ids and contents of what was removed, in the order it was added.
    pub removed: Vec<(String, String)>,
    /// Ready ids by priority, then list order.
    pub ready: Vec<String>,
    /// Live todos per status.
    pub counts: [u64; 5],
    /// Live todos that are set aside.
    pub parked: u64,
    /// Open, not parked and without content.
    pub blank: u64,
    /// Phase names.
    pub phases: Vec<String>,
    /// Suspended edges and missing dependencies.
    pub loose: (u64, u64),
    /// The next made id.
    pub number: u64,
    /// The last fence given.
    pub fence: u64,
}

impl Model {
    /// Looks at everything again.
    pub fn state(&self) -> ModelView {
        let rows: Vec<ModelRow> = self.order.iter().map(|key| self.row(*key)).collect();
        let mut ready: Vec<usize> = self.order.iter().copied().filter(|key| self.startable(*key)).collect();
        ready.sort_by_key(|key| self.items[*key].priority);
        let loose = |kind: fn(&Edge) -> bool| rows.iter().flat_map(|row| &row.edges).filter(|e| kind(e)).count() as u64;
        ModelView {
            removed: self
                .items
                .iter()
                .filter(|item| item.removed)
                .map(|item| (item.id.clone(), item.content.clone()))
                .collect(),
            ready: ready.into_iter().map(|key| self.items[key].id.clone()).collect(),
            counts: ModelStatus::ALL.map(|status| rows.iter().filter(|row| row.item.status == status).count() as u64),
            parked: rows
                .iter()
                .filter(|row| {
                    row.item.status == ModelStatus::Pending && row.item.hold.as_ref().is_some_and(|hold| hold.parked)
                })
                .count() as u64,
            blank: rows
                .iter()
                .filter(|row| {
                    let parked = row.item.hold.as_ref().is_some_and(|hold| hold.parked);
                    let open = match row.item.status {
                        ModelStatus::Pending => !parked,
                        status => status == ModelStatus::Active,
                    };
                    open && row.item.content.trim().is_empty()
                })
                .count() as u64,
            phases: self.phases.clone(),
            loose: (loose(|e| matches!(e, Edge::Suspended(_))), loose(|e| matches!(e, Edge::Missing(_)))),
            number: self.number,
            fence: self.fence,
            rows,
        }
    }

    fn row(&self, key: usize) -> ModelRow {
        let id = |key: usize| self.items[key].id.clone();
        let edge = |dep: &ModelDep| match dep {
            ModelDep::On(to) if self.suspended(key, *to) => Edge::Suspended(id(*to)),
            ModelDep::On(to) => Edge::Active(id(*to)),
            ModelDep::Missing(name) => Edge::Missing(name.clone()),
        };
        let mut blocks: Vec<String> = self.dependents(key).into_iter().map(id).collect();
        blocks.sort();
        ModelRow {
            item: ModelTodo { deps: Vec::new(), ..self.items[key].clone() },
            edges: self.items[key].deps.iter().map(edge).collect(),
            blocks,
            unmet: self.unmet(key),
            level: self.level(key),
            effective: self.effective(key),
            ready: self.ready(key),
            blocked: self.pending(key) && !self.ready(key),
        }
    }

    /// The longest path down, found by raising levels until nothing changes.
    pub fn level(&self, key: usize) -> usize {
        let active: Vec<(usize, usize)> =
            self.edges().into_iter().filter(|(from, to)| !self.suspended(*from, *to)).collect();
        let mut levels = vec![1; self.items.len()];
        loop {
            let mut changed = false;
            for (from, to) in &active {
                if levels[*from] <= levels[*to] {
                    levels[*from] = levels[*to] + 1;
                    changed = true;
                }
            }
            if !changed {
                return levels[key];
            }
        }
    }

    /// Rule 24: the closure over open todos that wait for it, however indirectly.
    pub fn effective(&self, key: usize) -> u8 {
        let mut best = self.items[key].priority;
        if !self.items[key].status.open() {
            return best;
        }
        let mut seen = vec![key];
        let mut next = 0;
        while let Some(at) = seen.get(next).copied() {
            next += 1;
            best = best.min(self.items[at].priority);
            for other in self.dependents(at) {
                if self.items[other].status.open() && !self.suspended(other, at) && !seen.contains(&other) {
                    seen.push(other);
                }
            }
        }
        best
    }
}
