//! The selection: a todo, an item of the inbox, a question; and the marks.

use punch_core::inbox::{InboxItem, InboxKind};
use punch_core::{HoldKind, Todo, Uid, Verify};
use punch_store::RequestedState;

use super::{Board, BoardPanel, InboxKey, RowKey};
use crate::data::{DisplayedQuestion, SessionSummary};

impl Board {
    /// The panel whose row is selected: the one with the cursor, or the one that the detail follows.
    pub(crate) const fn selecting(&self) -> BoardPanel {
        if matches!(self.panel, BoardPanel::Detail) { self.source } else { self.panel }
    }

    /// The row that is selected.
    pub(crate) fn selected(&self) -> Option<&RowKey> {
        self.pane(self.selecting()).selected()
    }

    /// The todo that is selected.
    pub fn target(&self) -> Option<Uid> {
        match self.selected()? {
            RowKey::Todo(uid) | RowKey::Note(uid, _) => Some(*uid),
            RowKey::Inbox(key) => self.todo_of_id(key.todo.as_deref()?),
            RowKey::Seat(n) => {
                let seat = self.data.run.as_ref()?.seats.iter().find(|seat| seat.seat == *n)?;
                self.todo_of_id(seat.todo.as_deref()?)
            }
            RowKey::Worker(name) => {
                let claims = &self.data.worker(name)?.claims;
                self.todo_of_id(claims.iter().find(|claim| claim.plan == self.data.name)?.todo.as_str())
            }
            RowKey::StuckClaim(plan, todo) if self.data.name.as_str() == plan => self.todo_of_id(todo),
            RowKey::StuckClaim(..)
            | RowKey::FleetWarning(_)
            | RowKey::Phase(_)
            | RowKey::More(..)
            | RowKey::Closed(..)
            | RowKey::Revision(_)
            | RowKey::Session(_)
            | RowKey::Text(_) => None,
        }
    }

    fn todo_of_id(&self, id: &str) -> Option<Uid> {
        self.data.plan.as_ref()?.by_id(id).map(|todo| todo.uid)
    }

    pub(crate) fn todo(&self, uid: Uid) -> Option<&Todo> {
        self.data.plan.as_ref()?.get(uid)
    }

    /// The todos that an action is about: those that are marked, or the selected one.
    pub fn targets(&self) -> Vec<Uid> {
        if self.marked.is_empty() { self.target().into_iter().collect() } else { self.marked.iter().copied().collect() }
    }

    /// The item of the inbox that a row stands for.
    pub(crate) fn item(&self, key: &InboxKey) -> Option<&InboxItem> {
        let same = |item: &&InboxItem| {
            (item.kind, &item.todo, item.question, item.since) == (key.kind, &key.todo, key.question, key.since)
        };
        self.data.inbox.iter().find(same)
    }

    /// The item of the inbox that is selected.
    pub(crate) fn selected_item(&self) -> Option<&InboxItem> {
        match self.selected()? {
            RowKey::Inbox(key) => self.item(key),
            _ => None,
        }
    }

    /// The question that is selected: that of the item, or of the todo.
    pub fn question(&self) -> Option<&DisplayedQuestion> {
        match self.selected_item() {
            // A todo whose agent asks is on hold for the user, too: that item stands for the same question.
            Some(item) => match item.question {
                Some(question) => self.data.question(question),
                None => self.data.question_of(self.target()?),
            },
            None => self.data.question_of(self.target()?),
        }
    }

    /// The selected todo if it is on hold until the user decides.
    pub fn decision_wanted(&self) -> Option<Uid> {
        let uid = self.target()?;
        let hold = self.todo(uid)?.hold_at(self.now)?;
        (matches!(hold.kind, HoldKind::Human | HoldKind::Conflict) && self.question().is_none()).then_some(uid)
    }

    /// The check that waits for approval, if that is what is selected.
    pub fn unapproved(&self) -> Option<(Uid, &Verify)> {
        self.selected_item().filter(|item| item.kind == InboxKind::Approval)?;
        let uid = self.target()?;
        Some((uid, self.todo(uid)?.verify.as_ref()?))
    }

    /// The session that is selected.
    pub fn session(&self) -> Option<&SessionSummary> {
        match self.selected()? {
            RowKey::Session(id) => self.data.sessions.iter().find(|session| session.id == *id),
            _ => None,
        }
    }

    /// How many todos are in progress. The panel has warnings about the fleet, too.
    pub(crate) fn working(&self) -> usize {
        self.pane(BoardPanel::Working).rows.iter().filter(|row| matches!(row, RowKey::Todo(_))).count()
    }

    /// What the key that pauses a run does now.
    pub(crate) fn pause_word(&self) -> &'static str {
        match self.data.run.as_ref().map(|run| run.wanted) {
            None | Some(RequestedState::Go) => "pause",
            Some(RequestedState::Pause | RequestedState::Stop) => "resume",
        }
    }

    pub(super) fn mark(&mut self) {
        let Some(uid) = self.target() else { return };
        if !self.marked.remove(&uid) {
            self.marked.insert(uid);
        }
        self.last_mark = Some(uid);
        let pane = self.panes.entry(self.selecting()).or_default();
        pane.step(1);
        // Its notes are in between; the same key again is for the next todo.
        while matches!(pane.selected(), Some(RowKey::Note(of, _)) if *of == uid) && pane.at + 1 < pane.rows.len() {
            pane.step(1);
        }
    }

    /// Marks every todo from the last one that was marked to the selected one.
    pub(super) fn mark_range(&mut self) {
        let Some(uid) = self.target() else { return };
        let pane = self.pane(self.selecting());
        let place = |uid: Uid| pane.rows.iter().position(|row| *row == RowKey::Todo(uid));
        let from = self.last_mark.and_then(place).unwrap_or(pane.at);
        let (from, to) = (from.min(pane.at), from.max(pane.at));
        let uids = pane.rows[from..=to].iter().filter_map(|row| match row {
            RowKey::Todo(uid) => Some(*uid),
            _ => None,
        });
        let uids: Vec<Uid> = uids.collect();
        self.marked.extend(uids);
        self.last_mark = Some(uid);
    }
}
