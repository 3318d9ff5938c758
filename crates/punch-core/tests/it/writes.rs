//! Single writes that once went wrong, told as calls.

use punch_core::dialect::Dialect;
use punch_core::replay::line;
use punch_core::{Actor, ApplyStop, Context, Op, Plan, Policy, Ref, Uid, apply};
use punch_testkit::ask::{ModelBatch, ModelFields, ModelNewTodo, ModelOp, TodoName};
use punch_testkit::rules::ModelRules;
use serde_json::{Value, json};

use crate::pair::Pair;

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
    let ctx = Context::new(1, Actor::parse("ann", None), Policy::default());
    match apply(&Plan::new(), &[Op::Start(Ref::Uid(Uid(7)))], &ctx) {
        Err(ApplyStop::Refused(refusals)) => assert_eq!(refusals[0].code(), "unknown_todo"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn edges_may_change_direction_in_one_batch_whatever_the_order() {
    for turned in [json!(["a", "b"]), json!(["b", "a"])] {
        let (first, second) = (&turned[0], &turned[1]);
        let answers = native(json!([
            [{"op": "add", "id": "a", "content": "a"}, {"op": "add", "id": "b", "content": "b"}],
            [{"op": "edit", "id": second, "dependsOn": [first]}],
            [{"op": "edit", "id": second, "dependsOn": []}, {"op": "edit", "id": first, "dependsOn": [second]}],
        ]));
        assert_eq!(answers[2]["success"], true, "{turned}: {}", answers[2]);
    }
}

#[test]
fn a_todo_that_takes_the_name_another_waits_for_is_waited_for_once() {
    let mut pair = Pair::new();
    let add = |id: &str, deps: &[&str]| {
        let deps = Some(deps.iter().map(|dep| TodoName::Id((*dep).to_owned())).collect());
        let fields = ModelFields { content: Some(id.to_owned()), deps, ..ModelFields::default() };
        ModelOp::Add(ModelNewTodo { id: Some(id.to_owned()), fields, ..ModelNewTodo::default() })
    };
    let renamed = ModelFields { id: Some("y".to_owned()), ..ModelFields::default() };
    for asks in [
        vec![add("x", &[]), add("t", &["x", "y"])],
        vec![ModelOp::Edit(TodoName::Id("x".to_owned()), renamed)],
        vec![ModelOp::Done(TodoName::Id("y".to_owned()), None, None)],
    ] {
        let batch = ModelBatch { asks, owner: None, rules: ModelRules::CURSOR, elapsed: 1 };
        pair.run(&batch).unwrap().unwrap();
    }
    assert!(pair.plan.by_id("t").unwrap().is_ready(9));
}

#[test]
fn naming_a_suspended_dependency_again_closes_no_new_circle() {
    let mut pair = Pair::new();
    let edit = |id: &str, deps: &[&str]| {
        let deps = Some(deps.iter().map(|dep| TodoName::Id((*dep).to_owned())).collect());
        ModelOp::Edit(TodoName::Id(id.to_owned()), ModelFields { deps, ..ModelFields::default() })
    };
    let add = |id: &str| ModelOp::Add(ModelNewTodo { id: Some(id.to_owned()), ..ModelNewTodo::default() });
    let batch = |asks, rules| ModelBatch { asks, owner: None, rules, elapsed: 1 };
    pair.run(&batch(vec![add("a"), add("b"), add("c"), edit("a", &["b"]), edit("b", &["a"])], ModelRules::CURSOR))
        .unwrap()
        .unwrap();
    pair.run(&batch(vec![edit("a", &["b", "c"])], ModelRules::NATIVE)).unwrap().unwrap();
    let refusals = pair.run(&batch(vec![edit("c", &["a"])], ModelRules::NATIVE)).unwrap().unwrap_err();
    assert_eq!(refusals[0].code(), "cycle");
}
