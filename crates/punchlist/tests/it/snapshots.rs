//! Sessions as values.

use proptest::prelude::*;
use punchlist::store::MemoryStore;
use punchlist::{Finish, NewTodo, Next, Op, Options, Session, SessionSnapshot};
use serde_json::json;

use crate::changed::{calls, writes};

/// The clock does not move, so that two sessions can be compared.
const NOW: i64 = 1_800_000_000_000;

fn copy(session: &Session) -> Session {
    let saved = serde_json::to_string(&session.snapshot().unwrap()).unwrap();
    let snapshot: SessionSnapshot = serde_json::from_str(&saved).unwrap();
    Session::from_snapshot(&snapshot, Options::new("t").clock(|| NOW)).unwrap()
}

#[test]
fn a_rebuilt_session_continues_where_the_first_one_stood() {
    let session = Session::in_memory(Options::new("t").session("chat")).unwrap();
    session.turn_started().unwrap();
    session.call("todo_write", &json!({"ops": [{"op": "add", "id": "a", "content": "Do a"}]})).unwrap();
    session.checkpoint("here").unwrap();
    assert!(matches!(session.turn_ended(Finish::EndTurn).unwrap(), Next::Continue { n: 1, .. }));
    let again = copy(&session);
    assert_eq!((again.name(), again.checkpoints(9).unwrap().len()), ("chat", 1));
    assert!(again.turn_started().unwrap().unwrap().contains("Do a"), "its list is put back");
    again.undo(None).unwrap();
    assert!(again.todos().unwrap().is_empty());
    assert_eq!(session.todos().unwrap().len(), 1);
}

#[test]
fn a_snapshot_goes_into_a_store_of_the_hosts_own() {
    let session = Session::in_memory(Options::new("t")).unwrap();
    session.apply(&[Op::add("Do it")]).unwrap();
    let snapshot = session.snapshot().unwrap();
    let own = Session::from_snapshot_in(MemoryStore::new(), &snapshot, Options::new("t")).unwrap();
    assert_eq!(own.snapshot().unwrap(), snapshot);
    let fresh = Session::with_store(MemoryStore::new(), Options::new("t")).unwrap();
    assert!(fresh.todos().unwrap().is_empty());
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let id = || prop::sample::select(vec!["a", "b", "c", "d"]);
    let op = prop_oneof![
        (id(), prop::collection::vec(id(), 0..2))
            .prop_map(|(id, on)| Op::add(NewTodo::new(format!("Do {id}")).id(id).after(on))),
        id().prop_map(Op::start),
        id().prop_map(Op::done),
        id().prop_map(|id| Op::fail(id, "no")),
        id().prop_map(|id| Op::hold(id, "why")),
        id().prop_map(Op::release),
        id().prop_map(|id| Op::note(id, "note")),
        id().prop_map(Op::remove),
    ];
    prop::collection::vec(op, 1..30)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_session_rebuilt_from_its_snapshot_equals_the_original(ops in ops()) {
        let session = Session::in_memory(Options::new("t").clock(|| NOW)).unwrap();
        for op in ops {
            // Many are refused: what counts is the plan that comes of it.
            let _ = session.apply(&[op]);
        }
        let again = copy(&session);
        prop_assert_eq!(again.snapshot().unwrap(), session.snapshot().unwrap());
        prop_assert_eq!(again.todos().unwrap(), session.todos().unwrap());
        prop_assert_eq!(again.undo(None).is_ok(), session.undo(None).is_ok());
        prop_assert_eq!(again.todos().unwrap(), session.todos().unwrap());
    }

    #[test]
    fn a_rebuilt_session_answers_and_decides_like_the_original((dialect, calls) in calls(), cut in 0_usize..12) {
        let options = || Options::new("t").dialect(dialect).clock(|| NOW);
        let rebuilt = |session: &Session| {
            let saved = serde_json::to_string(&session.snapshot().unwrap()).unwrap();
            Session::from_snapshot(&serde_json::from_str(&saved).unwrap(), options()).unwrap()
        };
        // A session in memory says so in its answers; one with snapshots lasts.
        let session = rebuilt(&Session::in_memory(options()).unwrap());
        // A snapshot has the state of sessions that have written.
        session.apply(&[Op::add("Begin")]).unwrap();
        let (before, after) = calls.split_at(cut.min(calls.len()));
        for call in before {
            session.call(writes(dialect), call).unwrap();
            session.turn_ended(Finish::EndTurn).unwrap();
        }
        let again = rebuilt(&session);
        for call in after {
            prop_assert_eq!(again.call(writes(dialect), call).unwrap(), session.call(writes(dialect), call).unwrap());
            prop_assert_eq!(again.turn_ended(Finish::EndTurn).unwrap(), session.turn_ended(Finish::EndTurn).unwrap());
        }
        prop_assert_eq!(again.snapshot().unwrap(), session.snapshot().unwrap());
    }
}
