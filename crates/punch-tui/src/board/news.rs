//! What the board reports unasked: changes by others, failed writes of agents, and what newly needs the user.

use punch_core::inbox::InboxItem;

use super::{Board, BoardView, InboxKey};
use crate::request::BoardRequest;

/// Characters of a notification.
const NOTIFIED: usize = 160;

impl Board {
    /// Says what others changed where no panel shows it, and that a write of an agent failed.
    pub(super) fn note_news(&mut self) {
        let newest = self.data.history.first();
        let revision = newest.map_or(0, |row| row.revision);
        if let (Some(row), BoardView::List | BoardView::Graph | BoardView::Run) = (newest, self.view)
            && self.newest > 0
            && revision > self.newest
            && self.notice.is_none()
        {
            self.say(format!("{} by {}", row.changes, row.by));
        }
        self.newest = revision;
        if self.data.failed_write != self.failed_write {
            self.failed_write.clone_from(&self.data.failed_write);
            if let Some(why) = self.failed_write.clone() {
                self.refuse(why);
            }
        }
    }

    /// Tells the terminal when something new needs the user. What was there at the first look is on the screen.
    pub(super) fn note_needs(&mut self) -> Option<BoardRequest> {
        if !self.look.notify || !self.data.is_complete {
            return None;
        }
        let now: Vec<InboxKey> = self.data.inbox.iter().map(InboxKey::of).collect();
        let before = self.needs.replace(now)?;
        let new: Vec<&InboxItem> =
            self.data.inbox.iter().filter(|item| !before.contains(&InboxKey::of(item))).collect();
        let first = new.first()?;
        let what = [first.todo.as_deref(), Some(first.kind.name())].into_iter().flatten().collect::<Vec<_>>().join(" ");
        let more = if new.len() > 1 { format!(" (and {} more)", new.len() - 1) } else { String::new() };
        Some(BoardRequest::Notify(format!("{what}: {}{more}", punch_core::text::clip(&first.text, NOTIFIED))))
    }
}
