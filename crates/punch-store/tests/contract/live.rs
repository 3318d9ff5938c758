//! What every store promises about activity, questions, controls, seats, readers and runners.

use punch_core::Uid;
use punch_store::{
    ACTIVITY_KEPT, ACTIVITY_LIFETIME_MS, Activity, ActivitySpan, ControlRecord, ControlScope, Durability, PlanId,
    QUESTIONS_KEPT, Question, QuestionAnswer, QuestionFilter, QuestionOutcome, QuestionState, READERS_KEPT, ReadMarker,
    RequestedState, RunGrant, RunLease, SeatRecord, Store, StoreError, StoredRun, Tx, WORKER_LIFETIME_MS, WorkerRecord,
};

use super::submit::look;

pub fn plans(store: &dyn Store) -> (PlanId, PlanId) {
    (store.create_plan("main", 1).unwrap(), store.create_plan("other", 1).unwrap())
}

pub fn write<T>(store: &dyn Store, plan: PlanId, mut body: impl FnMut(&mut dyn Tx) -> Result<T, StoreError>) -> T {
    let mut out = None;
    store
        .write(plan, Durability::Relaxed, &mut |tx| {
            out = Some(body(tx)?);
            Ok(())
        })
        .unwrap();
    out.unwrap()
}

fn activity(at: i64, kind: &str) -> Activity {
    Activity { seq: 0, at, kind: kind.into(), source: None, todo: None, body: "{}".into() }
}

pub fn activity_is_numbered_by_plan_and_comes_in_order(store: &dyn Store) {
    let (main, other) = plans(store);
    assert_eq!(look(store, main, |s| s.activity_span()), ActivitySpan::default());
    let full = Activity {
        source: Some("seat 2".into()),
        todo: Some(Uid(7)),
        body: "{\"line\":\"d\\u0000\"}".into(),
        ..activity(5, "seat")
    };
    let put = |plan, activity: &Activity| write(store, plan, |tx| tx.put_activity(activity));
    assert_eq!((put(main, &full), put(main, &activity(3, "b")), put(other, &activity(9, "c"))), (1, 2, 1));
    let numbered = [Activity { seq: 1, ..full }, Activity { seq: 2, ..activity(3, "b") }];
    assert_eq!(look(store, main, |s| s.activity(0, 9)), numbered);
    assert_eq!(look(store, main, |s| s.activity(0, 1)), numbered[..1]);
    assert_eq!(look(store, main, |s| s.activity(1, 9)), numbered[1..]);
    assert_eq!(look(store, main, |s| s.activity(u64::MAX, 9)), []);
    assert_eq!(look(store, main, |s| s.activity_span()), ActivitySpan { oldest: 1, newest: 2 });
    let mut changes = store.changes();
    put(other, &activity(9, "d"));
    assert!(changes.wait(std::time::Duration::ZERO).unwrap(), "activity wakes up");
}

pub fn old_activity_is_forgotten_and_the_gap_is_seen(store: &dyn Store) {
    let (main, other) = plans(store);
    let put_many = |plan, count: u64, at: i64| {
        write(store, plan, |tx| (0..count).try_fold(0, |_, _| tx.put_activity(&activity(at, "a"))))
    };
    assert_eq!(put_many(main, ACTIVITY_KEPT + 500, 1), ACTIVITY_KEPT + 500);
    let span = look(store, main, |s| s.activity_span());
    let kept = span.newest - span.oldest + 1;
    assert!((ACTIVITY_KEPT..ACTIVITY_KEPT + 64).contains(&kept), "{span:?}");
    assert!(span.has_gap_after(0) && span.has_gap_after(span.oldest - 2) && !span.has_gap_after(span.oldest - 1));
    assert_eq!(look(store, main, |s| Ok(s.activity(0, 1)?[0].seq)), span.oldest);
    // After a long silence everything is too old but what is written now; numbers continue.
    put_many(main, 64, ACTIVITY_LIFETIME_MS + 2);
    let span = look(store, main, |s| s.activity_span());
    assert!(span.newest - span.oldest < 64 && span.newest == ACTIVITY_KEPT + 564, "{span:?}");
    // A clock that ran ahead for one entry keeps older ones for a while, and makes no hole in the middle.
    put_many(other, 10, 1);
    put_many(other, 1, i64::MAX);
    put_many(other, 53, ACTIVITY_LIFETIME_MS + 2);
    let span = look(store, other, |s| s.activity_span());
    assert_eq!(span, ActivitySpan { oldest: 11, newest: 64 });
    assert_eq!(look(store, other, |s| Ok(s.activity(0, 99)?.len())), 54);
}

