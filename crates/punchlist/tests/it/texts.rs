//! What models read: no command of a program that is not there, and the host's own words.

use punchlist::{
    Continuation, Dialect, Finish, NewTodo, Next, Occasion, Op, Options, Role, Session, ToolKind, ToolUse, Wording,
};
use serde_json::{Value, json};

use crate::changed::writes;

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
        out.extend(session.tool_failed(ToolUse::new("shell", ToolKind::Command), "exit 1").unwrap());
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
        session.apply(&[Op::add(NewTodo::new("One").verify("true"))]).unwrap();
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

#[cfg(feature = "verify")]
#[test]
fn answers_about_checks_name_todos_by_their_content_where_the_tools_take_no_ids() {
    let folder = tempfile::tempdir().unwrap();
    for dialect in [Dialect::Todowrite, Dialect::Phases] {
        let options = Options::new("t").dialect(dialect).setting("policy.verify", "command").work_tree(folder.path());
        let session = Session::in_memory(options).unwrap();
        session.apply(&[Op::add(NewTodo::new("Build").verify("true")), Op::start("T-1")]).unwrap();
        let answer = session.call(writes(dialect), &calls(dialect).1).unwrap();
        let Next::Continue { text, .. } = session.turn_ended(Finish::EndTurn).unwrap() else { panic!() };
        let all = format!("{}\n{:?}\n{text}", answer.text, answer.errors);
        assert!(answer.is_error && all.contains("`Build`") && !has_made_id(&all), "{dialect:?} {all}");
    }
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
    assert_eq!(session.tool_failed(ToolUse::new("shell", ToolKind::Command), "no").unwrap(), None);
}

/// A todo as a row of a list: from content and status.
type RowForm<'a> = &'a dyn Fn(&str, &str) -> Value;

/// The call that begins `Build`, and the one that completes it.
fn calls(dialect: Dialect) -> (Value, Value) {
    let rows = |of: RowForm<'_>, status: &str| json!([of("Build", status), of("Try", "pending")]);
    let id = |content: &str| content.to_lowercase();
    let (named, listed): (RowForm<'_>, RowForm<'_>) = (
        &|content, status| json!({"id": id(content), "content": content, "title": content, "status": status}),
        &|content, status| json!({"content": content, "status": status, "activeForm": content}),
    );
    let both = |call: &dyn Fn(&str) -> Value| (call("in_progress"), call("completed"));
    match dialect {
        Dialect::Todowrite => both(&|status| json!({"todos": rows(listed, status)})),
        Dialect::Cursor => both(&|status| {
            let named = |content: &str, status: &str| json!({"id": id(content), "content": content, "status": status});
            json!({"merge": true, "todos": rows(&named, status)})
        }),
        Dialect::Extended => both(&|status| {
            let mut todos = rows(named, status);
            todos
                .as_array_mut()
                .unwrap()
                .iter_mut()
                .for_each(|row| drop(row.as_object_mut().unwrap().remove("content")));
            json!({"mode": "patch", "todos": todos})
        }),
        Dialect::Phases => (
            json!({"ops": [{"op": "init", "list": [{"phase": "All", "items": ["Build", "Try"]}]}]}),
            json!({"ops": [{"op": "done", "task": "Build"}]}),
        ),
        Dialect::Native => (
            json!({"ops": [{"op": "add", "content": "Build"}, {"op": "add", "content": "Try"}, {"op": "start", "id": "T-1"}]}),
            json!({"ops": [{"op": "done", "id": "T-1"}]}),
        ),
    }
}

/// What a model reads while its tools fail, its completions are refused, the user changes the plan, it wants to stop, and
/// its list comes back.
fn eventful_texts(options: Options, dialect: Dialect) -> String {
    let session =
        Session::in_memory(options.dialect(dialect).session("one").setting("policy.verify", "evidence")).unwrap();
    let (begin, complete) = calls(dialect);
    let mut out: Vec<String> = Vec::new();
    let call = |arguments: &Value, out: &mut Vec<String>| {
        let answer = session.call(writes(dialect), arguments).unwrap();
        out.extend(answer.errors.iter().map(|error| error.message.clone()));
        out.extend([answer.text, answer.structured["error"].to_string()]);
        out.extend(answer.reminder);
    };
    call(&begin, &mut out);
    let id = session.todos().unwrap()[0].id.clone().unwrap();
    out.extend((0..2).filter_map(|_| session.tool_failed(ToolUse::new("shell", ToolKind::Command), "exit 1").unwrap()));
    out.extend((0..12).filter_map(|_| session.tool_ended("shell", ToolKind::Command).unwrap()));
    call(&complete, &mut out);
    out.extend(session.tool_ran(ToolUse::new("shell", ToolKind::Command).running("cargo test", Some(101))).unwrap());
    call(&complete, &mut out);
    session.apply_as_user(&[Op::add("From the user"), Op::note(&id, "look at this")]).unwrap();
    out.extend(session.tool_ended("shell", ToolKind::Command).unwrap());
    for _ in 0..2 {
        let Next::Continue { text, .. } = session.turn_ended(Finish::EndTurn).unwrap() else { panic!("{dialect:?}") };
        out.push(text);
    }
    let again = session.beside(Options::new("t").session("one").dialect(dialect)).unwrap();
    out.extend(again.turn_started().unwrap());
    out.join("\n---\n")
}

