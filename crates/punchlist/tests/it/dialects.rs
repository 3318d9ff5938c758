//! The types of calls and answers against the schemas of the tools.

use std::collections::BTreeSet;

use punchlist::dialect::{checkpoint, claim, cursor, extended, native, phases, read, refused, todowrite};
use punchlist::{Dialect, NewTodo, Op, Options, Session, Shape, ToolGroup, tools};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

/// The properties of one item of a tool's list.
fn properties(dialect: Dialect, list: &str) -> BTreeSet<String> {
    let groups = if dialect == Dialect::Native { &[ToolGroup::Fields][..] } else { &[] };
    let tool = tools(dialect, groups, Shape::Anthropic).remove(0);
    let items = &tool["input_schema"]["properties"][list]["items"]["properties"];
    items.as_object().unwrap().keys().cloned().collect()
}

fn keys(value: &impl Serialize) -> BTreeSet<String> {
    serde_json::to_value(value).unwrap().as_object().unwrap().keys().cloned().collect()
}

#[test]
fn items_have_the_properties_of_the_schemas() {
    let text = || Some("x".to_owned());
    let texts = || Some(vec!["x".to_owned()]);
    let op = native::Op {
        op: "add".into(),
        id: text(),
        ids: texts(),
        content: text(),
        description: text(),
        depends_on: texts(),
        phase: text(),
        priority: Some(1),
        labels: texts(),
        complexity: text(),
        verification_criteria: text(),
        files: texts(),
        before: text(),
        after: text(),
        evidence: text(),
        actual_tokens: Some(1),
        error: text(),
        reason: text(),
        kind: text(),
        text: text(),
        revision: Some(1),
        ..native::Op::default()
    };
    // `error` and `reason` are older names of `text`; calls may still use them, and models do not read about them.
    let older = ["error", "reason"].map(str::to_owned);
    let shown: BTreeSet<String> = keys(&op).into_iter().filter(|name| !older.contains(name)).collect();
    assert_eq!(shown, properties(Dialect::Native, "ops"));
    let item = extended::Item {
        id: "x".into(),
        title: text(),
        description: text(),
        status: text(),
        priority: Some(1),
        depends_on: texts(),
        blocks: texts(),
        labels: texts(),
        complexity: text(),
        estimated_tokens: Some(1),
        actual_tokens: Some(1),
        phase: text(),
        files: texts(),
        verification_criteria: text(),
    };
    assert_eq!(keys(&item), properties(Dialect::Extended, "todos"));
    let item =
        cursor::Item { id: "x".into(), content: text(), status: Some(cursor::Status::Pending), dependencies: texts() };
    assert_eq!(keys(&item), properties(Dialect::Cursor, "todos"));
    let item = todowrite::Item { content: "x".into(), status: todowrite::Status::Pending, active_form: "x".into() };
    assert_eq!(keys(&item), properties(Dialect::Todowrite, "todos"));
}

/// Models do not read about all the fields that the tool takes; a host may use them.
#[test]
fn native_calls_keep_every_field_that_the_tool_takes() {
    let all = json!({"ops": [
        {"op": "add", "id": "a", "content": "Write it", "activeForm": "Writing it", "description": "d", "phase": "One",
         "priority": 1, "labels": ["bug"], "complexity": "small", "estimatedTokens": 5000, "verificationCriteria": "works",
         "verifyCommand": ["cargo", "test"], "files": ["src/*.rs"], "status": "pending", "place": "first"},
        {"op": "add", "id": "b", "content": "Test it", "dependsOn": ["a"], "after": "a"},
        {"op": "add", "id": "c", "content": "Plan it", "blocks": ["a"], "before": "a"},
        {"op": "edit", "id": "b", "newId": "d", "verifyCommand": "make test", "estimatedTokens": 100},
        {"op": "start", "ids": ["c"]},
        {"op": "done", "id": "c", "evidence": "seen", "actualTokens": 900},
        {"op": "hold", "id": "a", "kind": "timer", "reason": "limit", "until": 4_000_000_000_000_u64},
        {"op": "note", "id": "a", "text": "n"},
    ]});
    for calls in [
        vec![all.clone(), json!({"ops": [{"op": "undo", "any": true}]})],
        vec![
            json!({"ops": [{"op": "replace", "todos": [{"id": "x", "content": "Only this", "activeForm": "Doing it"}]}]}),
        ],
    ] {
        let session = session(Dialect::Native);
        for call in calls {
            let typed: native::Call = serde_json::from_value(call.clone()).unwrap();
            assert_eq!(serde_json::to_value(&typed).unwrap(), call);
            let answer = session.call("todo_write", &call).unwrap();
            assert!(!answer.is_error, "{}", answer.text);
        }
    }
}

/// The structured answer to a call as its type. The type must hold all of it.
fn typed<T: Serialize + DeserializeOwned>(session: &Session, tool: &str, call: &impl Serialize) -> T {
    let sent = serde_json::to_value(call).unwrap();
    let answer = session.call(tool, &sent).unwrap();
    let typed: T = serde_json::from_value(answer.structured.clone()).unwrap();
    assert_eq!(serde_json::to_value(&typed).unwrap(), answer.structured, "{sent}");
    typed
}

