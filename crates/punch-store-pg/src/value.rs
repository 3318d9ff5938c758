//! Values of statements, and reading them back. Every integer goes over the wire as `bigint`, so that one statement has one
//! list of types and can be prepared ahead.

use std::borrow::Cow;

use bytes::BytesMut;
use postgres_protocol::IsNull;
use punch_core::Uid;
pub use punch_store::backend::{Columns, count, most};
use tokio_postgres::types::{self, ToSql, Type};

use crate::answer::{SqlRow, WireError};
use crate::escape::{escape, unescape};

/// A parameter of a statement. Text is escaped when it is put in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SqlValue {
    Int(Option<i64>),
    Text(Option<String>),
    Bool(bool),
    Ints(Vec<Option<i64>>),
    Texts(Vec<Option<String>>),
}

impl SqlValue {
    /// The type under which it goes to the server.
    pub const fn ty(&self) -> Type {
        match self {
            Self::Int(_) => Type::INT8,
            Self::Text(_) => Type::TEXT,
            Self::Bool(_) => Type::BOOL,
            Self::Ints(_) => Type::INT8_ARRAY,
            Self::Texts(_) => Type::TEXT_ARRAY,
        }
    }

    /// A list of uids.
    pub fn uids<'a>(uids: impl IntoIterator<Item = &'a Uid>) -> Self {
        Self::Ints(uids.into_iter().map(|uid| Some(uid.0.cast_signed())).collect())
    }
}

impl SqlValue {
    /// Writes the binary form.
    pub fn encode(&self, out: &mut BytesMut) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        let ty = self.ty();
        let done = match self {
            Self::Int(value) => value.to_sql(&ty, out),
            Self::Text(value) => value.to_sql(&ty, out),
            Self::Bool(value) => value.to_sql(&ty, out),
            Self::Ints(value) => value.to_sql(&ty, out),
            Self::Texts(value) => value.to_sql(&ty, out),
        };
        done.map(|null| if matches!(null, types::IsNull::Yes) { IsNull::Yes } else { IsNull::No })
    }
}

impl From<i64> for SqlValue {
    fn from(value: i64) -> Self {
        Self::Int(Some(value))
    }
}

impl From<Option<i64>> for SqlValue {
    fn from(value: Option<i64>) -> Self {
        Self::Int(value)
    }
}

impl From<&str> for SqlValue {
    fn from(value: &str) -> Self {
        Self::Text(Some(escape(value).into_owned()))
    }
}

impl From<&String> for SqlValue {
    fn from(value: &String) -> Self {
        value.as_str().into()
    }
}

impl From<String> for SqlValue {
    fn from(value: String) -> Self {
        let escaped = match escape(&value) {
            Cow::Borrowed(_) => None,
            Cow::Owned(escaped) => Some(escaped),
        };
        Self::Text(Some(escaped.unwrap_or(value)))
    }
}

impl From<Option<&str>> for SqlValue {
    fn from(value: Option<&str>) -> Self {
        Self::Text(value.map(|text| escape(text).into_owned()))
    }
}

impl From<bool> for SqlValue {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

/// A column that is never NULL.
fn present<T>(value: Option<T>, at: usize) -> Result<T, WireError> {
    value.ok_or_else(|| WireError::Column(format!("column {at} is empty")))
}

impl Columns for SqlRow {
    type Error = WireError;

    fn int(&self, at: usize) -> Result<i64, WireError> {
        present(self.bigint(at)?, at)
    }

    fn maybe_int(&self, at: usize) -> Result<Option<i64>, WireError> {
        self.bigint(at)
    }

    fn text(&self, at: usize) -> Result<String, WireError> {
        present(self.maybe_text(at)?, at)
    }

    fn maybe_text(&self, at: usize) -> Result<Option<String>, WireError> {
        Ok(self.string(at)?.map(|text| unescape(text.to_owned())))
    }

    fn flag(&self, at: usize) -> Result<bool, WireError> {
        present(self.boolean(at)?, at)
    }
}
