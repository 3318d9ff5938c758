//! The types of calls and answers against the schemas of the tools.

use std::collections::BTreeSet;

use punchlist::dialect::{cursor, extended, native, phases, todowrite};
use punchlist::{Dialect, Group, Options, Session, Shape, tools};
use serde::Serialize;
use serde_json::{Value, json};

/// The properties of one item of a tool's list.
fn properties(dialect: Dialect, list: &str) -> BTreeSet<String> {
    let groups = if dialect == Dialect::Native { &[Group::Fields][..] } else { &[] };
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

fn structured(session: &Session, tool: &str, call: &impl Serialize) -> Value {
    let answer = session.call(tool, &serde_json::to_value(call).unwrap()).unwrap();
    assert!(!answer.is_error, "{}", answer.text);
    answer.structured
}

#[test]
fn calls_and_answers_go_through_their_types_without_loss() {
    let session = |dialect| Session::in_memory(Options::new("t").dialect(dialect)).unwrap();
    let init = phases::Op::Init { list: vec![phases::NewPhase { phase: "One".into(), items: vec!["Do a".into()] }] };
    let done = phases::Op::Done { task: Some("Do a".into()), phase: None };
    let note = phases::Op::Note { task: "Do a".into(), text: "ok".into() };
    let phased = session(Dialect::Phases);
    structured(&phased, "todo_write", &phases::Call { ops: vec![init, note] });
    let found = structured(&phased, "todo_write", &phases::Call { ops: vec![done] });
    let answer: phases::Answer = serde_json::from_value(found).unwrap();
    assert_eq!(answer.completed_tasks[0].content, "Do a");
    assert_eq!((answer.phases[0].name.as_str(), answer.phases[0].tasks[0].notes.len()), ("One", 1));

    let op = native::Op { op: "add".into(), content: Some("Do a".into()), ..Default::default() };
    let found = structured(&session(Dialect::Native), "todo_write", &native::Call { ops: vec![op] });
    let answer: native::Answer = serde_json::from_value(found.clone()).unwrap();
    assert_eq!((answer.added, answer.next), (vec!["T-1".to_owned()], Some("T-1".into())));
    assert_eq!(keys(&serde_json::from_value::<native::Answer>(found.clone()).unwrap()), keys(&found));

    let item = extended::Item { id: "a".into(), title: Some("Do a".into()), ..Default::default() };
    let call = extended::Call { mode: extended::Mode::Patch, todos: vec![item] };
    let answer: extended::Answer =
        serde_json::from_value(structured(&session(Dialect::Extended), "todo_write", &call)).unwrap();
    assert!(answer.success && answer.ready == ["a"], "{answer:?}");

    let item = cursor::Item { id: "a".into(), content: Some("Do a".into()), ..Default::default() };
    structured(&session(Dialect::Cursor), "todo_write", &cursor::Call { merge: false, todos: vec![item] });
    let sent: cursor::Call = serde_json::from_value(json!({"merge": true, "todos": [{"id": "a"}]})).unwrap();
    assert!(sent.merge);
}
