//! Draws menus, confirmations and texts to read.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph};

use super::line::{LineBuilder, columns, fit, wrap};
use crate::board::{Board, Confirm, Menu, Overlay, TextPage};

pub(super) fn draw(board: &Board, frame: &mut Frame<'_>) {
    match board.overlay() {
        None | Some(Overlay::Prompt(_)) => {}
        Some(Overlay::Menu(menu)) => draw_menu(board, frame, menu),
        Some(Overlay::Confirm(confirm)) => draw_confirm(board, frame, confirm),
        Some(Overlay::Page(page)) => draw_page(board, frame, page),
    }
}

fn block(board: &Board, title: &str, width: u16) -> Block<'static> {
    let title = fit(&format!(" {title} "), usize::from(width.saturating_sub(2)), board.look());
    Block::bordered().border_set(board.look().border()).title(Line::from(Span::styled(title, board.look().bold())))
}

/// Says at the bottom which lines are shown, if they do not all fit.
fn scrolled(board: &Board, block: Block<'static>, top: usize, rows: usize, all: usize) -> Block<'static> {
    if all <= rows {
        return block;
    }
    let shown = format!(" {}-{} of {all} ", top + 1, all.min(top + rows));
    block.title_bottom(Line::from(Span::styled(shown, board.look().dim())).right_aligned())
}

fn inner(area: Rect) -> Rect {
    Rect { x: area.x + 1, y: area.y + 1, width: area.width.saturating_sub(2), height: area.height.saturating_sub(2) }
}

fn draw_menu(board: &Board, frame: &mut Frame<'_>, menu: &Menu) {
    let look = board.look();
    let keys = menu.entries.iter().map(|(keys, ..)| columns(keys)).max().unwrap_or(0);
    let (area, top) = board.menu_place(menu);
    frame.render_widget(Clear, area);
    let place = inner(area);
    let foot = usize::from(board.menu_foot(menu));
    let rows = usize::from(place.height).saturating_sub(foot).max(1);
    let block = block(board, &menu.title, area.width);
    frame.render_widget(scrolled(board, block, top, rows, menu.entries.len()), area);
    let line = |(at, (key, words, _)): (usize, &(String, String, _))| {
        let mut row = LineBuilder::new(look, usize::from(place.width));
        let selected = at == menu.at;
        row.put(if selected { "> " } else { "  " }, look.key()).column(key, keys + 2, look.key());
        row.put(words, if selected { look.selected() } else { look.style(punch_core::view::SpanRole::Text) });
        row.line()
    };
    let mut lines: Vec<Line<'static>> = menu.entries.iter().enumerate().skip(top).take(rows).map(line).collect();
    if let Some((_, words, _)) = menu.entries.get(menu.at).filter(|_| foot > 0) {
        let style = look.style(punch_core::view::SpanRole::Detail);
        let full = menu_words(words, area.width).into_iter().take(foot);
        lines.extend(full.map(|text| Line::from(Span::styled(format!(" {text}"), style))));
    }
    frame.render_widget(Paragraph::new(lines), place);
}

/// What an entry does, on the lines below a menu of this width.
pub(crate) fn menu_words(words: &str, width: u16) -> Vec<String> {
    wrap(words, usize::from(width.saturating_sub(3)), 0)
}

fn draw_confirm(board: &Board, frame: &mut Frame<'_>, confirm: &Confirm) {
    let look = board.look();
    let width = frame.area().width.min(76);
    let room = usize::from(width.saturating_sub(4));
    let mut lines: Vec<Line<'static>> = Vec::new();
    for (at, text) in confirm.lines.iter().enumerate() {
        let style = if at == 0 { look.bold() } else { look.style(punch_core::view::SpanRole::Text) };
        lines.extend(wrap(text, room, 0).into_iter().map(|line| Line::from(Span::styled(format!(" {line}"), style))));
    }
    lines.push(Line::default());
    lines.push(Line::from(vec![
        Span::styled(" y", look.key()),
        Span::raw(" yes   "),
        Span::styled("Esc", look.key()),
        Span::raw(" no"),
    ]));
    let area = board.centered(usize::from(width), lines.len() + 2);
    frame.render_widget(Clear, area);
    frame.render_widget(block(board, "Sure?", area.width), area);
    frame.render_widget(Paragraph::new(lines), inner(area));
}

fn draw_page(board: &Board, frame: &mut Frame<'_>, page: &TextPage) {
    let area = board.centered(usize::MAX, usize::MAX);
    frame.render_widget(Clear, area);
    let place = inner(area);
    let (width, rows) = (usize::from(place.width), usize::from(place.height));
    let block = block(board, &page.title, area.width);
    frame.render_widget(scrolled(board, block, page.top, rows, page.lines.len()), area);
    let lines: Vec<Line<'static>> =
        page.lines.iter().skip(page.top).take(rows).map(|line| Line::from(fit(line, width, board.look()))).collect();
    frame.render_widget(Paragraph::new(lines), place);
}
