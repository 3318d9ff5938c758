//! The answers of the server: rows, and errors with their codes.

use std::fmt;
use std::io;
use std::ops::Range;

use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend::{DataRowBody, ErrorResponseBody};

/// What went wrong between us and the server.
#[derive(Debug)]
pub enum WireError {
    /// The server refused.
    Server(Box<ServerError>),
    /// The connection is of no use any more.
    Connection(io::Error),
    /// A column does not hold what this crate writes there.
    Column(String),
    /// The server wants to know who we are, and what it asks for is not there.
    Login(String),
}

/// An error of the server.
#[derive(Debug, Default)]
pub struct ServerError {
    pub code: String,
    pub message: String,
    pub detail: Option<String>,
    pub constraint: Option<String>,
}

impl WireError {
    /// Reads an error of the server.
    pub fn server(body: &ErrorResponseBody) -> Self {
        let mut error = ServerError::default();
        let mut fields = body.fields();
        while let Ok(Some(field)) = fields.next() {
            let value = String::from_utf8_lossy(field.value_bytes()).into_owned();
            match field.type_() {
                b'C' => error.code = value,
                b'M' => error.message = value,
                b'D' => error.detail = Some(value),
                b'n' => error.constraint = Some(value),
                _ => {}
            }
        }
        Self::Server(Box::new(error))
    }

    /// The server said something that has no place where it was said.
    pub fn unexpected() -> Self {
        Self::Connection(io::Error::new(io::ErrorKind::InvalidData, "unexpected message from the server"))
    }

    /// The SQLSTATE of an error of the server.
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Server(error) => Some(&error.code),
            _ => None,
        }
    }

    /// The constraint that a statement would have violated.
    pub fn constraint(&self) -> Option<&str> {
        match self {
            Self::Server(error) => error.constraint.as_deref(),
            _ => None,
        }
    }
}

impl From<io::Error> for WireError {
    fn from(error: io::Error) -> Self {
        Self::Connection(error)
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server(error) => match &error.detail {
                Some(detail) => write!(f, "{} ({detail})", error.message),
                None => f.write_str(&error.message),
            },
            Self::Connection(error) => error.fmt(f),
            Self::Column(why) | Self::Login(why) => f.write_str(why),
        }
    }
}

/// A row of an answer. Columns come in binary form; every integer is a `bigint`.
#[derive(Clone)]
pub struct SqlRow {
    body: DataRowBody,
    ranges: Vec<Option<Range<usize>>>,
}

impl SqlRow {
    pub fn new(body: DataRowBody) -> io::Result<Self> {
        let ranges = body.ranges().collect()?;
        Ok(Self { body, ranges })
    }

    /// The bytes of a column; `None` stands for NULL.
    fn bytes(&self, at: usize) -> Result<Option<&[u8]>, WireError> {
        let range = self.ranges.get(at).ok_or_else(|| WireError::Column(format!("there is no column {at}")))?;
        Ok(range.clone().and_then(|range| self.body.buffer().get(range)))
    }

    /// A `bigint`.
    pub fn bigint(&self, at: usize) -> Result<Option<i64>, WireError> {
        let number = |bytes: &[u8]| bytes.try_into().map(i64::from_be_bytes);
        self.bytes(at)?.map(number).transpose().map_err(|_| WireError::Column(format!("column {at} is not a bigint")))
    }

    /// A `text`.
    pub fn string(&self, at: usize) -> Result<Option<&str>, WireError> {
        self.bytes(at)?
            .map(std::str::from_utf8)
            .transpose()
            .map_err(|_| WireError::Column(format!("column {at} is not UTF-8")))
    }

    /// A `boolean`.
    pub fn boolean(&self, at: usize) -> Result<Option<bool>, WireError> {
        match self.bytes(at)? {
            None => Ok(None),
            Some([byte]) => Ok(Some(*byte != 0)),
            Some(_) => Err(WireError::Column(format!("column {at} is not a boolean"))),
        }
    }
}
