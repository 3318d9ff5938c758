//! What every store promises, written once and stamped into every backend. The test binaries of this crate and of other
//! backends include this folder as a module.

mod hand_out;
mod live;
pub mod ops;
pub mod random;
mod reading;
pub mod submit;

use std::any::Any;
use std::time::Duration;

use punch_core::{Event, Footprint, Hold, HoldKind, Op, Outcome, Plan, PlanRow, Policy, Ref, Uid};
use punch_store::{
    ANSWER_LIFETIME_MS, AttemptUsage, Catalogue, CheckpointRow, DECISION_LIFETIME_MS, DECISIONS_KEPT, Durability,
    LedgerEntry, PlanId, PlanInfo, SessionKey, SessionRow, Store, StoreError, StoredRun, Which,
};

use submit::{add, add_as, context, done, look, must, submit, whole};

pub use hand_out::*;
pub use live::*;
pub use reading::*;

/// A store for one test, with what must outlive it.
pub struct Place<S: ?Sized> {
    pub store: Box<S>,
    pub _keep: Option<Box<dyn Any>>,
}

/// Makes one test of each promise for a backend.
macro_rules! contract {
    ($backend:ident, $open:path) => {
        crate::contract::contract!(@tests $backend, $open,
            a_fresh_plan_is_empty,
            plans_have_names_of_their_own,
            plans_do_not_mix,
            an_unknown_plan_is_refused,
            a_body_that_fails_leaves_no_trace,
            a_body_that_panics_leaves_no_trace,
            a_transaction_reads_its_own_writes,
            what_a_transaction_closes_is_told_and_nothing_else,
            an_outcome_of_another_revision_is_a_conflict,
            ids_change_hands_in_one_write,
            events_come_in_whole_revisions,
            answers_are_kept_for_a_day,
            sessions_belong_to_the_store,
            decisions_are_kept_newest_first_and_not_for_ever,
            held_todos_are_found_without_the_others,
            checkpoints_come_newest_first,
            what_attempts_took_is_summed_by_todo_and_attempt,
            the_ledger_of_a_run_is_kept_as_it_was_written,
            runs_are_kept_by_plan_and_come_newest_first,
            pruned_events_become_the_baseline,
            an_export_that_fails_prunes_nothing,
            changes_wake_up,
            a_write_that_changes_nothing_wakes_nobody,
            a_read_sees_one_moment,
            open_todos_are_found_by_what_they_say,
            pages_are_parts_of_the_list,
            the_stamp_moves_with_every_commit_and_only_then,
            the_identity_is_random_and_stays,
            hints_about_what_a_write_reads_change_nothing,
            the_clock_of_a_store_is_the_same_everywhere,
            the_next_moment_is_the_first_end_of_a_lease_or_timer,
            activity_is_numbered_by_plan_and_comes_in_order,
            old_activity_is_forgotten_and_the_gap_is_seen,
            a_question_is_answered_once,
            racing_answers_have_one_winner,
            settled_questions_are_forgotten_and_open_ones_are_not,
            controls_say_what_is_wanted_until_it_is_to_go,
            seats_and_controls_end_with_their_run,
            readers_have_a_marker_each_and_are_not_kept_for_ever,
            one_runner_at_a_time_has_the_plan,
            a_name_of_a_worker_belongs_to_its_latest_process,
            batches_are_kept_by_owner_and_not_for_ever,
            offers_are_kept_by_owner_and_run_out,
            files_of_completed_todos_are_forgotten_in_time,
            announced_calls_are_kept_until_they_come,
            facts_about_the_clone_are_kept,
        );
    };
    (@tests $backend:ident, $open:path, $($test:ident,)*) => {
        mod $backend {
            $(#[test]
            fn $test() {
                // Without a server there is nothing to test; whoever looks for one says so.
                if let Some(place) = $open() {
                    crate::contract::$test(place.store.as_ref());
                }
            })*

            #[test]
            fn a_store_holds_what_was_put_and_slices_are_enough() {
                crate::contract::random::a_store_holds_what_was_put_and_slices_are_enough($open);
            }
        }
    };
}
pub(crate) use contract;

fn plan(store: &dyn Store) -> PlanId {
    store.create_plan("main", 1).unwrap()
}

