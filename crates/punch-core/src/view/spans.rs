//! Lines made of spans, each with a role. Colors are chosen where lines are printed; here is only text.

use super::width::{columns, fit};
use super::{Glyphs, Plain};
use crate::ShownStatus;

/// What a piece of a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpanRole {
    /// Plain text: content, numbers, punctuation.
    Text,
    /// The name of a section or a field.
    Heading,
    /// Words in bold: what is most urgent.
    Strong,
    /// An id.
    Id,
    /// The owner of a todo.
    Owner,
    /// A command to type.
    Command,
    /// The part of a bar that is done.
    Done,
    /// The sign of a status, or text in its color.
    Status(ShownStatus),
    /// Additional words that may be dimmed.
    Detail,
    /// Words that should be noticed.
    Warning,
}

/// A piece of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The role of the text.
    pub role: SpanRole,
    /// One line of safe text.
    pub text: String,
}

/// One line of a view.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ViewLine(pub Vec<Span>);

impl ViewLine {
    /// Appends a piece; empty ones are left out.
    #[must_use]
    pub fn with(mut self, role: SpanRole, text: impl Into<String>) -> Self {
        let text = text.into();
        if !text.is_empty() {
            self.0.push(Span { role, text });
        }
        self
    }

    /// Appends another line.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Appends the sign of a status.
    #[must_use]
    pub fn sign(self, status: ShownStatus, glyphs: Glyphs) -> Self {
        self.with(SpanRole::Status(status), glyphs.status(status))
    }

    /// Appends an id.
    #[must_use]
    pub fn id(self, id: &Plain) -> Self {
        self.with(SpanRole::Id, id.as_str())
    }

    /// The line without colors.
    pub fn plain(&self) -> String {
        self.0.iter().map(|span| span.text.as_str()).collect()
    }

    /// The length of its text in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.0.iter().map(|span| span.text.len()).sum()
    }

    /// How many columns a terminal needs for it.
    pub fn columns(&self) -> usize {
        columns(&self.plain())
    }

    /// Cuts the line to `width` columns at the end.
    #[must_use]
    pub fn fit(self, width: usize, glyphs: Glyphs) -> Self {
        let mut left = width;
        if self.columns() <= width {
            return self;
        }
        let mut out = Self::default();
        let mut spans = self.0.into_iter().peekable();
        while let Some(Span { role, text }) = spans.next() {
            let wide = columns(&text);
            // What cannot be shown whole is cut, and so is a piece that leaves no room for the mark of the cut.
            if wide > left || (wide == left && spans.peek().is_some()) {
                let room = left;
                let cut = fit(&format!("{text}{}", " ".repeat(room + 1)), room, glyphs.ellipsis()).into_owned();
                return out.with(role, cut);
            }
            left -= wide;
            out = out.with(role, text);
        }
        out
    }
}

/// A line of plain text.
impl From<&str> for ViewLine {
    fn from(text: &str) -> Self {
        Self::default().with(SpanRole::Text, text)
    }
}

impl From<String> for ViewLine {
    fn from(text: String) -> Self {
        Self::default().with(SpanRole::Text, text)
    }
}

/// Several lines as text.
pub fn text(lines: &[ViewLine]) -> String {
    lines.iter().map(ViewLine::plain).collect::<Vec<_>>().join("\n")
}
