//! Stores in files, several sessions, and what happens in them.

use std::process::Command;
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::Duration;

use punchlist::{EventKind, Op, Options, Proof, Session, Status, Update};
use serde_json::json;

const SOON: Duration = Duration::from_secs(10);

fn add(session: &Session, content: &str) {
    let answer = session.call("todo_write", &json!({"ops": [{"op": "add", "content": content}]})).unwrap();
    assert!(!answer.is_error, "{}", answer.text);
}

#[test]
fn a_file_keeps_the_plan_and_the_conversation() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plans/store.db");
    let first = Session::open(&file, Options::new("t").session("chat")).unwrap();
    add(&first, "Keep me");
    drop(first);
    let again = Session::open(&file, Options::new("t").session("chat")).unwrap();
    assert_eq!(again.todos().unwrap()[0].content, "Keep me");
    assert!(again.turn_started().unwrap().unwrap().contains("Here it is again"));
    let error = Session::open(folder.path(), Options::new("t")).err().unwrap();
    assert!(!error.message.is_empty() && !error.hint.is_empty());
}

#[test]
fn plans_have_names_and_are_made_when_missing() {
    let first = Session::in_memory(Options::new("t").shared("release")).unwrap();
    assert_eq!(first.plan_name().unwrap(), "release");
    add(&first, "Ship it");
    let same = first.beside(Options::new("u").shared("release")).unwrap();
    assert_eq!(same.todos().unwrap().len(), 1);
    let other = first.beside(Options::new("u").shared("docs")).unwrap();
    assert_eq!(other.todos().unwrap().len(), 0);
}

#[test]
fn events_tell_what_others_did_in_order_and_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("store.db");
    let mine = Session::open(&file, Options::new("mine").shared("ours")).unwrap();
    add(&mine, "Before");
    let mut events = mine.subscribe().unwrap();
    // A second opening of the file stands for another process.
    let theirs = Session::open(&file, Options::new("theirs").shared("ours")).unwrap();
    add(&theirs, "After");
    theirs.call("todo_write", &json!({"ops": [{"op": "done", "id": "T-2"}]})).unwrap();
    let mut seen = Vec::new();
    while seen.len() < 2 {
        let Some(Update::Events(more)) = events.wait(SOON).unwrap() else { panic!("nothing after {seen:?}") };
        seen.extend(more.into_iter().filter(|event| event.kind.is_some()));
    }
    let told: Vec<(EventKind, &str, &str)> =
        seen.iter().map(|e| (e.kind.unwrap(), e.by.as_str(), e.todo.as_ref().unwrap().content.as_str())).collect();
    assert_eq!(told, [(EventKind::Added, "theirs", "After"), (EventKind::Completed, "theirs", "After")]);
    assert_eq!(seen[1].todo.as_ref().unwrap().status, Status::Completed);
    assert_eq!(events.wait(Duration::ZERO).unwrap(), None);
    assert_eq!(events.seen(), mine.revision().unwrap());
    let Some(Update::Events(all)) = mine.subscribe_since(0).unwrap().wait(SOON).unwrap() else { panic!("nothing") };
    assert_eq!(all.iter().filter(|event| event.kind.is_some()).count(), 3);
    assert_eq!(mine.subscribe_since(4).unwrap().wait(SOON).unwrap(), Some(Update::Gap));
}

#[test]
fn threads_share_a_session() {
    let session = Session::in_memory(Options::new("t")).unwrap();
    std::thread::scope(|scope| {
        for n in 0..4 {
            let session = &session;
            scope.spawn(move || (0..25).for_each(|m| add(session, &format!("{n} {m}"))));
        }
    });
    assert_eq!(session.todos().unwrap().len(), 100);
    assert_eq!(session.revision().unwrap(), 100);
}

