//! Calls that have to wait: they say so, and can be given up.

use std::fs::OpenOptions;

use serde_json::{Value, json};

use super::client::{Client, project};

fn call(id: u32, content: &str, token: Option<&str>) -> String {
    let arguments = json!({"ops": [{"op": "add", "content": content}]});
    let mut params = json!({"name": "todo_write", "arguments": arguments});
    if let Some(token) = token {
        params["_meta"] = json!({"progressToken": token});
    }
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
}

#[test]
fn a_call_that_waits_tells_so_and_one_cancelled_before_its_turn_does_not_happen() {
    let folder = project();
    let mut client = Client::ready(folder.path(), &[]);
    client.call("todo_write", json!({"ops": [{"op": "add", "content": "first"}]}));
    // Someone else writes for a long time.
    let turn = OpenOptions::new().read(true).write(true).open(folder.path().join(".git/punch/store.lock")).unwrap();
    turn.lock().unwrap();
    client.line(&call(71, "patient", Some("p")));
    client.line(&call(72, "given up", None));
    let told = client.receive();
    assert_eq!((&told["method"], &told["params"]["progressToken"]), (&json!("notifications/progress"), &json!("p")));
    assert_eq!(told["params"]["message"], "waiting for the store");
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 72}});
    client.line(&cancelled.to_string());
    // The wire is read while the store waits.
    client.line(&json!({"jsonrpc": "2.0", "id": 73, "method": "ping"}).to_string());
    let mut others: Vec<Value> = Vec::new();
    loop {
        let message = client.receive();
        if message["id"] == 73 {
            break;
        }
        others.push(message);
    }
    assert!(others.iter().all(|message| message["id"] != 71), "{others:?}");
    turn.unlock().unwrap();
    let plan = client.call("todo_read", json!({}));
    assert!(plan.contains("patient") && !plan.contains("given up"), "{plan}");
}

#[test]
fn a_worker_reports_on_what_it_claimed_and_on_nothing_else() {
    let folder = project();
    let mut owner = Client::ready(folder.path(), &[]);
    owner.call("todo_write", json!({"ops": [{"op": "add", "content": "one"}, {"op": "add", "content": "two"}]}));
    let mut worker = Client::ready(folder.path(), &["--role", "worker", "--tools", "claim"]);
    let claimed = worker.call("todo_claim", json!({}));
    // The owner was sent to T-1.
    assert!(claimed.starts_with("[>] T-2 two"), "{claimed}");
    for (ops, what) in [
        (json!([{"op": "add", "content": "three"}]), "add todos"),
        (json!([{"op": "done", "id": "T-1"}]), "report on todos that were not assigned to it"),
        (json!([{"op": "rm", "id": "T-2"}]), "remove todos"),
    ] {
        let text = worker.call("todo_write", json!({"ops": ops}));
        assert!(text.starts_with("Error not_allowed") && text.contains(what), "{text}");
    }
    let text = worker
        .call("todo_write", json!({"ops": [{"op": "note", "id": "T-2", "text": "half"}, {"op": "done", "id": "T-2"}]}));
    assert!(text.starts_with("[x] T-2\n"), "{text}");
    let mut lists = Client::ready(folder.path(), &["--role", "worker", "--dialect", "todowrite"]);
    let text = lists.call("TodoWrite", json!({"todos": []}));
    assert!(text.starts_with("Error not_allowed"), "{text}");
}

#[test]
fn a_role_without_tools_is_offered_none() {
    let folder = project();
    for arguments in [&["--role", "none"][..], &["--role", "none", "--dialect", "cursor", "--tools", "claim"]] {
        let mut client = Client::ready(folder.path(), arguments);
        assert_eq!(client.request("tools/list", json!({}))["result"]["tools"], json!([]));
        let refused = client.request("tools/call", json!({"name": "todo_write", "arguments": {}}));
        assert_eq!(refused["error"]["code"], -32602);
    }
    std::fs::create_dir_all(folder.path().join(".config/punch")).unwrap();
    std::fs::write(folder.path().join(".config/punch/config.toml"), "[tools]\nenabled = false\n").unwrap();
    let mut client = Client::ready(folder.path(), &[]);
    assert_eq!(client.request("tools/list", json!({}))["result"]["tools"], json!([]));
}

#[test]
fn an_answer_that_was_read_before_is_never_an_old_one() {
    let folder = project();
    let (mut reader, mut writer) = (Client::ready(folder.path(), &[]), Client::ready(folder.path(), &[]));
    for n in 1..=10 {
        writer.call("todo_write", json!({"ops": [{"op": "add", "content": format!("todo {n}")}]}));
        for _ in 0..2 {
            let plan = reader.call("todo_read", json!({}));
            assert!(
                plan.contains(&format!("T-{n} todo {n}")) && plan.ends_with(&format!("rev {}", 2 * n - 1)),
                "{plan}"
            );
        }
        // Its own writes count, too.
        reader.call("todo_write", json!({"ops": [{"op": "note", "id": "T-1", "text": format!("seen {n}")}]}));
        assert!(reader.call("todo_read", json!({})).ends_with(&format!("rev {}", 2 * n)));
    }
}
