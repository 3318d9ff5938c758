//! Checks that a host reports become evidence of todos.

use punchlist::{HostEvent, Observed, Op, Options, Proof, Session, Status, ToolKind, ToolUse};
use serde_json::json;

/// A session whose agent works on `T-1`, in a plan that asks for evidence.
fn working() -> Session {
    let session = Session::in_memory(Options::new("t").setting("policy.verify", "evidence")).unwrap();
    session.turn_started().unwrap();
    let ops = json!([{"op": "add", "content": "Port it", "files": ["src/**"]}, {"op": "start", "id": "T-1"}]);
    assert!(!session.call("todo_write", &json!({"ops": ops})).unwrap().is_error);
    session
}

fn done(session: &Session) -> punchlist::Answer {
    session.call("todo_write", &json!({"ops": [{"op": "done", "id": "T-1"}]})).unwrap()
}

fn edited(path: &str) -> ToolUse {
    ToolUse::new("edit", ToolKind::Edit).changing([path])
}

fn tested(exit_code: i32) -> ToolUse {
    ToolUse::new("shell", ToolKind::Command).running("cargo test", Some(exit_code))
}

#[test]
fn a_failed_check_keeps_a_todo_open_until_one_passes() {
    let session = working();
    session.tool_ran(edited("src/a.rs")).unwrap();
    let failed: [fn(&Session); 2] = [
        |session| drop(session.tool_ran(tested(101)).unwrap()),
        |session| drop(session.tool_failed(tested(101), "1 test failed").unwrap()),
    ];
    for fails in failed {
        session.tool_ran(tested(0)).unwrap();
        fails(&session);
        let refused = done(&session);
        assert!(
            refused.is_error && refused.text.contains("`cargo test` failed with exit code 101"),
            "{}",
            refused.text
        );
        assert_eq!(session.todos().unwrap()[0].status.stored(), Status::InProgress);
    }

    session.tool_ran(tested(0)).unwrap();
    assert!(!done(&session).is_error);
    let list = session.list().unwrap();
    assert_eq!(list.proof("T-1"), Some(Proof::Checked));
    let seen: Vec<&Observed> = list.todos[0].evidence.iter().filter_map(|piece| piece.observed.as_ref()).collect();
    assert_eq!(seen.iter().map(|seen| (seen.changed, seen.changed_after)).collect::<Vec<_>>(), [(1, false)]);
    assert_eq!(serde_json::to_value(&list).unwrap()["proofs"], json!({"T-1": "checked"}));
}

#[test]
fn an_edit_after_the_check_makes_the_proof_outdated() {
    let session = working();
    for tool in [edited("src/a.rs"), tested(0), edited("src/b.rs")] {
        session.report(HostEvent::ToolEnded { tool }).unwrap();
    }
    // The agent is asked once for another check.
    assert!(done(&session).is_error);
    assert!(!done(&session).is_error);
    assert_eq!(session.list().unwrap().proof("T-1"), Some(Proof::Outdated));
}

#[test]
fn the_model_reads_once_that_it_edits_files_its_todo_does_not_name() {
    let session = working();
    let note = session.tool_ran(edited("docs/a.md")).unwrap().unwrap();
    assert!(note.contains("docs/a.md") && note.contains("src/**"), "{note}");
    assert_eq!(session.tool_ran(edited("docs/b.md")).unwrap(), None);
}

#[test]
fn nothing_is_proved_where_nothing_was_seen_or_asked() {
    let session = Session::in_memory(Options::new("t")).unwrap();
    session.apply(&[Op::add("A"), Op::add("B"), Op::done("T-1")]).unwrap();
    let list = session.list().unwrap();
    assert_eq!((list.proof("T-1"), list.proof("T-2"), list.proof("T-9")), (None, None, None));
}
