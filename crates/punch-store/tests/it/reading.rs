//! Promises of every store about finding todos and knowing when to look again.

use punch_core::{Hold, HoldKind, Op, Policy, Ref, Todo};
use punch_store::{Durability, Store, Which};

use crate::submit::{add, context, done, look, must, say, saying, submit, whole};

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
    let before = store.stamp().unwrap();
    assert!(before.is_some());
    whole(store, id);
    assert_eq!(store.stamp().unwrap(), before);
    must(store, id, 1, &[add("a")]);
    let after = store.stamp().unwrap();
    assert_ne!(after, before);
    assert_eq!(store.stamp().unwrap(), after);
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
}
