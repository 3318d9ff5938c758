//! What every store promises about batches, offers, files of completed todos, announced calls and facts about the clone.

use punch_core::drive::{OFFER_MS, TodoOffer};
use punch_core::{Op, Ref, Uid};
use punch_store::{
    BATCHES_KEPT, COMPLETED_FILES_KEPT, CompletedFiles, EXPECTED_CALLS_KEPT, ExpectedCall, HandOut, OFFERS_KEPT,
    PlanId, SessionKey, Store,
};

use super::live::{plans, write};
use super::submit::{add_as, done, look, must};

pub fn batches_are_kept_by_owner_and_not_for_ever(store: &dyn Store) {
    let (main, other) = plans(store);
    let batch = |owner: &str, todos: &[u64], at| HandOut {
        owner: owner.into(),
        todos: todos.iter().copied().map(Uid).collect(),
        at,
    };
    let put = |batch: &HandOut| write(store, main, |tx| tx.put_batch(batch));
    put(&batch("b", &[1, 2], 5));
    put(&batch("a", &[3], 7));
    put(&batch("b", &[4], 9));
    assert_eq!(look(store, main, |s| s.batches()), [batch("a", &[3], 7), batch("b", &[4], 9)]);
    assert_eq!(look(store, other, |s| s.batches()), []);
    write(store, main, |tx| tx.forget_batch("a"));
    assert_eq!(look(store, main, |s| s.batches()), [batch("b", &[4], 9)]);
    for n in 0..BATCHES_KEPT {
        put(&batch(&format!("s{n}"), &[9], 10));
    }
    let kept = look(store, main, |s| s.batches());
    assert!(kept.len() == BATCHES_KEPT && kept.iter().all(|batch| batch.at == 10));
}

pub fn offers_are_kept_by_owner_and_run_out(store: &dyn Store) {
    let (main, other) = plans(store);
    let offer = |owner: &str, uid, at| TodoOffer { owner: owner.into(), uid: Uid(uid), at };
    let put = |offer: &TodoOffer| write(store, main, |tx| tx.put_offer(offer));
    put(&offer("a", 1, 100));
    put(&offer("b", 2, 200));
    put(&offer("a", 3, 300));
    assert_eq!(look(store, main, |s| s.offers()), [offer("b", 2, 200), offer("a", 3, 300)]);
    assert_eq!(look(store, other, |s| s.offers()), []);
    put(&offer("c", 4, 200 + OFFER_MS));
    assert_eq!(look(store, main, |s| s.offers()), [offer("a", 3, 300), offer("c", 4, 200 + OFFER_MS)]);
    put(&offer("a", 5, 400));
    assert_eq!(look(store, main, |s| s.offers()), [offer("a", 5, 400)], "one from the future is forgotten");
    write(store, main, |tx| tx.forget_offer("a"));
    assert_eq!(look(store, main, |s| s.offers()), []);
    for n in 0..OFFERS_KEPT + 5 {
        put(&offer(&format!("s{n}\n"), 9, 500));
    }
    assert_eq!(look(store, main, |s| s.offers()).len(), OFFERS_KEPT);
}

pub fn files_of_completed_todos_are_forgotten_in_time(store: &dyn Store) {
    let (main, other) = plans(store);
    let files = |todo, at| CompletedFiles { todo: Uid(todo), at, blobs: format!("{{\"at\":{at}}}") };
    let put = |plan: PlanId, files: &CompletedFiles| write(store, plan, |tx| tx.put_completed_files(files));
    let get = |plan: PlanId, todo| look(store, plan, |s| s.completed_files(Uid(todo)));
    must(store, main, 10, &[add_as("a", &[]), add_as("b", &[]), add_as("c", &[])]);
    must(store, main, 20, &[done("a")]);
    must(store, main, 30, &[done("b"), done("c")]);
    must(store, main, 40, &[Op::Rm(Ref::Id("c".into()))]);
    for (todo, at) in [(1, 19), (1, 20), (2, 30), (3, 30)] {
        put(main, &files(todo, at));
    }
    put(other, &files(1, 5));
    assert_eq!((get(main, 1), get(main, 4)), (Some(files(1, 20)), None));
    write(store, main, |tx| tx.prune(3, &mut Vec::new()));
    assert_eq!(get(main, 1), None, "its completion is no longer in the history");
    assert_eq!(get(main, 2), Some(files(2, 30)));
    assert_eq!(get(main, 3), None, "it was removed");
    assert_eq!(get(other, 1), Some(files(1, 5)));
    write(store, other, |tx| (0..COMPLETED_FILES_KEPT).try_for_each(|n| tx.put_completed_files(&files(100 + n, 50))));
    assert_eq!((get(main, 2), get(other, 1)), (None, None));
    assert_eq!(get(other, 100), Some(files(100, 50)));
}

pub fn announced_calls_are_kept_until_they_come(store: &dyn Store) {
    let (main, other) = plans(store);
    let call = |seq, subagent: Option<&str>, id: Option<&str>, at| ExpectedCall {
        seq,
        session: SessionKey::new("s", subagent),
        plan: other,
        call: id.map(str::to_owned),
        fingerprint: "f".into(),
        at,
    };
    let all = || look(store, main, |s| s.expected_calls());
    write(store, main, |tx| {
        tx.put_expected_call(&call(0, None, Some("x"), 1))?;
        tx.put_expected_call(&call(0, Some("sub"), None, 2))
    });
    let (first, second) = (call(1, None, Some("x"), 1), call(2, Some("sub"), None, 2));
    assert_eq!(all(), [first.clone(), second.clone()]);
    write(store, other, |tx| tx.forget_expected_call(&second));
    write(store, other, |tx| tx.put_expected_call(&call(0, None, None, 3)));
    write(store, other, |tx| tx.forget_expected_call(&second));
    assert_eq!(all().len(), 2, "the number alone does not identify a call");
    for at in 10..10 + EXPECTED_CALLS_KEPT.cast_signed() {
        write(store, main, |tx| tx.put_expected_call(&call(0, None, None, at)));
    }
    assert_eq!((all().len() as u64, all()[0].at), (EXPECTED_CALLS_KEPT, 10));
}

pub fn facts_about_the_clone_are_kept(store: &dyn Store) {
    let (main, other) = plans(store);
    write(store, main, |tx| {
        tx.put_worktree_plan("/w")?;
        tx.put_worktree_plan("/v")?;
        tx.put_plan_file(Some("{}"))
    });
    write(store, other, |tx| tx.put_worktree_plan("/w"));
    look(store, other, |s| {
        assert_eq!((s.worktree_plan("/w")?, s.worktree_plan("/v")?), (Some(other), Some(main)));
        assert_eq!(s.worktree_plan("/u")?, None);
        assert_eq!((s.plan_file(main)?.as_deref(), s.plan_file(other)?), (Some("{}"), None));
        Ok(())
    });
    write(store, main, |tx| tx.put_plan_file(None));
    assert_eq!(look(store, main, |s| s.plan_file(main)), None);
}
