//! Errors of calls, in a form that a model can act on.

use punch_engine::EngineError;
use punch_engine::call::Dialect;

/// A code that stays, what is wrong, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServeProblem {
    /// What programs match on.
    pub code: String,
    /// What is wrong, with which values.
    pub message: String,
    /// What to do.
    pub hint: String,
}

impl ServeProblem {
    /// From its three parts.
    pub fn new(code: impl Into<String>, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), hint: hint.into() }
    }

    /// The lines that a model reads.
    pub fn text(&self) -> String {
        let message = punch_core::text::neutral_lines(&self.message);
        format!("Error {}: {message}\nHint: {}\nNothing was changed.", self.code, self.hint)
    }
}

impl From<EngineError> for ServeProblem {
    fn from(error: EngineError) -> Self {
        Self::new(error.code(), error.message(), error.tool_hint(Dialect::Native))
    }
}
