//! Whatever is written and however much time passes: the rows that are looked at are all that changed.

use proptest::prelude::*;
use punch_core::reason::PlanReader;
use punch_core::view::BoardDigests;
use punch_core::{Todo, Uid};
use punch_testkit::batches::{batch, sequences};

use crate::pair::Pair;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn looking_around_what_changed_finds_every_row_that_changed(writes in sequences(24)) {
        let mut pair = Pair::new();
        let (mut around, mut policy) = (BoardDigests::default(), pair.plan.row.policy);
        for bytes in &writes {
            let before = pair.plan.clone();
            pair.run(&batch(bytes, &pair.model)).map_err(TestCaseError::fail)?.ok();
            let (plan, now) = (&pair.plan, pair.model.now);
            let reader = PlanReader::new(plan, now);
            let changed = |todo: &&Todo| before.get(todo.uid) != Some(todo);
            let changed: Vec<Uid> = plan.all().filter(changed).map(|todo| todo.uid).collect();
            // Another policy changes what counts as met: callers look at every row then.
            let found = match plan.row.policy == policy {
                true => around.refresh(reader, changed.iter().map(|uid| (*uid, before.get(*uid)))),
                false => around.refresh_all(reader),
            };
            policy = plan.row.policy;
            let mut all = BoardDigests::default();
            all.refresh_all(reader);
            prop_assert_eq!(&around, &all);
            let again = around.refresh_all(reader);
            prop_assert!(again.changed.is_empty() && again.gone.is_empty(), "after {found:?}: {again:?}");
        }
    }
}
