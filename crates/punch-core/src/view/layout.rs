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
    /// A moment: on a terminal how long ago it was or how far away it is, in a pipe the time in UTC.
    pub fn moment(&self, at: i64) -> String {
        match self.width {
            None => time::utc(at),
            Some(_) if at > self.now => time::ahead(at.saturating_sub(self.now)),
            Some(_) => time::ago(self.now.saturating_sub(at)),
        }
    }

    /// A text in which these moments stand in UTC, with each as readers of this layout see it.
    pub fn with_moments(&self, text: String, moments: impl IntoIterator<Item = i64>) -> String {
        match self.width {
            None => text,
            Some(_) => moments.into_iter().fold(text, |text, at| text.replace(&time::utc(at), &self.moment(at))),
        }
    }

    /// The separator between remarks on one line.
    pub const fn dot(&self) -> &'static str {
        match self.glyphs {
            Glyphs::Unicode => " · ",
            Glyphs::Ascii => "; ",
        }
    }
}
