//! The transport over lines. Every request gets an answer with its id, even if it is not a valid message, has wrong
//! types or is too large. A message without an id is answered with the id `null`, as JSON-RPC requires.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ErrorCode, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Mutex as AsyncMutex, Notify};
use tokio_util::sync::CancellationToken;

use super::{InputLine, InputLines};
use crate::ServeLog;

/// Requests that may wait for their answer at once; more stay unread in the pipe until one is answered.
const WAITING: usize = 512;

/// A connection over a pair of streams.
pub struct LineTransport<R, W> {
    lines: InputLines<R>,
    out: Arc<TransportOutput<W>>,
    open: Arc<OpenRequests>,
    limit: usize,
    log: ServeLog,
    /// A request was seen: the client has begun to speak.
    begun: bool,
}

/// Where answers go.
struct TransportOutput<W> {
    /// Empty once the connection is closed.
    writer: AsyncMutex<Option<W>>,
    /// Cancelled when an answer could not be written: the client no longer reads them.
    broken: CancellationToken,
}

/// Requests without an answer yet.
#[derive(Default)]
struct OpenRequests {
    ids: Mutex<HashSet<RequestId>>,
    answered: Notify,
}

impl OpenRequests {
    fn ids(&self) -> std::sync::MutexGuard<'_, HashSet<RequestId>> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self, id: &RequestId) {
        if self.ids().remove(id) {
            self.answered.notify_one();
        }
    }

    async fn room(&self) {
        while self.ids().len() >= WAITING {
            self.answered.notified().await;
        }
    }
}

impl<R, W> LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// Messages of at most `limit` bytes.
    pub fn new(read: R, write: W, limit: usize, log: ServeLog) -> Self {
        Self {
            lines: InputLines::new(read, limit),
            out: Arc::new(TransportOutput { writer: AsyncMutex::new(Some(write)), broken: CancellationToken::new() }),
            open: Arc::default(),
            limit,
            log,
            begun: false,
        }
    }

    /// Reads one line into a message, or says what to answer instead.
    fn message(&mut self, line: InputLine) -> Result<Option<ClientJsonRpcMessage>, Value> {
        let line = match line {
            InputLine::Whole(line) if line.iter().all(u8::is_ascii_whitespace) => return Ok(None),
            InputLine::Whole(line) => line,
            InputLine::TooLong(id) => {
                let text = format!(
                    "a message may have at most {} bytes (`limits.request_bytes`); send less at once",
                    self.limit
                );
                return Err(failure(id, ErrorCode::INVALID_REQUEST, &text));
            }
        };
        let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&line);
        let value = punch_agents::lenient_json::read(line)
            .map_err(|error| failure(None, ErrorCode::PARSE_ERROR, &format!("not JSON: {error}")))?;
        let Some(map) = value.as_object() else {
            return Err(failure(None, ErrorCode::INVALID_REQUEST, "a message must be one JSON object"));
        };
        let id = map.get("id").filter(|id| id.is_string() || id.is_i64()).cloned();
        let method = map.get("method").and_then(Value::as_str).map(str::to_owned);
        if method.is_none() && (map.contains_key("result") || map.contains_key("error")) {
            // An answer to a question that was never asked, or an empty one: the client expects no reply.
            return Ok(serde_json::from_value(value).ok().filter(|_| self.begun));
        }
        let is_request = map.contains_key("id");
        if is_request && (id.is_none() || method.is_none() || map.get("jsonrpc") != Some(&json!("2.0"))) {
            return Err(failure(id, ErrorCode::INVALID_REQUEST, "a request has jsonrpc \"2.0\", an id and a method"));
        }
        if !is_request && (method.is_none() || !self.begun) {
            return if method.is_none() {
                Err(failure(None, ErrorCode::INVALID_REQUEST, "a message has a method"))
            } else {
                Ok(None)
            };
        }
        let params = map.get("params").is_none_or(Value::is_object);
        match serde_json::from_value::<ClientJsonRpcMessage>(value) {
            Ok(JsonRpcMessage::Request(request)) if params && !fell_through(&request.request) => {
                Ok(Some(JsonRpcMessage::Request(request)))
            }
            Ok(message) if !is_request => Ok(Some(message)),
            Err(_) if !is_request => Ok(None),
            Ok(_) | Err(_) => {
                let method = method.unwrap_or_default();
                let method = punch_core::text::clip(&method, 80);
                let method = punch_core::text::neutral(&method);
                Err(failure(id, ErrorCode::INVALID_PARAMS, &format!("the params of `{method}` have a wrong type")))
            }
        }
    }

    /// Keeps count of what waits. Listening lasts for as long as the client likes and does not count.
    fn count(&self, message: &ClientJsonRpcMessage) {
        match message {
            JsonRpcMessage::Request(request) if request.request.method() != "subscriptions/listen" => {
                self.open.ids().insert(request.id.clone());
            }
            JsonRpcMessage::Notification(notification) => {
                if let rmcp::model::ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.open.close(id);
                }
            }
            _ => {}
        }
    }
}

