//! What is wrong with a setting, and where it stands.

use std::{fmt, path::PathBuf};

use punch_core::text;

/// Where a setting was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingOrigin {
    /// On the command line.
    Flag,
    /// In the named variable.
    Env(String),
    /// In a file.
    File {
        /// The path of the file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
    },
    /// In the table of defaults.
    Default,
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("command line"),
            Self::Env(name) => write!(f, "variable `{name}`"),
            Self::File { path, line } => write!(f, "`{}` line {line}", path.display()),
            Self::Default => f.write_str("default"),
        }
    }
}

/// The configuration cannot be used, or not be changed; nothing was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigError {
    /// A file cannot be read: a folder, no permission, too large.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: String,
    },
    /// A file is no text.
    NotUtf8 {
        /// Up to where it is text.
        place: SettingOrigin,
    },
    /// A file is no TOML.
    Syntax {
        /// Where it ceases to be.
        place: SettingOrigin,
        /// What the parser says.
        what: String,
    },
    /// There is no such setting.
    UnknownKey {
        /// Where it was written.
        place: SettingOrigin,
        /// What was written.
        key: String,
        /// Names that look like it.
        near: Vec<String>,
    },
    /// The value is not what the setting takes.
    BadValue {
        /// Where it was written.
        place: SettingOrigin,
        /// The setting.
        key: String,
        /// What was written, ready to be shown.
        given: String,
        /// What it should be.
        expected: String,
    },
    /// A file could not be written.
    NotWritten {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: String,
    },
}

impl ConfigError {
    /// The stable code that programs match on.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "config_unreadable",
            Self::NotUtf8 { .. } => "config_not_utf8",
            Self::Syntax { .. } => "config_syntax",
            Self::UnknownKey { .. } => "config_unknown_key",
            Self::BadValue { .. } => "config_bad_value",
            Self::NotWritten { .. } => "config_not_written",
        }
    }

    /// What is wrong, where, with which value. Lower case, names in backticks, capped.
    pub fn message(&self) -> String {
        match self {
            Self::Unreadable { path, cause } => format!("cannot read `{}`: {cause}", path.display()),
            Self::NotUtf8 { place } => format!("{place}: not UTF-8"),
            Self::Syntax { place, what } => format!("{place}: no TOML: {}", shown(what)),
            Self::UnknownKey { place, key, near } if near.is_empty() => {
                format!("{place}: no setting `{}`", shown(key))
            }
            Self::UnknownKey { place, key, near } => {
                let near: Vec<String> = near.iter().map(|key| format!("`{}`", shown(key))).collect();
                format!("{place}: no setting `{}` (nearest: {})", shown(key), near.join(", "))
            }
            Self::BadValue { place, key, given, expected } => {
                format!("{place}: `{}` is {given}, expected {expected}", shown(key))
            }
            Self::NotWritten { path, cause } => format!("cannot write `{}`: {cause}", path.display()),
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Unreadable { .. } => "make it a readable file, or move it away to use the defaults".into(),
            Self::NotUtf8 { .. } => "save the file as UTF-8".into(),
            Self::Syntax { .. } => "correct that line; strings need quotes, sections look like `[view]`".into(),
            Self::UnknownKey { .. } => "`punch config show` lists every setting".into(),
            Self::BadValue { place: SettingOrigin::File { path, .. }, .. } => {
                format!("correct that line of `{}`, or delete it to use the default", path.display())
            }
            Self::BadValue { place: SettingOrigin::Env(name), .. } => format!("correct it, or `unset {name}`"),
            Self::BadValue { .. } => "`punch config show` lists every setting with its value".into(),
            Self::NotWritten { .. } => "check permissions and free space, then repeat; the file is as it was".into(),
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())
    }
}

impl std::error::Error for ConfigError {}

/// Keys and parser messages carry bytes from the file.
fn shown(given: &str) -> String {
    text::neutral(&text::clip(given, 160)).into_owned()
}
