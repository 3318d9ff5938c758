//! Clients that do not behave.

use std::net::TcpStream;

use serde_json::json;

use super::client::{post, raw, start};

#[test]
fn chunked_bodies_are_put_together() {
    let server = start(json!({"steps": [{"text": "yes", "expect": ["hello"]}]}));
    let body = r#"{"messages":[{"role":"user","content":"hello"}],"tools":[{"name":"x"}]}"#;
    let (a, b) = body.split_at(30);
    let chunks = format!("{:x}\r\n{a}\r\n{:x};note=1\r\n{b}\r\n0\r\n\r\n", a.len(), b.len());
    let head = "POST /v1/messages HTTP/1.1\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n";
    assert!(raw(&server, format!("{head}{chunks}").as_bytes()).contains("yes"));
    assert_eq!(server.report().verdict(), Ok(()));
}

#[test]
fn one_connection_takes_several_requests() {
    let server = start(json!({}));
    let one = "GET /v1/models HTTP/1.1\r\n\r\n";
    let answer = raw(&server, format!("{one}{one}GET /nowhere HTTP/1.1\r\nconnection: close\r\n\r\n").as_bytes());
    assert_eq!(answer.matches("HTTP/1.1 200 OK").count(), 2);
    assert_eq!(answer.matches("HTTP/1.1 404 Not Found").count(), 1);
}

#[test]
fn nonsense_ends_the_connection_and_not_the_server() {
    let server = start(json!({"after": {"text": "still here"}}));
    let long = "a".repeat(70_000);
    for bytes in [
        "".to_owned(),
        "\r\n\r\n".to_owned(),
        format!("GET /{long} HTTP/1.1\r\n\r\n"),
        "POST /v1/messages HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n".to_owned(),
        "POST /v1/messages HTTP/1.1\r\ncontent-length: -1\r\n\r\n".to_owned(),
        "POST /v1/messages HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n".to_owned(),
        "POST /v1/messages HTTP/1.1\r\nno colon\r\n\r\n".to_owned(),
    ] {
        let mut stream = TcpStream::connect(server.url().trim_start_matches("http://")).unwrap();
        // The server may close before everything is written.
        let _ = std::io::Write::write_all(&mut stream, bytes.as_bytes());
    }
    for path in ["/v1/messages", "/v1/responses", "/v1/chat/completions", "/v1beta/models/m:generateContent"] {
        for body in [json!(null), json!([]), json!({"messages": 1, "input": {}, "contents": "", "tools": [1, {}]})] {
            assert_eq!(post(&server, path, &body).0, 200, "{path} {body}");
        }
    }
}