#[test]
fn a_project_has_one_store_and_its_own_settings() {
    let folder = tempfile::tempdir().unwrap();
    let git = Command::new("git").args(["init", "-q"]).current_dir(folder.path()).status();
    assert!(git.is_ok_and(|status| status.success()));
    let below = folder.path().join("src");
    std::fs::create_dir(&below).unwrap();
    let session = Session::open_project(&below, Options::new("t")).unwrap();
    add(&session, "Shared");
    let store = folder.path().join(".git/punch");
    assert!(store.join("store.db").is_file());
    std::fs::write(store.join("config.toml"), "[keep_going]\nmax_continuations = 2\n").unwrap();
    let again = Session::open_project(folder.path(), Options::new("t")).unwrap();
    assert_eq!(again.todos().unwrap()[0].content, "Shared");
    assert_eq!(again.setting("keep_going.max_continuations").as_deref(), Some("2"));
}

#[test]
fn a_todo_that_needs_proof_is_done_when_its_check_passes() {
    let folder = tempfile::tempdir().unwrap();
    let (file, state) = (folder.path().join("store.db"), folder.path().join("state"));
    let options = || Options::new("t").shared("ours").setting("policy.verify", "command").work_tree(folder.path());
    let session = Session::open(&file, options().consents(&state)).unwrap();
    let check = if cfg!(windows) { "exit 0" } else { "test -f made.txt" };
    let add = json!({"ops": [{"op": "add", "id": "a", "content": "Make it", "verifyCommand": check}]});
    assert!(!session.call("todo_write", &add).unwrap().is_error);
    let done = json!({"ops": [{"op": "done", "id": "a"}]});
    // Nobody agreed to the command.
    let answer = session.call("todo_write", &done).unwrap();
    assert!(answer.is_error && answer.text.contains("consent"), "{}", answer.text);
    let agreed = punch_engine::Consents::new(&state, &std::path::absolute(&file).unwrap(), folder.path());
    agreed.give(&punch_core::Verify::Shell(check.to_owned())).unwrap();
    if cfg!(unix) {
        let answer = session.call("todo_write", &done).unwrap();
        assert!(answer.is_error && answer.text.contains("verify_failed"), "{}", answer.text);
    }
    std::fs::write(folder.path().join("made.txt"), "x").unwrap();
    let answer = session.call("todo_write", &done).unwrap();
    assert!(!answer.is_error, "{}", answer.text);
    let todo = &session.todos().unwrap()[0];
    let codes: Vec<Option<i32>> = todo.evidence.iter().map(|evidence| evidence.exit_code).collect();
    assert_eq!((todo.status.stored(), codes.last()), (Status::Completed, Some(&Some(0))));
    assert_eq!(codes.len(), if cfg!(unix) { 2 } else { 1 }, "what failed before is stored too");
    // Without a place for consents nothing runs.
    let other = Session::open(&file, options()).unwrap();
    other.call("todo_write", &json!({"ops": [{"op": "reopen", "id": "a"}]})).unwrap();
    assert!(other.call("todo_write", &done).unwrap().is_error);
    // The host's own completion is checked like a call.
    assert_eq!(other.apply(&[Op::done("a")]).unwrap_err().code, "needs_consent");
    session.apply(&[Op::done("a")]).unwrap();
    assert_eq!(session.list().unwrap().proof("a"), Some(Proof::Checked));
}

#[test]
fn a_write_waits_for_other_processes_as_long_as_the_host_says() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("store.db");
    let ((holds, held), (release, released)) = (channel(), channel::<()>());
    let released = Mutex::new(released);
    // An id that is long in coming holds the store in the middle of a write.
    let slow = Options::new("slow").shared("ours").ids(move |n| {
        holds.send(()).unwrap();
        let _ = released.lock().unwrap().recv_timeout(SOON);
        format!("slow-{n}")
    });
    let slow = Session::open(&file, slow).unwrap();
    let quick = Session::open(&file, Options::new("quick").shared("ours").busy_timeout(Duration::ZERO)).unwrap();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| slow.apply(&[Op::add("One")]).map(drop));
        held.recv_timeout(SOON).unwrap();
        assert_eq!(quick.apply(&[Op::add("Two")]).unwrap_err().code, "store_busy");
        release.send(()).unwrap();
        writer.join().unwrap().unwrap();
    });
    quick.apply(&[Op::add("Two")]).unwrap();
    assert_eq!(quick.todos().unwrap().len(), 2);
}
