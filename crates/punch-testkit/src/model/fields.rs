//! New todos and field updates, in the order asked.

use super::{ModelWrite, No};
use crate::ask::{ModelFields, ModelOp};

impl ModelWrite<'_> {
    pub(super) fn fields(&mut self) -> Result<(), Vec<No>> {
        // Everything new exists before anything is said about it.
        for (ask, target) in self.batch.asks.iter().zip(self.targets.clone()) {
            if let (ModelOp::Add(new), Some(key)) = (ask, target) {
                self.model.order.push(key);
                self.model.items[key].notes.clone_from(&new.notes);
            }
        }
        for (ask, target) in self.batch.asks.iter().zip(self.targets.clone()) {
            match (ask, target) {
                (ModelOp::Add(new), Some(key)) => self.edit(key, &new.fields)?,
                (ModelOp::Edit(_, fields), Some(key)) => self.edit(key, fields)?,
                (ModelOp::Note(_, text), Some(key)) => self.model.items[key].notes.push(text.clone()),
                (ModelOp::Rules(rules), _) => self.model.rules = *rules,
                _ => {}
            }
        }
        Ok(())
    }

    fn edit(&mut self, key: usize, fields: &ModelFields) -> Result<(), Vec<No>> {
        if let Some(id) = &fields.id
            && *id != self.model.items[key].id
        {
            if id.is_empty() {
                return Err(vec![No::new("invalid")]);
            }
            if self.model.find(id).is_some() {
                return Err(vec![No::new("duplicate_id")]);
            }
            self.model.count_id(id);
            self.model.items[key].id.clone_from(id);
        }
        if let Some(Some(name)) = &fields.phase
            && !self.model.phases.contains(name)
        {
            self.model.phases.push(name.clone());
        }
        if fields.priority.is_some_and(|p| p == 0 || p > 5) {
            return Err(vec![No::new("invalid")]);
        }
        let item = &mut self.model.items[key];
        put(&mut item.content, &fields.content);
        put(&mut item.active_form, &fields.active_form);
        put(&mut item.phase, &fields.phase);
        put(&mut item.priority, &fields.priority);
        put(&mut item.command, &fields.command);
        put(&mut item.files, &fields.files);
        Ok(())
    }
}

fn put<T: Clone>(slot: &mut T, value: &Option<T>) {
    if let Some(value) = value {
        slot.clone_from(value);
    }
}
