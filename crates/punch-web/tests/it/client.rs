//! A server on a store of its own, and a client that sends exactly what a test wants.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use punch_engine::call::Dialect;
use punch_engine::config::{Config, ConfigInputs, Settings};
use punch_engine::{Consents, Engine, PlanChoice, WorkTree};
use punch_serve::{CallerIdentity, ConversationTag, PlanToolService, ServeLog, ServedProject, Token, ToolOffers};
use punch_store::{OpenMode, open_file};
use punch_web::{ApiProblem, ListenAddress, ListeningBoard, ServedBoard, StartedBy, TokenFile, WebSetup};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::described::{check_answer, check_event};

/// What a test changes about the server.
#[derive(Clone, Default)]
pub struct Options {
    pub read_only: bool,
    pub agent: bool,
    pub proxy: Option<String>,
    /// The name in the certificate of a server that speaks TLS itself.
    pub tls: Option<String>,
    /// Names and values of settings.
    pub settings: Vec<(&'static str, &'static str)>,
    /// Takes the records of requests.
    pub log: Option<Arc<Mutex<Vec<Value>>>>,
    /// The server knows what the user has approved.
    pub approvals: bool,
    /// How long a request waits for a store that is busy.
    pub wait: Option<Duration>,
}

pub struct Server {
    pub folder: tempfile::TempDir,
    pub ready: Arc<ListeningBoard>,
    pub address: SocketAddr,
    pub token: String,
    end: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

fn settings(given: &[(&str, &str)]) -> Settings {
    let flags = given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Config::load(&ConfigInputs { flags, ..ConfigInputs::default() }).unwrap().settings
}

pub fn clock() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

/// Opens the store of a test.
pub fn engine(database: &Path, create: bool) -> Option<Engine> {
    if !create && !database.exists() {
        return None;
    }
    let store = open_file(database, OpenMode::Create, None).unwrap();
    Some(Engine::new(store, Box::new(clock)))
}

/// The store of a test, for agents.
struct AgentStore(PathBuf);

impl punch_serve::ProjectStore for AgentStore {
    fn open(&self, create: bool) -> Result<Option<Engine>, punch_serve::ServeProblem> {
        Ok(engine(&self.0, create))
    }
}

/// The server for agents, and the file with its token.
fn agents(folder: &Path, database: &Path) -> (punch_serve::Server, Token) {
    let presented = punch_serve::ServerSettings {
        offer: ToolOffers::new(Dialect::Native, &[]),
        structured: false,
        identity: CallerIdentity::default(),
        tag: ConversationTag::new("test"),
    };
    let opened = ServedProject {
        project: Box::new(AgentStore(database.to_owned())),
        settings: settings(&[]),
        worktree: None,
        tree: None,
        role: None,
        assigned: None,
        is_driven: false,
        started_for: None,
        checks: None,
        after_write: None,
    };
    let (service, log) = (Arc::new(PlanToolService::new(opened)), ServeLog::default());
    let server = punch_serve::Server::start(presented, service, log).unwrap();
    (server, Token::read_or_create(&Token::path_in(folder)).unwrap())
}

impl Server {
    pub fn start() -> Self {
        Self::with(Options::default())
    }

