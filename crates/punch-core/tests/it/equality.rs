//! The engine equals the naive model after any writes, in any mix of rules (invariants 1 to 9, 11, 15, 19).

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use punch_testkit::ask::Batch;
use punch_testkit::batches::{batch, sequences};

use crate::pair::Pair;

fn explain(n: usize, batch: &Batch, what: &str) -> TestCaseError {
    TestCaseError::fail(format!("write {n}: {what}\n{batch:#?}"))
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
}

/// Arbitrary writes are worth little if nearly all of them are refused.
#[test]
fn most_arbitrary_writes_are_accepted_and_every_refusal_occurs() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut codes = std::collections::BTreeMap::new();
    for _ in 0..400 {
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
        "stale_fence",
        "transition",
        "unknown_dependency",
        "unknown_todo",
    ] {
        assert!(codes.contains_key(code), "{code} never occurred: {codes:?}");
    }
}
