//! For each live todo of a plan, the todos that wait for it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::{Dep, Todo, Uid};

/// The dependents of todos and of unknown ids.
#[derive(Clone, Debug, Default)]
pub(super) struct Links {
    /// The todos that depend on each todo, by active and suspended edges, in uid order.
    pub dependents: BTreeMap<Uid, BTreeSet<Uid>>,
    /// Live todos with a dangling dependency on an id.
    pub dangling: HashMap<String, BTreeSet<Uid>>,
}

impl Links {
    /// The links of all these todos. Sorted edges become a tree without searching for the place of each.
    pub fn of<'a>(live: impl Iterator<Item = &'a Todo>) -> Self {
        let mut out = Self::default();
        let mut edges: Vec<(Uid, Uid)> = Vec::new();
        for todo in live {
            for dep in &todo.depends_on {
                match dep {
                    Dep::On(to) | Dep::Suspended(to) => edges.push((*to, todo.uid)),
                    Dep::Dangling(id) => {
                        out.dangling.entry(id.clone()).or_default().insert(todo.uid);
                    }
                }
            }
        }
        edges.sort_unstable();
        let groups = edges.chunk_by(|a, b| a.0 == b.0);
        out.dependents = groups.map(|group| (group[0].0, group.iter().map(|edge| edge.1).collect())).collect();
        out
    }

    /// Enters a live todo.
    pub fn add(&mut self, todo: &Todo) {
        for dep in &todo.depends_on {
            match dep {
                Dep::On(to) | Dep::Suspended(to) => {
                    self.dependents.entry(*to).or_default().insert(todo.uid);
                }
                Dep::Dangling(id) => {
                    self.dangling.entry(id.clone()).or_default().insert(todo.uid);
                }
            }
        }
    }

    /// Forgets a todo that was entered before.
    pub fn remove(&mut self, old: &Todo) {
        for dep in &old.depends_on {
            match dep {
                Dep::On(to) | Dep::Suspended(to) => {
                    if let Some(set) = self.dependents.get_mut(to) {
                        set.remove(&old.uid);
                        if set.is_empty() {
                            self.dependents.remove(to);
                        }
                    }
                }
                Dep::Dangling(id) => {
                    if let Some(set) = self.dangling.get_mut(id) {
                        set.remove(&old.uid);
                        if set.is_empty() {
                            self.dangling.remove(id);
                        }
                    }
                }
            }
        }
    }
}
