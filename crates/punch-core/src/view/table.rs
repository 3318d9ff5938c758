//! Aligns rows in columns: sign, id, text, and the remarks beside it.

use super::width::{columns, fit, pad};
use super::{Layout, SpanRole, ViewLine};

/// Wider ids are cut.
const ID: usize = 24;

/// One row: a todo, or something that is about one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableRow {
    /// The sign, with its role.
    pub sign: (SpanRole, &'static str),
    /// An id; may be empty.
    pub id: String,
    /// The text, with its role.
    pub text: (SpanRole, String),
    /// What stands beside the text.
    pub remark: ViewLine,
}

impl TableRow {
    /// The row alone, as long as its text is: `[ ] T-1  text  (remark)`.
    pub fn line(self) -> ViewLine {
        let mut line = ViewLine(Vec::with_capacity(7 + self.remark.0.len()));
        let gap = if self.id.is_empty() { "" } else { "  " };
        line = line.with(self.sign.0, self.sign.1).with(SpanRole::Text, " ").with(SpanRole::Id, self.id);
        line = line.with(SpanRole::Text, gap).with(self.text.0, self.text.1);
        if self.remark.0.is_empty() {
            return line;
        }
        line.with(SpanRole::Detail, "  (").and(self.remark).with(SpanRole::Detail, ")")
    }
}

/// A line for each row. On a terminal the columns are aligned and cut to its width; in a pipe every line stands alone.
pub fn lines(rows: Vec<TableRow>, layout: Layout) -> Vec<ViewLine> {
    let Some(width) = layout.width else { return rows.into_iter().map(TableRow::line).collect() };
    let widest = |of: &dyn Fn(&TableRow) -> usize| rows.iter().map(of).max().unwrap_or(0);
    let (sign, ids) = (widest(&|row| columns(row.sign.1)), widest(&|row| columns(&row.id)).min(ID));
    let gap = if ids == 0 { 0 } else { ids + 2 };
    let room = width.saturating_sub(sign + 1 + gap).max(10);
    let (texts, beside) = (widest(&|row| columns(&row.text.1)), widest(&|row| row.remark.columns()));
    // Remarks get what the texts leave, and two fifths of the room where both are long.
    let column = texts.min(room.saturating_sub(2 + beside.min(room * 2 / 5)));
    let ellipsis = layout.glyphs.ellipsis();
    let line = |row: TableRow| {
        let mut line = ViewLine::default().with(row.sign.0, row.sign.1).with(SpanRole::Text, " ");
        if gap > 0 {
            line = line.with(SpanRole::Id, pad(&row.id, ids, ellipsis)).with(SpanRole::Text, "  ");
        }
        if row.remark.0.is_empty() {
            return line.with(row.text.0, fit(&row.text.1, room, ellipsis).into_owned());
        }
        // A short remark leaves more room to a long text.
        let column = column.max(room.saturating_sub(2 + row.remark.columns()).min(columns(&row.text.1)));
        line = line.with(row.text.0, pad(&row.text.1, column, ellipsis)).with(SpanRole::Text, "  ");
        line.and(row.remark).fit(width, layout.glyphs)
    };
    rows.into_iter().map(line).collect()
}
