//! Text that is safe to show, as a type. Views consist of it, so untrusted text is neutralized and clipped once, when a
//! view is built.

use std::fmt;

use serde::Serialize;

use crate::text;

/// The longest text of one todo in any view, in characters.
const LONGEST: usize = 500;
/// The longest id in a view, in characters.
const ID: usize = 60;

/// One line without control characters, escapes or marks that reorder text, and not endless.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Plain(String);

impl Plain {
    /// Makes text safe, at most `limit` characters of it.
    pub fn clipped(raw: &str, limit: usize) -> Self {
        // Clipped first: neutralizing keeps the number of characters, and the text may be megabytes long.
        Self(text::neutral(&text::clip(raw, limit)).into_owned())
    }

    /// Makes the text of a todo safe.
    pub fn text(raw: &str) -> Self {
        Self::clipped(raw, LONGEST)
    }

    /// Makes an id safe: dialects take ids of any text.
    pub fn id(raw: &str) -> Self {
        if raw.is_empty() { Self("(no id)".to_owned()) } else { Self::clipped(raw, ID) }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Plain> for String {
    fn from(text: Plain) -> Self {
        text.0
    }
}

impl fmt::Display for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
