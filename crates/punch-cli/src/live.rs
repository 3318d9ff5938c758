//! Lines at the bottom of a terminal that are redrawn in place, with permanent lines above them and sometimes a
//! question below. Pure: every function returns what has to be written.

use std::collections::VecDeque;

use punch_core::text;
use punch_core::view::width::{columns, fit};

/// Lines that wait while the user is asked.
const WAITING: usize = 100;

/// How large the screen is, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

/// The lines at the end of a terminal that change in place.
#[derive(Debug, Default)]
pub struct LiveLines {
    lines: Vec<String>,
    /// Columns of the lines as they are on the screen: a screen that became narrower shows them on several rows.
    drawn: Vec<usize>,
    /// The user is asked below the lines, and may be typing.
    asking: bool,
    /// What is put above the lines once the question is answered: it would push away what is being typed.
    later: VecDeque<String>,
    left_out: usize,
}

impl LiveLines {
    /// A number of lines.
    pub fn new(lines: usize) -> Self {
        Self { lines: (1..=lines).map(|n| format!("[{n}]")).collect(), ..Self::default() }
    }

    /// Changes the n-th line, counted from 1.
    pub fn set(&mut self, n: usize, message: &str) {
        let mark = format!("[{n}] ");
        let message = message.strip_prefix(&mark).unwrap_or(message);
        if let Some(line) = n.checked_sub(1).and_then(|at| self.lines.get_mut(at)) {
            *line = format!("{mark}{}", text::neutral(&text::clip(message, 400)));
        }
    }

    /// All of them again.
    pub fn draw(&mut self, size: Size) -> String {
        if !self.asking {
            return format!("{}{}", self.clear(size), self.put(size));
        }
        // Around what is being typed: the same number of rows, and back to where the cursor was.
        let rows = self.rows(size);
        if rows != self.drawn.len() {
            return String::new();
        }
        let lines = self.shown(self.drawn.len(), size);
        let lines: String = lines.iter().map(|line| format!("\x1b[2K{line}\n")).collect();
        if rows == 0 { String::new() } else { format!("\x1b7\x1b[{rows}A\r{lines}\x1b8") }
    }

    /// Puts a line above them that stays.
    pub fn above(&mut self, message: &str, size: Size) -> String {
        if !self.asking {
            return format!("{}{}\n{}", self.clear(size), safe(message), self.put(size));
        }
        if self.later.len() == WAITING {
            self.later.pop_front();
            self.left_out += 1;
        }
        self.later.push_back(message.to_owned());
        self.draw(size)
    }

    /// Puts a question; the answer is typed behind it.
    pub fn ask(&mut self, question: &str, size: Size) -> String {
        let out = self.above(question, size);
        self.asking = true;
        format!("{out}{ASK}")
    }

    /// The question is answered by a typed line, or will not be.
    pub fn answered(&mut self, typed: bool, size: Size) -> String {
        self.asking = false;
        let mut out = if typed { "\x1b[1A".to_owned() } else { String::new() };
        out.push_str(&self.clear(size));
        if std::mem::take(&mut self.left_out) > 0 {
            out.push_str("…\n");
        }
        for message in self.later.drain(..) {
            out.push_str(&safe(&message));
            out.push('\n');
        }
        out.push_str(&self.put(size));
        out
    }

    /// Takes them away.
    pub fn close(&mut self, size: Size) -> String {
        let out = if self.asking { self.answered(false, size) } else { String::new() };
        format!("{out}{}", self.clear(size))
    }

    /// Rows that they take.
    fn rows(&self, size: Size) -> usize {
        self.drawn.iter().map(|columns| columns.div_ceil(size.width.max(1)).max(1)).sum()
    }

    /// To the first of them, and everything from there on away.
    fn clear(&mut self, size: Size) -> String {
        let rows = self.rows(size);
        self.drawn.clear();
        if rows == 0 { "\r\x1b[J".to_owned() } else { format!("\x1b[{rows}A\r\x1b[J") }
    }

    fn put(&mut self, size: Size) -> String {
        // Above the screen nothing can be changed.
        let most = size.height.saturating_sub(2).max(1);
        let lines = self.shown(most.min(self.lines.len()), size);
        self.drawn = lines.iter().map(|line| columns(line)).collect();
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    /// The first `n`; the last of them says if there are more.
    fn shown(&self, most: usize, size: Size) -> Vec<String> {
        let room = size.width.saturating_sub(1).max(1);
        let cut = |line: &str| fit(line, room, "…").into_owned();
        let mut out: Vec<String> = self.lines.iter().take(most).map(|line| cut(line)).collect();
        if let Some(last) = out.last_mut().filter(|_| most < self.lines.len()) {
            *last = cut(&format!("… and {} more", self.lines.len() + 1 - most));
        }
        out
    }
}

/// Stands before what is typed. Short: it must fit into one row with the answer.
const ASK: &str = "[y/N] ";

/// Names from outside may hold terminal escapes; line breaks of ours stay.
pub fn safe(message: &str) -> String {
    text::neutral_lines(message).into_owned()
}

#[cfg(test)]
mod tests;
