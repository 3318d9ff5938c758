//! The scripted model behind a port of this machine, for as long as its handle lives.

use std::fs::OpenOptions;
use std::io::{self, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::asked::flat;
use super::http::{self, HttpRequest};
use super::play::{PlayReply, ScriptPlay};
use super::report::ScriptReport;
use super::script::AgentScript;
use super::wire::ModelApi;

/// A client that is silent for so long has left.
const PATIENCE: Duration = Duration::from_secs(120);
/// No script makes a client wait longer.
const LONGEST_DELAY: Duration = Duration::from_secs(30);

/// The longest an answer is held back for other tracks: agents take their time to start.
const LONGEST_WAIT: Duration = Duration::from_secs(120);

/// What a server needs beside its script.
#[derive(Clone, Debug, Default)]
pub struct ServerOptions {
    /// Part of every id that it makes up. Two servers in one conversation need different ones.
    pub tag: String,
    /// A file that gets a line of JSON for every request.
    pub log: Option<PathBuf>,
    /// The port to listen on; 0: any.
    pub port: u16,
}

/// A running server; dropping it ends it.
pub struct ScriptedServer {
    address: SocketAddr,
    play: Arc<Mutex<ScriptPlay>>,
    ending: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
}

impl ScriptedServer {
    /// Starts to listen.
    pub fn start(script: AgentScript, options: &ServerOptions) -> io::Result<Self> {
        let append = |path| OpenOptions::new().create(true).append(true).open(path);
        let log = options.log.as_ref().map(append).transpose()?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port))?;
        let address = listener.local_addr()?;
        let play = Arc::new(Mutex::new(ScriptPlay::new(script, &options.tag, log)));
        let ending = Arc::new(AtomicBool::new(false));
        let (shared, over) = (Arc::clone(&play), Arc::clone(&ending));
        let accepting = thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if over.load(Ordering::SeqCst) {
                    break;
                }
                let play = Arc::clone(&shared);
                // A client that breaks off is its own problem.
                thread::spawn(move || serve(&client, &play));
            }
        });
        Ok(Self { address, play, ending, accepting: Some(accepting) })
    }

    /// Where it listens, without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// How the run went so far.
    pub fn report(&self) -> ScriptReport {
        lock(&self.play).report()
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.ending.store(true, Ordering::SeqCst);
        // The accepting thread looks at the flag when a client connects.
        let _ = TcpStream::connect(self.address);
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
    }
}

fn lock(play: &Mutex<ScriptPlay>) -> MutexGuard<'_, ScriptPlay> {
    play.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve(client: &TcpStream, play: &Mutex<ScriptPlay>) -> io::Result<()> {
    client.set_read_timeout(Some(PATIENCE))?;
    client.set_write_timeout(Some(PATIENCE))?;
    client.set_nodelay(true)?;
    let (mut from, mut to) = (BufReader::new(client), client);
    while let Some(request) = http::read(&mut from)? {
        if !respond(&mut to, &request, play)? || !request.stays {
            break;
        }
    }
    Ok(())
}

/// Answers one request; whether the connection can stay open.
fn respond(to: &mut impl Write, request: &HttpRequest, play: &Mutex<ScriptPlay>) -> io::Result<bool> {
    let path = request.path.as_str();
    let body: Value = serde_json::from_slice(&request.body).unwrap_or(Value::Null);
    match (request.method.as_str(), ModelApi::at(path)) {
        ("POST", Some(api)) => return converse(to, api, path, &body, play),
        ("GET", _) if path == "/report" => {
            http::send(to, 200, &serde_json::to_string(&lock(play).report())?)?;
            return Ok(true);
        }
        _ => lock(play).other(&request.method, path),
    }
    if path.ends_with("/count_tokens") || path.ends_with(":countTokens") {
        let tokens = flat(&body).len() / 4 + 1;
        http::send(to, 200, &json!({"input_tokens": tokens, "totalTokens": tokens}).to_string())?;
    } else if request.method == "GET" && path.ends_with("/models") {
        let list = json!({"object": "list", "data": [{"id": "scripted", "object": "model"}], "models": []});
        http::send(to, 200, &list.to_string())?;
    } else if request.method == "HEAD" {
        http::send(to, 200, "")?;
    } else {
        http::send(to, 404, &json!({"error": {"message": "not here"}}).to_string())?;
    }
    Ok(true)
}

fn converse(
    to: &mut impl Write,
    api: ModelApi,
    path: &str,
    body: &Value,
    play: &Mutex<ScriptPlay>,
) -> io::Result<bool> {
    let asked = api.read(path, body);
    let reply = lock(play).answer(api, path, &asked, body);
    let (answer, delay, waits_for) = match reply {
        PlayReply::Answer(answer, delay, waits_for) => (answer, delay, waits_for),
        PlayReply::Error(status, words) => {
            let error = json!({"type": "api_error", "code": status, "message": words});
            http::send(to, status, &json!({"type": "error", "error": error}).to_string())?;
            return Ok(true);
        }
    };
    thread::sleep(Duration::from_millis(delay).min(LONGEST_DELAY));
    let end = Instant::now() + LONGEST_WAIT;
    while !lock(play).has_reached(&waits_for) && Instant::now() < end {
        thread::sleep(Duration::from_millis(20));
    }
    if !asked.stream {
        http::send(to, 200, &api.whole(&answer).to_string())?;
        return Ok(true);
    }
    http::begin_stream(to)?;
    for (name, data) in api.events(&answer) {
        let name = name.map(|name| format!("event: {name}\n")).unwrap_or_default();
        to.write_all(format!("{name}data: {data}\n\n").as_bytes())?;
        to.flush()?;
    }
    to.write_all(api.farewell().as_bytes())?;
    to.flush()?;
    Ok(false)
}
