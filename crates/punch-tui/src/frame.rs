//! One picture of the board as text, for a terminal that only prints.

use std::fmt::Write;
use std::sync::Arc;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

use crate::board::{Board, BoardInput};
use crate::draw::draw;
use crate::feed::Feed;
use crate::setup::BoardSetup;

/// Reads the store once and draws the board at a size, with the escapes of a terminal or without.
pub fn frame(setup: BoardSetup, size: (u16, u16), is_styled: bool, now: i64) -> String {
    let setup = Arc::new(setup);
    let mut board = Board::new(setup.look, setup.delay, size, now);
    let mut feed = Feed::new(Arc::clone(&setup));
    feed.refresh_plan(board.data_mut(), now);
    feed.refresh_around(board.data_mut(), now);
    board.apply(BoardInput::Changed);
    let Ok(mut terminal) = Terminal::new(TestBackend::new(size.0, size.1));
    let Ok(_) = terminal.draw(|frame| draw(&board, frame));
    text(terminal.backend().buffer(), is_styled)
}

/// The rows of a picture, without blanks at their ends.
pub(crate) fn text(buffer: &Buffer, is_styled: bool) -> String {
    let mut out = String::new();
    for row in buffer.content().chunks(usize::from(buffer.area.width).max(1)) {
        let used = row.iter().rposition(|cell| cell.symbol() != " " || cell.modifier.contains(Modifier::REVERSED));
        let mut style = String::new();
        let mut skip = 0;
        for cell in &row[..used.map_or(0, |at| at + 1)] {
            // The cells behind a wide character are covered by it.
            if skip > 0 {
                skip -= 1;
                continue;
            }
            skip = punch_core::view::width::columns(cell.symbol()).saturating_sub(1);
            if is_styled {
                let wanted = escape(cell);
                if wanted != style {
                    let _ = write!(out, "\x1b[0m{wanted}");
                    style = wanted;
                }
            }
            out.push_str(cell.symbol());
        }
        if !style.is_empty() {
            out.push_str("\x1b[0m");
        }
        out.push('\n');
    }
    out
}

fn escape(cell: &Cell) -> String {
    let mut codes = Vec::new();
    for (modifier, code) in [(Modifier::BOLD, 1), (Modifier::DIM, 2), (Modifier::REVERSED, 7)] {
        if cell.modifier.contains(modifier) {
            codes.push(code.to_string());
        }
    }
    let color = match cell.fg {
        Color::Red => Some(31),
        Color::Green => Some(32),
        Color::Yellow => Some(33),
        Color::Blue => Some(34),
        Color::Magenta => Some(35),
        Color::Cyan => Some(36),
        _ => None,
    };
    codes.extend(color.map(|code| code.to_string()));
    if codes.is_empty() { String::new() } else { format!("\x1b[{}m", codes.join(";")) }
}