/// A known method whose params do not fit is read as a custom one; it is not an unknown method.
fn fell_through(request: &rmcp::model::ClientRequest) -> bool {
    const KNOWN: &[&str] = &[
        "initialize",
        "server/discover",
        "ping",
        "tools/list",
        "tools/call",
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "resources/subscribe",
        "resources/unsubscribe",
        "subscriptions/listen",
        "prompts/list",
        "prompts/get",
        "completion/complete",
        "logging/setLevel",
    ];
    matches!(request, rmcp::model::ClientRequest::CustomRequest(custom) if KNOWN.contains(&custom.method.as_str()))
}

fn failure(id: Option<Value>, code: ErrorCode, text: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": ErrorData::new(code, text.to_owned(), None)})
}

impl<W: AsyncWrite + Unpin> TransportOutput<W> {
    async fn write(&self, mut line: Vec<u8>) -> std::io::Result<()> {
        line.push(b'\n');
        let mut writer = self.writer.lock().await;
        let Some(writer) = writer.as_mut() else { return Err(std::io::ErrorKind::NotConnected.into()) };
        let written = match writer.write_all(&line).await {
            Ok(()) => writer.flush().await,
            Err(error) => Err(error),
        };
        if written.is_err() {
            self.broken.cancel();
        }
        written
    }
}

impl<R, W> Transport<RoleServer> for LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = std::io::Error;

    fn send(&mut self, item: ServerJsonRpcMessage) -> impl Future<Output = std::io::Result<()>> + Send + 'static {
        match &item {
            JsonRpcMessage::Response(response) => self.open.close(&response.id),
            JsonRpcMessage::Error(error) => error.id.iter().for_each(|id| self.open.close(id)),
            _ => {}
        }
        let out = self.out.clone();
        async move {
            let line = serde_json::to_vec(&item)?;
            out.write(line).await
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            self.open.room().await;
            let next = tokio::select! {
                biased;
                // A client that does not read answers must not change the plan any further.
                () = self.out.broken.cancelled() => {
                    self.log.say("the client no longer reads answers; the server ends");
                    return None;
                }
                next = self.lines.next() => next,
            };
            let line = match next {
                Ok(line) => line?,
                Err(error) => {
                    self.log.say(&format!("cannot read further messages: {error}"));
                    return None;
                }
            };
            match self.message(line) {
                Ok(None) => {}
                Ok(Some(message)) => {
                    self.begun |= matches!(message, JsonRpcMessage::Request(_));
                    self.count(&message);
                    return Some(message);
                }
                Err(answer) => {
                    let why = answer["error"]["message"].as_str().unwrap_or_default();
                    self.log.say(&format!("refused a message: {why}"));
                    self.out.write(answer.to_string().into_bytes()).await.ok()?;
                }
            }
        }
    }

    async fn close(&mut self) -> std::io::Result<()> {
        drop(self.out.writer.lock().await.take());
        Ok(())
    }
}
