//! The signs that views draw with.

use crate::ShownStatus;

/// Which signs a view draws with. Only the drawing changes: the text of todos stays as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Glyphs {
    /// For terminals that show Unicode.
    #[default]
    Unicode,
    /// ASCII signs, for all other terminals.
    Ascii,
}

impl Glyphs {
    /// The sign of a status, from the one table of them.
    pub const fn status(self, status: ShownStatus) -> &'static str {
        match self {
            Self::Unicode => status.sign(),
            Self::Ascii => status.ascii_sign(),
        }
    }

    /// The arrow from a todo to what it needs, or from what was to what is.
    pub const fn arrow(self, back: bool) -> &'static str {
        match (self, back) {
            (Self::Unicode, true) => "←",
            (Self::Unicode, false) => "→",
            (Self::Ascii, true) => "<-",
            (Self::Ascii, false) => "->",
        }
    }

    /// The sign that marks a cut.
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
