//! Delivers the events of a run: to the observer immediately, and to the store with the next round of housekeeping, so
//! that other processes can read them.

use std::collections::{BTreeMap, VecDeque};
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::observer::{RunEvent, RunObserver};

/// Events that wait for a store that does not answer; the oldest are dropped.
const WAITING: usize = 1_000;

/// Passes events on and keeps them until they are stored.
pub(super) struct RunJournal<'e> {
    pub observer: &'e dyn RunObserver,
    unsaved: Mutex<UnsavedEvents>,
}

#[derive(Default)]
struct UnsavedEvents {
    events: VecDeque<RunEvent>,
    /// The last line that each agent printed, by seat.
    lines: BTreeMap<usize, String>,
}

impl<'e> RunJournal<'e> {
    pub fn new(observer: &'e dyn RunObserver) -> Self {
        Self { observer, unsaved: Mutex::default() }
    }

    pub fn report(&self, event: &RunEvent) {
        self.observer.on_event(event);
        let mut unsaved = self.unsaved();
        match event {
            // Agents print without end. Other processes see the last line, with the seat.
            RunEvent::Output { agent, text } => drop(unsaved.lines.insert(*agent, text.clone())),
            event => unsaved.events.push_back(event.clone()),
        }
        unsaved.shorten();
    }

    /// Takes the events that are not stored yet.
    pub fn take(&self) -> Vec<RunEvent> {
        mem::take(&mut self.unsaved().events).into()
    }

    /// Gives back events that could not be stored.
    pub fn give_back(&self, events: Vec<RunEvent>) {
        let mut unsaved = self.unsaved();
        let later = mem::replace(&mut unsaved.events, events.into());
        unsaved.events.extend(later);
        unsaved.shorten();
    }

    /// Returns the last line that the agent of a seat printed.
    pub fn last_line(&self, seat: usize) -> String {
        self.unsaved().lines.get(&seat).cloned().unwrap_or_default()
    }

    fn unsaved(&self) -> MutexGuard<'_, UnsavedEvents> {
        self.unsaved.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl UnsavedEvents {
    fn shorten(&mut self) {
        let surplus = self.events.len().saturating_sub(WAITING);
        self.events.drain(..surplus);
    }
}
