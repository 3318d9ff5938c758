//! The place in the list. Arranging is only promised for the named todos among themselves.

use super::{ModelWrite, No};
use crate::ask::{ListSpot, ModelOp, TodoName};

impl ModelWrite<'_> {
    pub(super) fn order(&mut self) -> Result<(), Vec<No>> {
        for (ask, target) in self.batch.asks.iter().zip(self.targets.clone()) {
            match (ask, target) {
                (ModelOp::Add(new), Some(key)) if new.spot != ListSpot::End => self.place(key, &new.spot)?,
                (ModelOp::Move(_, spot), Some(key)) => self.place(key, spot)?,
                (ModelOp::Arrange(names), _) => self.arrange(names)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn place(&mut self, key: usize, spot: &ListSpot) -> Result<(), Vec<No>> {
        let anchor = match spot {
            ListSpot::End | ListSpot::First => None,
            ListSpot::Before(name) | ListSpot::After(name) => {
                Some(self.current(name).ok_or_else(|| vec![No::new("unknown_todo")])?)
            }
        };
        if anchor == Some(key) {
            return Ok(());
        }
        let order = &mut self.model.order;
        order.retain(|other| *other != key);
        let at = |order: &[usize]| order.iter().position(|other| Some(*other) == anchor).unwrap_or(0);
        let index = match spot {
            ListSpot::End => order.len(),
            ListSpot::First => 0,
            ListSpot::Before(_) => at(order),
            ListSpot::After(_) => at(order) + 1,
        };
        order.insert(index, key);
        Ok(())
    }

    /// Puts the named todos into the places that the named todos have.
    fn arrange(&mut self, names: &[TodoName]) -> Result<(), Vec<No>> {
        let mut keys = Vec::new();
        for name in names {
            let key = self.current(name).ok_or_else(|| vec![No::new("unknown_todo")])?;
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        let mut next = keys.iter();
        for slot in self.model.order.iter_mut().filter(|key| keys.contains(key)) {
            if let Some(key) = next.next() {
                *slot = *key;
            }
        }
        Ok(())
    }

    /// By the names that todos have after the field updates.
    pub(super) fn current(&self, name: &TodoName) -> Option<usize> {
        match name {
            TodoName::Id(id) => self.model.find(id),
            TodoName::Key(key) => self.model.order.contains(key).then_some(*key),
            TodoName::New(n) => self.added.get(*n).copied(),
        }
    }
}
