//! Turns: what the model reads, reminders, and when it may stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use punchlist::{ContextUse, Dialect, Ending, Finish, Next, Op, Options, Reason, Session, ToolKind, ToolUse};
use serde_json::json;

fn busy(options: Options) -> Session {
    let session = Session::in_memory(options).unwrap();
    assert_eq!(session.turn_started().unwrap(), None);
    add(&session, "a");
    session
}

fn add(session: &Session, id: &str) {
    let answer = session.call("todo_write", &json!({"ops": [{"op": "add", "id": id, "content": format!("Do {id}")}]}));
    assert!(!answer.unwrap().is_error);
}

fn code(next: &Next) -> &'static str {
    match next {
        Next::Continue { .. } => "continue",
        Next::Wait(_) => "wait",
        Next::Stop(reason) => reason.code(),
        _ => "unknown",
    }
}

#[test]
fn an_agent_goes_on_while_work_is_left_and_stops_when_going_on_makes_no_sense() {
    let session = busy(Options::new("t"));
    for n in 1..=3 {
        let next = session.turn_ended(Finish::EndTurn).unwrap();
        assert!(matches!(&next, Next::Continue { n: found, of: 3, text, .. } if *found == n && text.contains("Do a")));
    }
    assert_eq!(code(&session.turn_ended(Finish::EndTurn).unwrap()), "no_progress");
    // The user's word begins a new count.
    session.turn_started().unwrap();
    assert_eq!(code(&session.turn_ended(Finish::EndTurn).unwrap()), "continue");
}

#[test]
fn the_end_of_the_message_the_context_and_jobs_count() {
    let session = busy(Options::new("t"));
    for (finish, expected) in [
        (Finish::Length, "finish"),
        (Finish::Error, "finish"),
        (Finish::Unknown, "finish"),
        (Finish::Cancelled, "interrupted"),
    ] {
        assert_eq!(code(&session.turn_ended(finish).unwrap()), expected, "{finish:?}");
        session.turn_started().unwrap();
    }
    let full = ContextUse { used: 95, limit: 100 };
    assert_eq!(code(&session.turn_ended(Ending::default().context(full)).unwrap()), "context_full");
    assert_eq!(code(&session.turn_ended(Ending::default().background(1)).unwrap()), "background");
    session.interrupted().unwrap();
    assert_eq!(code(&session.turn_ended(Finish::EndTurn).unwrap()), "interrupted");
    session.turn_started().unwrap();
    assert_eq!(code(&session.turn_ended(Finish::EndTurn).unwrap()), "continue");
    session.ended().unwrap();
}

#[test]
fn a_turn_that_ended_with_a_refused_permission_waits_for_no_answer() {
    let session = busy(Options::new("t"));
    session.asking().unwrap();
    assert_eq!(code(&session.turn_ended(Finish::EndTurn).unwrap()), "asked");
    assert_eq!(code(&session.turn_ended(Finish::Denied).unwrap()), "finish");
    assert_eq!(code(&session.turn_ended(Finish::EndTurn).unwrap()), "continue");
    assert!(session.questions().unwrap().is_empty());
}

#[test]
fn a_list_that_is_done_does_not_end_the_turn_while_the_user_has_added_a_todo() {
    let session = Session::in_memory(Options::new("t").dialect(Dialect::Todowrite)).unwrap();
    let write = |status: &str| {
        let todo = json!({"content": "Run tests", "status": status, "activeForm": "Running tests"});
        session.call("TodoWrite", &json!({"todos": [todo]})).unwrap()
    };
    write("in_progress");
    session.apply_as_user(&[Op::add("Write the changelog")]).unwrap();
    let answer = write("completed");
    let read = [Some(answer.text), answer.reminder].into_iter().flatten().collect::<Vec<_>>().join("\n");
    assert!(read.contains("Write the changelog"), "{read}");
    let next = session.turn_ended(Finish::EndTurn).unwrap();
    assert!(matches!(&next, Next::Continue { open: 1, text, .. } if text.contains("Write the changelog")), "{next:?}");
}

