//! Agents at `/mcp`: who gets in, whose name their changes carry, what a server that only reads offers them, and their limits.

use punch_web::{NewToken, TokenFile, TokenRole};
use serde_json::{Value, json};

use crate::client::{Answer, Options, Server, clock};

fn made(server: &Server, name: &str, role: TokenRole) -> String {
    let new = NewToken { name: name.into(), role, expires_at: None };
    TokenFile::in_folder(server.folder.path()).add(&new, clock()).unwrap()
}

/// Sends one request of the protocol, in its form without a session.
fn ask(server: &Server, host: &str, token: &str, method: &str, name: &str, mut params: Value) -> Answer {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "tester", "version": "1"},
    });
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let bearer = format!("Bearer {token}");
    let mut headers = vec![
        ("Host", host),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", method),
        ("Authorization", &bearer),
    ];
    if !name.is_empty() {
        headers.push(("Mcp-Name", name));
    }
    server.raw("POST", "/mcp", &headers, &body)
}

fn call(server: &Server, token: &str, tool: &str, arguments: Value) -> Answer {
    ask(server, &server.host(), token, "tools/call", tool, json!({"name": tool, "arguments": arguments}))
}

fn add(server: &Server, token: &str, content: &str) -> Answer {
    call(server, token, "todo_write", json!({"ops": [{"op": "add", "content": content}]}))
}

#[test]
fn agents_come_in_with_their_own_tokens_and_sign_with_the_name_of_the_token() {
    let server = Server::start();
    let ci = made(&server, "ci", TokenRole::Agent);
    for (token, by) in [(ci.as_str(), "ci"), (server.file_token().as_str(), "tester")] {
        let answer = add(&server, token, by);
        assert!(answer.status == 200 && answer.body.contains(by), "{}{}", answer.head, answer.body);
        assert_eq!(server.get("/plans/main/history").json()["entries"][0]["by"], by);
    }
    let link = server.post_as("none", "/session", &json!({"token": server.link()})).json();
    for token in [
        made(&server, "phone", TokenRole::Owner),
        made(&server, "wall", TokenRole::Reader),
        server.token.clone(),
        link["token"].as_str().unwrap().to_owned(),
        "guess".to_owned(),
        String::new(),
    ] {
        assert_eq!(add(&server, &token, "planted").status, 401);
    }
    TokenFile::in_folder(server.folder.path()).revoke("ci").unwrap();
    assert_eq!(add(&server, &ci, "planted").status, 401, "revoked");
    assert_eq!(server.get("/plans/main/board").json()["rows"].as_array().unwrap().len(), 2);
}

#[test]
fn a_read_only_server_offers_agents_nothing_that_writes() {
    let server = Server::with(Options { read_only: true, ..Options::default() });
    let engine = crate::client::engine(&server.database(), true).unwrap();
    let plan = engine.choose_or_create(&punch_engine::PlanChoice::default()).unwrap();
    let token = made(&server, "ci", TokenRole::Agent);
    for token in [&token, &server.file_token()] {
        let listed = ask(&server, &server.host(), token, "tools/list", "", json!({}));
        assert!(listed.body.contains("todo_read") && !listed.body.contains("todo_write"), "{}", listed.body);
        let refused = add(&server, token, "planted");
        assert!(refused.body.contains("no tool `todo_write`"), "{}", refused.body);
        let read = call(&server, token, "todo_read", json!({"view": "plan"}));
        assert!(read.status == 200 && !read.body.contains("planted"), "{}", read.body);
    }
    assert_eq!(engine.whole(plan).unwrap().all().count(), 0);
}

#[test]
fn agents_behind_a_proxy_cannot_guess_tokens_and_valid_ones_still_count() {
    let host = "board.example.com";
    let server = Server::with(Options { proxy: Some(host.into()), ..Options::default() });
    let list = |token: &str| ask(&server, host, token, "tools/list", "", json!({})).status;
    let guessed: Vec<u16> = (0..12).map(|n| list(&format!("punch_{n}"))).collect();
    assert_eq!((&guessed[..10], &guessed[10..]), (&[401; 10][..], &[429; 2][..]));
    assert_eq!(list(&made(&server, "ci", TokenRole::Agent)), 200, "valid tokens get in");
    assert_eq!(list(&server.file_token()), 200);
}

#[test]
fn a_failed_write_of_an_agent_is_reported_until_the_next_change() {
    let server = Server::start();
    let token = made(&server, "ci", TokenRole::Agent);
    let failed = || server.get("/plans/main/board").json()["failedWrite"].clone();
    add(&server, &token, "First");
    assert_eq!(failed(), Value::Null);
    let wrong = json!({"ops": [{"op": "done", "id": "T-99"}]});
    call(&server, &token, "todo_write", wrong.clone());
    assert!(failed().as_str().unwrap().contains("could not change the plan"), "{}", failed());
    server.ops(json!([{"op": "start", "id": "T-1"}]));
    assert_eq!(failed(), Value::Null);
    call(&server, &token, "todo_write", wrong);
    assert!(failed().is_string(), "a later failure counts again");
}