fn session(dialect: Dialect) -> Session {
    Session::in_memory(Options::new("t").dialect(dialect).group(ToolGroup::Claim).group(ToolGroup::Checkpoint)).unwrap()
}

/// Compares a call with what it is read back as.
fn same<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(call: &T) {
    let again: T = serde_json::from_value(serde_json::to_value(call).unwrap()).unwrap();
    assert_eq!(again, *call);
}

#[test]
fn phases_go_through_their_types_without_loss() {
    let session = session(Dialect::Phases);
    let list = vec![phases::NewPhase { phase: "One".into(), items: vec!["Do a".into(), "Do b".into()] }];
    let note = phases::Op::Note { task: "Do a".into(), text: "ok".into() };
    let call = phases::Call { ops: vec![phases::Op::Init { list }, note] };
    same(&call);
    let answer: phases::Answer = typed(&session, "todo_write", &call);
    assert_eq!((answer.storage.as_str(), answer.phases[0].tasks[0].notes.len()), ("memory", 1));
    let done = phases::Op::Done { task: Some("Do a".into()), phase: None };
    let wrong = phases::Op::Start { task: "Do c".into() };
    let answer: phases::Answer = typed(&session, "todo_write", &phases::Call { ops: vec![done, wrong] });
    assert_eq!((answer.completed_tasks[0].content.as_str(), answer.errors.len()), ("Do a", 1));
}

#[test]
fn todowrite_goes_through_its_types_without_loss() {
    let item = |content: &str, status| todowrite::Item { content: content.into(), status, active_form: content.into() };
    let call = todowrite::Call {
        todos: vec![item("a", todowrite::Status::Completed), item("b", todowrite::Status::InProgress)],
    };
    same(&call);
    let answer: todowrite::Answer = typed(&session(Dialect::Todowrite), "TodoWrite", &call);
    assert_eq!((answer.items, answer.progress.percent), (call.todos, 50));
}

#[test]
fn cursor_goes_through_its_types_without_loss() {
    let session = session(Dialect::Cursor);
    let item = |id: &str, on: &[&str]| cursor::Item {
        id: id.into(),
        content: Some(format!("Do {id}")),
        dependencies: Some(on.iter().map(|id| (*id).to_owned()).collect()),
        ..Default::default()
    };
    let call = cursor::Call { merge: false, todos: vec![item("a", &[]), item("b", &["a"])] };
    same(&call);
    let answer: cursor::Answer = typed(&session, "todo_write", &call);
    assert!(answer.success && answer.needs_in_progress_todos && answer.initial_todos.is_empty(), "{answer:?}");
    for status in [cursor::Status::InProgress, cursor::Status::Completed, cursor::Status::Cancelled] {
        let todo = cursor::Item { id: "a".into(), status: Some(status), ..Default::default() };
        let answer: cursor::Answer = typed(&session, "todo_write", &cursor::Call { merge: true, todos: vec![todo] });
        assert_eq!((answer.was_merge, answer.final_todos[0].status), (true, Some(status)));
    }
    // A failed todo is pending in this dialect.
    session.apply(&[Op::add(NewTodo::new("Do c").id("c")), Op::fail("c", "why"), Op::fail("c", "why")]).unwrap();
    let answer: cursor::Answer = typed(&session, "todo_write", &cursor::Call { merge: true, todos: Vec::new() });
    assert_eq!(answer.final_todos.last().unwrap().status, Some(cursor::Status::Pending));
}

#[test]
fn extended_goes_through_its_types_without_loss() {
    let session = session(Dialect::Extended);
    let full = extended::Item {
        id: "a".into(),
        title: Some("Do a".into()),
        description: Some("More".into()),
        status: Some("in_progress".into()),
        priority: Some(1),
        complexity: Some("small".into()),
        estimated_tokens: Some(5_000),
        verification_criteria: Some("Tests pass".into()),
        ..Default::default()
    };
    let waiting = extended::Item {
        id: "b".into(),
        title: Some("Do b".into()),
        depends_on: Some(vec!["a".into()]),
        ..Default::default()
    };
    let call = extended::Call { mode: extended::Mode::Replace, todos: vec![full, waiting] };
    same(&call);
    let answer: extended::Answer = typed(&session, "todo_write", &call);
    assert!(answer.success && answer.ready.is_empty(), "{answer:?}");
    assert_eq!((answer.todos[0].estimated_tokens, answer.todos[0].blocks.as_slice()), (Some(5_000), &["b".into()][..]));
    let given = |todo: &extended::Todo| {
        let texts = [&todo.description, &todo.complexity, &todo.verification_criteria];
        texts.map(|text| text.as_deref().unwrap_or_default().to_owned())
    };
    assert_eq!(given(&answer.todos[0]), ["More", "small", "Tests pass"], "an answer has what was written");
    assert_eq!((answer.todos[1].status.as_str(), answer.todos[1].parallel_group), ("blocked", 2));
    reads(&session);
    let page: read::Page = typed(&session, "todo_read", &read::Call::default());
    assert_eq!(page.todos[0].title.as_deref(), Some("Do a"));
}

