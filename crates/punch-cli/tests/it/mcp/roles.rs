//! What a worker may do, whatever its calls say: every op, from every place that could name another session.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::client::{Client, project, punch};

/// Ops that are not reports at all.
fn changes_of_the_plan() -> Vec<Value> {
    vec![
        json!({"op": "add", "content": "more"}),
        json!({"op": "edit", "id": "T-1", "content": "other"}),
        json!({"op": "edit", "id": "T-2", "content": "other"}),
        json!({"op": "edit", "id": "T-1", "verifyCommand": "true"}),
        json!({"op": "move", "id": "T-1", "after": "T-2"}),
        json!({"op": "drop", "id": "T-1"}),
        json!({"op": "drop", "id": "T-2"}),
        json!({"op": "rm", "id": "T-1"}),
        json!({"op": "rm", "id": "T-2"}),
        json!({"op": "replace", "todos": [{"content": "all new"}]}),
    ]
}

/// Reports on todos that were not assigned.
fn reports_on_others() -> Vec<Value> {
    vec![
        json!({"op": "start", "id": "T-2"}),
        json!({"op": "done", "id": "T-2"}),
        json!({"op": "fail", "id": "T-2", "error": "no"}),
        json!({"op": "hold", "id": "T-2", "reason": "no"}),
        json!({"op": "note", "id": "T-2", "text": "no"}),
        json!({"op": "reopen", "id": "T-3"}),
    ]
}

/// What a call can say about who makes it: arguments and `_meta`.
fn claims_to_be() -> Vec<(Value, Value)> {
    vec![
        (json!({}), json!({})),
        (json!({"session": "zz"}), json!({})),
        (json!({"session": "zz", "subagent": "s"}), json!({})),
        (json!({"subagent": "s"}), json!({})),
        (json!({}), json!({"sessionId": "zz"})),
        (json!({}), json!({"threadId": "zz"})),
        (json!({"session": "boss"}), json!({"threadId": "boss", "sessionId": "boss"})),
    ]
}

struct World {
    folder: TempDir,
    assigned: String,
}

impl World {
    /// Three todos, the first assigned, the last done; `boss` is a session that owns the plan.
    fn new() -> Self {
        let folder = project();
        let mut boss = Client::ready(folder.path(), &[]);
        let add = |id: &str| json!({"op": "add", "id": id, "content": format!("do {id}")});
        let ops = json!([add("T-1"), add("T-2"), add("T-3"), {"op": "done", "id": "T-3"}]);
        boss.call("todo_write", json!({"ops": ops, "session": "boss"}));
        boss.end();
        let given = punch(folder.path(), &["assign", "T-1", "--to", "print", "--json"]).output().unwrap();
        let given: Value = serde_json::from_slice(&given.stdout).unwrap();
        Self { assigned: given["session"].as_str().unwrap().to_owned(), folder }
    }

    fn file(&self, session: &str) -> String {
        let file = json!({"session": session, "plan": "main", "owner": "worker-1", "role": "worker", "driver": "runner",
            "todos": ["T-1"], "fences": [0]});
        let path = self.folder.path().join(".git").join("session.json");
        fs::write(&path, file.to_string()).unwrap();
        path.display().to_string()
    }

    fn server(&self, arguments: &[&str]) -> Command {
        punch(self.folder.path(), &[&["mcp"], arguments].concat())
    }

    fn todos(&self) -> Value {
        let list = punch(self.folder.path(), &["list", "--all", "--json"]).output().unwrap();
        serde_json::from_slice::<Value>(&list.stdout).unwrap()["todos"].clone()
    }
}

