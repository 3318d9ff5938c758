//! Values of statements, and reading them back. Every integer goes over the wire as `bigint`, so that one statement has one
//! list of types and can be prepared ahead.

use std::error::Error;

use bytes::BytesMut;
use punch_core::Uid;
use tokio_postgres::Row;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use crate::escape::{escape, unescape};

/// A parameter of a statement. Text is escaped when it is put in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Int(Option<i64>),
    Text(Option<String>),
    Bool(bool),
    Ints(Vec<Option<i64>>),
    Texts(Vec<Option<String>>),
}

impl Value {
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

impl ToSql for Value {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Int(value) => value.to_sql(ty, out),
            Self::Text(value) => value.to_sql(ty, out),
            Self::Bool(value) => value.to_sql(ty, out),
            Self::Ints(value) => value.to_sql(ty, out),
            Self::Texts(value) => value.to_sql(ty, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(Some(value))
    }
}

impl From<Option<i64>> for Value {
    fn from(value: Option<i64>) -> Self {
        Self::Int(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(Some(escape(value).into_owned()))
    }
}

impl From<&String> for Value {
    fn from(value: &String) -> Self {
        value.as_str().into()
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        value.as_str().into()
    }
}

impl From<Option<&str>> for Value {
    fn from(value: Option<&str>) -> Self {
        Self::Text(value.map(|text| escape(text).into_owned()))
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

/// What a number is stored as; what is too large becomes the largest.
pub fn most(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// A limit as a parameter.
pub fn count(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// Reads columns; an error means that a column is not what this crate writes.
pub trait Columns {
    fn int(&self, at: usize) -> Result<i64, tokio_postgres::Error>;
    fn maybe_int(&self, at: usize) -> Result<Option<i64>, tokio_postgres::Error>;
    fn text(&self, at: usize) -> Result<String, tokio_postgres::Error>;
    fn maybe_text(&self, at: usize) -> Result<Option<String>, tokio_postgres::Error>;
    fn flag(&self, at: usize) -> Result<bool, tokio_postgres::Error>;

    /// A number that is never negative.
    fn number(&self, at: usize) -> Result<u64, tokio_postgres::Error> {
        self.int(at).map(|n| u64::try_from(n).unwrap_or(0))
    }

    fn maybe_number(&self, at: usize) -> Result<Option<u64>, tokio_postgres::Error> {
        Ok(self.maybe_int(at)?.map(|n| u64::try_from(n).unwrap_or(0)))
    }

    fn small(&self, at: usize) -> Result<u32, tokio_postgres::Error> {
        self.number(at).map(|n| u32::try_from(n).unwrap_or(u32::MAX))
    }
}

impl Columns for Row {
    fn int(&self, at: usize) -> Result<i64, tokio_postgres::Error> {
        self.try_get(at)
    }

    fn maybe_int(&self, at: usize) -> Result<Option<i64>, tokio_postgres::Error> {
        self.try_get(at)
    }

    fn text(&self, at: usize) -> Result<String, tokio_postgres::Error> {
        self.try_get(at).map(unescape)
    }

    fn maybe_text(&self, at: usize) -> Result<Option<String>, tokio_postgres::Error> {
        Ok(self.try_get::<_, Option<String>>(at)?.map(unescape))
    }

    fn flag(&self, at: usize) -> Result<bool, tokio_postgres::Error> {
        self.try_get(at)
    }
}
