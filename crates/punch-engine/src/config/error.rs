//! Errors in settings: what is wrong, and where.

use std::{fmt, path::PathBuf};

use punch_core::ErrorValue;

use super::scalar::WrittenValue;

/// Where a setting was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingOrigin {
    /// On the command line.
    Flag,
    /// An environment variable with this name.
    Env(String),
    /// A place in a file.
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

impl ErrorValue for SettingOrigin {
    fn shown(&self) -> String {
        self.to_string()
    }
}

punch_core::errors! {
    /// The configuration cannot be used, or not be changed; nothing was written.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum ConfigError {
        /// A file cannot be read: a folder, no permission, too large.
        Unreadable { path: PathBuf, cause: String }: "config_unreadable",
            ("cannot read `{path}`: {cause}"),
            ("make it readable, or move it away to use the defaults");
        /// A file or a variable is not text.
        NotUtf8 { place: SettingOrigin }: "config_not_utf8",
            ("{place} is not UTF-8 text"),
            ("save the file as UTF-8");
        /// A file is not TOML.
        Syntax { place: SettingOrigin, what: String }: "config_syntax",
            ("{place}: invalid TOML: {what}"),
            ("fix that line; strings need quotes, sections look like `[view]`");
        /// There is no such setting.
        UnknownKey { place: SettingOrigin, key: String, near: Vec<String> }: "config_unknown_key",
            ("{place}: unknown setting `{key}`{near}"),
            ("`punch config show` lists every setting");
        /// The value is not what the setting takes.
        BadValue { place: SettingOrigin, key: String, what: String, way_out: String }: "config_bad_value",
            ("{place}: `{key}` is {what}"),
            ("{way_out}");
        /// A file could not be written.
        NotWritten { path: PathBuf, cause: String }: "config_not_written",
            ("cannot write `{path}`: {cause}"),
            ("check its permissions and the free space, then try again; the file is unchanged");
    }
}

impl ConfigError {
    /// A value that is not what its setting takes.
    pub(super) fn bad_value(place: SettingOrigin, key: &str, given: &WrittenValue, expected: &str) -> Self {
        let way_out = match &place {
            SettingOrigin::File { path, .. } => {
                format!("fix that line in `{}`, or delete it to use the default", path.display())
            }
            SettingOrigin::Env(name) => format!("fix it, or run `unset {name}`"),
            SettingOrigin::Flag | SettingOrigin::Default => {
                "`punch config show` lists every setting with its value".into()
            }
        };
        Self::BadValue { place, key: key.to_owned(), what: format!("{given}, expected {expected}"), way_out }
    }
}