#[test]
fn a_session_that_wrote_nothing_is_let_alone() {
    let session = Session::in_memory(Options::new("t")).unwrap();
    assert_eq!(session.turn_ended(Finish::EndTurn).unwrap(), Next::Stop(Reason::Unbound));
    let off = busy(Options::new("t").setting("keep_going.enabled", "false"));
    assert_eq!(off.turn_ended(Finish::EndTurn).unwrap(), Next::Stop(Reason::Disabled));
}

#[test]
fn a_failed_turn_rests_and_then_goes_on() {
    let now = Arc::new(AtomicI64::new(1_000_000));
    let clock = Arc::clone(&now);
    let session = busy(Options::new("t").clock(move || clock.load(Ordering::Relaxed)));
    session.turn_failed("overloaded").unwrap();
    assert_eq!(code(&session.turn_ended(Finish::EndTurn).unwrap()), "wait");
    now.fetch_add(60_000, Ordering::Relaxed);
    assert_eq!(code(&session.turn_ended(Finish::EndTurn).unwrap()), "continue");
}

#[test]
fn reminders_come_after_long_silence_and_share_a_budget() {
    let session = busy(Options::new("t"));
    let told: Vec<String> = (0..400).filter_map(|_| session.tool_ended("shell", ToolKind::Other).unwrap()).collect();
    assert!(!told.is_empty() && told.len() < 40, "{}", told.len());
    assert!(told[0].contains("1 of 1 todo is open"), "{}", told[0]);
    assert!(told.iter().map(String::len).sum::<usize>() <= 4 * 600);
    let quiet = busy(Options::new("t").setting("reminders.enabled", "false"));
    assert!((0..100).all(|_| quiet.tool_ended("shell", ToolKind::Other).unwrap().is_none()));
}

#[test]
fn a_tool_that_fails_brings_advice_about_the_todo_in_progress() {
    let session = busy(Options::new("t"));
    session.call("todo_write", &json!({"ops": [{"op": "start", "id": "a"}]})).unwrap();
    let advice = session.tool_failed(ToolUse::new("shell", ToolKind::Other), &"no such file\n".repeat(10_000)).unwrap();
    assert!(advice.is_some_and(|text| text.contains('a') && text.len() < 1_000));
    let refused = session.call("todo_write", &json!({"ops": [{"op": "done", "id": "nobody"}]})).unwrap();
    assert!(refused.reminder.is_some_and(|text| text.contains("had errors")));
}

#[test]
fn a_conversation_that_goes_on_gets_its_list_back_and_a_persons_changes() {
    let first = busy(Options::new("t").session("chat-1"));
    let person = first.beside(Options::new("user").session("shell")).unwrap();
    person.call("todo_write", &json!({"ops": [{"op": "add", "id": "b", "content": "Do b too"}]})).unwrap();
    let told = first.turn_started().unwrap().unwrap();
    assert!(told.contains("The user changed the plan") && told.contains("Do b too"), "{told}");
    assert_eq!(first.turn_started().unwrap(), None);
    // The same conversation in a new process.
    let again = first.beside(Options::new("t").session("chat-1")).unwrap();
    let told = again.turn_started().unwrap().unwrap();
    assert!(told.contains("Here it is again") && told.contains("Do a") && told.contains("Do b too"), "{told}");
    // Another one is only offered it.
    let other = first.beside(Options::new("t")).unwrap();
    let told = other.turn_started().unwrap().unwrap();
    assert!(told.contains("offered, not assigned"), "{told}");
}

#[test]
fn a_subagent_reads_and_does_not_write() {
    let parent = busy(Options::new("t").session("chat-1"));
    let child = parent.beside(Options::new("t").session("chat-1").subagent("helper")).unwrap();
    assert!(!child.call("todo_read", &json!({})).unwrap().is_error);
    let answer = child.call("todo_write", &json!({"ops": [{"op": "done", "id": "a"}]})).unwrap();
    assert!(answer.is_error && answer.text.contains("not_allowed"), "{}", answer.text);
}

#[test]
fn list_dialects_are_kept_going_too() {
    let session = Session::in_memory(Options::new("t").dialect(Dialect::Todowrite)).unwrap();
    let todos = json!({"todos": [{"content": "Run tests", "status": "pending", "activeForm": "Running tests"}]});
    session.call("TodoWrite", &todos).unwrap();
    let Next::Continue { text, .. } = session.turn_ended(Finish::EndTurn).unwrap() else { panic!() };
    assert!(text.contains("Run tests"));
}