fn browse<T>(store: &dyn Store, mut f: impl FnMut(&dyn Catalogue) -> Result<T, StoreError>) -> T {
    let mut out = None;
    store
        .browse(&mut |catalogue| {
            out = Some(f(catalogue)?);
            Ok(())
        })
        .unwrap();
    out.unwrap()
}

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

pub fn ids_change_hands_in_one_write(store: &dyn Store) {
    let id = plan(store);
    must(store, id, 1, &[add_as("a", &[]), add_as("b", &[])]);
    let rename = |from: &str, to: &str| {
        let edit = punch_core::Edit { id: punch_core::Keep::Set(to.to_owned()), ..punch_core::Edit::default() };
        punch_core::Op::Edit(Ref::Id(from.to_owned()), edit)
    };
    // The lower uid takes the id that the higher one gives up.
    must(store, id, 2, &[rename("b", "c"), rename("a", "b")]);
    let of = |name: &str| look(store, id, |s| Ok(s.find(name)?.map(|todo| todo.uid.0)));
    assert_eq!((of("a"), of("b"), of("c")), (None, Some(1), Some(2)));
    must(store, id, 3, &[punch_core::Op::Rm(Ref::Id("c".into())), add_as("c", &["b"])]);
    assert_eq!(of("c"), Some(3));
    assert_eq!(whole(store, id).all().count(), 3);
}

pub fn events_come_in_whole_revisions(store: &dyn Store) {
    let id = plan(store);
    must(store, id, 1, &[add("a"), add("b"), add("c")]);
    must(store, id, 2, &[add("d")]);
    must(store, id, 3, &[add("e"), add("f")]);
    let page = |since, limit| {
        let events = look(store, id, |s| s.events(since, limit));
        events.iter().map(|e: &Event| (e.revision, e.seq)).collect::<Vec<_>>()
    };
    assert_eq!(page(0, 1), [(1, 0), (1, 1), (1, 2)]);
    assert_eq!(page(0, 4), [(1, 0), (1, 1), (1, 2), (2, 0)]);
    assert_eq!(page(1, 2), [(2, 0), (3, 0), (3, 1)]);
    assert_eq!(page(3, 9), []);
    assert_eq!(page(u64::MAX, 9), []);
    assert_eq!(page(0, 0), []);
    let head = |limit| look(store, id, |s| s.events_head(3, limit));
    let all = look(store, id, |s| s.events_of(3));
    assert_eq!(head(0), (vec![], 2));
    assert_eq!(head(1), (all[..1].to_vec(), 2));
    assert_eq!(head(9), (all, 2));
    assert_eq!(look(store, id, |s| s.events_head(99, 9)), (vec![], 0));
    assert_eq!(look(store, id, |s| Ok(s.events_of(3)?.len())), 2);
    let mut slice = Plan::slice(whole(store, id).row);
    let asked = Footprint { revisions: [2, 9].into(), ..Footprint::default() };
    look(store, id, |s| s.load(&asked, &mut slice));
    assert_eq!(slice.events(2).map(<[Event]>::len), Some(1));
    assert_eq!(slice.events(9), Some(&[][..]), "an unknown revision is answered, so that nobody asks for ever");
}

pub fn answers_are_kept_for_a_day(store: &dyn Store) {
    let id = plan(store);
    let put = |key: &str, body: &str, now| {
        store.write(id, Durability::Full, &mut |tx| tx.put_answer(key, body, now)).unwrap();
    };
    let get = |key: &str, now| look(store, id, |s| s.answer(key, now));
    put("k", "{\"n\":1}", 1_000);
    assert_eq!(get("k", 1_000).as_deref(), Some("{\"n\":1}"));
    assert_eq!(get("k", 999 + ANSWER_LIFETIME_MS).as_deref(), Some("{\"n\":1}"));
    assert_eq!(get("k", 1_000 + ANSWER_LIFETIME_MS), None);
    put("k", "2", 2_000);
    assert_eq!(get("k", 2_000).as_deref(), Some("2"));
    put("other", "3", 2_000 + ANSWER_LIFETIME_MS);
    assert_eq!(get("k", 2_000), None, "a later answer clears old ones away");
}

