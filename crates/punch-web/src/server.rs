//! The server: one listener for the page, the API and `/mcp`, on loopback or beyond it.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::{MethodFilter, on};
use punch_engine::BrowserLink;
use punch_serve::{Denial, HttpLimits, McpAccess, Server, Token, TokenName, asked_to_end, mcp_route, serve_with};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_util::sync::CancellationToken;

use crate::access::{AccessControl, Rate, Rights, Sessions, Site, TokenFile, TokenRole};
use crate::context::App;
use crate::dispatch::{self, BODY, Origin, clock};
use crate::problem::ProblemCode;
use crate::request_log::{RequestLog, RequestRecord};
use crate::routes::{BASE, ROUTES};
use crate::{ApiProblem, WebSetup, operation, page};

/// The port when none is given.
pub const PORT: u16 = 4816;
/// How long connections may take to end after the signal.
const GRACE: Duration = Duration::from_secs(3);
/// Threads for requests that block.
const THREADS: usize = 8;

punch_core::errors! {
    /// Why the board cannot be served.
    #[derive(Debug)]
    pub enum WebError {
        /// The address cannot be read.
        Unreadable { given: String }: "serve",
            ("invalid address `{given}`"),
            ("use ADDRESS:PORT, such as 0.0.0.0:8443");
        /// Others would read everything on the way.
        NeedsTls { address: String }: "serve_needs_tls",
            ("`{address}` is reachable from other machines, and the connection would not be encrypted"),
            ("add `--cert FILE --key FILE`, or `--behind-proxy --host NAME` behind a proxy that speaks TLS");
        /// A proxy hides the name that browsers use.
        NeedsHost: "serve_needs_host",
            ("the name under which browsers reach the board is unknown"),
            ("add `--host NAME`, such as `--host board.example.com`");
        /// The files for TLS cannot be used.
        Certificate { path: PathBuf, cause: String }: "serve_certificate",
            ("cannot use `{path}`: {cause}"),
            ("use a certificate chain and its key as PEM files");
        /// The address is taken, or serving failed.
        Failed { address: String, cause: String }: "serve",
            ("cannot serve on `{address}`: {cause}"),
            ("choose another port with `--port`, or 0 for any free one");
    }
}

/// Where the board is served.
#[derive(Clone, Debug, Default)]
pub struct ListenAddress {
    /// The port on loopback; ignored if an address is given.
    pub port: Option<u16>,
    /// An address that other machines reach.
    pub address: Option<String>,
    /// Names under which browsers reach it.
    pub hosts: Vec<String>,
    /// A proxy in front of it speaks TLS.
    pub behind_proxy: bool,
    /// Files for TLS: the certificate chain and its key.
    pub tls: Option<(PathBuf, PathBuf)>,
}

/// A listener that may be used: other machines reach it only over TLS.
pub struct Bound {
    address: SocketAddr,
    tls: Option<Arc<ServerConfig>>,
    hosts: Vec<String>,
    behind_proxy: bool,
}

impl ListenAddress {
    /// Judges where the board is to be served, before anything is opened.
    pub fn judge(&self) -> Result<Bound, WebError> {
        let port = self.port.unwrap_or(PORT);
        let address = match &self.address {
            None => SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port),
            Some(given) => {
                let given = given.trim();
                let with_port = given.parse().ok();
                let alone = || given.trim_matches(['[', ']']).parse().ok().map(|ip| SocketAddr::new(ip, port));
                with_port.or_else(alone).ok_or_else(|| WebError::Unreadable { given: given.to_owned() })?
            }
        };
        let tls = self.tls.as_ref().map(|(cert, key)| tls(cert, key)).transpose()?;
        if self.behind_proxy && self.hosts.is_empty() {
            return Err(WebError::NeedsHost);
        }
        if !address.ip().is_loopback() && tls.is_none() && !self.behind_proxy {
            return Err(WebError::NeedsTls { address: address.to_string() });
        }
        if address.ip().is_unspecified() && self.hosts.is_empty() {
            return Err(WebError::NeedsHost);
        }
        Ok(Bound { address, tls, hosts: self.hosts.clone(), behind_proxy: self.behind_proxy })
    }
}