#[test]
fn native_goes_through_its_types_without_loss() {
    let session = session(Dialect::Native);
    let add =
        |id: &str| native::Op { op: "add".into(), id: Some(id.into()), content: Some(id.into()), ..Default::default() };
    let call = native::Call { ops: vec![add("a"), native::Op { depends_on: Some(vec!["a".into()]), ..add("b") }] };
    same(&call);
    let answer: native::Answer = typed(&session, "todo_write", &call);
    assert_eq!((answer.added, answer.next), (vec!["a".to_owned(), "b".to_owned()], Some("a".into())));
    let done = native::Op { op: "done".into(), id: Some("a".into()), ..Default::default() };
    let answer: native::Answer = typed(&session, "todo_write", &native::Call { ops: vec![done] });
    assert_eq!(answer.unblocked, ["b"]);
    reads(&session);
    let worker = session.assign(&["b"], Options::new("w").dialect(Dialect::Todowrite)).unwrap();
    let item = todowrite::Item { content: "b".into(), status: todowrite::Status::Completed, active_form: "b".into() };
    let answer: native::Answer = typed(&worker, "TodoWrite", &todowrite::Call { todos: vec![item] });
    assert_eq!((answer.completed, answer.next), (2, None));
}

/// Reads every view of a plan with the todos `a` and `b`.
fn reads(session: &Session) {
    session.apply(&[Op::add(NewTodo::new("Ask").id("h")), Op::hold("h", "which port?")]).unwrap();
    let call = |view| read::Call { view, id: Some("b".into()), ..Default::default() };
    same(&call(read::View::Todo));
    let all = read::Call { all: Some(true), limit: Some(2), ..Default::default() };
    let page: read::Page = typed(session, "todo_read", &all);
    assert_eq!((page.todos.len(), page.total), (2, 3));
    let one: read::One = typed(session, "todo_read", &call(read::View::Todo));
    assert_eq!((one.todo.id.as_str(), one.todo.more["dependsOn"].clone()), ("b", json!(["a"])));
    let next: read::Ready = typed(session, "todo_read", &call(read::View::Next));
    assert_eq!(next.ready.len(), 1);
    typed::<read::Ready>(session, "todo_read", &call(read::View::Ready));
    assert!(!typed::<read::Why>(session, "todo_read", &call(read::View::Why)).why.is_empty());
    let budget = read::Call { budget: Some(100_000), ..call(read::View::Schedule) };
    assert_eq!(typed::<read::Batch>(session, "todo_read", &budget).budget, 70_000);
    session.turn_started().unwrap();
    let history: read::History = typed(session, "todo_read", &call(read::View::History));
    assert_eq!(history.turn_start_revision, Some(session.revision().unwrap()));
    let inbox: read::Inbox = typed(session, "todo_read", &call(read::View::Inbox));
    assert_eq!(inbox.inbox[0].todo.as_deref(), Some("h"));
}

#[test]
fn the_tools_of_groups_and_refusals_go_through_their_types_without_loss() {
    for dialect in Dialect::ALL {
        let session = session(dialect);
        let nothing: claim::Answer = typed(&session, "todo_claim", &claim::Call::default());
        assert_eq!(nothing, claim::Answer::Nothing { todo: () });
        session.apply(&[Op::add(NewTodo::new("Do a").id("a")), Op::add(NewTodo::new("Do b").id("b"))]).unwrap();
        let saved: checkpoint::Saved =
            typed(&session, "todo_checkpoint", &checkpoint::Call::Save { note: Some("x".into()) });
        assert_eq!(saved.todos.remaining, ["a", "b"]);
        let call = claim::Call { id: Some("a".into()), lease_ms: Some(60_000), owner: None };
        same(&call);
        let claimed: claim::Answer = typed(&session, "todo_claim", &call);
        assert!(
            matches!(&claimed, claim::Answer::Claimed { id, lease_until: Some(_), .. } if id == "a"),
            "{claimed:?}"
        );
        let listed: checkpoint::Listed = typed(&session, "todo_checkpoint", &checkpoint::Call::List);
        assert_eq!(listed.checkpoints, std::slice::from_ref(&saved.id));
        session.apply(&[Op::done("a")]).unwrap();
        let call = checkpoint::Call::Restore { id: Some(saved.id) };
        same(&call);
        let restored: checkpoint::Restored = typed(&session, "todo_checkpoint", &call);
        assert_eq!(restored.reopened, ["a"]);
        let missing = claim::Call { id: Some("nobody".into()), ..Default::default() };
        let refused: refused::Answer = typed(&session, "todo_claim", &missing);
        assert!(!refused.error.code.is_empty() && refused.error.hint.is_some(), "{refused:?}");
        let unknown: refused::Answer = typed(&session, "no_such_tool", &json!({}));
        assert_eq!(unknown.error.code, "invalid");
    }
}
