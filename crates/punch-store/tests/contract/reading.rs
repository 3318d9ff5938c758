//! Promises of every store about finding todos and knowing when to look again.

use punch_core::{Footprint, Hold, HoldKind, Op, Plan, Policy, Ref, Todo, Uid};
use punch_store::{Ahead, Durability, MemoryStore, PlanId, SessionKey, SessionRow, Store, StoreError, Which};

use super::submit::{add, add_as, context, done, look, must, say, saying, submit, whole};

pub fn open_todos_are_found_by_what_they_say(store: &dyn Store) {
    let id = store.create_plan("main", 1).unwrap();
    must(store, id, 1, &[add("say \"x\""), add("same"), add("same"), add("ü\n[x]")]);
    must(store, id, 2, &[done("T-2")]);
    let found = |contents: &[&str]| saying(store, id, contents);
    assert_eq!(found(&[]), [""; 0]);
    assert_eq!(found(&["say \"x\"", "nothing"]), ["T-1"]);
    assert_eq!(found(&["same"]), ["T-3"], "what is done is not open");
    assert_eq!(found(&["ü\n[x]", "same", "SAME"]), ["T-3", "T-4"]);
    must(store, id, 3, &[say("T-4", "same"), say("T-3", "other"), Op::Reopen(Ref::Id("T-2".into()))]);
    assert_eq!(found(&["same"]), ["T-2", "T-4"], "what it says now counts");
    assert_eq!(found(&["ü\n[x]"]), [""; 0]);
    // Two of a number that an index may use.
    must(store, id, 4, &[add("costarring"), add("liquid")]);
    assert_eq!(found(&["liquid"]), ["T-6"]);
    assert_eq!(found(&["liquid", "costarring"]), ["T-5", "T-6"]);
}

pub fn pages_are_parts_of_the_list(store: &dyn Store) {
    let id = store.create_plan("main", 1).unwrap();
    must(store, id, 1, &[add("a"), add("b"), add("c"), add("d")]);
    must(store, id, 2, &[done("T-2")]);
    for which in [Which::Live, Which::Open, Which::Running] {
        let listed = look(store, id, |s| s.list(which, None, 10));
        for skip in 0..6 {
            for limit in 0..4 {
                let page = look(store, id, |s| s.page(which, skip, limit));
                let part: Vec<Todo> = listed.iter().skip(skip).take(limit).cloned().collect();
                assert_eq!(page, part, "{which:?} {skip} {limit}");
            }
        }
    }
}

pub fn the_stamp_moves_with_every_commit_and_only_then(store: &dyn Store) {
    let id = store.create_plan("main", 1).unwrap();
    let stamps = || (store.stamp(None).unwrap(), store.stamp(Some(id)).unwrap());
    let before = stamps();
    assert!(before.0.is_some() && before.1.is_some());
    whole(store, id);
    assert_eq!(stamps(), before);
    must(store, id, 1, &[add("a")]);
    let after = stamps();
    assert!(after.0 != before.0 && after.1 != before.1);
    assert_eq!(stamps(), after);
    // A session belongs to no plan, but the write that stores it does.
    let session = SessionRow { key: SessionKey::new("s", None), plan: Some(id), seen_at: 1, body: "{}".into() };
    store.write(id, Durability::Relaxed, &mut |tx| tx.put_session(&session)).unwrap();
    let last = stamps();
    assert!(last.0 != after.0 && last.1 != after.1);
    let other = store.create_plan("other", 2).unwrap();
    must(store, other, 3, &[add("b")]);
    assert_ne!(store.stamp(None).unwrap(), last.0);
}

pub fn the_identity_is_random_and_stays(store: &dyn Store) {
    let identity = store.identity().unwrap();
    assert!(identity.len() >= 16, "{identity}");
    store.create_plan("main", 1).unwrap();
    assert_eq!(store.identity().unwrap(), identity);
    assert_ne!(MemoryStore::new().identity().unwrap(), identity);
}

