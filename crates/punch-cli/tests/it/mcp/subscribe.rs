//! Subscribers hear of changes, also of those made by others.

use serde_json::{Value, json};

use super::client::{Client, project};

fn add(client: &mut Client, id: &str) {
    client.call("todo_write", json!({"ops": [{"op": "add", "id": id, "content": id}]}));
}

fn update(uri: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}})
}

#[test]
fn a_change_of_another_process_is_told_until_the_subscription_ends() {
    let folder = project();
    let (mut watcher, mut writer) = (Client::ready(folder.path(), &[]), Client::ready(folder.path(), &[]));
    add(&mut writer, "a");
    watcher.request("resources/subscribe", json!({"uri": "punch://todo/a"}));
    watcher.request("resources/subscribe", json!({"uri": "punch://plan"}));
    // The service has seen the store once both follow it.
    watcher.call("todo_read", json!({}));
    add(&mut writer, "b");
    assert_eq!(watcher.receive(), update("punch://plan"));
    watcher.request("resources/unsubscribe", json!({"uri": "punch://plan"}));
    writer.call("todo_write", json!({"ops": [{"op": "start", "id": "a"}]}));
    assert_eq!(watcher.receive(), update("punch://todo/a"));
    let refused = watcher.request("resources/subscribe", json!({"uri": "file:///etc/passwd"}));
    assert_eq!(refused["error"]["code"], -32002);
}

#[test]
fn listening_in_the_stateless_revision() {
    let folder = project();
    let mut writer = Client::ready(folder.path(), &[]);
    add(&mut writer, "a");
    let mut watcher = Client::start(folder.path(), &[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "tester", "version": "1"},
    });
    let wanted = json!({"resourceSubscriptions": ["punch://plan", "punch://nothing"], "toolsListChanged": true});
    let params = json!({"notifications": wanted, "_meta": meta});
    watcher.line(&json!({"jsonrpc": "2.0", "id": "l", "method": "subscriptions/listen", "params": params}).to_string());
    let acknowledged = watcher.receive();
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(acknowledged["params"]["notifications"], json!({"resourceSubscriptions": ["punch://plan"]}));
    // Whoever subscribes before the store is seen hears of the next change at the latest.
    let params = json!({"uri": "punch://plan", "_meta": meta});
    watcher.line(&json!({"jsonrpc": "2.0", "id": "r", "method": "resources/read", "params": params}).to_string());
    assert_eq!(watcher.receive()["id"], "r");
    add(&mut writer, "b");
    let told = watcher.receive();
    assert_eq!(
        (&told["method"], &told["params"]["uri"]),
        (&json!("notifications/resources/updated"), &json!("punch://plan"))
    );
}
