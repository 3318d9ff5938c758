//! Where a value comes from.

use std::{fmt, path::PathBuf};

/// A source of settings; the earlier one wins.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SettingSource {
    /// The command line.
    Flag,
    /// The named environment variable.
    Env(String),
    /// The project's file, beside the store.
    Project(PathBuf),
    /// The user's file.
    User(PathBuf),
    /// No source has it: the default holds.
    Default,
}

impl fmt::Display for SettingSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("flag"),
            Self::Env(name) => f.write_str(name),
            Self::Project(path) => write!(f, "project, {}", path.display()),
            Self::User(path) => write!(f, "user, {}", path.display()),
            Self::Default => f.write_str("default"),
        }
    }
}

/// A value with its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingValue<T> {
    /// The value.
    pub value: T,
    /// The source of the value.
    pub source: SettingSource,
}

impl<T: Default> SettingValue<T> {
    /// A value that is about to be set.
    pub(super) fn unset() -> Self {
        Self { value: T::default(), source: SettingSource::Default }
    }
}