pub fn sessions_belong_to_the_store(store: &dyn Store) {
    let (a, b) = (store.create_plan("a", 0).unwrap(), store.create_plan("b", 0).unwrap());
    let session = |host: &str, subagent: Option<&str>, plan, seen_at| SessionRow {
        key: SessionKey::new(host, subagent),
        plan,
        seen_at,
        body: format!("{{\"of\":\"{host}\"}}"),
    };
    let old = session("h", None, None, 1);
    let own = session("h", None, Some(a), 5);
    let sub = session("h", Some("s"), Some(b), 9);
    assert_eq!(SessionKey::new("h", Some("")), own.key, "an empty subagent is none");
    store.write(a, Durability::Relaxed, &mut |tx| tx.put_session(&old)).unwrap();
    store
        .write(b, Durability::Relaxed, &mut |tx| {
            tx.put_session(&own)?;
            tx.put_session(&sub)
        })
        .unwrap();
    browse(store, |c| {
        assert_eq!(c.session(&own.key)?, Some(own.clone()));
        assert_eq!(c.session(&SessionKey::new("h", Some("t")))?, None);
        assert_eq!(c.sessions()?, [sub.clone(), own.clone()]);
        Ok(())
    });
    assert_eq!(look(store, a, |s| s.session(&sub.key)), Some(sub));
}

