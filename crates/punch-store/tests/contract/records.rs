//! What every store promises about answers, sessions, decisions, the ledger, runs and checkpoints.

use punch_core::Uid;
use punch_store::{
    ANSWER_LIFETIME_MS, AttemptUsage, CheckpointRow, DECISION_LIFETIME_MS, DECISIONS_KEPT, Durability, LedgerEntry,
    SESSION_LIFETIME_MS, SessionKey, SessionRow, Store, StoredRun,
};

use super::submit::look;
use super::{browse, plan};

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
        assert_eq!(c.sessions(None, i64::MIN, usize::MAX)?, [sub.clone(), own.clone()]);
        assert_eq!(c.sessions(None, 0, 1)?, std::slice::from_ref(&sub), "the most recent ones");
        assert_eq!(c.sessions(Some(a), 0, 9)?, std::slice::from_ref(&own), "of one plan");
        assert_eq!(c.sessions(None, 5, 9)?, std::slice::from_ref(&sub), "seen after that time");
        assert_eq!(c.sessions(Some(a), 5, 9)?, []);
        assert_eq!(c.sessions(None, 0, 0)?, []);
        Ok(())
    });
    assert_eq!(look(store, a, |s| s.session(&sub.key)), Some(sub));
}

pub fn sessions_that_were_not_seen_for_long_are_forgotten(store: &dyn Store) {
    let id = plan(store);
    let put = |host: &str, seen_at: i64| {
        let session = SessionRow { key: SessionKey::new(host, None), plan: Some(id), seen_at, body: "{}".into() };
        store.write(id, Durability::Relaxed, &mut |tx| tx.put_session(&session)).unwrap();
    };
    let known = || -> Vec<String> {
        let name = |session: SessionRow| session.key.session_id().to_owned();
        browse(store, |c| Ok(c.sessions(None, i64::MIN, usize::MAX)?.into_iter().map(name).collect()))
    };
    put("old", 5);
    put("returns", 5);
    put("young", 6);
    put("returns", SESSION_LIFETIME_MS + 5);
    assert_eq!(known(), ["returns", "young", "old"], "a session that is known forgets nothing");
    put("new", SESSION_LIFETIME_MS + 5);
    assert_eq!(known(), ["new", "returns", "young"]);
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
