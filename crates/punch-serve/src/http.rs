//! Streamable HTTP for clients of this user on this machine.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::serve::ListenerExt;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::{Log, Token, http_access};

/// The port when none is given; 0 takes any.
const PORT: u16 = 4815;

/// How long connections may take to end after the signal.
const GRACE: Duration = Duration::from_secs(3);

/// How HTTP is served.
#[derive(Clone, Debug)]
pub struct Http {
    /// Where; loopback.
    pub address: SocketAddr,
    /// Bytes of one request.
    pub limit: usize,
    /// What every request must carry.
    pub token: Token,
}

/// What a request is judged by.
struct Access {
    /// The address in use, as `Host` names it.
    own: String,
    token: Token,
}

/// Why HTTP cannot be served.
#[derive(Debug)]
pub enum HttpError {
    /// The address is no address.
    Unreadable(String),
    /// Others than this machine could reach it.
    NotLoopback(SocketAddr),
    /// The address is taken, or serving failed.
    Io(SocketAddr, std::io::Error),
}

impl HttpError {
    /// What is wrong.
    pub fn message(&self) -> String {
        match self {
            Self::Unreadable(given) => format!("`{}` is no address", punch_core::text::clip(given, 80)),
            Self::NotLoopback(address) => {
                format!("`{address}` can be reached from other machines; punch serves this one only")
            }
            Self::Io(address, cause) => format!("cannot serve on `{address}`: {cause}"),
        }
    }

    /// What to do.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Unreadable(_) | Self::NotLoopback(_) => "give a port, 127.0.0.1:PORT or [::1]:PORT",
            Self::Io(..) => "choose another port, or port 0 for any that is free",
        }
    }
}

impl fmt::Display for HttpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())
    }
}

impl std::error::Error for HttpError {}

/// Reads an address: nothing, a port, `localhost:PORT`, or a loopback address with or without a port.
pub fn loopback(given: &str) -> Result<SocketAddr, HttpError> {
    let local = |port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    let given = given.trim();
    let address = match given.strip_prefix("localhost") {
        _ if given.is_empty() => Some(local(PORT)),
        Some("") => Some(local(PORT)),
        Some(rest) => rest.strip_prefix(':').and_then(|port| port.parse().ok()).map(local),
        None => None,
    };
    let address = address
        .or_else(|| given.parse().ok().map(local))
        .or_else(|| given.parse().ok())
        .or_else(|| given.trim_matches(['[', ']']).parse().ok().map(|ip| SocketAddr::new(ip, PORT)))
        .ok_or_else(|| HttpError::Unreadable(given.to_owned()))?;
    if address.ip().is_loopback() { Ok(address) } else { Err(HttpError::NotLoopback(address)) }
}

impl Http {
    /// Serves until the process is asked to end: `connection` makes a handler for each client, `ready` hears the
    /// address in use.
    pub fn serve<H: ServerHandler>(
        &self,
        connection: impl Fn() -> H + Send + Sync + 'static,
        log: &Log,
        ready: impl FnOnce(SocketAddr),
    ) -> Result<(), HttpError> {
        let failed = |cause| HttpError::Io(self.address, cause);
        if !self.address.ip().is_loopback() {
            return Err(HttpError::NotLoopback(self.address));
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(4).build();
        let runtime = runtime.map_err(failed)?;
        let done = runtime.block_on(async {
            let listener = TcpListener::bind(self.address).await?;
            let address = listener.local_addr()?;
            ready(address);
            log.say(&format!("serving on http://{address}/mcp"));
            self.run(listener, connection, log).await
        });
        runtime.shutdown_background();
        done.map_err(failed)
    }

    async fn run<H: ServerHandler>(
        &self,
        listener: TcpListener,
        connection: impl Fn() -> H + Send + Sync + 'static,
        log: &Log,
    ) -> std::io::Result<()> {
        let end = CancellationToken::new();
        let config = StreamableHttpServerConfig::default()
            .with_allowed_origins(["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"])
            .with_max_request_body_bytes(self.limit)
            .with_cancellation_token(end.clone());
        let service =
            StreamableHttpService::new(move || Ok(connection()), Arc::new(LocalSessionManager::default()), config);
        let own = match listener.local_addr()?.ip() {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        };
        let access = Arc::new(Access { own, token: self.token.clone() });
        let router =
            axum::Router::new().route_service("/mcp", service).layer(middleware::from_fn_with_state(access, admit));
        // Small answers are sent at once: without this every call would take 40 ms.
        let listener = listener.tap_io(|stream| {
            let _ = stream.set_nodelay(true);
        });
        let (stop, log) = (end.clone(), log.clone());
        let serve = axum::serve(listener, router).with_graceful_shutdown(async move {
            asked_to_end().await;
            log.say("asked to end");
            stop.cancel();
        });
        tokio::select! {
            done = async { serve.await } => done,
            () = async { end.cancelled().await; tokio::time::sleep(GRACE).await } => Ok(()),
        }
    }
}

/// Lets a request through, or answers why not.
async fn admit(State(access): State<Arc<Access>>, request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    match http_access::judge(&head, &access.own, &access.token) {
        Ok(()) => next.run(Request::from_parts(head, body)).await,
        Err(denial) => denial.response(&access.token),
    }
}

#[cfg(unix)]
async fn asked_to_end() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
        }
        Err(_) => {
            let _ = tokio::signal::ctrl_c().await;
        }
    }
}

#[cfg(not(unix))]
async fn asked_to_end() {
    let _ = tokio::signal::ctrl_c().await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_addresses_are_served() {
        for (given, expected) in [
            ("", "127.0.0.1:4815"),
            ("0", "127.0.0.1:0"),
            ("9000", "127.0.0.1:9000"),
            ("localhost", "127.0.0.1:4815"),
            ("localhost:9000", "127.0.0.1:9000"),
            ("127.0.0.1", "127.0.0.1:4815"),
            ("127.0.0.2:80", "127.0.0.2:80"),
            ("[::1]:9000", "[::1]:9000"),
            ("::1", "[::1]:4815"),
        ] {
            assert_eq!(loopback(given).unwrap().to_string(), expected, "{given}");
        }
        for given in ["0.0.0.0", "0.0.0.0:80", "192.168.1.2:80", "[::]:80"] {
            assert!(matches!(loopback(given), Err(HttpError::NotLoopback(_))), "{given}");
        }
        for given in ["example.com:80", "localhost:x", "99999", ":", "127.0.0.1:99999"] {
            assert!(matches!(loopback(given), Err(HttpError::Unreadable(_))), "{given}");
        }
    }
}
