//! Undo is an op: the live state before, and nothing lost that really happened (invariant 11).

use proptest::prelude::*;
use punch_core::{Actor, Context, Fields, Op, Plan, Policy, Refusal, Todo, Uid};
use punch_testkit::ask::{ModelBatch, ModelFields, ModelNewTodo, ModelOp, TodoName};
use punch_testkit::batches::{batch, sequences};
use punch_testkit::rules::ModelRules;

use crate::bridge;
use crate::pair::{Pair, rederived};

/// A live todo without what is never undone.
fn undoable(todo: &Todo) -> (Uid, Fields) {
    let kept = Fields { owner: None, fence: 0, evidence: Vec::new(), actual_tokens: 0, ..todo.fields.clone() };
    (todo.uid, kept)
}

fn live(plan: &Plan) -> Vec<(Uid, Fields)> {
    plan.live().into_iter().map(undoable).collect()
}

/// Takes a revision back on the engine's side only.
fn revert(pair: &mut Pair, revision: u64, policy: Policy, by: &Actor) -> Result<(), Vec<Refusal>> {
    for events in pair.log.chunk_by(|a, b| a.revision == b.revision) {
        pair.plan.put_events(events[0].revision, events.to_vec());
    }
    let ctx = Context::new(pair.model.now + 1, by.clone(), policy);
    let outcome = bridge::submit(&pair.plan, &[Op::Undo { revision: Some(revision), any: false }], &ctx)?;
    let next = pair.plan.row.revision + u64::from(!outcome.events.is_empty());
    pair.plan.commit(&outcome);
    assert_eq!(pair.plan.row.revision, next);
    pair.log.extend(outcome.events);
    rederived(&pair.plan).unwrap_or_else(|what| panic!("{what}"));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn undo_gives_the_state_before_and_undo_of_undo_the_state_after(choices in sequences(12)) {
        let mut pair = Pair::new();
        let mut before = pair.plan.clone();
        for bytes in &choices {
            let old = pair.plan.clone();
            let batch = batch(bytes, &pair.model);
            if pair.run(&batch).map_err(TestCaseError::fail)?.is_ok_and(|outcome| !outcome.events.is_empty()) {
                before = old;
            }
        }
        let (after, last) = (pair.plan.clone(), pair.plan.row.revision);
        prop_assume!(last > 0);
        let policy = bridge::policy(&ModelRules::NATIVE);
        let author = pair.log.last().map_or_else(Actor::user, |event| match &event.owner {
            Some(owner) => Actor::parse(&event.by, Some(owner)),
            None => Actor::user().signing(&event.by),
        });
        match revert(&mut pair, last, policy, &author) {
            Ok(()) => {}
            // Another agent has claimed the todo since, in the same revision: its claim stays.
            Err(refusals) if refusals[0].code() == "leased" => return Ok(()),
            // Checks and claims that change hands stay: there was nothing to undo.
            Err(refusals) if refusals[0].code() == "nothing_undoable" && live(&after) == live(&before) => return Ok(()),
            Err(refusals) => return Err(TestCaseError::fail(format!("{refusals:?}"))),
        }
        prop_assert_eq!(live(&pair.plan), live(&before));
        prop_assert_eq!(&pair.plan.row.policy, &before.row.policy);
        prop_assert_eq!(&pair.plan.row.phases, &before.row.phases);
        prop_assert_eq!(pair.plan.row.counts, before.row.counts);
        for todo in after.all() {
            prop_assert!(pair.plan.get(todo.uid).is_some_and(|t| t.fence >= todo.fence && t.evidence == todo.evidence));
        }
        pair.fold_again().map_err(TestCaseError::fail)?;
        if pair.plan.row.revision > last {
            match revert(&mut pair, last + 1, policy, &author) {
                Ok(()) => {}
                // The undo brought a claim of someone else back.
                Err(refusals) if refusals[0].code() == "leased" => return Ok(()),
                Err(refusals) => return Err(TestCaseError::fail(format!("{refusals:?}"))),
            }
            prop_assert_eq!(live(&pair.plan), live(&after));
            pair.fold_again().map_err(TestCaseError::fail)?;
        }
    }

    #[test]
    fn undo_of_any_revision_is_clean_or_refused_with_the_plan_untouched(
        choices in sequences(12),
        which in any::<prop::sample::Index>(),
        digits in any::<[u8; 9]>(),
    ) {
        let mut pair = Pair::new();
        for bytes in &choices {
            let batch = batch(bytes, &pair.model);
            let _ = pair.run(&batch).map_err(TestCaseError::fail)?;
        }
        prop_assume!(pair.plan.row.revision > 0);
        let revision = which.index(pair.plan.row.revision as usize) as u64 + 1;
        let rules = ModelRules::from_digits(std::array::from_fn(|n| digits[n] as usize % ModelRules::SIZES[n]));
        let busy = |plan: &Plan| plan.live().iter().filter(|t| t.status == punch_core::Status::InProgress && t.owner.is_none()).count();
        let (old, rows) = (busy(&pair.plan), live(&pair.plan));
        match revert(&mut pair, revision, bridge::policy(&rules), &Actor::user().signing("someone")) {
            Ok(()) => {
                let ids: std::collections::BTreeSet<&str> = pair.plan.ids().collect();
                prop_assert_eq!(ids.len(), pair.plan.live().len());
                let last = revision + 1 == pair.plan.row.revision;
                prop_assert!(last || !rules.one || busy(&pair.plan) <= old.max(1));
                pair.fold_again().map_err(TestCaseError::fail)?;
            }
            Err(refusals) => {
                prop_assert_eq!(live(&pair.plan), rows);
                let known = ["revert_conflict", "cycle", "in_progress_limit", "nothing_undoable"].contains(&refusals[0].code());
                prop_assert!(known, "{:?}", refusals);
                crate::pair::presentable(&refusals[0]).map_err(TestCaseError::fail)?;
            }
        }
    }
}

