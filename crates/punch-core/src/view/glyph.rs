//! The signs that views draw with.

use crate::Status;

/// Which signs a view draws with. Only the drawing changes: the text of todos stays as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Glyphs {
    /// For terminals that show Unicode.
    #[default]
    Unicode,
    /// For all others.
    Ascii,
}

impl Glyphs {
    /// The sign of a status in panels, trees and notices.
    pub const fn status(self, status: Status) -> &'static str {
        match (self, status) {
            (Self::Unicode, Status::Pending) => "○",
            (Self::Unicode, Status::InProgress) => "▶",
            (Self::Unicode, Status::Completed) => "✓",
            (Self::Unicode, Status::Cancelled | Status::Failed) => "✗",
            (Self::Ascii, status) => checkbox(status),
        }
    }

    /// What marks a cut.
    pub const fn ellipsis(self) -> &'static str {
        match self {
            Self::Unicode => "…",
            Self::Ascii => "...",
        }
    }

    /// A count in small: ` ⁺²`, or ` +2`.
    pub fn small_count(self, count: usize) -> String {
        const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
        match self {
            Self::Ascii => format!(" +{count}"),
            Self::Unicode => {
                let digits = count.to_string().bytes().map(|b| DIGITS[usize::from(b - b'0')]).collect::<String>();
                format!(" ⁺{digits}")
            }
        }
    }
}

/// The check box of a status, as lists and Markdown write it.
pub(super) const fn checkbox(status: Status) -> &'static str {
    match status {
        Status::Pending => "[ ]",
        Status::InProgress => "[>]",
        Status::Completed => "[x]",
        Status::Cancelled => "[-]",
        Status::Failed => "[!]",
    }
}
