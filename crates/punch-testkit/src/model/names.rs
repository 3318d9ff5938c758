//! Every target is looked up before anything changes.

use super::{ModelTodo, ModelWrite, No};
use crate::ask::{ModelOp, TodoName};

impl ModelWrite<'_> {
    pub(super) fn names(&mut self) -> Result<(), Vec<No>> {
        let mut no = Vec::new();
        for ask in &self.batch.asks {
            if let ModelOp::Rm(name) = ask
                && let Some(key) = self.old(name)
                && !self.removed.contains(&key)
            {
                self.removed.push(key);
            }
        }
        let mut given: Vec<&str> = Vec::new();
        for ask in &self.batch.asks {
            let ModelOp::Add(new) = ask else { continue };
            let Some(id) = &new.id else { continue };
            if id.is_empty() {
                no.push(No::new("invalid"));
            }
            let lives = self.before.find(id).is_some_and(|key| !self.removed.contains(&key));
            if lives || given.contains(&id.as_str()) {
                no.push(No::new("duplicate_id"));
            }
            given.push(id);
            self.model.count_id(id);
        }
        for ask in &self.batch.asks {
            let ModelOp::Add(new) = ask else { continue };
            let id = new.id.clone().unwrap_or_else(|| {
                self.model.number += 1;
                format!("T-{}", self.model.number - 1)
            });
            self.added.push(self.model.items.len());
            self.model.items.push(ModelTodo { id, priority: 3, ..ModelTodo::default() });
        }
        let mut adds = self.added.clone().into_iter();
        for ask in &self.batch.asks {
            let found = match (ask, ask.target()) {
                (ModelOp::Add(_), _) => adds.next(),
                (_, None) => None,
                (ModelOp::Rm(_), Some(name)) => self.old(name),
                (_, Some(name)) => self.new_first(name),
            };
            if ask.target().is_some() {
                match found {
                    None => no.push(No::new("unknown_todo")),
                    Some(key) if self.removed.contains(&key) && !matches!(ask, ModelOp::Rm(_)) => {
                        no.push(No::new("removed_in_batch"));
                    }
                    Some(_) => {}
                }
            }
            self.targets.push(found);
        }
        if no.is_empty() { Ok(()) } else { Err(no) }
    }

    /// Among the todos that were there before.
    fn old(&self, name: &TodoName) -> Option<usize> {
        match name {
            TodoName::Id(id) => self.before.find(id),
            TodoName::Key(key) => self.before.order.contains(key).then_some(*key),
            TodoName::New(n) => self.added.get(*n).copied(),
        }
    }

    /// An id that goes and comes in one batch means the one that comes.
    fn new_first(&self, name: &TodoName) -> Option<usize> {
        let added = |id: &str| self.added.iter().copied().find(|key| self.model.items[*key].id == id);
        match name {
            TodoName::Id(id) => added(id).or_else(|| self.old(name)),
            _ => self.old(name),
        }
    }
}

impl super::Model {
    /// A given `T-7` moves the counter on.
    pub(super) fn count_id(&mut self, id: &str) {
        let digits = id.strip_prefix("T-").unwrap_or("");
        if !digits.is_empty()
            && digits.chars().all(|c| c.is_ascii_digit())
            && let Ok(number) = digits.parse::<u64>()
            && number < 1 << 53
        {
            self.number = self.number.max(number + 1);
        }
    }
}
