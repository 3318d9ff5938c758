//! A change counts the same whether the model makes it with a tool of any dialect or the host with `apply`: what the session
//! has in progress, what it has claimed, what proves it, and whether it continues.

use punchlist::{Dialect, Finish, NewTodo, Next, Op, Options, Proof, Record, Session, Status, ToolKind, ToolUse};
use serde_json::{Value, json};

const NOW: i64 = 1_800_000_000_000;

/// What happens to the second of two todos.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Start,
    Done,
    Fail,
    Cancel,
    Reopen,
    Note,
    Hold,
    Release,
    Remove,
}

const STEPS: [Step; 9] = [
    Step::Start,
    Step::Done,
    Step::Fail,
    Step::Cancel,
    Step::Reopen,
    Step::Note,
    Step::Hold,
    Step::Release,
    Step::Remove,
];

fn session(dialect: Dialect) -> Session {
    let options = Options::new("t").session("s").dialect(dialect).clock(|| NOW).setting("policy.verify", "evidence");
    let session = Session::in_memory(options).unwrap();
    session.turn_started().unwrap();
    call(&session, dialect, &first(dialect));
    session
}

fn call(session: &Session, dialect: Dialect, arguments: &Value) {
    let refused = refusal(session, dialect, arguments);
    assert_eq!(refused, None, "{arguments}");
}

/// The code of the refusal that a call is answered with.
fn refusal(session: &Session, dialect: Dialect, arguments: &Value) -> Option<String> {
    let name = if dialect == Dialect::Todowrite { "TodoWrite" } else { "todo_write" };
    let answer = session.call(name, arguments).unwrap();
    answer.errors.into_iter().next().map(|error| error.code)
}

/// The call that makes the list: one todo that is done, and the one that the steps are about.
fn first(dialect: Dialect) -> Value {
    match dialect {
        Dialect::Native => json!({"ops": [
            {"op": "add", "id": "a", "content": "One"}, {"op": "add", "id": "b", "content": "Two"}, {"op": "done", "id": "a"},
        ]}),
        Dialect::Extended => json!({"mode": "patch", "todos": [
            {"id": "a", "title": "One", "status": "completed"}, {"id": "b", "title": "Two", "status": "pending"},
        ]}),
        Dialect::Cursor => json!({"merge": false, "todos": [
            {"id": "a", "content": "One", "status": "completed"}, {"id": "b", "content": "Two", "status": "pending"},
        ]}),
        Dialect::Todowrite => rows("pending"),
        // This dialect starts the first open task by itself.
        Dialect::Phases => json!({"ops": [
            {"op": "init", "list": [{"phase": "All", "items": ["One", "Two"]}]}, {"op": "drop", "task": "Two"},
            {"op": "done", "task": "One"},
        ]}),
    }
}

fn rows(status: &str) -> Value {
    let row = |content: &str, status: &str| json!({"content": content, "status": status, "activeForm": content});
    json!({"todos": [row("One", "completed"), row("Two", status)]})
}

/// The step as a call of the dialect; `None` if the dialect has no words for it.
fn in_dialect(dialect: Dialect, step: Step) -> Option<Value> {
    let status = match step {
        Step::Start => Some("in_progress"),
        Step::Done => Some("completed"),
        Step::Fail => Some("failed"),
        Step::Cancel => Some("cancelled"),
        Step::Reopen => Some("pending"),
        Step::Note | Step::Hold | Step::Release | Step::Remove => None,
    };
    let op = match step {
        Step::Start => "start",
        Step::Done => "done",
        Step::Fail => "fail",
        Step::Cancel => "drop",
        Step::Reopen => "reopen",
        Step::Note => "note",
        Step::Hold => "hold",
        Step::Release => "release",
        Step::Remove => "rm",
    };
    match dialect {
        Dialect::Native if [Step::Fail, Step::Note, Step::Hold].contains(&step) => {
            Some(json!({"ops": [{"op": op, "id": "b", "text": why(dialect)}]}))
        }
        Dialect::Native => Some(json!({"ops": [{"op": op, "id": "b"}]})),
        Dialect::Extended => Some(json!({"mode": "patch", "todos": [{"id": "b", "status": status?}]})),
        Dialect::Cursor => {
            let status = status.filter(|status| *status != "failed")?;
            Some(json!({"merge": true, "todos": [{"id": "b", "status": status}]}))
        }
        Dialect::Todowrite => {
            status.filter(|status| ["in_progress", "completed", "pending"].contains(status)).map(rows)
        }
        Dialect::Phases => {
            let known = ["start", "done", "drop", "note", "rm"].contains(&op);
            known.then(|| json!({"ops": [{"op": op, "task": "Two", "text": why(dialect)}]}))
        }
    }
}

/// The reason of a failure, and the text of notes and holds. The extended dialect sends none.
fn why(dialect: Dialect) -> &'static str {
    if dialect == Dialect::Extended { "" } else { "why" }
}

fn as_op(step: Step, id: &str, why: &str) -> Op {
    match step {
        Step::Start => Op::start(id),
        Step::Done => Op::done(id),
        Step::Fail => Op::fail(id, why),
        Step::Cancel => Op::cancel(id),
        Step::Reopen => Op::reopen(id),
        Step::Note => Op::note(id, why),
        Step::Hold => Op::hold(id, why),
        Step::Release => Op::release(id),
        Step::Remove => Op::remove(id),
    }
}