fn add(id: &str, deps: &[&str]) -> ModelOp {
    let deps = Some(deps.iter().map(|dep| TodoName::Id((*dep).to_owned())).collect());
    ModelOp::Add(ModelNewTodo {
        id: Some(id.to_owned()),
        fields: ModelFields { content: Some(id.to_owned()), deps, ..ModelFields::default() },
        ..ModelNewTodo::default()
    })
}

fn id(id: &str) -> TodoName {
    TodoName::Id(id.to_owned())
}

fn run(pair: &mut Pair, rules: ModelRules, asks: Vec<ModelOp>) {
    let batch = ModelBatch { asks, owner: None, rules, elapsed: 1 };
    pair.run(&batch).unwrap().unwrap();
}

#[test]
fn a_conflict_names_the_todo_and_the_field() {
    let mut pair = Pair::new();
    let content = |text: &str| ModelFields { content: Some(text.to_owned()), ..ModelFields::default() };
    run(&mut pair, ModelRules::NATIVE, vec![add("a", &[])]);
    run(&mut pair, ModelRules::NATIVE, vec![ModelOp::Edit(id("a"), content("one"))]);
    run(&mut pair, ModelRules::NATIVE, vec![ModelOp::Edit(id("a"), content("two"))]);
    let refusals = revert(&mut pair, 2, Policy::default(), &Actor::parse("test", None)).unwrap_err();
    assert_eq!(refusals, [Refusal::RevertConflict { revision: 2, redo: false, fields: vec![("a".into(), "content")] }]);
}

#[test]
fn an_id_that_comes_back_is_no_longer_missing() {
    let mut pair = Pair::new();
    run(&mut pair, ModelRules::CURSOR, vec![add("a", &[])]);
    run(&mut pair, ModelRules::CURSOR, vec![ModelOp::Rm(id("a"))]);
    run(&mut pair, ModelRules::CURSOR, vec![add("b", &["a"])]);
    revert(&mut pair, 2, Policy::default(), &Actor::parse("test", None)).unwrap();
    let a = pair.plan.by_id("a").unwrap().uid;
    assert_eq!(pair.plan.by_id("b").unwrap().depends_on, [punch_core::Dep::On(a)]);
}

#[test]
fn a_lease_survives_the_undo_of_an_edit() {
    let mut pair = Pair::new();
    run(&mut pair, ModelRules::NATIVE, vec![add("a", &[]), ModelOp::Claim(id("a"), 500)]);
    run(
        &mut pair,
        ModelRules::NATIVE,
        vec![ModelOp::Edit(id("a"), ModelFields { priority: Some(1), ..ModelFields::default() })],
    );
    revert(&mut pair, 2, Policy::default(), &Actor::parse("test", None)).unwrap();
    assert_eq!(pair.plan.by_id("a").unwrap().lease_until, Some(500));
}

#[test]
fn an_older_revision_is_not_taken_back_over_the_limit() {
    let mut pair = Pair::new();
    run(&mut pair, ModelRules::NATIVE, vec![add("a", &[]), add("b", &[]), ModelOp::Start(id("a"))]);
    run(&mut pair, ModelRules::NATIVE, vec![ModelOp::Done(id("a"), None, None)]);
    run(&mut pair, ModelRules::NATIVE, vec![ModelOp::Start(id("b"))]);
    let refusals = revert(&mut pair, 2, Policy::default(), &Actor::parse("test", None)).unwrap_err();
    assert_eq!(refusals[0].code(), "in_progress_limit");
}

#[test]
fn the_remarks_of_others_stay() {
    let mut pair = Pair::new();
    run(&mut pair, ModelRules::NATIVE, vec![add("a", &[])]);
    run(&mut pair, ModelRules::NATIVE, vec![ModelOp::Note(id("a"), "mine".to_owned())]);
    let refusals = revert(&mut pair, 2, Policy::default(), &Actor::parse("someone else", None)).unwrap_err();
    let stays = vec!["1 note by `test` stays".to_owned()];
    assert_eq!(refusals, [Refusal::NothingUndoable { revision: 2, stays }]);
    assert_eq!(pair.plan.by_id("a").unwrap().notes.len(), 1);
    revert(&mut pair, 2, Policy::default(), &Actor::parse("test", None)).unwrap();
    assert_eq!(pair.plan.by_id("a").unwrap().notes.len(), 0);
}
