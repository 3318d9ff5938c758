//! The example agent against a scripted model.

use punch_testkit::scripted::{AgentScript, ScriptedServer, ServerOptions};
use punchlist::{Options, Reason, Session, Status};
use serde_json::{Value, json};

use crate::agent::{Agent, Problem};

fn play(
    script: Value,
    session: &Session,
    folder: &std::path::Path,
) -> (Result<Reason, Problem>, String, ScriptedServer) {
    let script = AgentScript::from_value(script).unwrap();
    let server =
        ScriptedServer::start(script, &ServerOptions { tag: "t".to_owned(), ..ServerOptions::default() }).unwrap();
    let (url, mut said) = (format!("{}/v1", server.url()), String::new());
    let mut say = |text: &str| said.push_str(text);
    let reason = Agent { session, url: &url, model: "scripted", folder, say: &mut say }.work("Build a greeting");
    (reason, said, server)
}

fn write(ops: Value) -> Value {
    json!({"name": "todo_write", "input": {"ops": ops}})
}

#[test]
fn the_example_agent_is_kept_going_until_its_plan_is_complete() {
    let folder = tempfile::tempdir().unwrap();
    let session = Session::in_memory(Options::new("example")).unwrap();
    let file = json!({"name": "edit", "input": {"path": "greet.txt", "new": "hello\n"}});
    let script = json!({"steps": [
        {"text": "Planning.", "offered": ["todo_write", "todo_read", "shell", "edit"],
         "expect": ["A todo list for this conversation", "Build a greeting"],
         "tools": [write(json!([
            {"op": "add", "id": "write", "content": "Write the greeting"},
            {"op": "add", "id": "polish", "content": "Make it friendly", "dependsOn": ["write"]},
            {"op": "add", "id": "check", "content": "Check the file", "dependsOn": ["polish"]},
         ]))]},
        {"news": ["0/3 done"], "tools": [write(json!([{"op": "start", "id": "write"}])), file]},
        {"tools": [write(json!([{"op": "done", "id": "write"}]))]},
        {"//": "stops too early", "text": "The greeting is written."},
        {"news": ["Continuation 1/3 by punch: 2 of 3 todos are open", "Make it friendly"],
         "tools": [write(json!([{"op": "start", "id": "polish"}])),
                   {"name": "edit", "input": {"path": "greet.txt", "old": "hello", "new": "hello, friend"}},
                   {"name": "shell", "input": {"command": "cat greet.txt"}}]},
        {"news": ["hello, friend"], "tools": [write(json!([{"op": "done", "id": "polish"}]))]},
        {"text": "Done, I think."},
        {"news": ["Continuation 1/3", "Check the file"],
         "tools": [write(json!([{"op": "done", "id": "check", "evidence": "cat shows it"}]))]},
        {"news": ["3/3 done"], "text": "All done."},
    ]});
    let (reason, said, server) = play(script, &session, folder.path());
    assert_eq!(server.report().verdict(), Ok(()));
    assert_eq!(reason.unwrap(), Reason::Finished);
    assert_eq!(std::fs::read_to_string(folder.path().join("greet.txt")).unwrap(), "hello, friend\n");
    let todos = session.todos().unwrap();
    assert_eq!(todos.len(), 3);
    assert!(todos.iter().all(|todo| todo.status.stored() == Status::Completed), "{todos:?}");
    assert_eq!(said, "Planning.The greeting is written.Done, I think.All done.");
}

#[test]
fn the_example_agent_survives_errors_bad_calls_and_paths_outside() {
    let folder = tempfile::tempdir().unwrap();
    let session = Session::in_memory(Options::new("example")).unwrap();
    let script = json!({"steps": [
        {"error": 500},
        {"tools": [
            {"name": "edit", "input": {"path": "../outside.txt", "new": "x"}},
            {"name": "edit", "input": {"path": "there-is-none", "old": "a", "new": "b"}},
            {"name": "shell", "input": {"command": "exit 3"}},
            {"name": "nothing", "input": {}},
            write(json!([{"op": "done", "id": "nobody"}])),
        ]},
        {"news": ["only paths below", "there-is-none", "exit status: 3", "there is no tool `nothing`", "unknown_todo"],
         "text": "I give up."},
    ]});
    let (reason, _, server) = play(script, &session, folder.path());
    assert_eq!(server.report().verdict(), Ok(()));
    // It wrote nothing into the plan, so nobody keeps it going.
    assert_eq!(reason.unwrap(), Reason::Unbound);
}

#[test]
fn a_long_run_of_the_example_stays_within_its_history() {
    let folder = tempfile::tempdir().unwrap();
    let session = Session::in_memory(Options::new("example")).unwrap();
    let mut steps = vec![json!({"tools": [write(json!([{"op": "add", "id": "long", "content": "Never ends"}]))]})];
    steps.extend((0..60).map(|n| {
        json!({"tools": [{"name": "shell", "input": {"command": format!("echo turn {n}")}}], "expect": ["Build a greeting"]})
    }));
    steps.push(json!({
        "expect": ["Earlier messages of this conversation were left out by punch.", "[ ] long Never ends", "turn 59"],
        "reject": ["turn 10"], "tools": [write(json!([{"op": "done", "id": "long"}]))],
    }));
    steps.push(json!({"text": "Done."}));
    let (reason, _, server) = play(json!({"steps": steps}), &session, folder.path());
    assert_eq!(server.report().verdict(), Ok(()));
    assert_eq!(reason.unwrap(), Reason::Finished);
}

#[test]
fn the_example_reads_answers_that_come_in_pieces() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let events = "data: {\"choices\":[{\"delta\":{\"content\":\"zwölf\"}}]}\n\n\
                  data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let answering = std::thread::spawn(move || {
        use std::io::{BufRead, BufReader, Read, Write};
        let (mut stream, _) = listener.accept().unwrap();
        let mut from = BufReader::new(stream.try_clone().unwrap());
        let (mut line, mut length) = (String::new(), 0_usize);
        while from.read_line(&mut line).unwrap() > 2 {
            length = line.strip_prefix("Content-Length: ").map_or(length, |n| n.trim().parse().unwrap());
            line.clear();
        }
        from.read_exact(&mut vec![0; length]).unwrap();
        let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n";
        stream.write_all(head.as_bytes()).unwrap();
        // Pieces of any size, through characters and lines.
        for piece in events.as_bytes().chunks(7) {
            stream.write_all(format!("{:x};x=y\r\n", piece.len()).as_bytes()).unwrap();
            stream.write_all(piece).unwrap();
            stream.write_all(b"\r\n").unwrap();
        }
        stream.write_all(b"0\r\n\r\n").unwrap();
    });
    let folder = tempfile::tempdir().unwrap();
    let session = Session::in_memory(Options::new("example")).unwrap();
    let mut said = String::new();
    let mut say = |text: &str| said.push_str(text);
    let reason = Agent { session: &session, url: &url, model: "m", folder: folder.path(), say: &mut say }.work("Hi");
    answering.join().unwrap();
    assert_eq!(reason.unwrap(), Reason::Unbound);
    assert_eq!(said, "zwölf");
}
