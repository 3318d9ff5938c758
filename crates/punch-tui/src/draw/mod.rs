//! Draws a board. Nothing is decided here: the same board is always the same picture.

mod detail;
mod fleet;
mod footer;
mod graph;
mod header;
mod line;
mod overlay;
mod panel;
mod rows;

use ratatui::Frame;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Paragraph};

pub(crate) use detail::{asked_lines, detail_lines};
pub use header::one_line;
pub(crate) use line::span;
pub(crate) use overlay::menu_words;
pub(crate) use rows::run_line_count;

use crate::board::{Board, BoardLayout, BoardPanel, PanelArea};
use crate::keys::{self, KeyAction};
use crate::look::BoardShape;

/// Draws the board.
pub fn draw(board: &Board, frame: &mut Frame<'_>) {
    if board.look().shape == BoardShape::Panel {
        panel::draw(board, frame);
        return;
    }
    let layout = board.layout();
    if layout.is_tiny {
        let area = frame.area();
        frame.render_widget(Paragraph::new(one_line(board, usize::from(area.width))), area);
        return;
    }
    frame.render_widget(Paragraph::new(header::header(board, usize::from(layout.header.width))), layout.header);
    for (panel, place) in &layout.panels {
        draw_panel(board, frame, &layout, *panel, *place);
    }
    footer::draw(board, frame, &layout);
    overlay::draw(board, frame);
}

fn draw_panel(board: &Board, frame: &mut Frame<'_>, layout: &BoardLayout, panel: BoardPanel, place: PanelArea) {
    let has_cursor = board.panel() == panel && board.overlay().is_none();
    let title = title(board, panel);
    let width = usize::from(place.inner.width);
    if layout.is_narrow {
        frame.render_widget(Paragraph::new(narrow_title(board, panel, &title, place, has_cursor)), place.outer);
    } else {
        let style = if has_cursor { board.look().bold() } else { board.look().dim() };
        let mut block = Block::bordered().border_set(board.look().border()).border_style(style).title(Line::from(
            Span::styled(line::fit(&format!(" {title} "), width, board.look()), board.look().bold()),
        ));
        if let Some(hint) = hint(board, panel).filter(|hint| line::columns(hint) + line::columns(&title) + 8 < width) {
            block = block.title(Line::from(Span::styled(format!(" {hint} "), board.look().dim())).right_aligned());
        }
        frame.render_widget(block, place.outer);
    }
    let rows = usize::from(place.inner.height);
    let lines: Vec<Line<'static>> = match panel {
        BoardPanel::Graph if board.graph_tree().is_some() => {
            board.graph_tree().map(|tree| graph::lines(board, tree, width, rows, has_cursor)).unwrap_or_default()
        }
        BoardPanel::Detail => detail_lines(board, width).into_iter().skip(board.detail_top()).take(rows).collect(),
        _ => rows::lines(board, panel, width, rows, has_cursor),
    };
    frame.render_widget(Paragraph::new(lines), place.inner);
}

/// The name of a panel and how much is in it.
fn title(board: &Board, panel: BoardPanel) -> String {
    let rows = board.pane(panel).rows.len();
    match panel {
        BoardPanel::Inbox => format!("Needs you ({rows})"),
        BoardPanel::Working => format!("Working ({})", board.working()),
        BoardPanel::Next => {
            let open = board.data().plan.as_ref().map_or(0, |plan| plan.row.counts.open());
            format!("Next and the rest ({open} open){}", filtered(board))
        }
        BoardPanel::Changes => match board.data().unseen_count() {
            0 => "Since you last looked".to_owned(),
            1 => "Since you last looked: 1 change".to_owned(),
            more => format!("Since you last looked: {more} changes"),
        },
        BoardPanel::List => format!("List{}", filtered(board)),
        BoardPanel::Graph => match board.graph_tree() {
            Some(tree) if graph::has_critical(board, tree) => {
                format!("Graph ({} critical path)", board.look().pick("━", "="))
            }
            None if board.is_whole_graph() => format!("Graph of the whole plan{}", filtered(board)),
            _ => "Graph".to_owned(),
        },
        BoardPanel::Log => "Log".to_owned(),
        BoardPanel::Seats => match &board.data().run {
            Some(run) => format!("Run {}", run.number),
            None => "Run".to_owned(),
        },
        BoardPanel::Detail => detail::title(board),
    }
}

