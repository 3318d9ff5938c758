//! One connection, as messages. All statements of a round trip leave together and end with a single Sync, so that the server
//! answers them with one write and does nothing after one that failed. No client library sends statements in this way:
//! with a Sync each, both sides would be woken once per statement.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::pin::Pin;
use std::task::Poll;

use bytes::{Buf, BytesMut};
use postgres_protocol::message::backend::{ErrorResponseBody, Message};
use postgres_protocol::message::frontend;
use tokio::io::{AsyncReadExt, AsyncWrite};

use crate::answer::{SqlRow, WireError};
use crate::socket::Socket;
use crate::value::SqlValue;

/// How much room to read into at once.
const ROOM: usize = 16 * 1024;

/// A statement of a round trip.
pub struct WireRequest<'a> {
    /// The name of the statement on the server; empty for one that is forgotten again.
    pub name: &'a str,
    /// The text, unless the server knows it by its name.
    pub sql: Option<&'a str>,
    pub params: &'a [SqlValue],
}

/// How far the server came with the statements of a round trip.
pub struct WireOutcome {
    /// The rows of every statement that was executed.
    pub rows: Vec<Vec<SqlRow>>,
    /// How many texts the server has parsed.
    pub parsed: usize,
    /// Why it did not execute the others.
    pub failed: Option<WireError>,
}

/// A connection after the login.
pub struct PgWire {
    socket: Socket,
    incoming: BytesMut,
    outgoing: BytesMut,
    /// Answers that nobody waits for are still to come.
    unread: usize,
    notes: VecDeque<String>,
    parameters: HashMap<String, String>,
    /// The process that the connection was announced to lead to.
    pub process: Option<i64>,
    is_broken: bool,
}

impl PgWire {
    pub fn new(socket: Socket) -> Self {
        Self {
            socket,
            incoming: BytesMut::with_capacity(ROOM),
            outgoing: BytesMut::new(),
            unread: 0,
            notes: VecDeque::new(),
            parameters: HashMap::new(),
            process: None,
            is_broken: false,
        }
    }

