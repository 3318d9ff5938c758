//! The layout of lines: on a terminal of some width, or in a pipe.

use super::Glyphs;
use crate::time;

/// The medium that a view is drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The signs.
    pub glyphs: Glyphs,
    /// The columns of a terminal. `None` means a pipe: lines stay as long as their text, and do not depend on each other.
    pub width: Option<usize>,
    /// The time that relative times are counted from.
    pub now: i64,
}

impl Layout {
    /// A moment: how long ago it was on a terminal, the time in UTC in a pipe.
    pub fn moment(&self, at: i64) -> String {
        if self.width.is_some() { time::ago(self.now.saturating_sub(at)) } else { time::utc(at) }
    }

    /// The separator between remarks on one line.
    pub const fn dot(&self) -> &'static str {
        match self.glyphs {
            Glyphs::Unicode => " · ",
            Glyphs::Ascii => "; ",
        }
    }
}
