//! What every store promises about transactions: whole or not at all, one moment, and who hears of them.

use std::time::Duration;

use punch_core::{Event, Footprint, Op, Outcome, Plan, Policy, Ref, Uid};
use punch_store::{Durability, SessionKey, SessionRow, Store, StoreError, Which};

use super::plan;
use super::submit::{add, add_as, context, done, look, must, submit, whole};

pub fn a_body_that_fails_leaves_no_trace(store: &dyn Store) {
    let id = plan(store);
    must(store, id, 1, &[add_as("a", &[])]);
    let before = whole(store, id);
    let outcome = punch_core::apply(&before, &[add_as("b", &["a"])], &context(2, None, Policy::default())).unwrap();
    let session = SessionRow { key: SessionKey::new("s", None), plan: Some(id), seen_at: 1, body: "{}".into() };
    let failed = store.write(id, Durability::Full, &mut |tx| {
        tx.put(&outcome)?;
        tx.put_answer("key", "1", 2)?;
        tx.put_session(&session)?;
        tx.put_plan_file(Some("a"))?;
        tx.rename("other")?;
        Err(StoreError::Abort)
    });
    assert_eq!(failed, Err(StoreError::Abort));
    assert_eq!(whole(store, id), before);
    look(store, id, |s| {
        assert_eq!(s.events(1, 9)?, []);
        assert_eq!(s.answer("key", 2)?, None);
        assert_eq!(s.session(&session.key)?, None);
        assert_eq!(s.plan_file(id)?, None);
        assert_eq!(s.info()?.name, "main");
        Ok(())
    });
    must(store, id, 3, &[add_as("b", &["a"])]);
}

pub fn a_body_that_panics_leaves_no_trace(store: &dyn Store) {
    let id = plan(store);
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        store.write(id, Durability::Full, &mut |tx| {
            tx.put_plan_file(Some("a"))?;
            std::panic::resume_unwind(Box::new("on purpose"))
        })
    }));
    assert!(panicked.is_err());
    assert_eq!(look(store, id, |s| s.plan_file(id)), None);
    must(store, id, 1, &[add("a")]);
}

pub fn a_transaction_reads_its_own_writes(store: &dyn Store) {
    let id = plan(store);
    let ctx = context(1, None, Policy::default());
    store
        .write(id, Durability::Full, &mut |tx| {
            for (ops, revision) in [([add_as("a", &[])], 1), ([add_as("b", &["a"])], 2)] {
                let mut now = Plan::slice(tx.row()?);
                tx.load(&Footprint::everything(), &mut now)?;
                tx.put(&punch_core::apply(&now, &ops, &ctx).unwrap())?;
                assert_eq!(tx.row()?.revision, revision);
                assert_eq!(tx.events_of(revision)?.len(), 1);
            }
            assert_eq!(tx.find("b")?.unwrap().derived.unmet, 1);
            tx.put_answer("key", "1", 5)?;
            assert_eq!(tx.answer("key", 5)?.as_deref(), Some("1"));
            Ok(())
        })
        .unwrap();
    assert_eq!(whole(store, id).row.revision, 2);
}

pub fn what_a_transaction_closes_is_told_and_nothing_else(store: &dyn Store) {
    let id = plan(store);
    must(store, id, 1, &[add_as("a", &[]), add_as("b", &[]), add_as("c", &[])]);
    let closing = |ops: &[Op]| {
        let mut told = Vec::new();
        store
            .write(id, Durability::Full, &mut |tx| {
                for op in ops {
                    let mut part = Plan::slice(tx.row()?);
                    tx.load(&Footprint::everything(), &mut part)?;
                    let outcome =
                        punch_core::apply(&part, std::slice::from_ref(op), &context(9, None, Policy::default()));
                    tx.put(&outcome.unwrap())?;
                }
                told = tx.closing().iter().filter_map(Event::closes).collect();
                Ok(())
            })
            .unwrap();
        told
    };
    let named = |id: &str| Ref::Id(id.into());
    assert_eq!(closing(&[add_as("d", &[]), Op::Start(named("a"))]), []);
    assert_eq!(closing(&[done("a"), Op::Drop(named("b"))]), [Uid(1), Uid(2)]);
    assert_eq!(closing(&[Op::Rm(named("c"))]), [Uid(3)]);
    assert_eq!(closing(&[Op::Reopen(named("a"))]), []);
}

pub fn an_outcome_of_another_revision_is_a_conflict(store: &dyn Store) {
    let id = plan(store);
    let stale = whole(store, id);
    let outcome = punch_core::apply(&stale, &[add("a")], &context(1, None, Policy::default())).unwrap();
    must(store, id, 1, &[add("b")]);
    let refused = store.write(id, Durability::Full, &mut |tx| tx.put(&outcome)).unwrap_err();
    assert_eq!(refused.code(), "store_conflict");
    let unchanged = Outcome { plan: stale.row.clone(), ..Outcome::default() };
    let refused = store.write(id, Durability::Full, &mut |tx| tx.put(&unchanged)).unwrap_err();
    assert_eq!(refused.code(), "store_conflict");
}

pub fn changes_wake_up(store: &dyn Store) {
    let id = plan(store);
    let mut changes = store.changes();
    assert!(!changes.wait(Duration::ZERO).unwrap(), "nothing was committed since");
    must(store, id, 1, &[add("a")]);
    assert!(changes.wait(Duration::ZERO).unwrap());
    assert!(!changes.wait(Duration::from_millis(60)).unwrap(), "one commit wakes once");
    std::thread::scope(|scope| {
        let mut other = store.changes();
        let waiting = scope.spawn(move || other.wait(Duration::from_secs(20)).unwrap());
        must(store, id, 2, &[add("b")]);
        assert!(waiting.join().unwrap());
    });
    assert!(changes.wait(Duration::from_secs(20)).unwrap());
}

pub fn a_write_that_changes_nothing_wakes_nobody(store: &dyn Store) {
    let id = plan(store);
    must(store, id, 1, &[add_as("a", &[])]);
    let mut changes = store.changes();
    let nothing = must(store, id, 2, &[Op::Reopen(Ref::Id("a".into()))]);
    assert_eq!((nothing.events.len(), nothing.rows.len()), (0, 0));
    submit(store, id, Durability::Full, &[done("b")], &context(3, None, Policy::default())).unwrap().unwrap_err();
    assert!(!changes.wait(Duration::from_millis(60)).unwrap());
}

pub fn a_read_sees_one_moment(store: &dyn Store) {
    let id = plan(store);
    must(store, id, 1, &[add("a")]);
    std::thread::scope(|scope| {
        store
            .read(id, &mut |s| {
                let before = s.row()?.revision;
                scope.spawn(|| must(store, id, 2, &[add("b")])).join().unwrap();
                assert_eq!((s.events(0, 99)?.len() as u64, s.list(Which::Live, None, 9)?.len()), (before, 1));
                Ok(())
            })
            .unwrap();
    });
    assert_eq!(whole(store, id).row.revision, 2);
}