/// What a write says it is about to read changes nothing but its speed: right, wrong and empty hints lead to the same plan.
pub fn hints_about_what_a_write_reads_change_nothing(store: &dyn Store) {
    let id = store.create_plan("main", 1).unwrap();
    must(store, id, 1, &[add_as("a", &[]), add_as("b", &["a"])]);
    let right = Footprint { ids: ["a".to_owned()].into(), ..Footprint::default() };
    let wrong = Footprint { ids: ["nobody".to_owned()].into(), todos: [Uid(77)].into(), ..Footprint::default() };
    for (n, ahead) in [Ahead::default(), Ahead::load(&right), Ahead::load(&wrong)].into_iter().enumerate() {
        store
            .write_ahead(id, Durability::Full, ahead, &mut |tx| {
                let mut part = Plan::slice(tx.row()?);
                tx.load(&right, &mut part)?;
                assert_eq!(part.find_id("a"), Ok(Some(Uid(1))), "{n}");
                assert_eq!(part.all().count(), 1);
                tx.load(&Footprint { dependents: [Uid(1)].into(), ..Footprint::default() }, &mut part)?;
                assert!(part.dependents_of(Uid(1)).unwrap().contains(&Uid(2)));
                let op = [add_as(&format!("new-{n}"), &["a"])];
                let mut whole = Plan::slice(tx.row()?);
                tx.load(&Footprint::everything(), &mut whole)?;
                tx.put(&punch_core::apply(&whole, &op, &context(2, None, Policy::default())).unwrap())?;
                assert!(tx.find(&format!("new-{n}"))?.is_some());
                let mut again = Plan::slice(tx.row()?);
                tx.load(&right, &mut again)?;
                assert_eq!(again.find_id("a"), Ok(Some(Uid(1))));
                Ok(())
            })
            .unwrap();
    }
    let refused = store.write_ahead(PlanId(77), Durability::Full, Ahead::load(&right), &mut |_| Ok(()));
    assert_eq!(refused, Err(StoreError::UnknownPlan { plan: PlanId(77) }));
}

/// A store either leaves the time to its callers everywhere, or gives it everywhere and never goes back.
pub fn the_clock_of_a_store_is_the_same_everywhere(store: &dyn Store) {
    let id = store.create_plan("main", 1).unwrap();
    let in_read = || look(store, id, |s| Ok(s.now()));
    let in_write = || {
        let mut now = None;
        store
            .write(id, Durability::Full, &mut |tx| {
                now = tx.now();
                Ok(())
            })
            .unwrap();
        now
    };
    let times = [store.now(), in_read(), in_write(), in_read(), in_write(), store.now()];
    match times[0] {
        None => assert_eq!(times, [None; 6]),
        Some(_) => assert!(times.windows(2).all(|pair| pair[0].is_some() && pair[0] <= pair[1]), "{times:?}"),
    }
}

pub fn the_next_moment_is_the_first_end_of_a_lease_or_timer(store: &dyn Store) {
    let id = store.create_plan("main", 1).unwrap();
    must(store, id, 1, &[add("a"), add("b"), add("c")]);
    let next = |now: i64| look(store, id, |s| s.next_moment(now));
    assert_eq!(next(1), None);
    let hold = Hold { kind: HoldKind::Timer, reason: "wait".into(), until: Some(300), by: "x".into(), at: 2 };
    let ops = [Op::Claim(Ref::Id("T-1".into()), 500), Op::Hold(Ref::Id("T-2".into()), hold)];
    submit(store, id, Durability::Full, &ops, &context(2, Some("o"), Policy::default())).unwrap().unwrap();
    assert_eq!((next(2), next(300), next(500)), (Some(300), Some(500), None));
    let ended = |after: i64, until: i64, limit: usize| {
        let todos = look(store, id, |s| s.ended(after, until, limit));
        todos.into_iter().map(|todo| todo.id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(ended(2, 500, 9), ["T-2", "T-1"]);
    assert_eq!(
        (ended(2, 499, 9), ended(300, 500, 9), ended(2, 500, 1)),
        (vec!["T-2".into()], vec!["T-1".into()], vec!["T-2".into()])
    );
    assert!(ended(2, 299, 9).is_empty() && ended(500, 900, 9).is_empty() && ended(500, 2, 9).is_empty());
}