fn filtered(board: &Board) -> String {
    match board.filter_text() {
        "" => String::new(),
        text => format!("  filter: {text}"),
    }
}

/// The keys that matter most in a panel.
fn hint(board: &Board, panel: BoardPanel) -> Option<String> {
    if board.panel() != panel && panel != BoardPanel::Inbox {
        return None;
    }
    let keys = |pairs: &[(KeyAction, &str)]| {
        Some(
            pairs
                .iter()
                .map(|(action, word)| format!("{} {word}", keys::key_of(*action)))
                .collect::<Vec<_>>()
                .join("  "),
        )
    };
    match panel {
        BoardPanel::Inbox if board.question().is_some() && board.selecting() == BoardPanel::Inbox => keys(&[
            (KeyAction::NextNeed, "next"),
            (KeyAction::Allow, "allow"),
            (KeyAction::Deny, "deny"),
            (KeyAction::DenyWithReason, "deny with a reason"),
        ]),
        BoardPanel::Inbox if board.decision_wanted().is_some() => {
            keys(&[(KeyAction::NextNeed, "next"), (KeyAction::AnswerHold, "answer")])
        }
        BoardPanel::Inbox if board.unapproved().is_some() => {
            keys(&[(KeyAction::NextNeed, "next"), (KeyAction::Approve, "approve")])
        }
        BoardPanel::Inbox => keys(&[(KeyAction::NextNeed, "next")]),
        BoardPanel::Changes => keys(&[(KeyAction::Open, "mark all as seen")]),
        BoardPanel::Log => keys(&[(KeyAction::Open, "plan as it was"), (KeyAction::Undo, "undo this")]),
        BoardPanel::List => keys(&[(KeyAction::Expand, "expand"), (KeyAction::ShowClosed, "closed")]),
        BoardPanel::Graph if board.is_whole_graph() => {
            keys(&[(KeyAction::Open, "center"), (KeyAction::WholeGraph, "around one todo")])
        }
        BoardPanel::Graph => keys(&[(KeyAction::Open, "center"), (KeyAction::WholeGraph, "whole plan")]),
        BoardPanel::Seats if board.session().is_some() => keys(&[(KeyAction::KeepGoing, "pause, resume, off")]),
        BoardPanel::Seats if board.data().run.as_ref().is_some_and(|run| run.is_running) => {
            keys(&[(KeyAction::Pause, board.pause_word()), (KeyAction::Stop, "stop")])
        }
        BoardPanel::Seats => None,
        BoardPanel::Working | BoardPanel::Next | BoardPanel::Detail => None,
    }
}

/// The heading of a panel without a border. A panel without rows below it has its first row beside it.
fn narrow_title(board: &Board, panel: BoardPanel, title: &str, place: PanelArea, has_cursor: bool) -> Line<'static> {
    let (rows, width) = (board.pane(panel).rows.len(), usize::from(place.inner.width));
    let is_short = place.inner.height == 0;
    let word = match panel {
        BoardPanel::Inbox => format!("NEEDS YOU {rows}"),
        BoardPanel::Working => format!("WORKING {}", board.working()),
        BoardPanel::Next if is_short && rows > 0 => "NEXT".to_owned(),
        BoardPanel::Next => {
            let open = board.data().plan.as_ref().map_or(0, |plan| plan.row.counts.open());
            format!("NEXT, {open} open{}", filtered(board))
        }
        BoardPanel::Changes => match board.data().unseen_count() {
            0 => "NO CHANGES SINCE YOU LOOKED".to_owned(),
            1 => "1 CHANGE SINCE YOU LOOKED".to_owned(),
            more => format!("{more} CHANGES SINCE YOU LOOKED"),
        },
        BoardPanel::List | BoardPanel::Graph | BoardPanel::Log | BoardPanel::Seats | BoardPanel::Detail => {
            title.to_owned()
        }
    };
    let style = if has_cursor { board.look().selected() } else { board.look().bold() };
    let word = line::fit(&word, width, board.look());
    let room = width.saturating_sub(line::columns(&word));
    let mut spans = vec![Span::styled(word, style)];
    if panel == BoardPanel::Next && is_short {
        spans.extend(rows::lines(board, panel, room, 1, false).into_iter().flat_map(|line| line.spans));
    }
    Line::from(spans)
}