    pub fn with(options: Options) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("store").join("punch.db");
        std::fs::create_dir(folder.path().join("store")).unwrap();
        let (opened, wait) = (database.clone(), options.wait);
        let setup = WebSetup {
            open: Box::new(move |create| {
                if !create && !opened.exists() {
                    return Ok(None);
                }
                let wrong = |error: punch_store::StoreError| {
                    ApiProblem::unavailable(error.code(), error.message(), error.hint())
                };
                let mode = if create { OpenMode::Create } else { OpenMode::Existing };
                Ok(Some(Engine::new(open_file(&opened, mode, wait).map_err(wrong)?, Box::new(clock))))
            }),
            choice: PlanChoice::default(),
            worktree: Box::new(|_, _, _| None),
            agent_log: Box::new(|_, _, _| None),
            agents: Box::new(Vec::new),
            start_agent: Box::new(|_, _, _| Ok(())),
            settings: settings(&options.settings),
            tree: WorkTree {
                root: folder.path().to_owned(),
                git: None,
                consents: options.approvals.then(|| Consents::new(folder.path(), &database, folder.path())),
            },
            project: "test".into(),
            version: "0.0.0",
        };
        let hosts: Vec<String> = options.proxy.iter().chain(&options.tls).cloned().collect();
        let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/certificate");
        let tls = options.tls.as_ref().map(|_| (files.join("cert.pem"), files.join("key.pem")));
        let listen = ListenAddress {
            port: Some(0),
            behind_proxy: options.proxy.is_some(),
            hosts,
            tls,
            ..ListenAddress::default()
        };
        let board = ServedBoard {
            setup,
            tokens: Some(TokenFile::in_folder(folder.path())),
            read_only: options.read_only,
            started_by: if options.agent { StartedBy::Agent } else { StartedBy::Program },
            mcp: Some(agents(folder.path(), &database)),
            mcp_limit: 64 * 1024,
            log: options.log.clone().map(|records| -> punch_web::RequestLog {
                Box::new(move |record| records.lock().unwrap().push(record.to_json()))
            }),
        };
        let bound = listen.judge().unwrap();
        let (end, ended) = oneshot::channel::<()>();
        let (tell, told) = channel();
        let thread = std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(16).build().unwrap();
            let asked = async {
                let _ = ended.await;
            };
            runtime.block_on(board.run(bound, asked, |ready| tell.send(ready).unwrap())).unwrap();
            runtime.shutdown_background();
        });
        let ready = told.recv().unwrap();
        let address = ready.address();
        let token = ready.token().unwrap();
        Self { folder, address, ready, token, end: Some(end), thread: Some(thread) }
    }

    pub fn database(&self) -> PathBuf {
        self.folder.path().join("store").join("punch.db")
    }

    /// The token of `punch mcp --http`.
    pub fn file_token(&self) -> String {
        std::fs::read_to_string(Token::path_in(self.folder.path())).unwrap().trim().to_owned()
    }

    /// The secret of a new link.
    pub fn link(&self) -> String {
        self.ready.link().unwrap().split_once("#t=").unwrap().1.to_owned()
    }

    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.address.port())
    }

    /// Sends a request with exactly these headers.
    pub fn raw(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
        // A server that refuses by the head may close before the body is sent.
        let _ = stream.write_all(text.as_bytes());
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        Answer::parse(&String::from_utf8_lossy(&bytes))
    }

    pub fn get(&self, path: &str) -> Answer {
        let bearer = format!("Bearer {}", self.token);
        let path = format!("/api/v1{path}");
        let answer = self.raw("GET", &path, &[("Host", &self.host()), ("Authorization", &bearer)], "");
        check_answer("GET", &path, &answer);
        answer
    }

    pub fn post(&self, path: &str, body: &Value) -> Answer {
        self.post_as(&self.token, path, body)
    }

    pub fn post_as(&self, token: &str, path: &str, body: &Value) -> Answer {
        let bearer = format!("Bearer {token}");
        let headers =
            [("Host", self.host()), ("Authorization", bearer), ("Content-Type", "application/json".to_owned())];
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let path = format!("/api/v1{path}");
        let answer = self.raw("POST", &path, &headers, &body.to_string());
        check_answer("POST", &path, &answer);
        answer
    }

    /// Changes the plan `main`, which must succeed.
    pub fn ops(&self, ops: Value) -> Value {
        let answer = self.post("/plans/main/ops", &json!({"ops": ops}));
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.json()
    }

    /// Opens the stream of the plan `main`.
    pub fn stream(&self, after: Option<u64>) -> Stream {
        self.stream_as(&self.token, after)
    }

    pub fn stream_as(&self, token: &str, after: Option<u64>) -> Stream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let after = after.map(|after| format!("?after={after}")).unwrap_or_default();
        // Without chunks: the older protocol has none.
        let head = format!(
            "GET /api/v1/plans/main/events{after} HTTP/1.0\r\nHost: {}\r\nAuthorization: Bearer {token}\r\n\r\n",
            self.host(),
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut lines = BufReader::new(stream);
        let mut line = String::new();
        while lines.read_line(&mut line).unwrap() > 0 && line.trim() != "" {
            line.clear();
        }
        Stream(lines)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.end.take().map(|end| end.send(()));
        let _ = self.thread.take().map(std::thread::JoinHandle::join);
    }
}

#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    pub fn parse(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Self { status, head: head.to_owned(), body: body.to_owned() }
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    pub fn header(&self, name: &str) -> Option<String> {
        let all = self.head.lines().filter_map(|line| line.split_once(": "));
        all.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned())
    }

    /// Status and code of a problem.
    pub fn problem(&self) -> (u16, String) {
        (self.status, self.json()["code"].as_str().unwrap_or_default().to_owned())
    }
}

/// The events of a stream.
pub struct Stream(BufReader<TcpStream>);

impl Stream {
    /// Ends when nothing comes for a while.
    pub fn impatient(self) -> Self {
        self.0.get_ref().set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        self
    }

    /// The next event and its data; `None` at the end of the stream.
    pub fn next(&mut self) -> Option<(String, Value)> {
        let (mut event, mut data) = (String::new(), Value::Null);
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).ok()? == 0 {
                return None;
            }
            let line = line.trim_end();
            if let Some(name) = line.strip_prefix("event: ") {
                event = name.to_owned();
            } else if let Some(text) = line.strip_prefix("data: ") {
                // A connection may be cut inside of an event.
                data = serde_json::from_str(text).ok()?;
            } else if line.is_empty() && !event.is_empty() {
                check_event(&event, &data);
                return Some((event, data));
            }
        }
    }
}
