//! What models read: no command of a program that is not there, and the host's own words.

use punchlist::{Continuation, Dialect, Finish, Next, Occasion, Op, Options, Role, Session, ToolKind, Wording};
use serde_json::json;

fn all_texts(options: Options) -> String {
    let session = Session::in_memory(options.dialect(Dialect::Todowrite).session("one")).unwrap();
    let mut out = vec![session.instructions()];
    let todos: Vec<_> = (0..18)
        .map(|n| json!({"content": format!("Do {n} {}", "x".repeat(400)), "status": "pending", "activeForm": "Doing"}))
        .collect();
    out.push(session.call("TodoWrite", &json!({"todos": todos})).unwrap().text);
    let mut started = todos.clone();
    started[0]["status"] = json!("in_progress");
    out.push(session.call("TodoWrite", &json!({"todos": started})).unwrap().text);
    for _ in 0..2 {
        out.extend(session.tool_failed("shell", ToolKind::Command, "exit 1").unwrap());
    }
    out.extend((0..12).filter_map(|_| session.tool_ended("shell", ToolKind::Command).unwrap()));
    let Next::Continue { text, .. } = session.turn_ended(Finish::EndTurn).unwrap() else { panic!() };
    out.push(text);
    let again = session.beside(Options::new("t").session("one").dialect(Dialect::Todowrite)).unwrap();
    out.extend(again.turn_started().unwrap());
    out.join("\n---\n")
}

#[test]
fn texts_name_commands_only_for_hosts_that_have_a_shell() {
    let without = all_texts(Options::new("t"));
    assert!(!without.contains("`punch "), "{without}");
    assert!(!without.contains("outlives this conversation"), "{without}");
    let with = all_texts(Options::new("t").has_shell());
    assert!(with.contains("`punch fail"), "{with}");
    let same = all_texts(Options::new("t").setting("reminders.shell", "true"));
    assert_eq!(same, with);
}

#[test]
fn errors_reasons_and_the_inbox_name_commands_only_for_hosts_that_have_a_shell() {
    let session = Session::in_memory(Options::new("t")).unwrap();
    session.apply(&[Op::add("One"), Op::hold("T-1", "why?")]).unwrap();
    let refused = session.apply(&[Op::done("nothing")]).unwrap_err();
    assert!(!refused.hint.contains("punch ") && refused.hint.contains("Session::todos"), "{refused}");
    assert_eq!(session.inbox().unwrap()[0].command, None);
    let shell = session.beside(Options::new("t").has_shell()).unwrap();
    assert_eq!(shell.inbox().unwrap()[0].command.as_deref(), Some("punch unhold T-1 --note '…'"));
    session.call("todo_write", &json!({"ops": [{"op": "note", "id": "T-1", "text": "x"}]})).unwrap();
    let Next::Stop(reason) = session.turn_ended(Finish::EndTurn).unwrap() else { panic!() };
    assert_eq!(reason.code(), "waits_for_people");
    assert!(!reason.hint().is_empty() && !reason.hint().contains("punch "), "{}", reason.hint());
}

#[cfg(feature = "verify")]
#[test]
fn answers_about_checks_name_commands_only_for_hosts_that_have_a_shell() {
    let folder = tempfile::tempdir().unwrap();
    let answer = |options: Options| {
        let options = options.setting("policy.verify", "command").work_tree(folder.path());
        let session = Session::in_memory(options).unwrap();
        session.apply(&[Op::add(punchlist::NewTodo::new("One").verify("true"))]).unwrap();
        let refused = session.apply(&[Op::done("T-1")]).unwrap_err();
        assert!(!refused.hint.contains("punch ") && !refused.message.contains("punch "), "{refused}");
        let answer = session.call("todo_write", &json!({"ops": [{"op": "done", "id": "T-1"}]})).unwrap();
        assert!(answer.is_error, "{}", answer.text);
        let Next::Continue { text, .. } = session.turn_ended(Finish::EndTurn).unwrap() else { panic!() };
        format!("{}\n{text}", answer.text)
    };
    let without = answer(Options::new("t"));
    assert!(!without.contains("punch "), "{without}");
    let with = answer(Options::new("t").has_shell());
    assert!(with.contains("`punch verify --allow T-1`"), "{with}");
}

#[test]
fn names_of_agents_are_checked() {
    for name in ["", " ", "My Agent!\n\u{1b}[31m", &"x".repeat(81)] {
        assert_eq!(Session::in_memory(Options::new(name)).err().map(|error| error.code), Some("invalid"), "{name:?}");
    }
}

#[test]
fn a_session_without_tools_has_no_instructions() {
    let session = Session::in_memory(Options::new("t").role(Role::None)).unwrap();
    assert_eq!(session.instructions(), "");
}

struct Own;

impl Wording for Own {
    fn continuation(&self, why: &Continuation) -> String {
        format!("weiter mit {} ({} von {})", why.next.id, why.open, why.total)
    }

    fn reminder(&self, occasion: Occasion, text: String) -> Option<String> {
        (occasion == Occasion::Called).then_some(text)
    }

    fn assignment(&self, _: String) -> String {
        "lies den Plan".to_owned()
    }

    fn instructions(&self, _: Dialect, text: String) -> String {
        format!("{} bytes", text.len())
    }
}

#[test]
fn a_host_brings_its_own_words() {
    let session = Session::in_memory(Options::new("t").wording(Own)).unwrap();
    assert!(session.instructions().ends_with("bytes"));
    session.call("todo_write", &json!({"ops": [{"op": "add", "id": "a", "content": "Do a"}]})).unwrap();
    let Next::Continue { text, next, open, total, .. } = session.turn_ended(Finish::EndTurn).unwrap() else { panic!() };
    assert_eq!((text.as_str(), next.content.as_str(), open, total), ("weiter mit a (1 von 1)", "Do a", 1, 1));
    let worker = session.assign(&["a"], Options::new("w").wording(Own)).unwrap();
    assert_eq!(worker.assignment(), Some("lies den Plan"));
    session.apply(&[Op::start("a")]).unwrap();
    assert_eq!(session.tool_failed("shell", ToolKind::Command, "no").unwrap(), None);
}
