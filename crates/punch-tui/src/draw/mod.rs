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

use crate::board::{Board, Layout, Panel, Place};
use crate::keys::{self, Action};
use crate::look::Shape;

/// Draws the board.
pub fn draw(board: &Board, frame: &mut Frame<'_>) {
    if board.look().shape == Shape::Panel {
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

fn draw_panel(board: &Board, frame: &mut Frame<'_>, layout: &Layout, panel: Panel, place: Place) {
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
        Panel::Graph if board.graph_tree().is_some() => {
            board.graph_tree().map(|tree| graph::lines(board, tree, width, rows, has_cursor)).unwrap_or_default()
        }
        Panel::Detail => detail_lines(board, width).into_iter().skip(board.detail_top()).take(rows).collect(),
        _ => rows::lines(board, panel, width, rows, has_cursor),
    };
    frame.render_widget(Paragraph::new(lines), place.inner);
}

/// The name of a panel and how much is in it.
fn title(board: &Board, panel: Panel) -> String {
    let rows = board.pane(panel).rows.len();
    match panel {
        Panel::Inbox => format!("Needs you ({rows})"),
        Panel::Working => format!("Working ({})", board.working()),
        Panel::Next => {
            let open = board.data().plan.as_ref().map_or(0, |plan| plan.row.counts.open());
            format!("Next and the rest ({open} open){}", filtered(board))
        }
        Panel::Changes => match rows {
            0 => "Since you looked".to_owned(),
            1 => "Since you looked: 1 change".to_owned(),
            more => format!("Since you looked: {more} changes"),
        },
        Panel::List => format!("List{}", filtered(board)),
        Panel::Graph => match board.graph_tree() {
            Some(tree) if graph::has_critical(board, tree) => {
                format!("Graph ({} critical path)", board.look().pick("━", "="))
            }
            None if board.is_whole_graph() => format!("Graph of the whole plan{}", filtered(board)),
            _ => "Graph".to_owned(),
        },
        Panel::Log => "Log".to_owned(),
        Panel::Seats => match &board.data().run {
            Some(run) => format!("Run {}", run.number),
            None => "Run".to_owned(),
        },
        Panel::Detail => detail::title(board),
    }
}

fn filtered(board: &Board) -> String {
    match board.filter_text() {
        "" => String::new(),
        text => format!("  filter: {text}"),
    }
}

/// The keys that matter most in a panel.
fn hint(board: &Board, panel: Panel) -> Option<String> {
    if board.panel() != panel && panel != Panel::Inbox {
        return None;
    }
    let keys = |pairs: &[(Action, &str)]| {
        Some(
            pairs
                .iter()
                .map(|(action, word)| format!("{} {word}", keys::key_of(*action)))
                .collect::<Vec<_>>()
                .join("  "),
        )
    };
    match panel {
        Panel::Inbox if board.question().is_some() && board.selecting() == Panel::Inbox => keys(&[
            (Action::NextNeed, "next"),
            (Action::Allow, "allow"),
            (Action::Deny, "deny"),
            (Action::DenyWithReason, "deny with a reason"),
        ]),
        Panel::Inbox if board.decision_wanted().is_some() => {
            keys(&[(Action::NextNeed, "next"), (Action::AnswerHold, "answer")])
        }
        Panel::Inbox if board.unapproved().is_some() => {
            keys(&[(Action::NextNeed, "next"), (Action::Approve, "approve")])
        }
        Panel::Inbox => keys(&[(Action::NextNeed, "next")]),
        Panel::Changes => keys(&[(Action::Open, "mark all as seen")]),
        Panel::Log => keys(&[(Action::Open, "plan as it was"), (Action::Undo, "undo this")]),
        Panel::List => keys(&[(Action::Expand, "expand"), (Action::ShowClosed, "closed")]),
        Panel::Graph if board.is_whole_graph() => {
            keys(&[(Action::Open, "center"), (Action::WholeGraph, "around one todo")])
        }
        Panel::Graph => keys(&[(Action::Open, "center"), (Action::WholeGraph, "whole plan")]),
        Panel::Seats if board.session().is_some() => keys(&[(Action::KeepGoing, "pause, resume, off")]),
        Panel::Seats if board.data().run.as_ref().is_some_and(|run| run.is_running) => {
            keys(&[(Action::Pause, board.pause_word()), (Action::Stop, "stop")])
        }
        Panel::Seats => None,
        Panel::Working | Panel::Next | Panel::Detail => None,
    }
}

/// The heading of a panel without a border. A panel without rows below it has its first row beside it.
fn narrow_title(board: &Board, panel: Panel, title: &str, place: Place, has_cursor: bool) -> Line<'static> {
    let (rows, width) = (board.pane(panel).rows.len(), usize::from(place.inner.width));
    let is_short = place.inner.height == 0;
    let word = match panel {
        Panel::Inbox => format!("NEEDS YOU {rows}"),
        Panel::Working => format!("WORKING {}", board.working()),
        Panel::Next if is_short && rows > 0 => "NEXT".to_owned(),
        Panel::Next => {
            let open = board.data().plan.as_ref().map_or(0, |plan| plan.row.counts.open());
            format!("NEXT, {open} open{}", filtered(board))
        }
        Panel::Changes => match rows {
            0 => "NO CHANGES SINCE YOU LOOKED".to_owned(),
            1 => "1 CHANGE SINCE YOU LOOKED".to_owned(),
            more => format!("{more} CHANGES SINCE YOU LOOKED"),
        },
        Panel::List | Panel::Graph | Panel::Log | Panel::Seats | Panel::Detail => title.to_owned(),
    };
    let style = if has_cursor { board.look().selected() } else { board.look().bold() };
    let word = line::fit(&word, width, board.look());
    let room = width.saturating_sub(line::columns(&word));
    let mut spans = vec![Span::styled(word, style)];
    if panel == Panel::Next && is_short {
        spans.extend(rows::lines(board, panel, room, 1, false).into_iter().flat_map(|line| line.spans));
    }
    Line::from(spans)
}
