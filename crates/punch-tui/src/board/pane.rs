//! Rows with a cursor. The cursor stays on its row when rows are added or removed.

use std::collections::HashMap;

use punch_core::inbox::{InboxItem, InboxKind};
use punch_core::{PhaseUid, Uid};

/// What tells a row from all others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RowKey {
    /// Something that needs the user.
    Inbox(InboxKey),
    /// A todo.
    Todo(Uid),
    /// A line of a note of a todo.
    Note(Uid, usize),
    /// A phase.
    Phase(Option<PhaseUid>),
    /// Todos of a phase that are not shown.
    More(Option<PhaseUid>, usize),
    /// Closed todos of a phase that are not shown.
    Closed(Option<PhaseUid>, usize),
    /// A revision.
    Revision(u64),
    /// A seat of the run.
    Seat(u32),
    /// A session.
    Session(String),
    /// A worker of the fleet, by name.
    Worker(String),
    /// A claim that no worker looks after: the plan and the todo.
    StuckClaim(String, String),
    /// One of the warnings about the fleet.
    FleetWarning(usize),
    /// A line that stands for nothing else, such as a heading.
    Text(String),
}

/// An item of the inbox, as long as it is there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InboxKey {
    /// Its kind.
    pub kind: InboxKind,
    /// The id of its todo.
    pub todo: Option<String>,
    /// Its question.
    pub question: Option<u64>,
    /// Since when.
    pub since: i64,
}

impl InboxKey {
    /// What an item is recognized by.
    pub fn of(item: &InboxItem) -> Self {
        Self { kind: item.kind, todo: item.todo.clone(), question: item.question, since: item.since }
    }
}

/// Rows, the cursor among them, and how many are scrolled off at the top.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pane {
    /// The rows.
    pub rows: Vec<RowKey>,
    /// The cursor: below the number of rows, or 0.
    pub at: usize,
    /// Rows above the first that is shown.
    pub top: usize,
}

impl Pane {
    /// A pane without rows.
    pub const EMPTY: Self = Self { rows: Vec::new(), at: 0, top: 0 };

    /// The row with the cursor.
    pub fn selected(&self) -> Option<&RowKey> {
        self.rows.get(self.at)
    }

    /// Takes new rows. The cursor stays on its row; if that is gone, on the next one that is still there.
    pub fn replace(&mut self, rows: Vec<RowKey>) {
        let at = match self.selected() {
            None => 0,
            Some(key) if rows.get(self.at) == Some(key) => self.at,
            Some(_) => {
                let places: HashMap<&RowKey, usize> = rows.iter().enumerate().map(|(at, row)| (row, at)).collect();
                let after = self.rows[self.at..].iter().find_map(|row| places.get(row));
                let before = || self.rows[..self.at].iter().rev().find_map(|row| places.get(row));
                after.or_else(before).copied().unwrap_or(self.at)
            }
        };
        self.rows = rows;
        self.go(at);
    }

    /// Puts the cursor on a row.
    pub fn go(&mut self, at: usize) {
        self.at = at.min(self.rows.len().saturating_sub(1));
    }

    /// Moves the cursor.
    pub fn step(&mut self, by: isize) {
        self.go(self.at.saturating_add_signed(by));
    }

    /// Puts the cursor on a row if it is there.
    pub fn go_to(&mut self, key: &RowKey) -> bool {
        let found = self.rows.iter().position(|row| row == key);
        if let Some(at) = found {
            self.at = at;
        }
        found.is_some()
    }

    /// Scrolls as little as it takes to have the cursor among `height` rows.
    pub fn scroll(&mut self, height: usize) {
        let last = self.rows.len().saturating_sub(height);
        self.top = self.top.clamp((self.at + 1).saturating_sub(height), self.at).min(last);
    }
}