pub fn decisions_are_kept_newest_first_and_not_for_ever(store: &dyn Store) {
    let id = plan(store);
    let (own, sub) = (SessionKey::new("h", None), SessionKey::new("h", Some("s")));
    let put = |key: &SessionKey, body: &str, now: i64| {
        store.write(id, Durability::Relaxed, &mut |tx| tx.put_decision(key, body, now)).unwrap();
    };
    let bodies = |key: Option<&SessionKey>, limit: usize| -> Vec<(u64, String)> {
        browse(store, |c| Ok(c.decisions(key, limit)?.into_iter().map(|d| (d.seq, d.body)).collect()))
    };
    put(&sub, "of the subagent", 5);
    for n in 1..=DECISIONS_KEPT + 3 {
        put(&own, &n.to_string(), 10 + n.cast_signed());
    }
    assert_eq!(bodies(Some(&own), 2), [(203, "203".to_owned()), (202, "202".to_owned())]);
    assert_eq!(bodies(Some(&own), 999).len() as u64, DECISIONS_KEPT);
    assert_eq!(bodies(Some(&own), 999).last(), Some(&(4, "4".to_owned())));
    assert_eq!(bodies(Some(&sub), 9), [(1, "of the subagent".to_owned())]);
    assert_eq!(bodies(None, 1), [(203, "203".to_owned())]);
    assert_eq!(bodies(None, 999).last(), Some(&(1, "of the subagent".to_owned())));
    assert_eq!(bodies(Some(&SessionKey::new("", None)), 9), []);
    put(&sub, "much later", DECISION_LIFETIME_MS + 100);
    assert_eq!(bodies(Some(&sub), 9).len(), 2, "a session that continues forgets only what is too much");
    assert_eq!(bodies(Some(&own), 999).len() as u64, DECISIONS_KEPT);
    put(&SessionKey::new("new", None), "the first", DECISION_LIFETIME_MS + 100);
    assert_eq!(bodies(Some(&sub), 9), [(2, "much later".to_owned())]);
    assert_eq!(bodies(Some(&own), 999).len(), 113, "what is older than a month is forgotten");
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

fn spent(uid: u64, attempt: u32, tokens: u64) -> LedgerEntry {
    LedgerEntry {
        uid: Uid(uid),
        attempt,
        run: None,
        agent: "a".into(),
        subagent: None,
        tokens_in: tokens,
        tokens_out: tokens / 2,
        again: 0,
        cost: None,
        ms: tokens * 2,
        turns: 1,
        estimated: false,
        at: 5,
    }
}

pub fn what_attempts_took_is_summed_by_todo_and_attempt(store: &dyn Store) {
    let (id, other) = (plan(store), store.create_plan("other", 1).unwrap());
    let most = i64::MAX as u64;
    let large = LedgerEntry { ms: u64::MAX, tokens_in: most, ..spent(3, 9, 4) };
    let guessed = LedgerEntry { estimated: true, ms: 0, ..spent(2, 1, 1_000) };
    for one in [
        guessed,
        spent(2, 1, 8),
        // What the context held already is spent, but says nothing about the todo.
        LedgerEntry { tokens_in: 900, again: 896, ms: 0, ..spent(2, 2, 2) },
        LedgerEntry { again: u64::MAX, ms: 0, ..spent(2, 2, 2) },
        spent(1, 2, 6),
        spent(1, 1, 2),
        LedgerEntry { at: 9, ..spent(1, 2, 4) },
        large.clone(),
        large,
    ] {
        store.write(id, Durability::Full, &mut |tx| tx.spend(&one)).unwrap();
    }
    let usage = |uid, attempt, tokens, ms, at| AttemptUsage { uid: Uid(uid), attempt, tokens, ms, at };
    look(store, id, |s| {
        let first = [usage(1, 1, 3, 4, 5), usage(1, 2, 15, 20, 9)];
        assert_eq!(
            s.usage(None)?,
            [first[0], first[1], usage(2, 1, 12, 16, 5), usage(2, 2, 5, 0, 5), usage(3, 9, most, most, 5)]
        );
        assert_eq!(s.usage(Some(Uid(1)))?, first);
        assert_eq!(s.usage(Some(Uid(9)))?, []);
        Ok(())
    });
    assert_eq!(look(store, other, |s| s.usage(None)), []);
}

pub fn the_ledger_of_a_run_is_kept_as_it_was_written(store: &dyn Store) {
    let (id, other) = (plan(store), store.create_plan("other", 1).unwrap());
    let whole = LedgerEntry {
        run: Some(1),
        agent: "claude".into(),
        subagent: Some("explore".into()),
        cost: Some(180_744),
        turns: 6,
        again: 90,
        estimated: true,
        ..spent(4, 2, 100)
    };
    for (plan, one) in [
        (id, whole.clone()),
        (id, LedgerEntry { run: Some(2), ..whole.clone() }),
        (id, LedgerEntry { at: 1, run: Some(1), ..spent(3, 1, 1) }),
        (id, spent(3, 1, 2)),
        (other, LedgerEntry { run: Some(1), ..spent(9, 9, 9) }),
    ] {
        store.write(plan, Durability::Full, &mut |tx| tx.spend(&one)).unwrap();
    }
    let after = LedgerEntry { at: 1, run: Some(1), ..spent(3, 1, 1) };
    assert_eq!(look(store, id, |s| s.spent_on(Uid(3))), [after.clone(), spent(3, 1, 2)], "in and outside of runs");
    assert_eq!(look(store, id, |s| s.spent_on(Uid(9))), [], "of another plan");
    assert_eq!(look(store, id, |s| s.ledger(1)), [whole, after], "in the order of writing");
    assert_eq!(look(store, id, |s| s.ledger(3)), []);
}

pub fn runs_are_kept_by_plan_and_come_newest_first(store: &dyn Store) {
    let (id, other) = (plan(store), store.create_plan("other", 1).unwrap());
    let run =
        |id, ended_at| StoredRun { id, started_at: 100 - i64::try_from(id).unwrap(), ended_at, body: "{}".into() };
    for one in [run(1, None), run(2, None), run(1, Some(7)), run(10, None)] {
        store.write(id, Durability::Full, &mut |tx| tx.put_run(&one)).unwrap();
    }
    look(store, id, |s| {
        assert_eq!(s.runs(9)?, [run(10, None), run(2, None), run(1, Some(7))]);
        assert_eq!(s.runs(1)?, [run(10, None)]);
        assert_eq!((s.run(1)?, s.run(3)?), (Some(run(1, Some(7))), None));
        Ok(())
    });
    assert_eq!(look(store, other, |s| s.runs(9)), []);
}

pub fn checkpoints_come_newest_first(store: &dyn Store) {
    let id = plan(store);
    let checkpoint = |id: &str, at| CheckpointRow { id: id.into(), at, body: format!("{at}") };
    for (name, at) in [("a", 5), ("b", 9), ("c", 7), ("a", 8)] {
        store.write(id, Durability::Full, &mut |tx| tx.put_checkpoint(&checkpoint(name, at))).unwrap();
    }
    look(store, id, |s| {
        assert_eq!(s.checkpoints(9)?, [checkpoint("b", 9), checkpoint("a", 8), checkpoint("c", 7)]);
        assert_eq!(s.checkpoints(1)?, [checkpoint("b", 9)]);
        assert_eq!(s.checkpoint("c")?, Some(checkpoint("c", 7)));
        assert_eq!(s.checkpoint("d")?, None);
        Ok(())
    });
    store.write(id, Durability::Full, &mut |tx| ["b", "d"].iter().try_for_each(|id| tx.forget_checkpoint(id))).unwrap();
    assert_eq!(look(store, id, |s| s.checkpoints(9)), [checkpoint("a", 8), checkpoint("c", 7)]);
}

fn refold(store: &dyn Store, id: PlanId) -> Plan {
    let (mut plan, events) = look(store, id, |s| Ok((s.baseline()?, s.events(0, usize::MAX)?)));
    for event in &events {
        punch_core::apply::fold(&mut plan, event);
    }
    punch_core::apply::derive(&mut plan);
    plan
}

pub fn pruned_events_become_the_baseline(store: &dyn Store) {
    let id = plan(store);
    must(store, id, 1, &[add_as("a", &[]), add_as("b", &["a"]), add_as("c", &["b"])]);
    must(store, id, 2, &[done("a")]);
    must(store, id, 3, &[punch_core::Op::Note(Ref::Id("b".into()), "x".into())]);
    must(store, id, 4, &[done("b"), add_as("d", &["c"])]);
    let before = look(store, id, |s| s.events(0, 99));
    let (old, rest): (Vec<Event>, Vec<Event>) = before.into_iter().partition(|event| event.revision < 3);
    let todos = |plan: &Plan| plan.all().cloned().collect::<Vec<_>>();
    let stored = todos(&whole(store, id));
    let mut exported = Vec::new();
    let prune = |before: u64, to: &mut Vec<u8>| {
        let mut count = 0;
        store
            .write(id, Durability::Full, &mut |tx| {
                count = tx.prune(before, to)?;
                Ok(())
            })
            .unwrap();
        count
    };
    assert_eq!(prune(3, &mut exported), old.len() as u64);
    let lines: Vec<Event> =
        exported.split(|b| *b == b'\n').filter(|l| !l.is_empty()).map(|l| serde_json::from_slice(l).unwrap()).collect();
    assert_eq!(lines, old);
    assert_eq!(look(store, id, |s| s.events(0, 99)), rest);
    assert_eq!(look(store, id, |s| s.events_of(1)), []);
    assert_eq!(look(store, id, |s| Ok((s.info()?.revision, s.info()?.pruned))), (4, 2));
    assert_eq!(todos(&refold(store, id)), stored);
    assert_eq!(prune(3, &mut Vec::new()), 0);
    assert_eq!(prune(u64::MAX, &mut Vec::new()), rest.len() as u64);
    assert_eq!(look(store, id, |s| s.events(0, 99)), []);
    assert_eq!(todos(&refold(store, id)), stored);
    must(store, id, 5, &[done("c")]);
    assert_eq!(todos(&refold(store, id)), todos(&whole(store, id)));
}

pub fn an_export_that_fails_prunes_nothing(store: &dyn Store) {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let id = plan(store);
    must(store, id, 1, &[add("a")]);
    let failed = store.write(id, Durability::Full, &mut |tx| tx.prune(9, &mut Full).map(|_| ())).unwrap_err();
    assert_eq!(failed.code(), "store_failed");
    assert_eq!(look(store, id, |s| Ok((s.events(0, 9)?.len(), s.info()?.pruned))), (1, 0));
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
    let nothing = must(store, id, 2, &[punch_core::Op::Reopen(Ref::Id("a".into()))]);
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
                assert_eq!(
                    (s.events(0, 99)?.len() as u64, s.list(punch_store::Which::Live, None, 9)?.len()),
                    (before, 1)
                );
                Ok(())
            })
            .unwrap();
    });
    assert_eq!(whole(store, id).row.revision, 2);
}