fn id(session: &Session) -> String {
    let todos = session.todos().unwrap();
    todos.into_iter().find(|todo| todo.content == "Two").and_then(|todo| todo.id).unwrap()
}

/// What can be seen of a session after it has edited a file and run its tests.
fn seen(session: &Session) -> (Vec<Record>, Next) {
    session.tool_ran(ToolUse::new("edit", ToolKind::Edit).changing(["src/a.rs"])).unwrap();
    session.tool_ran(ToolUse::new("shell", ToolKind::Command).running("cargo test", Some(0))).unwrap();
    (session.todos().unwrap(), session.turn_ended(Finish::EndTurn).unwrap())
}

#[test]
fn a_step_counts_the_same_through_apply_and_through_the_tools() {
    let mut compared = 0;
    for dialect in Dialect::ALL {
        for before in [None, Some(Step::Start), Some(Step::Done)] {
            for step in STEPS {
                let calls: Option<Vec<Value>> =
                    before.into_iter().chain([step]).map(|step| in_dialect(dialect, step)).collect();
                let Some(calls) = calls else { continue };
                let (tools, host) = (session(dialect), session(dialect));
                let id = id(&host);
                let steps = before.into_iter().chain([step]);
                for (arguments, step) in calls.iter().zip(steps) {
                    let mut ops = vec![as_op(step, &id, why(dialect))];
                    // Only the ops of the native dialect ask for that in two steps.
                    if step == Step::Start && before == Some(Step::Done) && dialect != Dialect::Native {
                        ops.insert(0, Op::reopen(&id));
                    }
                    // The tool has one word for the end of a hold and of a claim; a host says which it means.
                    if step == Step::Release && before == Some(Step::Start) {
                        ops = vec![Op::unclaim(&id)];
                    }
                    let refused = host.apply(&ops).err().map(|error| error.code.to_owned());
                    assert_eq!(refusal(&tools, dialect, arguments), refused, "{dialect:?} {before:?} {step:?}");
                }
                assert_eq!(seen(&tools), seen(&host), "{dialect:?} {before:?} {step:?}");
                compared += 1;
            }
        }
    }
    assert!(compared > 40, "{compared}");
}

#[test]
fn what_the_host_starts_is_work_of_the_session_in_every_dialect() {
    for dialect in Dialect::ALL {
        let session = session(dialect);
        let id = id(&session);
        session.apply(&[Op::reopen(&id), Op::start(&id)]).unwrap();
        let todo = session.todos().unwrap().remove(1);
        assert_eq!(todo.owner.as_deref(), Some("s"), "{dialect:?}");
        let (_, next) = seen(&session);
        assert!(matches!(&next, Next::Continue { next, .. } if next.content == "Two"), "{dialect:?} {next:?}");
        session.apply(&[Op::done(&id)]).unwrap();
        assert_eq!(session.list().unwrap().proof(&id), Some(Proof::Checked), "{dialect:?}");
        assert!(matches!(session.turn_ended(Finish::EndTurn).unwrap(), Next::Stop(_)), "{dialect:?}");
    }
}

#[test]
fn a_session_answers_for_what_its_host_adds_before_the_model_writes_anything() {
    for dialect in Dialect::ALL {
        let session = Session::in_memory(Options::new("t").dialect(dialect)).unwrap();
        session.apply(&[Op::add(NewTodo::new("Port it").id("p"))]).unwrap();
        let text = session.turn_started().unwrap().unwrap();
        assert!(text.contains("Port it"), "{dialect:?} {text}");
        let next = session.turn_ended(Finish::EndTurn).unwrap();
        assert!(matches!(&next, Next::Continue { next, .. } if next.content == "Port it"), "{dialect:?} {next:?}");
    }
}

#[test]
fn a_list_without_what_the_host_added_does_not_remove_it() {
    for dialect in [Dialect::Todowrite, Dialect::Cursor, Dialect::Extended] {
        let session = session(dialect);
        session.apply(&[Op::add(NewTodo::new("Port it").id("p"))]).unwrap();
        let mut again = first(dialect);
        if dialect == Dialect::Extended {
            again["mode"] = json!("replace");
        }
        call(&session, dialect, &again);
        let found = session.todos().unwrap().into_iter().find(|todo| todo.content == "Port it");
        assert_eq!(found.map(|todo| todo.status.stored()), Some(Status::Pending), "{dialect:?}");
        let next = session.turn_ended(Finish::EndTurn).unwrap();
        assert!(matches!(&next, Next::Continue { .. }), "{dialect:?} {next:?}");
    }
}

#[test]
fn a_completion_through_apply_is_asked_for_a_check_once() {
    let session = session(Dialect::Native);
    session.apply(&[Op::start("b")]).unwrap();
    session.tool_ran(ToolUse::new("edit", ToolKind::Edit).changing(["src/a.rs"])).unwrap();
    let refused = session.apply(&[Op::done("b")]).unwrap_err();
    assert_eq!(refused.code, "needs_check");
    session.apply(&[Op::done("b")]).unwrap();
}
