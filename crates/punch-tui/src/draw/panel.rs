//! The small box of tasks, for a corner of the screen.

use punch_core::view::{self, ListRow, Progress};
use ratatui::Frame;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use crate::board::Board;

/// Rows of the box that are not todos: its borders, the blank line, the bar and the numbers.
const FRAME: usize = 5;

pub(super) fn draw(board: &Board, frame: &mut Frame<'_>) {
    let area = frame.area();
    frame.render_widget(Paragraph::new(lines(board, usize::from(area.width), usize::from(area.height))), area);
}

fn lines(board: &Board, width: usize, height: usize) -> Vec<Line<'static>> {
    let data = board.data();
    let warning = match &data.trouble {
        Some((why, _)) => Some(format!("STALE: {why}")),
        None => data.failed_write.as_ref().map(|why| format!("STALE: {why}")),
    };
    // The warning has a row of its own: a picture that is no longer true must not look as if it were.
    let Some(warning) = warning else { return todo_lines(board, width, height) };
    let room = height.saturating_sub(1);
    let mut lines = todo_lines(board, width, room);
    lines.truncate(room);
    lines.push(Line::from(super::line::fit(&warning, width, board.look())).style(board.look().warning()));
    lines
}

fn todo_lines(board: &Board, width: usize, height: usize) -> Vec<Line<'static>> {
    let data = board.data();
    let Some(reader) = data.reader(board.now()) else { return vec![Line::from("No plan yet.")] };
    let todos = view::hide::visible(reader.plan, board.delay(), reader.now);
    let named =
        |todo: &&punch_core::Todo| format!("{} {}", view::Plain::id(&todo.id), ListRow::of(reader, todo).shown());
    let texts: Vec<String> = todos.iter().map(named).collect();
    let row = |(todo, text)| ListRow { content: text, active: text, ..ListRow::of(reader, todo) };
    let rows: Vec<ListRow<'_>> = todos.iter().copied().zip(texts.iter().map(String::as_str)).map(row).collect();
    let glyphs = board.look().glyphs;
    let drawn = match height.checked_sub(FRAME) {
        Some(room @ 1..) => {
            let panel = view::Panel { width, rows: room, glyphs, ..view::Panel::default() };
            panel.draw(&rows, Progress::of_counts(&reader.plan.row.counts))
        }
        // Without room for a box, the notice of an updated list says the same.
        _ => view::checklist::notice(&rows, glyphs, view::Cap::new(height.max(1), usize::MAX)),
    };
    let mut lines: Vec<Line<'static>> =
        drawn.lines().map(|line| Line::from(super::line::fit(line, width, board.look()))).collect();
    // What has just happened stands below the box where there is room.
    let free = height.saturating_sub(lines.len());
    lines.extend(
        data.transitions
            .iter()
            .take(free)
            .map(|text| Line::from(super::line::fit(text, width, board.look())).style(board.look().dim())),
    );
    lines
}
