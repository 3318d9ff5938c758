//! The server over HTTP, only for programs of this user on this machine.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::client::{project, punch};

struct Served {
    child: Child,
    address: String,
    /// What it printed to standard error at its start.
    said: String,
    token: String,
}

impl Served {
    fn start(folder: &Path) -> Self {
        let mut command = punch(folder, &["mcp", "--http", "0", "--log", "mcp.log"]);
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        for _ in 0..2 {
            stderr.read_line(&mut said).unwrap();
        }
        let line = said.lines().next().unwrap();
        let address = line.strip_prefix("listening on http://").unwrap().strip_suffix("/mcp").unwrap().to_owned();
        let token = fs::read_to_string(token_file(folder)).unwrap().trim().to_owned();
        Self { child, address, said, token }
    }

    /// Status and answer of one POST with the token.
    fn post(&self, headers: &[(&str, &str)], body: &str) -> (u16, String) {
        let token = format!("Bearer {}", self.token);
        self.send(&[headers, &[("Authorization", token.as_str())]].concat(), body)
    }

    /// Status and answer of one POST.
    fn send(&self, headers: &[(&str, &str)], body: &str) -> (u16, String) {
        self.request("POST", headers, body)
    }

    /// Status and answer of one request.
    fn request(&self, method: &str, headers: &[(&str, &str)], body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let mut head = format!("{method} /mcp HTTP/1.1\r\nContent-Length: {}\r\nConnection: close\r\n", body.len());
        let mut all = vec![("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
        if !headers.iter().any(|(name, _)| *name == "Host") {
            all.push(("Host", &self.address));
        }
        all.extend(headers);
        all.iter().for_each(|(name, value)| head.push_str(&format!("{name}: {value}\r\n")));
        stream.write_all(format!("{head}\r\n{body}").as_bytes()).ok();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok();
        let status = answer.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        (status, answer)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn token_file(folder: &Path) -> PathBuf {
    folder.join(".local/state/punch/token")
}

fn stateless(id: u32, method: &str, mut params: Value) -> String {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "tester", "version": "1"},
    });
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

fn initialize() -> String {
    let about = json!({"name": "tester", "version": "1"});
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about});
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}).to_string()
}

#[test]
fn calls_are_answered_in_both_ways_of_the_protocol() {
    let folder = project();
    let served = Served::start(folder.path());
    let (status, answer) = served.post(&[], &initialize());
    assert_eq!(status, 200, "{answer}");
    assert!(answer.to_lowercase().contains("mcp-session-id"), "{answer}");
    let add = json!({"name": "todo_write", "arguments": {"ops": [{"op": "add", "content": "over http"}]}});
    let headers = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", "todo_write")];
    let (status, answer) = served.post(&headers, &stateless(2, "tools/call", add));
    assert_eq!(status, 200, "{answer}");
    assert!(answer.contains("[ ] T-1 over http"), "{answer}");
}

#[test]
fn foreign_pages_and_names_are_turned_away() {
    let folder = project();
    let served = Served::start(folder.path());
    for (headers, expected) in [
        ([("Origin", "http://localhost:3000")].as_slice(), 200),
        (&[("Origin", "https://evil.example")], 403),
        (&[("Origin", "null")], 403),
        (&[("Host", "evil.example")], 403),
        (&[("Host", "127.0.0.1:42381.evil.com")], 403),
        (&[("Host", "evil.com@127.0.0.1")], 403),
        (&[("Origin", "http://localhost:x")], 403),
        (&[("Origin", "http://localhost:3000.evil.com")], 403),
        (&[("Origin", "http://localhost:3000"), ("Origin", "https://evil.example")], 403),
        (&[("Host", "evil.example:80"), ("Origin", "http://127.0.0.1:80")], 403),
    ] {
        let (status, answer) = served.post(headers, &initialize());
        assert_eq!(status, expected, "{headers:?}: {answer}");
    }
}