fn tls(cert: &Path, key: &Path) -> Result<Arc<ServerConfig>, WebError> {
    let wrong = |path: &Path, cause: String| WebError::Certificate { path: path.to_owned(), cause };
    let chain = CertificateDer::pem_file_iter(cert).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let chain = chain.map_err(|error| wrong(cert, error.to_string()))?;
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| wrong(key, error.to_string()))?;
    let mut config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(chain, secret)
        .map_err(|error| wrong(cert, error.to_string()))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// What links and the first token are good for.
#[derive(Clone, Debug)]
pub enum StartedBy {
    /// The user at a terminal: whoever opens the link may answer questions.
    User(BrowserLink),
    /// A program of the user.
    Program,
    /// An agent, or a program below one: it may only read.
    Agent,
}

impl StartedBy {
    fn rights(&self) -> Rights {
        match self {
            Self::User(link) => Rights { role: TokenRole::Owner, name: None, link: Some(link.clone()) },
            Self::Program => Rights { role: TokenRole::Owner, name: None, link: None },
            Self::Agent => Rights { role: TokenRole::Reader, name: None, link: None },
        }
    }
}

/// A board to serve.
pub struct ServedBoard {
    /// What comes from the program around it.
    pub setup: WebSetup,
    /// Tokens that the user made for other machines.
    pub tokens: Option<TokenFile>,
    /// Nobody may write.
    pub read_only: bool,
    /// Who started it.
    pub started_by: StartedBy,
    /// The server for agents, and the token of `punch mcp --http`.
    pub mcp: Option<(Server, Token)>,
    /// Bytes of one request of an agent.
    pub mcp_limit: usize,
    /// Where a record of every request goes.
    pub log: Option<RequestLog>,
}

/// A board that listens. Makes links while it runs.
pub struct ListeningBoard {
    app: Arc<App>,
    address: SocketAddr,
    started_by: StartedBy,
}

impl ListeningBoard {
    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address of the board, without a secret.
    pub fn url(&self) -> String {
        self.app.access.site.url()
    }

    /// The address of the API.
    pub fn api(&self) -> String {
        format!("{}{}", self.url().trim_end_matches('/'), BASE)
    }

    /// A new address that logs a browser in, once. Whoever opens it may do what the user may, so it must go to the user and
    /// nowhere else.
    pub fn link(&self) -> io::Result<String> {
        self.link_with(self.started_by.rights())
    }

    /// A new address for a place that programs read, such as a pipe or a file. Whoever opens it never answers questions.
    pub fn program_link(&self) -> io::Result<String> {
        self.link_with(self.program_rights())
    }

    /// A token for a program. It never answers questions.
    pub fn token(&self) -> io::Result<String> {
        Ok(self.app.access.sessions.open(self.program_rights(), false, None, clock())?.0)
    }

    fn program_rights(&self) -> Rights {
        Rights { link: None, ..self.started_by.rights() }
    }

    fn link_with(&self, rights: Rights) -> io::Result<String> {
        let secret = self.app.access.sessions.link(rights, clock())?;
        Ok(format!("{}#t={secret}", self.url()))
    }
}

impl ServedBoard {
    /// Serves until the process is asked to end; `ready` gets the board once it listens.
    pub fn serve(self, bound: Bound, ready: impl FnOnce(Arc<ListeningBoard>) + Send) -> Result<(), WebError> {
        let address = bound.address.to_string();
        let failed = |cause: io::Error| WebError::Failed { address: address.clone(), cause: cause.to_string() };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(THREADS)
            .thread_keep_alive(Duration::from_secs(10))
            .build();
        let runtime = runtime.map_err(failed)?;
        let done = runtime.block_on(self.run(bound, asked_to_end(), ready));
        runtime.shutdown_background();
        done.map_err(failed)
    }

