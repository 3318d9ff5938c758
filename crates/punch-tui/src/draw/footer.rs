//! The lines at the bottom: the typed line, the notice, the views and the keys that matter here.

use punch_core::text::neutral;
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::line::{LineBuilder, columns, end_of, fit};
use crate::board::{Board, BoardLayout, BoardView, Overlay};
use crate::keys::{self, KeyAction};

pub(super) fn draw(board: &Board, frame: &mut Frame<'_>, layout: &BoardLayout) {
    let (look, area) = (board.look(), layout.footer);
    let width = usize::from(area.width);
    let last = Rect { y: area.bottom() - 1, height: 1, ..area };
    if let Some(Overlay::Prompt(prompt)) = board.overlay() {
        let mut label = format!(" {}: ", board.prompt_label(&prompt.kind));
        if columns(&label) * 2 > width {
            // What is typed counts more than where it goes.
            label = format!(" {}: ", board.prompt_label(&prompt.kind).split(" (").next().unwrap_or_default());
        }
        let before: String = prompt.text.chars().take(prompt.at).collect();
        let room = width.saturating_sub(columns(&label) + 1);
        // The cursor stays in view: what is before it is cut from the left.
        let before = neutral(&before);
        let before = end_of(&before, room);
        let rest: String = prompt.text.chars().skip(prompt.at).collect();
        let shown = format!("{before}{}", neutral(&rest));
        let x = columns(&label) + columns(before);
        let line = Line::from(vec![Span::styled(label, look.key()), Span::raw(fit(&shown, room, look))]);
        frame.render_widget(Paragraph::new(line), last);
        draw_notice(board, frame, Rect { height: area.height - 1, ..area });
        frame.set_cursor_position(Position::new(
            u16::try_from(x).unwrap_or(0).min(area.width.saturating_sub(1)),
            last.y,
        ));
        return;
    }
    if board.notice().is_some() {
        if draw_notice(board, frame, area) < area.height {
            frame.render_widget(Paragraph::new(views(board, width)), last);
        }
        return;
    }
    if layout.is_narrow {
        frame.render_widget(Paragraph::new(narrow(board, width)), last);
        return;
    }
    frame.render_widget(Paragraph::new(hints(board, width)), Rect { height: 1, ..area });
    frame.render_widget(Paragraph::new(views(board, width)), last);
}

/// Draws the notice at the top of an area and returns how many rows it took.
fn draw_notice(board: &Board, frame: &mut Frame<'_>, area: Rect) -> u16 {
    let (look, width) = (board.look(), usize::from(area.width));
    let Some(notice) = board.notice() else { return 0 };
    let style = if notice.is_problem { look.alarm() } else { look.good() };
    let line = |line: &str| Line::from(Span::styled(fit(&format!(" {}", neutral(line)), width, look), style));
    let lines: Vec<Line<'static>> = notice.text.lines().take(2).map(line).collect();
    let height = (lines.len() as u16).min(area.height);
    frame.render_widget(Paragraph::new(lines), Rect { height, ..area });
    height
}

/// The views with their numbers, and the two keys that must never be cut.
fn views(board: &Board, width: usize) -> Line<'static> {
    let look = board.look();
    let mut row = LineBuilder::new(look, width);
    row.put(" ", look.dim());
    for (at, view) in BoardView::ALL.into_iter().enumerate() {
        let style = if view == board.view() { look.selected() } else { look.dim() };
        row.put(&format!("{} {}", at + 1, view.name()), style).put("  ", look.dim());
    }
    let always = format!("{} all keys   {} quit ", Board::help_key(), keys::key_of(KeyAction::Quit));
    row.to(width.saturating_sub(columns(&always)));
    row.put(&always, look.bold());
    row.line()
}

fn hints(board: &Board, width: usize) -> Line<'static> {
    let mut wanted: Vec<(KeyAction, &str)> = Vec::new();
    if board.question().is_some() {
        wanted.extend([
            (KeyAction::Allow, "allow"),
            (KeyAction::Deny, "deny"),
            (KeyAction::DenyWithReason, "deny with a reason"),
        ]);
    } else if board.decision_wanted().is_some() {
        wanted.push((KeyAction::AnswerHold, "answer"));
    } else if board.unapproved().is_some() {
        wanted.push((KeyAction::Approve, "approve"));
    }
    if board.is_detail_open() {
        wanted.push((KeyAction::Back, "back"));
    } else if !board.is_wide() {
        wanted.push((KeyAction::Open, "detail"));
    }
    wanted.extend([
        (KeyAction::Filter, "filter"),
        (KeyAction::Add, "add"),
        (KeyAction::Edit, "edit"),
        (KeyAction::Change, "change"),
        (KeyAction::MoveDown, "move"),
        (KeyAction::Undo, "undo"),
        (KeyAction::Pause, board.pause_word()),
        (KeyAction::Command, "command"),
    ]);
    let here = |action: KeyAction| keys::TABLE.iter().any(|row| row.action == action && row.scope.holds(board));
    put_keys(board, width, wanted.into_iter().filter(|(action, _)| here(*action)))
}

fn narrow(board: &Board, width: usize) -> Line<'static> {
    let mut wanted: Vec<(KeyAction, &str)> = Vec::new();
    if board.question().is_some() {
        wanted.extend([(KeyAction::Allow, "yes"), (KeyAction::Deny, "no")]);
    } else if board.decision_wanted().is_some() {
        wanted.push((KeyAction::AnswerHold, "answer"));
    } else if board.unapproved().is_some() {
        wanted.push((KeyAction::Approve, "approve"));
    }
    let open = if board.is_detail_open() { (KeyAction::Back, "back") } else { (KeyAction::Open, "open") };
    wanted.extend([(KeyAction::Help, "keys"), open, (KeyAction::Change, "change"), (KeyAction::Quit, "quit")]);
    put_keys(board, width, wanted.into_iter())
}

fn put_keys<'a>(board: &Board, width: usize, keys: impl Iterator<Item = (KeyAction, &'a str)>) -> Line<'static> {
    let look = board.look();
    let mut row = LineBuilder::new(look, width);
    row.put(" ", look.dim());
    for (action, word) in keys {
        let key = keys::key_of(action);
        // A hint that would be cut is left out.
        if row.left() > columns(key) + columns(word) + 3 {
            row.put(key, look.key()).put(&format!(" {word}   "), look.dim());
        }
    }
    row.line()
}
