//! Reasons why a file cannot be changed, with the place.

/// A place in a file and what is wrong there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsFileError {
    /// The line, from 1; 0 if it is about the whole file.
    pub line: usize,
    /// The column in bytes, from 1.
    pub column: usize,
    /// What is wrong.
    pub what: String,
}

impl SettingsFileError {
    /// Something wrong at a byte.
    pub fn at(text: &str, byte: usize, what: String) -> Self {
        let before = &text.as_bytes()[..byte.min(text.len())];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        Self { line, column: before.len() - start + 1, what }
    }

    /// Something wrong with the file as a whole.
    pub fn whole(what: impl Into<String>) -> Self {
        Self { line: 0, column: 0, what: what.into() }
    }

    /// The place and the reason: `line 3, column 5: …`.
    pub fn message(&self) -> String {
        match self.line {
            0 => self.what.clone(),
            _ => format!("line {}, column {}: {}", self.line, self.column, self.what),
        }
    }
}
