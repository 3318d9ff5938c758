//! A client that knows nothing but HTTP.

use std::io::{Read, Write};
use std::net::TcpStream;

use punch_testkit::scripted::{AgentScript, ScriptedServer, ServerOptions};
use serde_json::Value;

pub fn start(script: Value) -> ScriptedServer {
    let script = AgentScript::from_value(script).unwrap();
    ScriptedServer::start(script, &ServerOptions { tag: "t".to_owned(), ..ServerOptions::default() }).unwrap()
}

/// Sends bytes, reads to the end of the connection.
pub fn raw(server: &ScriptedServer, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(server.url().trim_start_matches("http://")).unwrap();
    stream.write_all(bytes).unwrap();
    let mut out = String::new();
    stream.read_to_string(&mut out).unwrap();
    out
}

/// The status and the body of an answer.
pub fn post(server: &ScriptedServer, path: &str, body: &Value) -> (u16, String) {
    let body = body.to_string();
    let head =
        format!("POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
    let answer = raw(server, (head + &body).as_bytes());
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

/// An answer that is one document.
pub fn whole(server: &ScriptedServer, path: &str, body: &Value) -> Value {
    let (status, body) = post(server, path, body);
    assert_eq!(status, 200, "{body}");
    serde_json::from_str(&body).unwrap()
}

/// An answer that is a stream: the names, where there are any, and the data of its events.
pub fn stream(server: &ScriptedServer, path: &str, body: &Value) -> Vec<(String, Value)> {
    let (status, body) = post(server, path, body);
    assert_eq!(status, 200, "{body}");
    let mut out = Vec::new();
    for event in body.split("\n\n").filter(|event| !event.is_empty()) {
        let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        let data = field("data: ");
        let data = if data == "[DONE]" { Value::from("DONE") } else { serde_json::from_str(data).unwrap() };
        out.push((field("event: ").to_owned(), data));
    }
    out
}
