//! The boxed panel of the todowrite proposal.

use std::borrow::Cow;

use super::row::{ListRow, tidy, window};
use super::width::{columns, first_that_fits, fit, pad};
use super::{Glyphs, NONE, Progress};

/// How the panel is drawn. Every line has exactly `width` columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panel {
    /// What stands in the upper edge. A title that does not fit is cut.
    pub title: Cow<'static, str>,
    /// Columns, brought into 10 to 1,000.
    pub width: usize,
    /// Rows for todos, brought into 1 to 200; the last one says `+N more` when they do not suffice.
    pub rows: usize,
    /// Draw a bar above the numbers.
    pub bar: bool,
    /// The signs.
    pub glyphs: Glyphs,
}

impl Default for Panel {
    fn default() -> Self {
        Self { title: Cow::Borrowed("Tasks"), width: 46, rows: 20, bar: true, glyphs: Glyphs::Unicode }
    }
}

impl Panel {
    /// Draws it; `progress` is what the last line counts.
    pub fn draw(&self, rows: &[ListRow<'_>], progress: Progress) -> String {
        let (width, most) = (self.width.clamp(10, 1_000), self.rows.clamp(1, 200));
        let inner = width - 4;
        let mut lines = vec![self.top(width)];
        let part = if rows.len() > most { window(rows.iter().map(|row| row.status), most - 1) } else { 0..rows.len() };
        let left_out = rows.len() - part.len();
        if rows.is_empty() {
            lines.push(self.side(NONE, inner));
        }
        for row in &rows[part] {
            let text = format!("{} {}", self.glyphs.status(row.status), tidy(row.shown()));
            lines.push(self.side(&text, inner));
        }
        if left_out > 0 {
            lines.push(self.choice(&[format!("+{left_out} more"), format!("+{left_out}"), "+".to_owned()], inner));
        }
        lines.push(self.side("", inner));
        if self.bar {
            lines.push(self.side(&self.bar_text(progress, inner), inner));
        }
        let Progress { completed, total } = progress;
        let percent = progress.percent();
        let numbers = [
            format!("Progress: {completed}/{total} ({percent}%)"),
            format!("{completed}/{total} ({percent}%)"),
            format!("{completed}/{total}"),
            format!("{percent}%"),
        ];
        lines.push(self.choice(&numbers, inner));
        lines.push(self.bottom(width));
        lines.join("\n")
    }

    fn top(&self, width: usize) -> String {
        let frame = self.frame();
        let text = tidy(&self.title);
        let title = fit(&text, width - 5, self.glyphs.ellipsis());
        let start = format!("{}{} {title} ", frame.corners[0], frame.rule);
        format!("{start}{}{}", frame.rule.repeat(width - columns(&start) - 1), frame.corners[1])
    }

    fn bottom(&self, width: usize) -> String {
        let frame = self.frame();
        format!("{}{}{}", frame.corners[2], frame.rule.repeat(width - 2), frame.corners[3])
    }

    fn side(&self, text: &str, inner: usize) -> String {
        let side = self.frame().side;
        format!("{side} {} {side}", pad(text, inner, self.glyphs.ellipsis()))
    }

    fn choice(&self, candidates: &[String], inner: usize) -> String {
        self.side(&first_that_fits(candidates, inner, self.glyphs.ellipsis()), inner)
    }

    fn bar_text(&self, progress: Progress, inner: usize) -> String {
        let frame = self.frame();
        let [open, close] = frame.bar_ends;
        let cells = inner - open.len() - close.len();
        let filled = progress.filled(cells);
        let [full, empty] = frame.cells;
        format!("{open}{}{}{close}", full.repeat(filled), empty.repeat(cells - filled))
    }

    const fn frame(&self) -> &'static PanelFrame {
        match self.glyphs {
            Glyphs::Unicode => &PanelFrame {
                corners: ["┌", "┐", "└", "┘"],
                rule: "─",
                side: "│",
                cells: ["█", "░"],
                bar_ends: ["", ""],
            },
            Glyphs::Ascii => &PanelFrame {
                corners: ["+", "+", "+", "+"],
                rule: "-",
                side: "|",
                cells: ["#", "-"],
                bar_ends: ["[", "]"],
            },
        }
    }
}

/// What the box is made of.
struct PanelFrame {
    corners: [&'static str; 4],
    rule: &'static str,
    side: &'static str,
    cells: [&'static str; 2],
    bar_ends: [&'static str; 2],
}
