//! One line of a list view, and which lines to show when not all fit.

use std::ops::Range;

use crate::reason::PlanReader;
use crate::{ShownStatus, Todo, text};

/// What the list views need of a todo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListRow<'a> {
    /// The status as a reader sees it now.
    pub status: ShownStatus,
    /// What is to be done.
    pub content: &'a str,
    /// The active form; the content where there is none.
    pub active: &'a str,
}

impl<'a> ListRow<'a> {
    /// The row of a todo as a reader sees it.
    pub fn of(reader: PlanReader<'a>, todo: &'a Todo) -> Self {
        Self { status: reader.shown(todo), content: &todo.content, active: todo.active_text() }
    }

    /// The text that users read: the active form while it runs, the content otherwise.
    pub fn shown(&self) -> &'a str {
        if self.status.is_running() { self.active } else { self.content }
    }
}

/// The longest text of one todo in any view for people, in characters.
const LONGEST: usize = 500;

/// Todo text for people: one line, harmless, not endless.
pub(super) fn tidy(raw: &str) -> String {
    // Clipped first: neutralizing keeps the number of characters, and the text may be megabytes long.
    text::neutral(&text::clip(raw, LONGEST)).into_owned()
}

/// The part of a list worth showing when only `room` rows fit: what runs, else what is open next, with one row
/// before it; the end of the list when everything is closed.
pub(super) fn window(statuses: impl ExactSizeIterator<Item = ShownStatus> + Clone, room: usize) -> Range<usize> {
    let total = statuses.len();
    if total <= room {
        return 0..total;
    }
    let running = statuses.clone().position(ShownStatus::is_running);
    let first = running.or_else(|| statuses.clone().position(ShownStatus::is_open)).unwrap_or(total);
    let start = first.saturating_sub(1).min(total - room);
    start..start + room
}
