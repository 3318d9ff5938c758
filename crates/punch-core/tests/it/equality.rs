//! The engine equals the naive model after any writes, in any mix of rules (invariants 1 to 9, 11, 15, 19).

use proptest::prelude::*;
use punch_testkit::batches::sequences;

use crate::pair::Pair;

fn explain(n: usize, what: &str) -> TestCaseError {
    TestCaseError::fail(format!("write {n}: {what}"))
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_engine_does_what_the_naive_model_does(batches in sequences(14)) {
        let mut pair = Pair::new();
        for (n, batch) in batches.iter().enumerate() {
            let _ = pair.run(batch).map_err(|what| explain(n, &what))?;
        }
        pair.fold_again().map_err(|what| explain(batches.len(), &what))?;
    }
}