fn question(text: &str) -> Question {
    Question {
        id: 0,
        asked_at: 5,
        run: Some(1),
        seat: Some(2),
        session: Some("s".into()),
        todo: Some(Uid(3)),
        agent: "claude".into(),
        text: text.into(),
        options: "[\"yes\",\"no\"]".into(),
        state: QuestionState::Open,
    }
}

fn answer(text: &str, at: i64) -> QuestionAnswer {
    QuestionAnswer {
        answer: text.into(),
        by: "user".into(),
        via: "terminal".into(),
        reason: Some("because".into()),
        at,
        taken_at: None,
    }
}

pub fn a_question_is_answered_once(store: &dyn Store) {
    let (main, other) = plans(store);
    let ask = |plan, text: &str| write(store, plan, |tx| tx.put_question(&question(text)));
    assert_eq!((ask(main, "a"), ask(main, "b"), ask(main, "c"), ask(other, "d")), (1, 2, 3, 1));
    let stored = |id, text: &str, state| Question { id, state, ..question(text) };
    let open = |id, text| stored(id, text, QuestionState::Open);
    assert_eq!(look(store, main, |s| s.questions(QuestionFilter::Open, 2)), [open(3, "c"), open(2, "b")]);
    let reply = |id, text: &str, at| write(store, main, |tx| tx.answer_question(id, &answer(text, at)));
    assert_eq!(reply(2, "yes", 8), QuestionOutcome::Settled);
    let answered = QuestionState::Answered(answer("yes", 8));
    assert_eq!(reply(2, "no", 9), QuestionOutcome::AlreadySettled(answered.clone()));
    let close = |id| write(store, main, |tx| tx.close_question(id, "the agent ended", 10));
    let closed = QuestionState::Closed { reason: "the agent ended".into(), at: 10 };
    assert_eq!(close(2), QuestionOutcome::AlreadySettled(answered.clone()));
    assert_eq!(close(3), QuestionOutcome::Settled);
    assert_eq!(reply(3, "yes", 11), QuestionOutcome::AlreadySettled(closed.clone()));
    assert_eq!((reply(9, "yes", 11), close(u64::MAX)), (QuestionOutcome::Unknown, QuestionOutcome::Unknown));
    let all = [stored(3, "c", closed), stored(2, "b", answered), open(1, "a")];
    assert_eq!(look(store, main, |s| s.questions(QuestionFilter::All, 9)), all);
    assert_eq!(look(store, main, |s| s.questions(QuestionFilter::Open, 9)), all[2..]);
    assert_eq!(look(store, main, |s| s.question(2)), Some(all[1].clone()));
    assert_eq!(look(store, main, |s| s.question(4)), None);
    assert_eq!(look(store, other, |s| s.questions(QuestionFilter::Open, 9)), [open(1, "d")]);
    let take = |id, at| write(store, main, |tx| tx.take_answer(id, at));
    assert_eq!([take(1, 12), take(2, 12), take(2, 13), take(3, 12), take(9, 12)], [false, true, false, false, false]);
    let taken = QuestionState::Answered(QuestionAnswer { taken_at: Some(12), ..answer("yes", 8) });
    assert_eq!(look(store, main, |s| Ok(s.question(2)?.unwrap().state)), taken);
}

