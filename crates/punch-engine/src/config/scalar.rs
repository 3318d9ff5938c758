//! A value as a source wrote it, before the table says what it should be.

use std::fmt;

use punch_core::text;
#[cfg(feature = "files")]
use toml_edit::Value;

/// A written value. Files have types; flags and variables have only text, which each setting reads in its own way.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(not(feature = "files"), expect(dead_code, reason = "only files write values with a type"))]
pub(super) enum WrittenValue {
    /// Text without a type.
    Loose(String),
    /// A string in a file.
    Text(String),
    /// An integer in a file.
    Integer(i64),
    /// A number with a fraction in a file.
    Float(f64),
    /// `true` or `false` in a file.
    Bool(bool),
    /// Something no setting is: an array, a date, a table.
    Other(&'static str),
}

impl WrittenValue {
    /// Reads a value of a TOML file.
    #[cfg(feature = "files")]
    pub fn from_toml(value: &Value) -> Self {
        match value {
            Value::String(text) => Self::Text(text.value().clone()),
            Value::Integer(number) => Self::Integer(*number.value()),
            Value::Float(number) => Self::Float(*number.value()),
            Value::Boolean(truth) => Self::Bool(*truth.value()),
            Value::Datetime(_) => Self::Other("a date"),
            Value::Array(_) => Self::Other("an array"),
            Value::InlineTable(_) => Self::Other("a table"),
        }
    }

    /// Its text, with or without a type.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Loose(text) | Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// For messages: short, on one line, safe for a terminal.
impl fmt::Display for WrittenValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let safe = |text: &str| text::neutral(&text::clip(text, 80)).into_owned();
        match self {
            Self::Loose(text) => write!(f, "`{}`", safe(text)),
            Self::Text(text) => write!(f, "`\"{}\"`", safe(text)),
            Self::Integer(number) => write!(f, "`{number}`"),
            Self::Float(number) => write!(f, "`{number:?}`"),
            Self::Bool(truth) => write!(f, "`{truth}`"),
            Self::Other(what) => f.write_str(what),
        }
    }
}
