//! Edges: the union of what both ends say, missing ids, circles by plain search.

use super::{Model, ModelDep, ModelWrite, No};
use crate::ask::{ModelFields, ModelOp, TodoName};

impl ModelWrite<'_> {
    pub(super) fn edges(&mut self) -> Result<(), Vec<No>> {
        let mut no = Vec::new();
        let edits: Vec<(usize, ModelFields)> = self
            .batch
            .asks
            .iter()
            .zip(&self.targets)
            .filter_map(|(ask, target)| match ask {
                ModelOp::Add(new) => Some(((*target)?, new.fields.clone())),
                ModelOp::Edit(_, fields) => Some(((*target)?, fields.clone())),
                _ => None,
            })
            .collect();
        for (key, fields) in &edits {
            if let Some(names) = &fields.deps {
                let deps = self.read(names, &mut no);
                self.model.items[*key].deps = deps;
            }
        }
        for (key, fields) in &edits {
            for name in &fields.blocks {
                match self.current(name) {
                    Some(blocked) => self.model.items[blocked].deps.push(ModelDep::On(*key)),
                    None => no.push(No::new("unknown_dependency")),
                }
            }
        }
        if !no.is_empty() {
            return Err(no);
        }
        self.bind();
        if !self.batch.rules.suspend && self.new_circle() {
            return Err(vec![No { code: "cycle", edges: self.model.named_edges() }]);
        }
        Ok(())
    }

    fn read(&self, names: &[TodoName], no: &mut Vec<No>) -> Vec<ModelDep> {
        let mut deps = Vec::new();
        for name in names {
            match (self.current(name), name) {
                (Some(key), _) => deps.push(ModelDep::On(key)),
                (None, TodoName::Id(id)) if self.batch.rules.dangle_missing => deps.push(ModelDep::Missing(id.clone())),
                (None, TodoName::Key(key)) if self.batch.rules.dangle_missing && *key < self.model.items.len() => {
                    deps.push(ModelDep::Missing(self.model.items[*key].id.clone()));
                }
                _ => no.push(No::new("unknown_dependency")),
            }
        }
        deps
    }

    /// A missing id that a todo has now is no longer missing; nothing is waited for twice.
    fn bind(&mut self) {
        for key in self.model.order.clone() {
            let mut deps: Vec<ModelDep> = Vec::new();
            for dep in self.model.items[key].deps.clone() {
                let bound = match &dep {
                    ModelDep::Missing(id) => self.model.find(id).map(ModelDep::On),
                    ModelDep::On(_) => None,
                };
                let dep = bound.unwrap_or(dep);
                if !deps.contains(&dep) {
                    deps.push(dep);
                }
            }
            self.model.items[key].deps = deps;
        }
    }

    /// Does an edge that was not there before lie on a circle?
    fn new_circle(&self) -> bool {
        let had = |from: usize, to: usize| {
            self.before.order.contains(&from) && self.before.items[from].deps.contains(&ModelDep::On(to))
        };
        self.model.edges().into_iter().any(|(from, to)| !had(from, to) && self.model.reaches(to, from))
    }
}

impl Model {
    /// Every edge between live todos.
    pub fn edges(&self) -> Vec<(usize, usize)> {
        let mut out = Vec::new();
        for key in &self.order {
            for dep in &self.items[*key].deps {
                if let ModelDep::On(to) = dep {
                    out.push((*key, *to));
                }
            }
        }
        out
    }

    /// Every edge between live todos, by ids.
    fn named_edges(&self) -> Vec<(String, String)> {
        let id = |key: usize| self.items[key].id.clone();
        self.edges().into_iter().map(|(from, to)| (id(from), id(to))).collect()
    }

    /// Does `from` depend on `to`, however indirectly? Every todo reaches itself.
    pub fn reaches(&self, from: usize, to: usize) -> bool {
        let mut seen = vec![from];
        let mut next = 0;
        while let Some(key) = seen.get(next).copied() {
            if key == to {
                return true;
            }
            next += 1;
            for dep in &self.items[key].deps {
                if let ModelDep::On(other) = dep
                    && !seen.contains(other)
                {
                    seen.push(*other);
                }
            }
        }
        false
    }

    /// An edge is suspended exactly if it lies on a circle.
    pub fn suspended(&self, from: usize, to: usize) -> bool {
        self.reaches(to, from)
    }
}
