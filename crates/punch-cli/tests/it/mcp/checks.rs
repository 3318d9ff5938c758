//! `done` where the plan wants proof: the server makes the check and says how long it takes.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use serde_json::json;

use super::client::{Client, project, punch};
use crate::world::eventually;

fn run(folder: &Path, arguments: &[&str]) {
    let output = punch(folder, arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A plan that wants proof, with `T-1`, whose command passes once the file `go` is there.
fn proving(command: &str) -> tempfile::TempDir {
    let folder = project();
    run(folder.path(), &["config", "set", "policy.verify", "command"]);
    run(folder.path(), &["add", "one", "--verify", command]);
    folder
}

fn allow(folder: &Path) {
    run(folder, &["verify", "--allow", "T-1"]);
}

fn done() -> serde_json::Value {
    json!({"ops": [{"op": "done", "id": "T-1"}]})
}

#[test]
fn done_makes_the_check_and_keeps_what_it_said() {
    let folder = proving("echo checked");
    let mut client = Client::ready(folder.path(), &[]);
    let text = client.call("todo_write", done());
    assert!(text.starts_with("Error needs_consent") && text.contains("punch verify --allow T-1"), "{text}");
    allow(folder.path());
    let text = client.call("todo_write", done());
    assert!(text.starts_with("[x] T-1\n"), "{text}");
    assert!(client.call("todo_read", json!({"view": "todo", "id": "T-1"})).contains("checked"));
}

#[test]
fn every_dialect_makes_the_check() {
    let folder = proving("touch ran");
    allow(folder.path());
    let mut client = Client::ready(folder.path(), &["--dialect", "cursor"]);
    let todos = json!([{"id": "T-1", "content": "one", "status": "completed", "dependencies": []}]);
    let text = client.call("todo_write", json!({"merge": true, "todos": todos}));
    assert!(folder.path().join("ran").exists(), "{text}");
    std::fs::remove_file(folder.path().join("ran")).unwrap();
    assert!(punch(folder.path(), &["reopen", "T-1"]).output().unwrap().status.success());
    let mut client = Client::ready(folder.path(), &["--dialect", "extended"]);
    let text = client.call("todo_write", json!({"mode": "patch", "todos": [{"id": "T-1", "status": "completed"}]}));
    assert!(folder.path().join("ran").exists(), "{text}");
}

#[test]
fn a_check_that_fails_refuses_done_with_the_end_of_its_output() {
    let folder = proving("echo broken; exit 3");
    allow(folder.path());
    let mut client = Client::ready(folder.path(), &[]);
    let text = client.call("todo_write", done());
    assert!(text.starts_with("Error verify_failed") && text.contains("\nbroken\n"), "{text}");
    assert!(text.contains("Nothing was changed."), "{text}");
}

#[test]
fn a_check_that_takes_too_long_names_the_command_to_run() {
    let folder = proving("[ ! -e go ] || sleep 1000");
    allow(folder.path());
    std::fs::write(folder.path().join("go"), "").unwrap();
    run(folder.path(), &["config", "set", "verify.timeout", "300ms"]);
    let mut client = Client::ready(folder.path(), &[]);
    let text = client.call("todo_write", done());
    assert!(text.starts_with("Error verify_timeout") && text.contains("punch verify T-1"), "{text}");
}

#[test]
fn others_are_answered_while_a_check_runs_and_progress_is_told() {
    let folder = proving("[ ! -e hold ] || while [ ! -e go ]; do sleep 0.02; done");
    allow(folder.path());
    std::fs::write(folder.path().join("hold"), "").unwrap();
    let mut client = Client::ready(folder.path(), &[]);
    let params = json!({"name": "todo_write", "arguments": done(), "_meta": {"progressToken": "p"}});
    client.line(&json!({"jsonrpc": "2.0", "id": 71, "method": "tools/call", "params": params}).to_string());
    let told = client.receive();
    assert_eq!((&told["params"]["progressToken"], &told["params"]["message"]), (&json!("p"), &json!("checking T-1")));
    let text = client.call("todo_write", json!({"ops": [{"op": "add", "content": "meanwhile"}]}));
    assert!(text.starts_with("[ ] T-2 meanwhile"), "{text}");
    std::fs::write(folder.path().join("go"), "").unwrap();
    let answer = std::iter::repeat_with(|| client.receive()).find(|message| message["id"] == 71).unwrap();
    assert!(answer["result"]["content"][0]["text"].as_str().unwrap().starts_with("[x] T-1\n"), "{answer}");
}

#[test]
fn a_call_that_is_given_up_ends_its_check() {
    let folder = proving("[ ! -e hold ] || { echo $$ > pid; exec sleep 1000; }");
    allow(folder.path());
    std::fs::write(folder.path().join("hold"), "").unwrap();
    let mut client = Client::ready(folder.path(), &[]);
    let params = json!({"name": "todo_write", "arguments": done()});
    client.line(&json!({"jsonrpc": "2.0", "id": 71, "method": "tools/call", "params": params}).to_string());
    let wait = |what: &dyn Fn() -> bool| {
        assert!((0..2_000).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(5));
            what()
        }));
    };
    let read = || std::fs::read_to_string(folder.path().join("pid")).unwrap_or_default();
    wait(&|| read().ends_with('\n'));
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 71}});
    client.line(&cancelled.to_string());
    let process = format!("/proc/{}", read().trim());
    wait(&|| !Path::new(&process).exists());
    assert!(client.call("todo_read", json!({})).contains("[ ] T-1 one"));
}

