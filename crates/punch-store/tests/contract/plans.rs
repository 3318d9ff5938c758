//! What every store promises about plans and their todos.

use punch_core::{Hold, HoldKind, Op, PlanRow, Ref};
use punch_store::{CheckpointRow, Durability, PlanId, PlanInfo, Store, StoreError, Which};

use super::submit::{add_as, done, look, must, whole};
use super::{browse, plan};

pub fn a_fresh_plan_is_empty(store: &dyn Store) {
    let id = plan(store);
    let stored = whole(store, id);
    assert_eq!((&stored.row, stored.all().count()), (&PlanRow::default(), 0));
    look(store, id, |s| {
        assert_eq!(s.ready(0, None, 10)?, []);
        assert_eq!(s.events(0, 10)?, []);
        assert_eq!(s.events_of(1)?, []);
        assert_eq!(s.find("a")?, None);
        assert_eq!(s.baseline()?.row, PlanRow::default());
        Ok(())
    });
}

pub fn plans_have_names_of_their_own(store: &dyn Store) {
    let (a, b) = (store.create_plan("a", 5).unwrap(), store.create_plan("b", 6).unwrap());
    let info = |id, name: &str, created_at, archived| PlanInfo {
        id,
        name: name.to_owned(),
        created_at,
        archived,
        revision: 0,
        pruned: 0,
    };
    assert_eq!(browse(store, |c| c.plans()), [info(a, "a", 5, None), info(b, "b", 6, None)]);
    assert_eq!(store.create_plan("a", 7).unwrap_err().code(), "store_conflict");
    let rename = |id, name: &str| store.write(id, Durability::Full, &mut |tx| tx.rename(name));
    assert_eq!(rename(b, "a").unwrap_err().code(), "store_conflict");
    rename(b, "b").unwrap();
    rename(b, "c").unwrap();
    // The name of an archived plan is free, so it cannot come back while someone has it.
    store.write(a, Durability::Full, &mut |tx| tx.archive(Some(9))).unwrap();
    rename(b, "a").unwrap();
    let back = store.write(a, Durability::Full, &mut |tx| tx.archive(None));
    assert_eq!(back.unwrap_err().code(), "store_conflict");
    assert_eq!(browse(store, |c| c.plans()), [info(a, "a", 5, Some(9)), info(b, "a", 6, None)]);
    rename(b, "d").unwrap();
    store.write(a, Durability::Full, &mut |tx| tx.archive(None)).unwrap();
    assert_eq!(browse(store, |c| c.plans()), [info(a, "a", 5, None), info(b, "d", 6, None)]);
}

pub fn plans_do_not_mix(store: &dyn Store) {
    let (a, b) = (store.create_plan("a", 0).unwrap(), store.create_plan("b", 0).unwrap());
    must(store, a, 1, &[add_as("x", &[]), add_as("y", &["x"])]);
    must(store, b, 2, &[add_as("x", &[])]);
    must(store, b, 3, &[done("x")]);
    let checkpoint = CheckpointRow { id: "c".into(), at: 1, body: "{}".into() };
    store
        .write(a, Durability::Full, &mut |tx| {
            tx.put_checkpoint(&checkpoint)?;
            tx.put_answer("key", "\"a\"", 1)
        })
        .unwrap();
    let ids = |id| look(store, id, |s| Ok(s.ready(9, None, 9)?.into_iter().map(|t| t.id.clone()).collect::<Vec<_>>()));
    assert_eq!((ids(a), ids(b)), (vec!["x".to_owned()], vec![]));
    assert_eq!(look(store, b, |s| s.checkpoints(9)), []);
    assert_eq!(look(store, b, |s| s.answer("key", 2)), None);
    assert_eq!(look(store, a, |s| Ok(s.events(0, 99)?.len())), 2);
    assert_eq!((whole(store, a).row.revision, whole(store, b).row.revision), (1, 2));
}

pub fn an_unknown_plan_is_refused(store: &dyn Store) {
    let unknown = PlanId(77);
    let called = std::cell::Cell::new(false);
    let write = store.write(unknown, Durability::Full, &mut |_| {
        called.set(true);
        Ok(())
    });
    let read = store.read(unknown, &mut |_| {
        called.set(true);
        Ok(())
    });
    let refused = StoreError::UnknownPlan { plan: unknown };
    assert_eq!((write, read, called.get()), (Err(refused.clone()), Err(refused), false));
}

pub fn ids_change_hands_in_one_write(store: &dyn Store) {
    let id = plan(store);
    must(store, id, 1, &[add_as("a", &[]), add_as("b", &[])]);
    let rename = |from: &str, to: &str| {
        let edit = punch_core::Edit { id: punch_core::Keep::Set(to.to_owned()), ..punch_core::Edit::default() };
        Op::Edit(Ref::Id(from.to_owned()), edit)
    };
    // The lower uid takes the id that the higher one gives up.
    must(store, id, 2, &[rename("b", "c"), rename("a", "b")]);
    let of = |name: &str| look(store, id, |s| Ok(s.find(name)?.map(|todo| todo.uid.0)));
    assert_eq!((of("a"), of("b"), of("c")), (None, Some(1), Some(2)));
    must(store, id, 3, &[Op::Rm(Ref::Id("c".into())), add_as("c", &["b"])]);
    assert_eq!(of("c"), Some(3));
    assert_eq!(whole(store, id).all().count(), 3);
}

pub fn held_todos_are_found_without_the_others(store: &dyn Store) {
    let id = plan(store);
    must(store, id, 1, &[add_as("a", &[]), add_as("b", &["a"]), add_as("c", &[]), add_as("d", &[])]);
    let hold = |id: &str| {
        let hold = Hold { kind: HoldKind::Human, reason: "ask".into(), until: None, by: "p".into(), at: 2 };
        Op::Hold(Ref::Id(id.into()), hold)
    };
    must(store, id, 2, &[hold("b"), hold("c")]);
    let held = look(store, id, |s| s.list(Which::Held, None, 9));
    assert_eq!(held.iter().map(|t| t.id.as_str()).collect::<Vec<_>>(), ["c"]);
}