/// Returns true if a text has an id that Punchlist made.
fn has_made_id(text: &str) -> bool {
    text.match_indices("T-").any(|(at, _)| text[at + 2..].starts_with(|c: char| c.is_ascii_digit()))
}

#[test]
fn texts_name_todos_by_their_content_where_the_tools_take_no_ids() {
    for dialect in [Dialect::Todowrite, Dialect::Phases] {
        let text = eventful_texts(Options::new("t"), dialect);
        assert!(!has_made_id(&text), "{dialect:?} {text}");
        for said in [
            "A tool failed while `Build` is in progress.",
            "In progress: \"Build\".",
            "no passing check was seen for `Build`",
            "`Build` is not done: `cargo test` failed with exit code 101",
            "<todo status=\"in_progress\">\nBuild\n</todo>",
            "You were working on `Build`.",
            "[>] Build\n[ ] Try\n",
        ] {
            assert!(text.contains(said), "{dialect:?} {said}: {text}");
        }
        assert!(has_made_id(&eventful_texts(Options::new("t").has_shell(), dialect)), "a shell takes ids");

        let session = Session::in_memory(Options::new("t").dialect(dialect)).unwrap();
        session.apply(&[Op::add(NewTodo::new("Port").files(["src/**"])), Op::start("T-1")]).unwrap();
        let note = session.tool_ran(ToolUse::new("edit", ToolKind::Edit).changing(["docs/a.md"])).unwrap().unwrap();
        assert!(note.contains("docs/a.md is not among the files of `Port` (src/**)"), "{dialect:?} {note}");
    }
}

#[test]
fn texts_name_todos_by_the_ids_that_the_tools_take() {
    for (dialect, id) in [(Dialect::Native, "T-1"), (Dialect::Cursor, "build"), (Dialect::Extended, "build")] {
        let text = eventful_texts(Options::new("t"), dialect);
        assert!(text.contains(&format!("<todo id=\"{id}\" status=\"in_progress\">")), "{dialect:?} {text}");
        assert!(text.contains(&format!("no passing check was seen for `{id}`")), "{dialect:?} {text}");
        assert!(text.contains(&format!("You were working on {id}.")), "{dialect:?} {text}");
    }
}

#[test]
fn a_conversation_reads_its_own_ids_beside_another_one_that_uses_the_same() {
    let options = || Options::new("t").dialect(Dialect::Cursor).setting("policy.verify", "evidence");
    let first = Session::in_memory(options().session("one").shared("both")).unwrap();
    let second = first.beside(options().session("two")).unwrap();
    let list = |content: &str, status: &str| json!({"merge": false, "todos": [{"id": "a", "content": content, "status": status}]});
    first.call("todo_write", &list("One", "pending")).unwrap();
    second.call("todo_write", &list("Two", "pending")).unwrap();
    // Each is sent to its own todo, whatever the other one has been sent to.
    for (session, content) in [(&second, "Two"), (&first, "One")] {
        let next = session.turn_ended(Finish::EndTurn).unwrap();
        assert!(matches!(&next, Next::Continue { next, .. } if next.content == content && next.id == "a"), "{next:?}");
    }
    second.call("todo_write", &list("Two", "in_progress")).unwrap();
    let refused = second.call("todo_write", &list("Two", "completed")).unwrap();
    assert_eq!(refused.errors[0].message, "no passing check was seen for `a`");
    let advice = second.tool_failed(ToolUse::new("shell", ToolKind::Command), "exit 1").unwrap();
    assert_eq!(advice.as_deref(), Some("A tool failed while a is in progress. Try once more, in another way."));
}

#[test]
fn answers_to_calls_that_make_no_sense_say_once_that_nothing_was_changed() {
    for dialect in Dialect::ALL {
        let session = Session::in_memory(Options::new("t").dialect(dialect)).unwrap();
        for call in [json!(null), json!({"todos": 1}), json!({"ops": [{"op": "no"}]})] {
            let text = session.call(writes(dialect), &call).unwrap().text.to_lowercase();
            assert!(text.matches("nothing was changed").count() == 1, "{dialect:?} {call}: {text}");
        }
    }
}
