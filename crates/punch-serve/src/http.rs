//! Streamable HTTP for clients of this user on this machine.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::middleware::{self, Next};
use axum::response::Response;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::http_access::Denial;
use crate::http_limits::HttpLimits;
use crate::{ServeLog, Token, TokenName, connections, http_access};

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

punch_core::errors! {
    /// Why HTTP cannot be served.
    #[derive(Debug)]
    pub enum HttpError {
        /// The address cannot be read.
        Unreadable { given: String }: "http",
            ("invalid address `{given}`"),
            ("use a port, 127.0.0.1:PORT or [::1]:PORT");
        /// Others than this machine could reach it.
        NotLoopback { address: String }: "http",
            ("`{address}` is reachable from other machines; punch serves only this one"),
            ("use a port, 127.0.0.1:PORT or [::1]:PORT");
        /// The address is taken, or serving failed.
        Failed { address: String, cause: String }: "http",
            ("cannot serve on `{address}`: {cause}"),
            ("choose another port, or 0 for any free one");
    }
}

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
        .ok_or_else(|| HttpError::Unreadable { given: given.to_owned() })?;
    let elsewhere = || HttpError::NotLoopback { address: address.to_string() };
    if address.ip().is_loopback() { Ok(address) } else { Err(elsewhere()) }
}

impl Http {
    /// Serves until the process is asked to exit: `connection` makes a handler for each client, `ready` gets the
    /// address in use.
    pub fn serve<H: ServerHandler>(
        &self,
        connection: impl Fn() -> H + Send + Sync + 'static,
        log: &ServeLog,
        ready: impl FnOnce(SocketAddr),
    ) -> Result<(), HttpError> {
        let address = || self.address.to_string();
        let failed = |cause: std::io::Error| HttpError::Failed { address: address(), cause: cause.to_string() };
        if !self.address.ip().is_loopback() {
            return Err(HttpError::NotLoopback { address: address() });
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
        log: &ServeLog,
    ) -> std::io::Result<()> {
        let end = CancellationToken::new();
        let own = match listener.local_addr()?.ip() {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        };
        let limits = HttpLimits::new(self.limit);
        let token = self.token.clone();
        let judge = Box::new(move |head: &Parts| http_access::judge(head, &own, &token).map(|()| None));
        let access = McpAccess { judge, token: self.token.clone(), limits, public: None };
        let router = mcp_route(connection, access, &end);
        let asked = async {
            asked_to_end().await;
            log.say("asked to end");
            end.cancel();
            tokio::time::sleep(GRACE).await;
        };
        tokio::select! {
            () = connections::serve(listener, router, &limits, &end) => {}
            () = asked => {}
        }
        Ok(())
    }
}

/// Decides by the head of a request whether it is let in, and returns the name of its token if it has one.
pub type AccessCheck = Box<dyn Fn(&Parts) -> Result<Option<TokenName>, Denial> + Send + Sync>;

/// Who may talk to the protocol's route, and how much.
pub struct McpAccess {
    /// Judges the head of a request.
    pub judge: AccessCheck,
    /// The token that the answer to a denied request names.
    pub token: Token,
    /// How much a client may ask.
    pub limits: HttpLimits,
    /// The name under which other machines reach the server, and the origin of its pages; `None` on loopback.
    pub public: Option<(String, String)>,
}

/// The route `/mcp`, for a listener of its own or beside other routes. Sessions end with `end`.
pub fn mcp_route<H: ServerHandler>(
    connection: impl Fn() -> H + Send + Sync + 'static,
    access: McpAccess,
    end: &CancellationToken,
) -> axum::Router {
    let mut origins: Vec<String> = ["localhost", "127.0.0.1", "[::1]"].map(|name| format!("http://{name}:*")).into();
    let mut config = StreamableHttpServerConfig::default();
    if let Some((host, origin)) = access.public.clone() {
        config.allowed_hosts.push(host);
        origins.push(origin);
    }
    let config = config
        .with_allowed_origins(origins)
        .with_max_request_body_bytes(access.limits.bytes)
        .with_cancellation_token(end.clone());
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(connection()), Arc::clone(&sessions), config);
    let state = Arc::new((access, sessions));
    axum::Router::new().route_service("/mcp", service).layer(middleware::from_fn_with_state(state, admit))
}

type Admission = Arc<(McpAccess, Arc<LocalSessionManager>)>;

/// Lets a request through, or answers why not. Its body is read here, so that a slow or endless one never reaches a session.
/// The name of the token goes with the request and with its answer.
async fn admit(State(state): State<Admission>, request: Request, next: Next) -> Response {
    let request = match admitted(&state.0, &state.1, request).await {
        Ok(request) => request,
        Err(denial) => return denial.response(&state.0.token),
    };
    let name = request.extensions().get::<TokenName>().cloned();
    let mut response = next.run(request).await;
    if let Some(name) = name {
        response.extensions_mut().insert(name);
    }
    response
}

async fn admitted(access: &McpAccess, sessions: &LocalSessionManager, request: Request) -> Result<Request, Denial> {
    let (mut head, body) = request.into_parts();
    if let Some(name) = (access.judge)(&head)? {
        head.extensions.insert(name);
    }
    let body = access.limits.read(&head, body).await?;
    if access.limits.opens_session(&body) {
        access.limits.room_for_session(sessions.sessions.read().await.len())?;
    }
    Ok(Request::from_parts(head, body.into()))
}

/// Returns when the process is asked to end.
#[cfg(unix)]
pub async fn asked_to_end() {
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

/// Returns when the process is asked to end.
#[cfg(not(unix))]
pub async fn asked_to_end() {
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
            assert!(matches!(loopback(given), Err(HttpError::NotLoopback { .. })), "{given}");
        }
        for given in ["example.com:80", "localhost:x", "99999", ":", "127.0.0.1:99999"] {
            assert!(matches!(loopback(given), Err(HttpError::Unreadable { .. })), "{given}");
        }
    }
}
