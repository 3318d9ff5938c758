//! Todos and events that a transaction has put and not sent yet. Several batches of one transaction, such as "complete
//! one, claim the next", are sent as one set of rows and one of events, so the server has to write half as often.

use std::collections::BTreeMap;

use punch_core::{Event, Todo, Uid};
use punch_store::StoreError;

use crate::view::PgTransaction;
use crate::{events, todo};

/// What waits to be sent.
#[derive(Default)]
pub struct Unsent {
    todos: BTreeMap<Uid, Todo>,
    events: Vec<Event>,
}

impl Unsent {
    /// Takes over rows; a newer version of a todo replaces the one before.
    pub fn put(&mut self, rows: &[Todo]) {
        self.todos.extend(rows.iter().map(|todo| (todo.uid, todo.clone())));
    }

    /// The version of a todo that waits to be sent.
    pub fn todo(&self, uid: Uid) -> Option<&Todo> {
        self.todos.get(&uid)
    }
}

impl PgTransaction<'_> {
    /// Takes over events to write.
    pub fn put_events(&self, events: &[Event]) {
        if events.is_empty() {
            return;
        }
        self.will_change(&[events::APPEND]);
        self.unsent.borrow_mut().events.extend_from_slice(events);
    }

    /// Queues what was put and not sent.
    pub fn flush_unsent(&self) -> Result<(), StoreError> {
        let Unsent { todos, events } = self.unsent.take();
        if !todos.is_empty() {
            let rows: Vec<Todo> = todos.into_values().collect();
            todo::flush(self, &rows)?;
        }
        events::append(self, &events)
    }
}
