//! Labels: what a label may be, how edits change the set, and that undo leaves the labels of others alone.

use std::collections::BTreeSet;

use proptest::prelude::*;
use punch_core::dialect::native::{self, TextLimits};
use punch_core::{Actor, ApplyStop, Context, Edit, Label, LabelEdit, Op, Plan, Policy, Ref, Refusal, apply};
use serde_json::json;

use crate::sample::labels;

fn set(words: &[&str]) -> BTreeSet<Label> {
    Label::parse_all(words.iter().copied()).unwrap()
}

fn submit(plan: &mut Plan, ops: &[Op]) -> Result<(), Refusal> {
    let ctx = Context::new(1, Actor::user(), Policy::default());
    match apply(plan, ops, &ctx) {
        Ok(outcome) => {
            plan.commit(&outcome);
            plan.put_events(outcome.plan.revision, outcome.events);
            Ok(())
        }
        Err(ApplyStop::Refused(refusals)) => Err(refusals[0].clone()),
        Err(ApplyStop::Need(need)) => panic!("a whole plan asked for {need:?}"),
    }
}

fn native(plan: &mut Plan, op: serde_json::Value) -> Result<(), Refusal> {
    let ops = native::read(plan, &json!({"ops": [op]}), &TextLimits::default())?;
    submit(plan, &ops)
}

fn of(plan: &Plan) -> Vec<&str> {
    plan.live()[0].labels.iter().map(Label::as_str).collect()
}

#[test]
fn a_label_is_a_short_word_in_lower_case() {
    let longest = "x".repeat(Label::LONGEST);
    for word in ["a", "p1", "2026-q3", "area/store", "kind:bug", "v1.2", "_", longest.as_str()] {
        assert_eq!(Label::parse(word).unwrap().as_str(), word);
    }
    let long = "x".repeat(Label::LONGEST + 1);
    for word in ["", " ", "a b", "Bug", "é", "a,b", "#a", "a\n", "\u{1b}[1m", "a\u{202e}", long.as_str()] {
        assert_eq!(Label::parse(word).unwrap_err().code(), "invalid_label", "{word:?}");
    }
    let hint = |word: &str| Label::parse(word).unwrap_err().hint();
    assert!(hint("Big Bug!").ends_with("; for example `big-bug`"), "{}", hint("Big Bug!"));
    assert!(hint("").ends_with("at most 50 of them"), "{}", hint(""));
}

#[test]
fn labels_come_in_and_change_through_the_native_format() {
    let mut plan = Plan::new();
    native(&mut plan, json!({"op": "add", "content": "x", "labels": ["docs", "bug", "docs"]})).unwrap();
    assert_eq!(of(&plan), ["bug", "docs"]);
    native(&mut plan, json!({"op": "edit", "id": "T-1", "content": "y"})).unwrap();
    assert_eq!(of(&plan), ["bug", "docs"]);
    native(&mut plan, json!({"op": "edit", "id": "T-1", "labels": ["new"]})).unwrap();
    assert_eq!(of(&plan), ["new"]);
    native(&mut plan, json!({"op": "edit", "id": "T-1", "labels": null})).unwrap();
    assert_eq!(of(&plan), [""; 0]);
    let refused = native(&mut plan, json!({"op": "edit", "id": "T-1", "labels": ["ok", "Not ok"]})).unwrap_err();
    assert_eq!((refused.code(), refused.message()), ("invalid_label", "invalid label `Not ok`".to_owned()));
}

#[test]
fn a_todo_has_at_most_twenty() {
    let mut plan = Plan::new();
    let words = |n: usize| (0..n).map(|n| format!("l{n}")).collect::<Vec<_>>();
    native(&mut plan, json!({"op": "add", "content": "x", "labels": words(20)})).unwrap();
    let refused = native(&mut plan, json!({"op": "edit", "id": "T-1", "labels": words(21)})).unwrap_err();
    assert_eq!(refused.message(), "`T-1` would have 21 labels (limit 20)");
    let add = LabelEdit::Change { add: set(&["more"]), remove: set(&[]) };
    let edit = |labels| Op::Edit(Ref::Id("T-1".into()), Edit { labels, ..Edit::default() });
    assert_eq!(submit(&mut plan, &[edit(add)]).unwrap_err().code(), "too_many_labels");
    submit(&mut plan, &[edit(LabelEdit::Change { add: set(&["more"]), remove: set(&["l3"]) })]).unwrap();
    assert_eq!(of(&plan).len(), 20);
}

#[test]
fn undo_leaves_the_labels_that_others_set() {
    let mut plan = Plan::new();
    native(&mut plan, json!({"op": "add", "content": "x", "labels": ["b"]})).unwrap();
    native(&mut plan, json!({"op": "edit", "id": "T-1", "labels": ["b", "c"]})).unwrap();
    native(&mut plan, json!({"op": "edit", "id": "T-1", "labels": ["a", "b", "c"]})).unwrap();
    submit(&mut plan, &[Op::Undo { revision: Some(2), any: false }]).unwrap();
    assert_eq!(of(&plan), ["a", "b"]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_edit_between_two_sets_leads_from_one_to_the_other_and_leaves_the_rest(
        old in prop::collection::btree_set(labels(), 0..6),
        new in prop::collection::btree_set(labels(), 0..6),
        other in labels(),
    ) {
        let edit = LabelEdit::between(&old, &new);
        prop_assert_eq!(&edit.applied(&old), &new);
        if !old.contains(&other) && !new.contains(&other) {
            let mut with = old.clone();
            with.insert(other.clone());
            let mut expected = new;
            expected.insert(other);
            prop_assert_eq!(edit.applied(&with), expected);
        }
    }
}
