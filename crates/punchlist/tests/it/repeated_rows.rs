//! Whole lists that repeat what the host has changed since: the answer says what was kept, by whom and why.

use punchlist::{Dialect, NewTodo, Op, Options, Session, Status};
use serde_json::{Value, json};

fn rows(deploy: &str) -> Value {
    let row = |content: &str, status: &str| json!({"content": content, "status": status, "activeForm": content});
    json!({"todos": [row("Deploy", deploy), row("Announce", "pending")]})
}

/// A session of the TodoWrite tool that works on `Deploy`.
fn deploying() -> Session {
    let session = Session::in_memory(Options::new("host").dialect(Dialect::Todowrite)).unwrap();
    session.call("TodoWrite", &rows("in_progress")).unwrap();
    session
}

fn sent(session: &Session, deploy: &str) -> String {
    let answer = session.call("TodoWrite", &rows(deploy)).unwrap();
    assert!(!answer.is_error, "{}", answer.text);
    answer.text
}

fn status(session: &Session) -> Status {
    session.todos().unwrap()[0].status.stored()
}

#[test]
fn a_list_that_repeats_a_failed_todo_is_answered_with_the_reason() {
    let session = deploying();
    session.apply(&[Op::fail("T-1", "timeout")]).unwrap();
    let text = sent(&session, "in_progress");
    let note = "Note: \"Deploy\" is pending, not in_progress: host reported a failed attempt (timeout) since your last list. \
                To work on it, send it as in_progress again.\n";
    assert!(text.starts_with(note), "{text}");
    assert!(text.contains("[ ] Deploy"), "{text}");
    assert_eq!(status(&session), Status::Pending);
    // Once is enough, and the model can try again.
    let text = sent(&session, "in_progress");
    assert!(!text.contains("Note:") && text.contains("[>] Deploy"), "{text}");
}

#[test]
fn a_list_that_already_has_it_as_pending_still_learns_of_the_failure() {
    let session = deploying();
    session.apply(&[Op::fail("T-1", "timeout")]).unwrap();
    let text = sent(&session, "pending");
    let note = "Note: \"Deploy\" is pending: host reported a failed attempt (timeout) since your last list.\n";
    assert!(text.starts_with(note), "{text}");
    session.apply(&[Op::start("T-1"), Op::fail("T-1", "refused")]).unwrap();
    let text = sent(&session, "pending");
    assert!(text.starts_with("Note: \"Deploy\" is failed: host reported a failed attempt (refused)"), "{text}");
    assert!(!sent(&session, "pending").contains("Note:"));
}

#[test]
fn every_status_that_the_host_sets_is_named() {
    for (ops, wanted, said) in [
        (vec![Op::done("T-1")], "in_progress", "\"Deploy\" is completed, not in_progress: host completed it since"),
        (vec![Op::reopen("T-1")], "in_progress", "\"Deploy\" is pending, not in_progress: host reopened it since"),
        (vec![Op::cancel("T-1")], "in_progress", "\"Deploy\" is cancelled, not in_progress: host cancelled it since"),
        (
            vec![Op::done("T-1"), Op::start("T-2")],
            "completed",
            "\"Announce\" is in_progress, not pending: host started it",
        ),
    ] {
        let session = deploying();
        session.apply(&ops).unwrap();
        let text = sent(&session, wanted);
        assert!(text.contains(said), "{said}: {text}");
    }
}

#[test]
fn the_lists_of_other_dialects_are_answered_alike() {
    let session = Session::in_memory(Options::new("host").dialect(Dialect::Cursor)).unwrap();
    let list = json!({"merge": false, "todos": [{"id": "d", "content": "Deploy", "status": "in_progress"}]});
    session.call("todo_write", &list).unwrap();
    session.apply(&[Op::fail("d", "timeout"), Op::add(NewTodo::new("Look at the log"))]).unwrap();
    let text = session.call("todo_write", &list).unwrap().text;
    assert!(text.starts_with("Note: \"Deploy\" is pending, not in_progress: host reported a failed attempt"), "{text}");
}

#[test]
fn a_list_that_says_something_new_is_taken_without_a_note() {
    let session = deploying();
    session.apply(&[Op::fail("T-1", "timeout")]).unwrap();
    let text = sent(&session, "completed");
    assert!(!text.contains("Note:") && text.contains("[x] Deploy"), "{text}");
}