const DIALECTS: [&str; 5] = ["native", "cursor", "phases", "todowrite", "extended"];

/// `T-1`, `one`, started or called done in the words of each dialect.
fn call(dialect: &str, finish: bool) -> (&'static str, serde_json::Value) {
    let status = if finish { "completed" } else { "in_progress" };
    let op = if finish { "done" } else { "start" };
    let row = json!({"id": "T-1", "content": "one", "activeForm": "one", "status": status});
    match dialect {
        "native" => ("todo_write", json!({"ops": [{"op": op, "id": "T-1"}]})),
        "cursor" => ("todo_write", json!({"merge": true, "todos": [row]})),
        "phases" => ("todo_write", json!({"ops": [{"op": op, "task": "one"}]})),
        "todowrite" => ("TodoWrite", json!({"todos": [row]})),
        _ => ("todo_write", json!({"mode": "patch", "todos": [{"id": "T-1", "status": status}]})),
    }
}

#[test]
fn every_dialect_explains_a_failed_check_and_continuations_repeat_it() {
    for dialect in DIALECTS {
        let folder = proving("seq 1 400; echo broken; exit 3");
        allow(folder.path());
        let mut command = punch(folder.path(), &["mcp", "--dialect", dialect]);
        command.env("CLAUDE_CODE_SESSION_ID", "s");
        let mut client = Client::spawn(command);
        client.begin();
        let (tool, arguments) = call(dialect, false);
        let text = client.call(tool, arguments);
        assert!(!text.starts_with("Error"), "{dialect}: {text}");
        let (tool, arguments) = call(dialect, true);
        let text = client.call(tool, arguments);
        assert!(text.starts_with("Error verify_failed"), "{dialect}: {text}");
        let parts =
            ["`seq 1 400; echo broken; exit 3`", "exit code 3", "\n400\nbroken\n", "again", "Nothing was changed."];
        for part in parts {
            assert!(text.contains(part), "{dialect}: {part}: {text}");
        }
        assert!(text.len() < 1_000, "{dialect}: {text}");
        let mut hook = punch(folder.path(), &["hook", "--agent", "claude", "Stop"]);
        let mut child = hook.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(br#"{"session_id":"s"}"#).unwrap();
        let answer = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
        for part in ["T-1 is not done", "failed with exit code 3", "broken", "mark it completed again"] {
            assert!(answer.contains(part), "{dialect}: {part}: {answer}");
        }
    }
}

#[test]
fn a_todo_without_a_command_needs_evidence_or_is_marked_as_unchecked() {
    for dialect in DIALECTS {
        let (tool, arguments) = call(dialect, true);
        let folder = project();
        run(folder.path(), &["config", "set", "policy.verify", "command"]);
        run(folder.path(), &["add", "one"]);
        let mut client = Client::ready(folder.path(), &["--dialect", dialect]);
        let text = client.call(tool, arguments);
        if dialect == "native" {
            assert!(text.starts_with("Error needs_evidence") && text.contains("done again with evidence"), "{text}");
            let with = json!({"ops": [{"op": "done", "id": "T-1", "evidence": "12 tests pass"}]});
            let text = client.call("todo_write", with);
            assert!(text.starts_with("[x] T-1\n"), "{text}");
            continue;
        }
        let listed = punch(folder.path(), &["list", "--all"]).output().unwrap();
        let listed = String::from_utf8_lossy(&listed.stdout);
        assert!(listed.contains("(unchecked)"), "{dialect}: {listed} {text}");
    }
}

/// A report of Claude Code for the session `s`; what the model reads.
fn hook(folder: &Path, event: &str, report: &str) -> String {
    let mut hook = punch(folder, &["hook", "--agent", "claude", event]);
    let mut child = hook.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(report.as_bytes()).unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

fn said(folder: &Path, arguments: &[&str]) -> String {
    String::from_utf8(punch(folder, arguments).output().unwrap().stdout).unwrap()
}

#[test]
fn a_check_that_is_not_approved_waits_in_the_inbox_and_runs_once_it_is() {
    let folder = proving("test -e there");
    std::fs::write(folder.path().join("there"), "").unwrap();
    let mut command = punch(folder.path(), &["mcp"]);
    command.env("CLAUDE_CODE_SESSION_ID", "s");
    let mut client = Client::spawn(command);
    client.begin();
    client.call("todo_write", json!({"ops": [{"op": "start", "id": "T-1"}]}));
    let text = client.call("todo_write", done());
    assert!(text.starts_with("Error needs_consent"), "{text}");
    let inbox = said(folder.path(), &["inbox"]);
    assert!(inbox.contains("its check is not approved: test -e there"), "{inbox}");
    assert!(
        said(folder.path(), &["show", "T-1", "--json"]).contains("\"reported\""),
        "it waits for the user, not for the agent"
    );
    let answer = hook(folder.path(), "Stop", r#"{"session_id":"s"}"#);
    assert!(!answer.contains("\"block\""), "nothing is left for the agent: {answer}");
    allow(folder.path());
    hook(folder.path(), "UserPromptSubmit", r#"{"session_id":"s","prompt":"continue"}"#);
    eventually("the check runs", || said(folder.path(), &["list", "--all"]).contains("[x]"));
}

#[test]
fn you_are_notified_of_what_an_agent_puts_into_the_inbox_with_punchs_tools() {
    let folder = project();
    let outside = tempfile::tempdir().unwrap();
    let told = outside.path().join("told");
    run(folder.path(), &["config", "set", "--user", "notify.command", &format!("cat >> '{}'", told.display())]);
    run(folder.path(), &["add", "one"]);
    let mut client = Client::ready(folder.path(), &[]);
    client.call("todo_write", json!({"ops": [{"op": "start", "id": "T-1"}]}));
    let read = || std::fs::read_to_string(&told).unwrap_or_default();
    // What is there at the first look is not new.
    let memory = |store: &str| folder.path().join(store).join("notified/1.json");
    let looked = |store: &str| memory(store).metadata().is_ok_and(|file| file.len() > 0);
    eventually("the first look is over", || looked(".git/punch") || looked(".punch"));
    client.call("todo_write", json!({"ops": [{"op": "hold", "id": "T-1", "text": "red or blue?"}]}));
    eventually("the user is notified", || read().contains("hold T-1: one: red or blue?"));
    client.call("todo_write", json!({"ops": [{"op": "add", "content": "two"}]}));
    client.call("todo_write", json!({"ops": [{"op": "start", "id": "T-2"}]}));
    assert_eq!(read().matches("needs you").count(), 1, "each item once: {}", read());
}
