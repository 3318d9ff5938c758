//! Several connections and threads on one file.

use std::fs::File;
use std::time::{Duration, Instant};

use punch_core::Policy;
use punch_store::{Durability, OpenMode, SqliteStore, Store, StoreAdmin};
use rusqlite::{Connection, StatementStatus};

use crate::create;
use crate::submit::{add, add_as, context, done, look, must, submit, whole};

#[test]
fn another_connection_sees_a_write_and_wakes_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let (here, there) = (create(&path), create(&path));
    let plan = here.create_plan("main", 0).unwrap();
    let mut changes = there.changes();
    assert!(!changes.wait(Duration::ZERO).unwrap());
    must(&here, plan, 1, &[add("a")]);
    assert!(changes.wait(Duration::from_secs(20)).unwrap());
    assert_eq!(look(&there, plan, |s| Ok(s.row()?.revision)), 1);
    assert!(!changes.wait(Duration::from_millis(120)).unwrap());
    must(&there, plan, 2, &[add("b")]);
    assert!(changes.wait(Duration::ZERO).unwrap());
    assert!(!changes.wait(Duration::from_millis(120)).unwrap(), "its own commit wakes once");
}

#[test]
fn the_stamp_moves_with_commits_of_others_and_is_an_error_without_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let (here, there) = (create(&path), create(&path));
    let plan = here.create_plan("main", 0).unwrap();
    let before = there.stamp(None).unwrap();
    assert_eq!(there.stamp(None).unwrap(), before);
    must(&here, plan, 1, &[add("a")]);
    let after = there.stamp(None).unwrap();
    assert_ne!(after, before);
    std::fs::rename(&path, folder.path().join("away.db")).unwrap();
    assert!(there.stamp(None).is_err());
    std::fs::rename(folder.path().join("away.db"), &path).unwrap();
    assert_eq!(there.stamp(None).unwrap(), after);
}

#[test]
fn eight_writers_lose_nothing() {
    const WRITERS: usize = 8;
    const EACH: usize = 50;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let plan = create(&path).create_plan("main", 0).unwrap();
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let path = &path;
            scope.spawn(move || {
                let store = SqliteStore::open(path, OpenMode::Existing).unwrap();
                for n in 0..EACH {
                    must(&store, plan, n as i64, &[add(&format!("{writer}/{n}"))]);
                }
            });
        }
    });
    let store = create(&path);
    let stored = whole(&store, plan);
    let mut found: Vec<&str> = stored.all().map(|todo| todo.content.as_str()).collect();
    found.sort_unstable();
    let mut expected: Vec<String> = (0..WRITERS).flat_map(|w| (0..EACH).map(move |n| format!("{w}/{n}"))).collect();
    expected.sort_unstable();
    assert_eq!(found, expected);
    assert_eq!(stored.row.revision, (WRITERS * EACH) as u64);
    assert_eq!(store.check().unwrap(), [""; 0]);
}

#[test]
fn one_todo_has_one_winner() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let store = create(&path);
    let plan = store.create_plan("main", 0).unwrap();
    let ids: Vec<String> = (1..=40).map(|n| format!("T-{n}")).collect();
    must(&store, plan, 1, &ids.iter().map(|_| add("work")).collect::<Vec<_>>());
    let winners: usize = std::thread::scope(|scope| {
        let claimers: Vec<_> = ["ann", "bob", "cyd", "dan"]
            .into_iter()
            .map(|owner| {
                let (path, ids) = (&path, &ids);
                scope.spawn(move || {
                    let store = SqliteStore::open(path, OpenMode::Existing).unwrap();
                    let policy = Policy { in_progress: punch_core::InProgressLimit::Any, ..Policy::default() };
                    let claim = |id: &String| {
                        let op = punch_core::Op::Claim(punch_core::Ref::Id(id.clone()), 1_000);
                        submit(&store, plan, Durability::Full, &[op], &context(2, Some(owner), policy)).unwrap().is_ok()
                    };
                    ids.iter().filter(|id| claim(id)).count()
                })
            })
            .collect();
        claimers.into_iter().map(|claimer| claimer.join().unwrap()).sum()
    });
    assert_eq!(winners, ids.len());
    let mut fences: Vec<u64> = whole(&store, plan).all().map(|todo| todo.fence).collect();
    fences.sort_unstable();
    assert_eq!(fences, (1..=40).collect::<Vec<_>>());
}

#[test]
fn many_make_the_store_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep").join("store.db");
    let stores: Vec<String> = std::thread::scope(|scope| {
        let makers: Vec<_> = (0..8).map(|_| scope.spawn(|| create(&path).info().unwrap().store)).collect();
        makers.into_iter().map(|maker| maker.join().unwrap()).collect()
    });
    assert!(stores.iter().all(|store| *store == stores[0]), "{stores:?}");
}

#[test]
fn a_writer_gives_up_at_its_deadline() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let store = SqliteStore::open_waiting(&path, OpenMode::Create, Duration::from_millis(150)).unwrap();
    let plan = store.create_plan("main", 0).unwrap();
    let write = || store.write(plan, Durability::Full, &mut |tx| tx.put_plan_file(Some("y")));

    let lock = File::options().write(true).open(path.with_extension("lock")).unwrap();
    lock.lock().unwrap();
    let begun = Instant::now();
    let error = write().unwrap_err();
    assert_eq!(error.code(), "store_busy");
    assert!(begun.elapsed() >= Duration::from_millis(150));
    store.read(plan, &mut |s| s.row().map(|_| ())).unwrap();
    lock.unlock().unwrap();
    write().unwrap();

    // Someone who knows nothing of the lock file.
    let mut other = Connection::open(&path).unwrap();
    let tx = other.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).unwrap();
    assert_eq!(write().unwrap_err().code(), "store_busy");
    drop(tx);
    write().unwrap();
}

#[test]
fn small_questions_and_small_writes_touch_few_pages() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let store = create(&path);
    let plan = store.create_plan("main", 0).unwrap();
    let layer = |n: usize| if n < 10 { vec![] } else { vec![format!("n{}", n - 10)] };
    let ops: Vec<_> = (0..20_000)
        .map(|n| add_as(&format!("n{n}"), &layer(n).iter().map(String::as_str).collect::<Vec<_>>()))
        .collect();
    must(&store, plan, 1, &ops);
    let spy = Connection::open(&path).unwrap();
    spy.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    must(&store, plan, 2, &[done("n3")]);
    let pages = store.info().unwrap().wal_bytes / 4096;
    assert!(pages <= 24, "one done wrote {pages} pages");
    let next = "SELECT body FROM todo INDEXED BY todo_ready WHERE plan = 1 AND removed IS NULL AND \
                unmet = 0 AND status = 'pending' AND held_until IS NULL AND (effective, position, uid) > (1, 2, 3) \
                ORDER BY effective, position, uid LIMIT 1";
    let detail: String = spy.query_row(&format!("EXPLAIN QUERY PLAN {next}"), [], |row| row.get(3)).unwrap();
    assert_eq!(detail, "SEARCH todo USING INDEX todo_ready (plan=? AND (effective,position,uid)>(?,?,?))");
    let mut next = spy.prepare(next).unwrap();
    assert!(next.exists([]).unwrap());
    let steps = next.get_status(StatementStatus::VmStep);
    assert!(steps < 100, "one next took {steps} steps");
    assert_eq!(look(&store, plan, |s| Ok(s.ready(9, None, 1)?[0].id.clone())), "n0");
}