fn call(client: &mut Client, op: &Value, (more, meta): &(Value, Value)) -> String {
    let mut arguments = json!({"ops": [op]});
    more.as_object().into_iter().flatten().for_each(|(key, value)| arguments[key] = value.clone());
    let params = json!({"name": "todo_write", "arguments": arguments, "_meta": meta});
    let answer = client.request("tools/call", params);
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

fn refuses_everything(world: &World, command: Command, what: &str) {
    refuses(world, command, what, |_| [changes_of_the_plan(), reports_on_others()].concat());
}

fn refuses(world: &World, command: Command, what: &str, ops: impl Fn(&(Value, Value)) -> Vec<Value>) {
    let before = world.todos();
    let mut client = Client::spawn(command);
    client.begin();
    for who in claims_to_be() {
        for op in ops(&who) {
            let answer = call(&mut client, &op, &who);
            assert!(answer.starts_with("Error not_allowed"), "{what}, {who:?}, {op}: {answer}");
        }
    }
    client.end();
    assert_eq!(world.todos(), before, "{what}");
}

#[test]
fn nothing_that_a_call_says_leads_out_of_a_worker_s_role() {
    let world = World::new();
    let known = world.file(&world.assigned);
    refuses_everything(&world, world.server(&["--session", &known]), "the file of a run");
    refuses_everything(&world, world.server(&["--session", &known, "--role", "owner"]), "the file and a wider flag");
    let mut command = world.server(&["--session", &known]);
    command.env("CLAUDE_CODE_SESSION_ID", "of-the-host");
    refuses_everything(&world, command, "the file, and a session of the host");
    let mut command = world.server(&[]);
    command.env("PUNCH_ASSIGNED", &world.assigned);
    refuses_everything(&world, command, "an assignment");
    let unknown = world.file("mcp-assigned-nobody");
    refuses_everything(&world, world.server(&["--session", &unknown]), "a file whose session is not stored");
    // The flag fixes no session: whoever names one reports on the todos of that one, and still changes no plan.
    refuses(&world, world.server(&["--role", "worker"]), "the flag", |(arguments, _)| {
        match arguments["session"] == "boss" {
            true => changes_of_the_plan(),
            false => [changes_of_the_plan(), reports_on_others()].concat(),
        }
    });
}

#[test]
fn a_worker_reports_on_its_own_todo_whatever_it_is_called() {
    for who in claims_to_be() {
        let world = World::new();
        let file = world.file(&world.assigned);
        let mut client = Client::spawn(world.server(&["--session", &file]));
        client.begin();
        for op in ["start", "done", "reopen"] {
            let answer = call(&mut client, &json!({"op": op, "id": "T-1"}), &who);
            assert!(!answer.starts_with("Error"), "{who:?} {op}: {answer}");
        }
        client.end();
    }
}

#[test]
fn a_server_without_a_role_offers_nothing() {
    let world = World::new();
    let mut client = Client::ready(world.folder.path(), &["--role", "none"]);
    let answer = client.request("tools/call", json!({"name": "todo_write", "arguments": {"session": "boss"}}));
    assert!(answer.get("error").is_some(), "{answer}");
}

#[test]
fn a_name_on_the_command_line_does_not_complete_past_the_runner() {
    let world = World::new();
    let owner = "run:1/1.1";
    let claimed = punch(world.folder.path(), &["claim", "T-1", "--owner", owner]).output().unwrap();
    assert!(claimed.status.success(), "{claimed:?}");
    let path = world.file(&world.assigned);
    let text = fs::read_to_string(&path).unwrap().replace("worker-1", owner);
    fs::write(&path, text).unwrap();
    for arguments in [&["done", "T-1"][..], &["done", "T-1", "--owner", "user"], &["done", "T-1", "--owner", "boss"]] {
        let mut command = punch(world.folder.path(), arguments);
        command.env("PUNCH_SESSION_FILE", &path).env("PUNCH_OWNER", owner);
        command.output().unwrap();
        assert_eq!(world.todos()[0]["status"], "in_progress", "{arguments:?}");
    }
    let mut command = punch(world.folder.path(), &["done", "T-2", "--owner", "user"]);
    command.env("PUNCH_SESSION_FILE", &path).env("PUNCH_OWNER", owner);
    command.output().unwrap();
    assert_ne!(world.todos()[1]["status"], "completed", "not assigned to it");
}