pub fn racing_answers_have_one_winner(store: &dyn Store) {
    let (main, _) = plans(store);
    let id = write(store, main, |tx| tx.put_question(&question("a")));
    let outcomes: Vec<QuestionOutcome> = std::thread::scope(|scope| {
        let reply = |n: i64| write(store, main, |tx| tx.answer_question(id, &answer(&n.to_string(), n)));
        let threads: Vec<_> = (0..8).map(|n| scope.spawn(move || reply(n))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let won: Vec<usize> = (0..8).filter(|n| outcomes[*n] == QuestionOutcome::Settled).collect();
    assert_eq!(won.len(), 1, "{outcomes:?}");
    let winner = QuestionState::Answered(answer(&won[0].to_string(), i64::try_from(won[0]).unwrap()));
    assert_eq!(look(store, main, |s| Ok(s.question(id)?.unwrap().state)), winner);
    let lost = QuestionOutcome::AlreadySettled(winner);
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == lost).count(), 7);
}

pub fn settled_questions_are_forgotten_and_open_ones_are_not(store: &dyn Store) {
    let (main, _) = plans(store);
    write(store, main, |tx| {
        for n in 1..=QUESTIONS_KEPT + 3 {
            let id = tx.put_question(&question("a"))?;
            assert_eq!(id, n);
            if n != 2 {
                tx.answer_question(id, &answer("yes", 9))?;
            }
        }
        Ok(())
    });
    let ids: Vec<u64> =
        look(store, main, |s| Ok(s.questions(QuestionFilter::All, usize::MAX)?.iter().map(|q| q.id).collect()));
    assert_eq!(ids.len() as u64, QUESTIONS_KEPT + 1);
    assert_eq!((ids[0], ids[ids.len() - 2], ids[ids.len() - 1]), (QUESTIONS_KEPT + 3, 4, 2));
}

pub fn controls_say_what_is_wanted_until_it_is_to_go(store: &dyn Store) {
    let (main, other) = plans(store);
    let control = |scope: ControlScope, wanted| ControlRecord { scope, wanted, by: "user".into(), at: 4 };
    let run = ControlScope::Run { plan: main, run: 1 };
    let seat = |seat| ControlScope::Seat { plan: main, run: 1, seat };
    let session = ControlScope::Session("s".into());
    let all = [
        control(run.clone(), RequestedState::Pause),
        control(seat(0), RequestedState::Stop),
        control(seat(7), RequestedState::Pause),
        control(ControlScope::Run { plan: other, run: 1 }, RequestedState::Stop),
        control(ControlScope::Run { plan: main, run: 2 }, RequestedState::Stop),
        control(session.clone(), RequestedState::Stop),
        control(ControlScope::Sessions, RequestedState::Pause),
    ];
    write(store, main, |tx| all.iter().rev().try_for_each(|control| tx.put_control(control)));
    for control in &all {
        assert_eq!(look(store, other, |s| s.control(&control.scope)), Some(control.clone()));
    }
    assert_eq!(look(store, main, |s| s.control(&seat(1))), None);
    assert_eq!(look(store, main, |s| s.control(&ControlScope::Session(String::new()))), None);
    assert_eq!(look(store, main, |s| s.run_controls(1)), all[..3]);
    write(store, main, |tx| {
        tx.put_control(&control(run.clone(), RequestedState::Go))?;
        tx.put_control(&control(seat(0), RequestedState::Pause))?;
        tx.put_control(&control(session.clone(), RequestedState::Go))
    });
    assert_eq!(look(store, main, |s| s.run_controls(1)), [control(seat(0), RequestedState::Pause), all[2].clone()]);
    assert_eq!(look(store, main, |s| s.control(&session)), None);
    assert_eq!(look(store, other, |s| s.run_controls(1)), all[3..4]);
}

pub fn seats_and_controls_end_with_their_run(store: &dyn Store) {
    let (main, other) = plans(store);
    let seat = |run, n, at| SeatRecord { run, n, at, body: format!("{{\"n\":{n}}}") };
    let run = |id, ended_at| StoredRun { id, started_at: 1, ended_at, body: "{}".into() };
    let pause = |run| ControlRecord {
        scope: ControlScope::Run { plan: main, run },
        wanted: RequestedState::Pause,
        by: "user".into(),
        at: 4,
    };
    let session = ControlRecord { scope: ControlScope::Session("s".into()), ..pause(1) };
    write(store, other, |tx| tx.put_seat(&seat(1, 1, 9)));
    write(store, main, |tx| {
        for (run, n, at) in [(1, 2, 3), (1, 0, 3), (2, 0, 3), (1, 2, 5)] {
            tx.put_seat(&seat(run, n, at))?;
        }
        [pause(1), pause(2), session.clone()].iter().try_for_each(|control| tx.put_control(control))?;
        tx.put_run(&run(1, None))
    });
    assert_eq!(look(store, main, |s| s.seats(1)), [seat(1, 0, 3), seat(1, 2, 5)]);
    write(store, main, |tx| tx.put_run(&run(1, Some(8))));
    assert_eq!(look(store, main, |s| Ok((s.seats(1)?, s.run_controls(1)?))), (vec![], vec![]));
    assert_eq!(look(store, main, |s| Ok((s.seats(2)?.len(), s.run_controls(2)?.len()))), (1, 1));
    assert_eq!(look(store, main, |s| s.control(&session.scope)), Some(session.clone()));
    assert_eq!(look(store, other, |s| s.seats(1)), [seat(1, 1, 9)]);
}

pub fn readers_have_a_marker_each_and_are_not_kept_for_ever(store: &dyn Store) {
    let (main, other) = plans(store);
    let marker = |reader: &str, revision, at| ReadMarker { reader: reader.into(), revision, at };
    let put = |marker: &ReadMarker| write(store, main, |tx| tx.put_read_marker(marker));
    put(&marker("a", 3, 10));
    put(&marker("b", 1, 20));
    put(&marker("a", 7, 30));
    let read = |plan, reader: &str| look(store, plan, |s| s.read_marker(reader));
    assert_eq!(read(main, "a"), Some(marker("a", 7, 30)));
    assert_eq!((read(main, "c"), read(other, "a")), (None, None));
    for n in 0..READERS_KEPT - 1 {
        put(&marker(&format!("r{n}"), 9, 40));
    }
    assert_eq!((read(main, "b"), read(main, "a")), (None, Some(marker("a", 7, 30))));
    // The one that is written stays, whatever its clock says.
    put(&marker("late", 9, 0));
    assert_eq!((read(main, "late"), read(main, "a")), (Some(marker("late", 9, 0)), None));
}

pub fn one_runner_at_a_time_has_the_plan(store: &dyn Store) {
    let (main, other) = plans(store);
    let take = |holder: &str, now| write(store, main, |tx| tx.take_run(holder, 30, now));
    let renew = |epoch, now| write(store, main, |tx| tx.renew_run(epoch, 30, now));
    let release = |epoch| write(store, main, |tx| tx.release_run(epoch));
    let lease = |holder: &str, epoch, until| RunLease { holder: holder.into(), epoch, until };
    assert_eq!(look(store, main, |s| s.run_lease()), None);
    assert_eq!((renew(1, 5), release(0)), (false, false));
    assert_eq!(take("a", 100), RunGrant::Granted { epoch: 1 });
    assert_eq!(take("b", 129), RunGrant::HeldBy(lease("a", 1, Some(130))));
    assert!(renew(1, 120));
    assert_eq!(take("b", 149), RunGrant::HeldBy(lease("a", 1, Some(150))));
    assert_eq!(take("b", 150), RunGrant::Granted { epoch: 2 });
    assert_eq!((renew(1, 151), release(1)), (false, false), "the first runner has been replaced");
    assert_eq!(look(store, main, |s| s.run_lease()), Some(lease("b", 2, Some(180))));
    // Late, but nobody else has come.
    assert!(renew(2, 500));
    assert!(release(2));
    assert!(!renew(2, 501), "what was released is not renewed");
    assert_eq!(take("a", 501), RunGrant::Granted { epoch: 3 });
    assert_eq!(look(store, other, |s| s.run_lease()), None);
    // The clock of the holder ran far ahead; that keeps nobody out for longer than a lease.
    assert!(renew(3, 1_000_000));
    assert_eq!(take("b", 502), RunGrant::Granted { epoch: 4 });
}

pub fn a_name_of_a_worker_belongs_to_its_latest_process(store: &dyn Store) {
    let (main, other) = plans(store);
    let worker = |name: &str, epoch, seen_at| WorkerRecord {
        name: name.into(),
        epoch,
        seen_at,
        until: Some(seen_at + 30),
        body: format!("{{\"epoch\":{epoch}}}"),
    };
    let put = |plan, worker: &WorkerRecord| write(store, plan, |tx| tx.put_worker(worker));
    let all = || look(store, main, |s| s.workers());
    assert_eq!(all(), []);
    assert!(put(main, &worker("b", 1, 100)) && put(other, &worker("a", 1, 100)));
    assert_eq!(all(), [worker("a", 1, 100), worker("b", 1, 100)], "workers belong to no plan");
    assert!(put(other, &worker("b", 2, 110)));
    assert!(!put(main, &worker("b", 1, 120)), "the first process has been replaced");
    let gone = WorkerRecord { until: None, ..worker("b", 2, 130) };
    assert!(put(main, &gone));
    assert_eq!(all(), [worker("a", 1, 100), gone.clone()]);
    let late = worker("c", 1, 130 + WORKER_LIFETIME_MS);
    assert!(put(main, &late));
    assert_eq!(all(), [gone, late], "what was not seen for long is forgotten");
}
