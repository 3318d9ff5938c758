//! Whose call it is, and calls that come twice.

use std::fs;

use serde_json::{Value, json};

use super::client::{Client, project, punch, revision};

fn owner(client: &mut Client, id: &str) -> Value {
    let answer = client.request("resources/read", json!({"uri": format!("punch://todo/{id}")}));
    let text = answer["result"]["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
    serde_json::from_str::<Value>(text).unwrap()["owner"].clone()
}

fn start(client: &mut Client, id: &str, more: Value, meta: Value) -> String {
    let mut arguments = json!({"ops": [{"op": "add", "id": id, "content": id}, {"op": "start", "id": id}]});
    more.as_object().into_iter().flatten().for_each(|(key, value)| arguments[key] = value.clone());
    let params = json!({"name": "todo_write", "arguments": arguments, "_meta": meta});
    let answer = client.request("tools/call", params);
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

#[test]
fn the_caller_is_who_the_call_the_host_or_the_file_says() {
    let folder = project();
    let file = folder.path().join("session");
    let mut command = punch(folder.path(), &["mcp", "--session-file", "session"]);
    command.env("CLAUDE_CODE_SESSION_ID", "from-env");
    let mut client = Client::spawn(command);
    client.begin();
    start(&mut client, "a", json!({}), json!({}));
    assert_eq!(owner(&mut client, "a"), "from-env");
    start(&mut client, "b", json!({}), json!({"threadId": "thread", "sessionId": "thread"}));
    assert_eq!(owner(&mut client, "b"), "thread");
    start(&mut client, "c", json!({"session": "given"}), json!({"threadId": "thread"}));
    assert_eq!(owner(&mut client, "c"), "given");
    fs::write(file, "from-file\n").unwrap();
    start(&mut client, "d", json!({}), json!({}));
    assert_eq!(owner(&mut client, "d"), "from-file");
}

#[test]
fn without_a_name_every_server_is_somebody_of_its_own() {
    let folder = project();
    let mut owners = Vec::new();
    for id in ["a", "b"] {
        let mut client = Client::ready(folder.path(), &[]);
        start(&mut client, id, json!({}), json!({}));
        owners.push(owner(&mut client, id).as_str().unwrap().to_owned());
    }
    assert!(owners.iter().all(|owner| owner.starts_with("mcp-")), "{owners:?}");
    assert_ne!(owners[0], owners[1]);
}

#[test]
fn a_call_that_comes_twice_happens_once() {
    let folder = project();
    let meta = json!({"claudecode/toolUseId": "toolu_1"});
    let mut client = Client::ready(folder.path(), &[]);
    let add = |content: &str| json!({"ops": [{"op": "add", "content": content}]});
    let mut call = |content: &str, meta: &Value| {
        let params = json!({"name": "todo_write", "arguments": add(content), "_meta": meta});
        client.request("tools/call", params)["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    };
    let first = call("once", &meta);
    assert_eq!(call("once", &meta), first);
    // The same number for another call is another call.
    assert_eq!(revision(&call("twice", &meta)), 2);
    assert_eq!(revision(&call("once", &json!({"callId": "c1"}))), 3);
    assert_eq!(revision(&call("once", &json!({"progressToken": 7}))), 4);
    assert_eq!(revision(&call("once", &json!({"progressToken": 7}))), 5);
}

#[test]
fn a_call_may_name_its_plan() {
    let folder = project();
    let mut client = Client::ready(folder.path(), &[]);
    client.call("todo_write", json!({"ops": [{"op": "add", "content": "x"}]}));
    let answer = client.call("todo_read", json!({"plan": "elsewhere"}));
    assert!(answer.starts_with("Error unknown_plan"), "{answer}");
    assert!(client.call("todo_read", json!({"plan": "main"})).contains("x"));
}
