//! Single writes that once went wrong, told as calls.

use punch_core::replay::{Dialect, line};
use punch_core::{Context, Op, Plan, Policy, Ref, Stop, Uid, apply};
use serde_json::{Value, json};

/// The answers to some calls on a fresh plan.
fn calls(dialect: Dialect, calls: Value) -> Vec<Value> {
    let reply = line(dialect, json!({"id": 1, "calls": calls}).to_string().as_bytes());
    reply.json["results"].as_array().unwrap().clone()
}

fn native(batches: Value) -> Vec<Value> {
    let batches: Vec<Value> = batches.as_array().unwrap().iter().map(|ops| json!({"ops": ops})).collect();
    calls(Dialect::Native, batches.into())
}

#[test]
fn an_edit_may_stand_before_the_add_it_belongs_to() {
    let answers = native(json!([[
        {"op": "edit", "id": "a", "priority": 1},
        {"op": "note", "id": "a", "text": "first"},
        {"op": "add", "id": "a", "content": "later"},
    ]]));
    assert_eq!(answers[0]["success"], true, "{}", answers[0]);
    assert_eq!(answers[0]["todos"][0]["title"], "later");
}

#[test]
fn a_uid_that_was_never_given_is_unknown_and_asks_for_nothing() {
    let ctx = Context { now: 1, by: "ann".into(), owner: None, policy: Policy::default() };
    match apply(&Plan::new(), &[Op::Start(Ref::Uid(Uid(7)))], &ctx) {
        Err(Stop::Refused(refusals)) => assert_eq!(refusals[0].code(), "unknown_todo"),
        other => panic!("{other:?}"),
    }
}
