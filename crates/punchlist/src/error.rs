//! Errors of a session. A rule that refuses a model's call is not an error but an answer.

use std::fmt;

use punch_engine::EngineError;
use punch_engine::config::ConfigError;
#[cfg(feature = "git")]
use punch_engine::locate::LocateError;
use punch_store::StoreError;
use serde::Serialize;

use crate::hint;

/// A code that stays, what is wrong, and what to do about it. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Error {
    /// The code that programs match on.
    pub code: &'static str,
    /// What is wrong, with which values.
    pub message: String,
    /// The action to take.
    pub hint: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}); {}", self.message, self.code, self.hint)
    }
}

impl std::error::Error for Error {}

impl From<EngineError> for Error {
    fn from(error: EngineError) -> Self {
        Self { code: error.code(), message: error.message(), hint: hint::of_engine(&error) }
    }
}

impl From<punch_core::Refusal> for Error {
    fn from(refusal: punch_core::Refusal) -> Self {
        EngineError::from(refusal).into()
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        EngineError::from(error).into()
    }
}

#[cfg(feature = "git")]
impl From<LocateError> for Error {
    fn from(error: LocateError) -> Self {
        Self { code: error.code(), message: error.message(), hint: hint::without_commands(error.hint(), error.code()) }
    }
}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        Self { code: error.code(), message: error.message(), hint: hint::without_commands(error.hint(), error.code()) }
    }
}