#[test]
fn a_request_without_the_token_changes_nothing() {
    let folder = project();
    let served = Served::start(folder.path());
    let file = token_file(folder.path());
    assert!(served.said.contains(&format!("the token is in `{}`", file.display())), "{}", served.said);
    let add = json!({"name": "todo_write", "arguments": {"ops": [{"op": "add", "content": "planted"}]}});
    let call = stateless(2, "tools/call", add);
    let wrong = format!("Bearer {}", "0".repeat(64));
    for authorization in [None, Some(wrong.as_str()), Some("Bearer"), Some("Basic eDp5"), Some(&served.token)] {
        let mut headers =
            vec![("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", "todo_write")];
        headers.extend(authorization.map(|value| ("Authorization", value)));
        for body in [call.as_str(), &initialize(), "", "x"] {
            let (status, answer) = served.send(&headers, body);
            assert_eq!(status, 401, "{authorization:?}: {answer}");
            assert!(answer.to_lowercase().contains("www-authenticate: bearer"), "{answer}");
            let (_, body) = answer.split_once("\r\n\r\n").unwrap();
            let message = serde_json::from_str::<Value>(body).unwrap()["error"]["message"].to_string();
            assert!(message.contains(file.to_str().unwrap()), "{answer}");
            assert!(!answer.contains(&served.token), "{answer}");
        }
    }
    let list = punch(folder.path(), &["list"]).output().unwrap();
    assert_eq!(String::from_utf8(list.stdout).unwrap(), "No todos yet: `punch add 'First thing'` adds one.\n");
    assert_eq!(served.post(&[], &initialize()).0, 200);
    // The token appears neither in what is said nor in the list of processes.
    assert!(!served.said.contains(&served.token));
    assert!(!fs::read_to_string(folder.path().join("mcp.log")).unwrap().contains(&served.token));
    if let Ok(arguments) = fs::read_to_string(format!("/proc/{}/cmdline", served.child.id())) {
        assert!(!arguments.contains(&served.token));
    }
}

#[test]
fn the_token_belongs_to_the_user_and_stays() {
    let folder = project();
    let first = Served::start(folder.path());
    let second = Served::start(folder.path());
    assert_eq!(first.token, second.token);
    assert_eq!(fs::metadata(token_file(folder.path())).unwrap().permissions().mode() & 0o777, 0o600);
    // Another user, where the test may become one. The folders are open to everybody, so that only the file protects.
    for open in [".", ".local", ".local/state", ".local/state/punch"] {
        fs::set_permissions(folder.path().join(open), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut other = Command::new("setpriv");
    other.args(["--reuid", "65534", "--regid", "65534", "--clear-groups", "cat"]).arg(token_file(folder.path()));
    let read = other.output().unwrap();
    assert!(!read.status.success() || read.stdout.is_empty(), "{read:?}");
    drop((first, second));
    fs::set_permissions(token_file(folder.path()), fs::Permissions::from_mode(0o644)).unwrap();
    let refused = punch(folder.path(), &["mcp", "--http", "0"]).output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains("other users can open the token file") && said.contains("hint: delete it"), "{said}");
}

#[test]
fn a_body_that_is_too_large_is_refused() {
    let folder = project();
    let served = Served::start(folder.path());
    let (status, answer) = served.post(&[], &format!("{{\"a\":\"{}\"}}", "x".repeat(1_200_000)));
    assert!(status == 413 || answer.is_empty(), "{status} {answer}");
    assert_eq!(served.post(&[], &initialize()).0, 200);
}

#[test]
fn sessions_beyond_the_limit_are_refused_until_one_is_closed() {
    const LIMIT: usize = 256;
    let folder = project();
    let served = Served::start(folder.path());
    let open = |answer: &str| {
        let head = answer.lines().find(|line| line.to_lowercase().starts_with("mcp-session-id:"));
        head.and_then(|line| line.split(": ").nth(1)).map(|id| id.trim().to_owned())
    };
    let ids: Vec<String> = (0..LIMIT).filter_map(|_| open(&served.post(&[], &initialize()).1)).collect();
    assert_eq!(ids.len(), LIMIT);
    let (status, answer) = served.post(&[], &initialize());
    assert!(status == 503 && answer.contains("too many sessions are open"), "{status} {answer}");
    // Sessions that are open still get answers, and a closed one makes room.
    let (version, session) = (("MCP-Protocol-Version", "2025-11-25"), ("Mcp-Session-Id", ids[0].as_str()));
    let ping = json!({"jsonrpc": "2.0", "id": 2, "method": "ping"}).to_string();
    let (status, answer) = served.post(&[version, session], &ping);
    assert_eq!(status, 200, "{answer}");
    let token = format!("Bearer {}", served.token);
    let (status, answer) = served.request("DELETE", &[version, session, ("Authorization", &token)], "");
    assert!((200..300).contains(&status), "{status} {answer}");
    assert_eq!(served.post(&[], &initialize()).0, 200);
}

#[test]
fn it_ends_well_when_asked_to() {
    let folder = project();
    let mut served = Served::start(folder.path());
    served.post(&[], &initialize());
    let id = served.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert_eq!(served.child.wait().unwrap().code(), Some(0));
    assert!(std::fs::read_to_string(folder.path().join("mcp.log")).unwrap().contains("asked to end"));
}

#[test]
fn other_machines_cannot_be_served() {
    let folder = project();
    for address in ["0.0.0.0:0", "[::]:0", "somewhere"] {
        let output = punch(folder.path(), &["mcp", "--http", address]).output().unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{address}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("hint: use a port, 127.0.0.1:PORT or [::1]:PORT"), "{said}");
    }
}