    /// Whether the connection has failed before.
    pub const fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// What the server has reported about itself.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.get(name).map(String::as_str)
    }

    /// Where messages are written before they are sent.
    pub const fn outgoing(&mut self) -> &mut BytesMut {
        &mut self.outgoing
    }

    /// Sends what was written. Takes in answers meanwhile: a server that cannot get rid of them stops reading.
    pub async fn flush(&mut self) -> Result<(), WireError> {
        let Self { socket, incoming, outgoing, .. } = self;
        let sent = std::future::poll_fn(|cx| {
            loop {
                if outgoing.is_empty() {
                    return Pin::new(&mut *socket).poll_flush(cx);
                }
                match Pin::new(&mut *socket).poll_write(cx, outgoing) {
                    Poll::Ready(Ok(0)) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                    Poll::Ready(Ok(n)) => outgoing.advance(n),
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                    Poll::Pending => {
                        incoming.reserve(ROOM);
                        let mut read = std::pin::pin!(socket.read_buf(incoming));
                        match read.as_mut().poll(cx) {
                            Poll::Ready(Ok(0)) => return Poll::Ready(Err(closed())),
                            Poll::Ready(Ok(_)) => {}
                            Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                            Poll::Pending => return Poll::Pending,
                        }
                    }
                }
            }
        });
        let sent = sent.await;
        self.judged(sent)
    }

    /// The next message that is an answer.
    pub async fn message(&mut self) -> Result<Message, WireError> {
        loop {
            let parsed = Message::parse(&mut self.incoming);
            match self.judged(parsed)? {
                Some(Message::NoticeResponse(_)) => {}
                Some(Message::ParameterStatus(body)) => {
                    let (name, value) = (body.name()?.to_owned(), body.value()?.to_owned());
                    self.parameters.insert(name, value);
                }
                Some(Message::NotificationResponse(body)) => self.notes.push_back(body.message()?.to_owned()),
                Some(message) => return Ok(message),
                None => self.read().await?,
            }
        }
    }

    async fn read(&mut self) -> Result<(), WireError> {
        self.incoming.reserve(ROOM);
        let read = match self.socket.read_buf(&mut self.incoming).await {
            Ok(0) => Err(closed()),
            read => read,
        };
        self.judged(read).map(|_| ())
    }

    fn judged<T>(&mut self, done: io::Result<T>) -> Result<T, WireError> {
        self.is_broken |= done.is_err();
        done.map_err(WireError::Connection)
    }

    /// Executes statements in one round trip. What follows a statement that fails is not executed.
    pub async fn exchange(&mut self, requests: &[WireRequest<'_>]) -> Result<WireOutcome, WireError> {
        for request in requests {
            self.write(request)?;
        }
        frontend::sync(&mut self.outgoing);
        self.flush().await?;
        self.skip_unread().await?;
        let mut outcome = WireOutcome { rows: Vec::with_capacity(requests.len()), parsed: 0, failed: None };
        let mut rows = Vec::new();
        loop {
            match self.next_of(&mut outcome.failed).await? {
                Message::ParseComplete => outcome.parsed += 1,
                Message::DataRow(body) => rows.push(SqlRow::new(body)?),
                Message::CommandComplete(_) | Message::EmptyQueryResponse => {
                    outcome.rows.push(std::mem::take(&mut rows));
                }
                Message::BindComplete => {}
                Message::ReadyForQuery(_) => return Ok(outcome),
                _ => return Err(self.confused()),
            }
        }
    }

    fn write(&mut self, request: &WireRequest<'_>) -> Result<(), WireError> {
        let WireRequest { name, sql, params } = request;
        if let Some(sql) = sql {
            frontend::parse(name, sql, params.iter().map(|param| param.ty().oid()), &mut self.outgoing)?;
        }
        let formats = std::iter::repeat_n(1, params.len());
        let encode = |param: &SqlValue, out: &mut BytesMut| param.encode(out);
        match frontend::bind("", name, formats, params.iter(), encode, Some(1), &mut self.outgoing) {
            Ok(()) => {}
            Err(frontend::BindError::Conversion(error)) => return Err(WireError::Column(error.to_string())),
            Err(frontend::BindError::Serialization(error)) => return Err(error.into()),
        }
        frontend::execute("", 0, &mut self.outgoing)?;
        Ok(())
    }

    /// Runs plain statements that answer nothing.
    pub async fn run(&mut self, sql: &str) -> Result<(), WireError> {
        frontend::query(sql, &mut self.outgoing)?;
        self.flush().await?;
        self.skip_unread().await?;
        let mut failed = None;
        loop {
            if let Message::ReadyForQuery(_) = self.next_of(&mut failed).await? {
                return failed.map_or(Ok(()), Err);
            }
        }
    }

    /// Sends plain statements whose answer nobody waits for.
    pub async fn post(&mut self, sql: &str) {
        if frontend::query(sql, &mut self.outgoing).is_ok() && self.flush().await.is_ok() {
            self.unread += 1;
        }
    }

    /// The payload of the next notification.
    pub async fn notification(&mut self) -> Result<String, WireError> {
        loop {
            if let Some(note) = self.notes.pop_front() {
                return Ok(note);
            }
            let parsed = Message::parse(&mut self.incoming);
            match self.judged(parsed)? {
                Some(Message::NotificationResponse(body)) => self.notes.push_back(body.message()?.to_owned()),
                Some(Message::ErrorResponse(body)) => return Err(WireError::server(&body)),
                Some(_) => {}
                None => self.read().await?,
            }
        }
    }

    /// Forgets notifications that have arrived.
    pub fn forget_notifications(&mut self) {
        self.notes.clear();
    }

    async fn skip_unread(&mut self) -> Result<(), WireError> {
        let mut failed = None;
        while self.unread > 0 {
            if let Message::ReadyForQuery(_) = self.next_of(&mut failed).await? {
                self.unread -= 1;
                failed = None;
            }
        }
        Ok(())
    }

    /// The next message that is not an error. The first error goes to `failed`; it also explains why a connection ends.
    async fn next_of(&mut self, failed: &mut Option<WireError>) -> Result<Message, WireError> {
        loop {
            match self.message().await {
                Ok(Message::ErrorResponse(body)) => self.note_error(&body, failed),
                Ok(message) => return Ok(message),
                Err(error) => return Err(failed.take().unwrap_or(error)),
            }
        }
    }

    fn note_error(&self, body: &ErrorResponseBody, failed: &mut Option<WireError>) {
        failed.get_or_insert_with(|| WireError::server(body));
    }

    fn confused(&mut self) -> WireError {
        self.is_broken = true;
        WireError::unexpected()
    }
}

fn closed() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the server closed the connection")
}
