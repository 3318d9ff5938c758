//! Decides when a question or an approval may be answered: only if it is selected, was on screen in full, and has been
//! there for half a second, so that a key meant for something else answers nothing.

use punch_core::Verify;
use punch_engine::QuestionReply;

use super::{Board, BoardPanel, Overlay, PromptKind};
use crate::draw::{asked_lines, detail_lines};
use crate::request::BoardRequest;

/// How long something must be on screen before it can be answered.
const READING_MS: i64 = 500;

/// What the user is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BoardQuestion {
    /// A question of an agent, by its number.
    Question(u64),
    /// May this command check todos?
    Check(Verify),
}

/// What was on screen of what the user is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionDisplay {
    asked: BoardQuestion,
    /// Lines from the first that have been on screen without a gap.
    lines: usize,
    /// Since when all of it has been on screen.
    in_full_since: Option<i64>,
}

impl Board {
    /// What the user is asked by what is selected.
    pub(crate) fn asked(&self) -> Option<BoardQuestion> {
        if let Some(question) = self.question() {
            return Some(BoardQuestion::Question(question.id));
        }
        self.unapproved().map(|(_, command)| BoardQuestion::Check(command.clone()))
    }

    /// Notes what has just been drawn.
    pub(super) fn note_shown(&mut self, at: i64) {
        if matches!(self.overlay, Some(Overlay::Menu(_) | Overlay::Prompt(_))) {
            return;
        }
        let place = self.layout().rect(BoardPanel::Detail).filter(|_| self.overlay.is_none());
        let (Some(asked), Some(place)) = (self.asked(), place) else {
            self.shown = None;
            return;
        };
        let width = usize::from(place.inner.width);
        let wanted = asked_lines(self, width).len();
        let drawn = detail_lines(self, width).len().min(self.detail_top + usize::from(place.inner.height));
        let mut shown = match self.shown.take() {
            Some(shown) if shown.asked == asked => shown,
            _ => QuestionDisplay { asked, lines: 0, in_full_since: None },
        };
        if self.detail_top <= shown.lines {
            shown.lines = shown.lines.max(drawn);
        }
        if shown.lines >= wanted {
            shown.in_full_since = shown.in_full_since.or(Some(at));
        } else {
            shown.in_full_since = None;
        }
        self.shown = Some(shown);
    }

    /// Returns why what is selected cannot be answered right now.
    fn not_yet(&self) -> Option<String> {
        if let Some(why) = &self.data.no_answers {
            return Some(format!("questions cannot be answered here: {why}"));
        }
        let shown = self.shown.as_ref().filter(|shown| Some(&shown.asked) == self.asked().as_ref());
        match shown.map(|shown| shown.in_full_since) {
            Some(Some(since)) if self.now - since >= READING_MS => None,
            Some(Some(_)) => Some("it has only just appeared; read it and press the key again".to_owned()),
            Some(None) => Some("scroll down to read all of it first".to_owned()),
            None => Some("read all of it first".to_owned()),
        }
    }

    /// Shows what is asked in full on a screen that does not show it beside the rest.
    fn show_in_full(&mut self) {
        self.detail_top = 0;
        if !self.is_wide() {
            self.detail_open = true;
            self.panel = BoardPanel::Detail;
        }
    }

    /// Returns true if what is asked can be answered now; says why not otherwise.
    fn may_answer(&mut self) -> bool {
        let Some(why) = self.not_yet() else { return true };
        if self.layout().rect(BoardPanel::Detail).is_none() {
            self.show_in_full();
            self.say("Here it is in full. Press the key again to answer.");
        } else {
            self.refuse(why);
        }
        false
    }

    /// Returns true if the selected question can be answered like this; says why not otherwise.
    pub(super) fn may_give(&mut self, answer: &QuestionReply) -> bool {
        let Some(question) = self.question() else { return false };
        if question.seat.is_none() {
            let why = format!("{} is not part of a run: answer in its own terminal", question.agent);
            self.refuse(why);
            return false;
        }
        if question.is_cut && !question.refuses(answer) {
            self.refuse("the request is too long to be stored in full, so it can only be denied here");
            return false;
        }
        self.may_answer()
    }

    pub(super) fn answer(&mut self, answer: QuestionReply) -> Vec<BoardRequest> {
        let Some(id) = self.question().map(|question| question.id) else { return Vec::new() };
        if !self.may_give(&answer) {
            return Vec::new();
        }
        vec![BoardRequest::Answer { question: id, answer, reason: None }]
    }

    pub(super) fn deny_with_reason(&mut self) {
        let Some(id) = self.question().map(|question| question.id) else { return };
        if self.may_give(&QuestionReply::Refuse) {
            self.ask(PromptKind::DenyReason(id), "");
        }
    }

    pub(super) fn approve(&mut self) -> Vec<BoardRequest> {
        let Some((_, command)) = self.unapproved() else { return Vec::new() };
        let command = command.clone();
        if self.may_answer() { vec![BoardRequest::Approve(command)] } else { Vec::new() }
    }
}
