//! The size limit of a view, and the page that keeps to it.

use super::spans::{self, SpanRole, ViewLine};

/// How large a view may become. Views say how many todos they left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cap {
    lines: usize,
    bytes: usize,
}

impl Cap {
    /// Smaller caps would have no room for the counts.
    const LEAST: Self = Self { lines: 4, bytes: 256 };

    /// At most that many lines and bytes; never below 4 lines and 256 bytes.
    pub const fn new(lines: usize, bytes: usize) -> Self {
        Self {
            lines: if lines < Self::LEAST.lines { Self::LEAST.lines } else { lines },
            bytes: if bytes < Self::LEAST.bytes { Self::LEAST.bytes } else { bytes },
        }
    }

    /// The number of lines.
    pub const fn lines(self) -> usize {
        self.lines
    }

    /// The number of bytes.
    pub const fn bytes(self) -> usize {
        self.bytes
    }
}

impl Default for Cap {
    fn default() -> Self {
        Self::new(200, 32 * 1024)
    }
}

/// What follows a line besides the foot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineEnd {
    /// Further lines: room is kept for the line that counts what was left out.
    More,
    /// Nothing.
    End,
}

/// Lines that come one by one until the cap is reached.
#[derive(Clone)]
pub(super) struct CappedLines {
    cap: Cap,
    lines: Vec<ViewLine>,
    bytes: usize,
    foot: String,
}

impl CappedLines {
    /// No number makes `+N more` longer than this.
    const MORE: usize = 32;

    /// An empty page; `foot` (short) always fits below.
    pub(super) const fn new(cap: Cap, foot: String) -> Self {
        Self { cap, lines: Vec::new(), bytes: 0, foot }
    }

    /// Appends a line if it fits together with all that must follow, and says whether it did.
    pub(super) fn line(&mut self, line: impl Into<ViewLine>, then: LineEnd) -> bool {
        let line = line.into();
        let (mut lines, mut bytes) = (self.lines.len() + 1, self.bytes + line.bytes() + 1);
        if !self.foot.is_empty() {
            lines += 1 + self.foot.matches('\n').count();
            bytes += self.foot.len() + 1;
        }
        if then == LineEnd::More {
            lines += 1;
            bytes += Self::MORE;
        }
        let fits = lines <= self.cap.lines && bytes <= self.cap.bytes;
        if fits {
            self.bytes += line.bytes() + usize::from(!self.lines.is_empty());
            self.lines.push(line);
        }
        fits
    }

    /// Says how many todos were left out, if any, and adds the foot.
    pub(super) fn end(self, left_out: usize) -> String {
        spans::text(&self.lines(left_out))
    }

    /// Ends the view like [`Self::end`], and returns it as lines.
    pub(super) fn lines(mut self, left_out: usize) -> Vec<ViewLine> {
        if left_out > 0 {
            self.lines.push(ViewLine::default().with(SpanRole::Detail, format!("+{left_out} more")));
        }
        self.lines.extend(self.foot.lines().map(ViewLine::from));
        self.lines
    }
}
