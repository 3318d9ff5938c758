//! The engine equals the naive model after any writes, in any mix of rules (invariants 1 to 9, 11, 15, 19).

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use punch_core::{Actor, Add, Context, Edit, Keep, Op, Plan, Policy, Ref, Status, Uid};
use punch_testkit::ask::{ModelBatch, ModelOp};
use punch_testkit::batches::{batch, sequences};
use punch_testkit::rules::ModelRules;

use crate::bridge::submit;
use crate::pair::{Pair, rederived, running};

fn explain(n: usize, batch: &ModelBatch, what: &str) -> TestCaseError {
    TestCaseError::fail(format!("write {n}: {what}\n{batch:#?}"))
}

/// Would the plan with the edges that the edits add have a circle? Peels off what waits for nothing.
fn cyclic(plan: &Plan, ops: &[Op]) -> bool {
    let mut edges: Vec<(Uid, Uid)> =
        plan.live().iter().flat_map(|t| t.depends_on.iter().filter_map(|dep| Some((t.uid, dep.target()?)))).collect();
    for op in ops {
        let Op::Edit(Ref::Uid(uid), edit) = op else { continue };
        if edit.depends_on != Keep::Keep {
            edges.retain(|(from, _)| from != uid);
        }
        edges.extend(edit.blocks.iter().filter_map(|r| if let Ref::Uid(to) = r { Some((*to, *uid)) } else { None }));
    }
    loop {
        let waits = |uid: &Uid, edges: &[(Uid, Uid)]| edges.iter().any(|(from, _)| from == uid);
        let left: Vec<(Uid, Uid)> = edges.iter().copied().filter(|(_, to)| waits(to, &edges)).collect();
        if left.len() == edges.len() {
            return !edges.is_empty();
        }
        edges = left;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_engine_does_what_the_naive_model_does(choices in sequences(20)) {
        let mut pair = Pair::new();
        for (n, bytes) in choices.iter().enumerate() {
            let batch = batch(bytes, &pair.model);
            let _ = pair.run(&batch).map_err(|what| explain(n, &batch, &what))?;
        }
        pair.fold_again().map_err(TestCaseError::fail)?;
    }

    #[test]
    fn a_strict_plan_starts_only_what_waits_for_nothing_and_one_per_owner(choices in sequences(30)) {
        let mut pair = Pair::new();
        for bytes in &choices {
            let mut batch = batch(bytes, &pair.model);
            batch.rules = ModelRules::NATIVE;
            batch.asks.retain(|ask| !matches!(ask, ModelOp::Rules(_)));
            batch.asks.truncate(1);
            let before = pair.plan.clone();
            let _ = pair.run(&batch).map_err(|what| explain(0, &batch, &what))?;
            let now = pair.model.now;
            for todo in pair.plan.live().into_iter().filter(|t| t.status == Status::InProgress) {
                let begun = before.get(todo.uid).is_none_or(|old| old.status != Status::InProgress);
                prop_assert!(!begun || todo.derived.unmet == 0, "{:?}", todo);
            }
            for owner in [None, Some("ann"), Some("bob")] {
                prop_assert!(running(&pair.plan, owner, now) <= 1);
            }
        }
    }

    #[test]
    fn rows_count_and_levels_are_right_in_larger_graphs(edges in vec((0..60_u64, 0..60_u64), 1..200), size in 4..70_usize) {
        let mut plan = Plan::new();
        let ctx = Context::new(1, Actor::parse("test", None), Policy::default());
        let adds: Vec<Op> = (0..60).map(|n| Op::Add(Add { id: Some(format!("n{n}")), ..Add::default() })).collect();
        let outcome = submit(&plan, &adds, &ctx).unwrap();
        plan.commit(&outcome);
        for (n, batch) in edges.chunks(size).enumerate() {
            // Mostly downwards, so that most batches are accepted; some close circles and are refused.
            let edge = |(a, b): &(u64, u64)| {
                let (low, high) = if n % 5 == 4 { (*a, *b) } else { ((*a).min(*b), (*a).max(*b)) };
                let edit = Edit { blocks: vec![Ref::Uid(Uid(high + 1))], priority: Keep::Set((a % 5) as u8 + 1), ..Edit::default() };
                (low != high).then(|| Op::Edit(Ref::Uid(Uid(low + 1)), edit))
            };
            let mut ops: Vec<Op> = batch.iter().filter_map(edge).collect();
            let (rm, cut) = (batch[0].0, batch[0].1);
            if n % 4 == 3 {
                ops = vec![Op::Edit(Ref::Uid(Uid(cut + 1)), Edit { depends_on: Keep::Set(Vec::new()), ..Edit::default() })];
                ops.push(if plan.get(Uid(rm + 1)).is_some_and(|t| t.status.is_open()) { Op::Drop(Ref::Uid(Uid(rm + 1))) } else { Op::Reopen(Ref::Uid(Uid(rm + 1))) });
            }
            let before = plan.clone();
            match submit(&plan, &ops, &ctx) {
                Ok(outcome) => {
                    prop_assert!(!cyclic(&plan, &ops));
                    plan.commit(&outcome);
                }
                Err(refusals) => {
                    prop_assert_eq!(refusals[0].code(), "cycle");
                    prop_assert!(cyclic(&plan, &ops));
                }
            }
            prop_assert!(plan != before || ops.is_empty() || plan.row.revision == before.row.revision);
            rederived(&plan).map_err(TestCaseError::fail)?;
        }
    }
}

/// Arbitrary writes are worth little if nearly all of them are refused.
#[test]
fn most_arbitrary_writes_are_accepted_and_every_refusal_occurs() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut codes = std::collections::BTreeMap::new();
    for _ in 0..800 {
        let choices = sequences(20).new_tree(&mut runner).unwrap().current();
        let mut pair = Pair::new();
        for bytes in choices {
            let batch = batch(&bytes, &pair.model);
            let done = pair.run(&batch).unwrap_or_else(|what| panic!("{what}\n{batch:#?}"));
            let code = done.map_or_else(|refusals| refusals[0].code(), |_| "accepted");
            *codes.entry(code).or_insert(0) += 1;
        }
    }
    let total: i32 = codes.values().sum();
    assert!(codes["accepted"] * 2 > total, "{codes:?}");
    for code in [
        "cycle",
        "duplicate_id",
        "in_progress_limit",
        "invalid",
        "leased",
        "needs_verification",
        "not_ready",
        "removed_in_batch",
        "needs_evidence",
        "stale_fence",
        "transition",
        "unknown_dependency",
        "unknown_todo",
    ] {
        assert!(codes.contains_key(code), "{code} never occurred: {codes:?}");
    }
}