    /// Serves until `asked` is done.
    pub async fn run(
        self,
        bound: Bound,
        asked: impl Future<Output = ()>,
        ready: impl FnOnce(Arc<ListeningBoard>),
    ) -> io::Result<()> {
        let listener = TcpListener::bind(bound.address).await?;
        let address = listener.local_addr()?;
        let is_public = !address.ip().is_loopback() || bound.behind_proxy || bound.tls.is_some();
        let site = match is_public {
            true => Site::public(address, &bound.hosts, bound.behind_proxy),
            false => Site::loopback(address),
        };
        let end = CancellationToken::new();
        let access = AccessControl {
            rate: Rate::new(site.is_loopback),
            site,
            sessions: Sessions::default(),
            tokens: self.tokens,
            read_only: self.read_only,
        };
        let app = Arc::new(App::new(Arc::new(self.setup), access, self.log, end.clone()));
        let limits = HttpLimits::new(BODY);
        let mut router = operation::routes(&app, api(&app, limits));
        if let Some((server, token)) = self.mcp {
            let server = if self.read_only { server.read_only() } else { server };
            router = router.merge(mcp(&app, server, token, self.mcp_limit));
        }
        let router = router.layer(middleware::from_fn_with_state(Arc::clone(&app), admit));
        ready(Arc::new(ListeningBoard { app, address, started_by: self.started_by }));
        let asked = async {
            asked.await;
            end.cancel();
            tokio::time::sleep(GRACE).await;
        };
        let served = async {
            match bound.tls {
                None => serve_with(listener, router, &limits, &end, |stream| std::future::ready(Some(stream))).await,
                Some(config) => {
                    let acceptor = TlsAcceptor::from(config);
                    let secure = |stream: TcpStream| {
                        let acceptor = acceptor.clone();
                        async move { acceptor.accept(stream).await.ok() }
                    };
                    serve_with(listener, router, &limits, &end, secure).await;
                }
            }
        };
        tokio::select! {
            () = served => {}
            () = asked => {}
        }
        Ok(())
    }
}

/// The routes of the API and of the page.
fn api(app: &Arc<App>, limits: HttpLimits) -> Router {
    let mut router = Router::new();
    for route in ROUTES {
        let filter = match route.method {
            "POST" => MethodFilter::POST,
            "DELETE" => MethodFilter::DELETE,
            _ => MethodFilter::GET,
        };
        let app = Arc::clone(app);
        let handler = move |request: Request| dispatch::answer(Arc::clone(&app), route, limits, request);
        router = router.route(&format!("{BASE}{}", route.path), on(filter, handler));
    }
    router.fallback(elsewhere).method_not_allowed_fallback(wrong_method)
}

async fn wrong_method() -> Response {
    let message = "this address does not take that method";
    let hint = "see docs/api.md, or GET /api/v1/openapi.json";
    ApiProblem::new(axum::http::StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message, hint).response()
}

/// Everything that is not a route is a view of the page, except below the API.
async fn elsewhere(request: Request) -> Response {
    let (head, _) = request.into_parts();
    let path = head.uri.path();
    let is_read = matches!(head.method, axum::http::Method::GET | axum::http::Method::HEAD);
    if path == "/mcp" || path == "/api" || path.starts_with("/api/") || !is_read {
        let hint = "see docs/api.md, or GET /api/v1/openapi.json";
        return ApiProblem::not_found("not_found", "there is nothing at this address", hint).response();
    }
    page::file(&head)
}

/// The route of agents: the token of `punch mcp --http`, or one that the user made for an agent.
fn mcp(app: &Arc<App>, server: Server, token: Token, limit: usize) -> Router {
    let (own, file) = (Arc::clone(app), token.clone());
    let judge = Box::new(move |head: &axum::http::request::Parts| {
        own.access.site.judge_origin(head, false).map_err(|_| Denial::Origin)?;
        own.access.agent(head, &file, clock())
    });
    let access = McpAccess { judge, token, limits: HttpLimits::new(limit), public: app.access.site.public_name() };
    mcp_route(move || server.connection(), access, &app.end)
}

/// Judges the host before anything else, adds what every answer carries, and counts and records the request.
async fn admit(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let (begun, at) = (Instant::now(), clock());
    let (head, body) = request.into_parts();
    let (method, path) = (head.method.to_string(), head.uri.path().to_owned());
    let mut response = match app.access.site.judge_host(&head) {
        Ok(()) => next.run(Request::from_parts(head, body)).await,
        Err(problem) => problem.response(),
    };
    page::protect(&mut response);
    let origin = response.extensions_mut().remove::<Origin>();
    let code = response.extensions_mut().remove::<ProblemCode>().map(|code| code.0);
    let agent = response.extensions_mut().remove::<TokenName>().map(|name| name.0);
    let Origin { route, caller } = origin.unwrap_or_else(|| {
        let route = if path == "/mcp" { "mcp" } else { "page" };
        Origin { route, caller: agent }
    });
    let (status, took) = (response.status().as_u16(), begun.elapsed());
    app.metrics.count(route, status, took, code.as_deref());
    if let Some(log) = &app.log {
        log(&RequestRecord { at, method, path, route, status, took, code, caller });
    }
    response
}
