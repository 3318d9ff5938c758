//! Requests to the HTTP API, on a real server that all inputs share.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::OnceLock;
use std::sync::mpsc::channel;
use std::time::Duration;

use punch_engine::config::{Config, ConfigInputs};
use punch_engine::{Engine, PlanChoice, WorkTree};
use punch_store::{OpenMode, open_file};
use punch_web::{ApiProblem, ListenAddress, ServedBoard, StartedBy, TokenFile, WebSetup};

struct Running {
    address: SocketAddr,
    token: String,
    _folder: tempfile::TempDir,
}

/// The bytes are sent as a whole request, and as the path and the body of well-formed ones. Each gets an answer of HTTP, or
/// none if it was not a request; the server lives on, and no answer is an error of its own making.
pub fn http(bytes: &[u8]) {
    let server = running();
    send(server, bytes, Ending::Closed);
    let text = String::from_utf8_lossy(bytes);
    let path: String = text.chars().filter(|c| !c.is_whitespace() && !c.is_control()).take(200).collect();
    let head = format!(
        "Host: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n",
        server.address.port(),
        server.token
    );
    let get = format!("GET /api/v1/plans/main/todos?{path} HTTP/1.1\r\n{head}\r\n");
    judged(&send(server, get.as_bytes(), Ending::Open), &get);
    let mut post = format!(
        "POST /api/v1/plans/main/ops HTTP/1.1\r\n{head}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        bytes.len()
    )
    .into_bytes();
    post.extend_from_slice(bytes);
    judged(&send(server, &post, Ending::Open), &text);
}

fn judged(answer: &str, request: &str) {
    assert!(answer.starts_with("HTTP/1.1 "), "no answer to {request}: {answer}");
    assert!(!answer.starts_with("HTTP/1.1 500"), "{request} led to {answer}");
}

/// What the client does after its request. A server may take a client that closes its side for one that is gone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Open,
    Closed,
}

fn send(server: &Running, request: &[u8], ending: Ending) -> String {
    let mut stream = TcpStream::connect(server.address).expect("the server lives");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
    // A server that refuses by the head may close before the rest is sent.
    let _ = stream.write_all(request);
    if ending == Ending::Closed {
        let _ = stream.shutdown(std::net::Shutdown::Write);
    }
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

fn running() -> &'static Running {
    static RUNNING: OnceLock<Running> = OnceLock::new();
    RUNNING.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let database = folder.path().join("punch.db");
        let clock = || 1_000_000;
        let open = move |create: bool| {
            let wrong =
                |error: punch_store::StoreError| ApiProblem::unavailable(error.code(), error.message(), error.hint());
            if !create && !database.exists() {
                return Ok(None);
            }
            let store = open_file(&database, OpenMode::Create, None).map_err(wrong)?;
            Ok(Some(Engine::new(store, Box::new(clock))))
        };
        let setup = WebSetup {
            open: Box::new(open),
            choice: PlanChoice::default(),
            worktree: Box::new(|_, _, _| None),
            agent_log: Box::new(|_, _, _| None),
            agents: Box::new(Vec::new),
            start_agent: Box::new(|_, _, _| Ok(())),
            settings: Config::load(&ConfigInputs::default()).expect("settings").settings,
            tree: WorkTree { root: folder.path().to_owned(), git: None, consents: None },
            project: "fuzz".into(),
            version: "0.0.0",
        };
        let board = ServedBoard {
            setup,
            tokens: Some(TokenFile::in_folder(folder.path())),
            read_only: false,
            started_by: StartedBy::Program,
            mcp: None,
            mcp_limit: 1024,
            log: None,
        };
        let bound = ListenAddress { port: Some(0), ..ListenAddress::default() }.judge().expect("a free port");
        let (tell, told) = channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            let ended = runtime.block_on(board.run(bound, std::future::pending(), |ready| {
                let _ = tell.send(ready);
            }));
            ended.expect("the server runs until the end");
        });
        let ready = told.recv().expect("the server is ready");
        Running { address: ready.address(), token: ready.token().expect("a token"), _folder: folder }
    })
}
