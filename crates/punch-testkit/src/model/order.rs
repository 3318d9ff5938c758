//! The place in the list. Arranging is only promised for the named todos among themselves.

use super::{No, Write};
use crate::ask::{Ask, Name, Spot};

impl Write<'_> {
    pub(super) fn order(&mut self) -> Result<(), Vec<No>> {
        for (ask, target) in self.batch.asks.iter().zip(self.targets.clone()) {
            match (ask, target) {
                (Ask::Add(new), Some(key)) if new.spot != Spot::End => self.place(key, &new.spot)?,
                (Ask::Move(_, spot), Some(key)) => self.place(key, spot)?,
                (Ask::Arrange(names), _) => self.arrange(names)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn place(&mut self, key: usize, spot: &Spot) -> Result<(), Vec<No>> {
        let anchor = match spot {
            Spot::End | Spot::First => None,
            Spot::Before(name) | Spot::After(name) => {
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
            Spot::End => order.len(),
            Spot::First => 0,
            Spot::Before(_) => at(order),
            Spot::After(_) => at(order) + 1,
        };
        order.insert(index, key);
        Ok(())
    }

    /// Puts the named todos into the places that the named todos have.
    fn arrange(&mut self, names: &[Name]) -> Result<(), Vec<No>> {
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
    pub(super) fn current(&self, name: &Name) -> Option<usize> {
        match name {
            Name::Id(id) => self.model.find(id),
            Name::Key(key) => self.model.order.contains(key).then_some(*key),
            Name::New(n) => self.added.get(*n).copied(),
        }
    }
}
