//! Notes are rows of their own: adding one writes one.

use punch_core::{Note, Op, Ref};
use punch_store::{Activity, Durability, PlanId, SessionKey, SessionRow, Store, StoreAdmin};
use rusqlite::Connection;

use crate::create;
use crate::submit::{add_as, done, must, whole};

fn note(text: &str) -> Op {
    Op::Note(Ref::Id("a".to_owned()), text.to_owned())
}

fn texts(store: &dyn Store, plan: PlanId) -> Vec<String> {
    let plan = whole(store, plan);
    plan.by_id("a").unwrap().notes.iter().map(|note| note.text.clone()).collect()
}

#[test]
fn another_note_does_not_write_the_others_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let store = create(&path);
    let plan = store.create_plan("main", 0).unwrap();
    let long = "x".repeat(8_000);
    let mut ops = vec![add_as("a", &[])];
    must(&store, plan, 1, &ops);
    ops = (0..200).map(|n| note(&format!("{n} {long}"))).collect();
    must(&store, plan, 2, &ops);
    let spy = Connection::open(&path).unwrap();
    for (written, op) in [("a note", note(&long)), ("a completion", done("a"))] {
        spy.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        must(&store, plan, 3, &[op]);
        let pages = store.info().unwrap().wal_bytes / 4096;
        assert!(pages <= 24, "{written} wrote {pages} pages");
    }
    let texts = texts(&store, plan);
    assert_eq!((texts.len(), &texts[199][..5], texts[200].len()), (201, "199 x", 8_000));
    assert_eq!(store.check().unwrap(), [""; 0]);
}

#[test]
fn an_activity_beside_a_session_touches_at_most_one_page_more() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let store = create(&path);
    let plan = store.create_plan("main", 0).unwrap();
    must(&store, plan, 1, &[add_as("a", &[])]);
    let spy = Connection::open(&path).unwrap();
    // What a hook writes that changes only its session.
    let pages = |at: i64, has_activity: bool| {
        spy.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        let session =
            SessionRow { key: SessionKey::new("s", None), plan: Some(plan), seen_at: at, body: format!("{at}") };
        let (kind, body) = ("decision".to_owned(), r#"{"continues":true,"reason":"1/10"}"#.to_owned());
        let activity = Activity { seq: 0, at, kind, source: Some("s".into()), todo: None, body };
        let written = store.write(plan, Durability::Relaxed, &mut |tx| {
            tx.put_session(&session)?;
            has_activity.then(|| tx.put_activity(&activity)).transpose().map(drop)
        });
        written.unwrap();
        store.info().unwrap().wal_bytes / 4096
    };
    // Enough of them that a page is filled now and then, and that the oldest have to go.
    for at in 0..40 {
        pages(at, true);
    }
    let (alone, with) = (pages(100, false), pages(101, true));
    assert!(with <= alone + 1, "{with} pages instead of {alone}");
}

#[test]
fn notes_that_are_undone_leave_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let store = create(&path);
    let plan = store.create_plan("main", 0).unwrap();
    must(&store, plan, 1, &[add_as("a", &[])]);
    for text in ["one", "two", "three"] {
        must(&store, plan, 2, &[note(text)]);
    }
    let undo = |revision| Op::Undo { revision: Some(revision), any: true };
    must(&store, plan, 3, &[undo(3)]);
    assert_eq!(texts(&store, plan), ["one", "three"]);
    must(&store, plan, 4, &[note("four")]);
    must(&store, plan, 5, &[undo(2)]);
    assert_eq!(texts(&store, plan), ["three", "four"]);
    assert_eq!(store.check().unwrap(), [""; 0]);
    let spy = Connection::open(&path).unwrap();
    let rows: i64 = spy.query_row("SELECT count(*) FROM note", [], |row| row.get(0)).unwrap();
    assert_eq!(rows, 2);
}

#[test]
fn notes_that_a_program_with_an_older_schema_wrote_follow_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let store = create(&path);
    let plan = store.create_plan("main", 0).unwrap();
    must(&store, plan, 1, &[add_as("a", &[])]);
    must(&store, plan, 2, &[note("one")]);
    let spy = Connection::open(&path).unwrap();
    let older = r#"UPDATE todo SET body = json_set(body, '$.notes', json('[{"text":"two","at":3,"by":"x"}]'))"#;
    spy.execute_batch(older).unwrap();
    assert_eq!(texts(&store, plan), ["one", "two"]);
    must(&store, plan, 4, &[note("three")]);
    assert_eq!(texts(&store, plan), ["one", "two", "three"]);
    let two = Note { text: "two".into(), at: 3, by: "x".into() };
    assert_eq!(whole(&store, plan).by_id("a").unwrap().notes[1], two);
    let rows: i64 = spy.query_row("SELECT count(*) FROM note", [], |row| row.get(0)).unwrap();
    assert_eq!(rows, 3);
    assert_eq!(store.check().unwrap(), [""; 0]);
}

#[test]
fn a_check_finds_lost_notes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let store = create(&path);
    let plan = store.create_plan("main", 0).unwrap();
    must(&store, plan, 1, &[add_as("a", &[])]);
    must(&store, plan, 2, &[note("one"), note("two")]);
    Connection::open(&path).unwrap().execute_batch("DELETE FROM note WHERE seq = 0").unwrap();
    assert_eq!(store.check().unwrap(), ["todos of plan 1 have lost notes"]);
}
