//! Golden beginnings of a conversation in each revision of the protocol.

use serde_json::{Value, json};

use super::client::{Client, project};

/// Everything that was said, one message a line.
fn talk(lines: &[Value]) -> String {
    let folder = project();
    let mut client = Client::start(folder.path(), &["--dialect", "todowrite"]);
    let mut out = String::new();
    for line in lines {
        client.line(&line.to_string());
        out.push_str(&format!("> {line}\n"));
        if line.get("id").is_some() {
            out.push_str(&format!("< {}\n", client.receive()));
        }
    }
    assert_eq!(client.end(), (Vec::new(), Some(0)));
    out
}

fn initialize(version: &str) -> Vec<Value> {
    let about = json!({"name": "tester", "version": "1"});
    let hello = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": about});
    vec![
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}),
        json!({"jsonrpc": "2.0", "id": 3, "method": "resources/list"}),
        json!({"jsonrpc": "2.0", "id": 4, "method": "resources/templates/list"}),
        json!({"jsonrpc": "2.0", "id": 5, "method": "prompts/list"}),
        json!({"jsonrpc": "2.0", "id": "six", "method": "no/such"}),
    ]
}

#[test]
fn revision_2025_06_18() {
    insta::assert_snapshot!(talk(&initialize("2025-06-18")));
}

#[test]
fn revision_2025_11_25() {
    insta::assert_snapshot!(talk(&initialize("2025-11-25")));
}

#[test]
fn revisions_that_nobody_knows_are_answered_with_one_that_we_do() {
    for asked in ["2024-11-05", "2099-01-01", "2026-07-28"] {
        let said = talk(&initialize(asked)[..1]);
        assert!(said.contains(r#""protocolVersion":"2025-11-25""#), "{said}");
    }
}

#[test]
fn a_second_handshake_does_not_change_the_protocol() {
    let folder = project();
    for asked in ["2024-11-05", "2025-06-18", "2026-07-28", "2099-01-01", "nonsense", ""] {
        let mut client = Client::ready(folder.path(), &[]);
        let hello = json!({"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let agreed = client.request("initialize", hello)["result"]["protocolVersion"].clone();
        assert!(agreed == "2025-06-18" || agreed == "2025-11-25", "{asked}: {agreed}");
        assert_eq!(client.request("ping", json!({}))["result"], json!({}), "{asked}");
        assert_eq!(client.end(), (Vec::new(), Some(0)));
    }
}

#[test]
fn revision_2026_07_28_without_a_handshake() {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "tester", "version": "1"},
    });
    let request = |id: u32, method: &str, mut params: Value| {
        params["_meta"] = meta.clone();
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    };
    let todos = json!([{"content": "Try it", "status": "in_progress", "activeForm": "Trying it"}]);
    insta::assert_snapshot!(talk(&[
        request(1, "server/discover", json!({})),
        request(2, "tools/list", json!({})),
        request(3, "tools/call", json!({"name": "TodoWrite", "arguments": {"todos": todos, "session": "s-1"}})),
        request(4, "resources/read", json!({"uri": "punch://plan"})),
        request(5, "resources/read", json!({"uri": "punch://nothing"})),
        request(6, "ping", json!({})),
        json!({"jsonrpc": "2.0", "id": 7, "method": "tools/list"}),
    ]));
}
