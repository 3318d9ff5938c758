//! The server over HTTP: for programs on this machine, and for nobody else.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::client::{project, punch};

struct Served {
    child: Child,
    address: String,
}

impl Served {
    fn start(folder: &std::path::Path) -> Self {
        let mut command = punch(folder, &["mcp", "--http", "0", "--log", "mcp.log"]);
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let address =
            line.trim().strip_prefix("listening on http://").unwrap().strip_suffix("/mcp").unwrap().to_owned();
        Self { child, address }
    }

    /// Status and body of one POST.
    fn post(&self, headers: &[(&str, &str)], body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let mut head = format!("POST /mcp HTTP/1.1\r\nContent-Length: {}\r\nConnection: close\r\n", body.len());
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
        (&[("Host", "evil.example:80"), ("Origin", "http://127.0.0.1:80")], 403),
    ] {
        let (status, answer) = served.post(headers, &initialize());
        assert_eq!(status, expected, "{headers:?}: {answer}");
    }
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
        assert!(said.contains("hint: give a port, 127.0.0.1:PORT or [::1]:PORT"), "{said}");
    }
}
