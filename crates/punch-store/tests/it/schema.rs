//! Stores of older and newer programs.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use punch_core::{Fields, PlanRow, Todo, Uid};
use punch_store::{OpenMode, PlanId, SqliteStore, Store, StoreAdmin};
use rusqlite::{Connection, params};

use crate::create;
use crate::submit::{add, add_as, done, look, must, say, saying, whole};

/// Writes a store as a program with schema 1.0 would have left it: a plan of two todos, the second waiting.
fn schema_1_0(path: &Path) -> Vec<Todo> {
    let conn = Connection::open(path).unwrap();
    conn.execute_batch("PRAGMA journal_mode = WAL").unwrap();
    conn.execute_batch(include_str!("../../migrations/0001_plans.sql")).unwrap();
    conn.execute_batch("PRAGMA application_id = 0x50756E63; PRAGMA user_version = 1000").unwrap();
    let mut todos = vec![Todo::blank(Uid(1)), Todo::blank(Uid(2))];
    for (todo, id) in todos.iter_mut().zip(["a", "b"]) {
        todo.fields = Fields { id: id.into(), content: format!("do {id}"), position: 1024, ..Fields::default() };
    }
    todos[1].depends_on = vec![punch_core::Dep::On(Uid(1))];
    todos[1].derived.unmet = 1;
    todos[1].derived.level = 2;
    todos[0].derived.pull = 3;
    let mut row = PlanRow { revision: 1, next_uid: 3, last_position: 1024, ..PlanRow::default() };
    row.counts.pending = 2;
    let row = serde_json::to_string(&row).unwrap();
    conn.execute("INSERT INTO plan VALUES (1, 'old', 5, NULL, 1, ?1)", [row]).unwrap();
    for todo in &todos {
        let body = serde_json::to_string(&todo.fields).unwrap();
        let d = todo.derived;
        conn.execute(
            "INSERT INTO todo VALUES (1, ?1, ?2, 1024, 'pending', ?3, ?4, ?5, 3, NULL, NULL, NULL, NULL, 0, ?6)",
            params![todo.uid.0.cast_signed(), todo.id, d.unmet, d.level, d.pull, body],
        )
        .unwrap();
    }
    conn.execute("INSERT INTO edge VALUES (1, 1, 2)", []).unwrap();
    todos
}

#[test]
fn an_older_store_is_copied_and_brought_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let todos = schema_1_0(&path);
    let backups = folder.path().join("backups");
    for _ in 0..2 {
        let store = SqliteStore::open(&path, OpenMode::Existing).unwrap();
        assert_eq!(store.info().unwrap().schema.to_string(), "3.2");
        assert_eq!(store.check().unwrap(), [""; 0]);
        assert_eq!(whole(&store, PlanId(1)).all().cloned().collect::<Vec<_>>(), todos);
        assert_eq!(fs::read_dir(&backups).unwrap().count(), 1, "one copy, made once");
    }
    let copy = fs::read_dir(&backups).unwrap().next().unwrap().unwrap();
    assert!(copy.file_name().to_str().unwrap().starts_with("store-schema-1.0-"), "{copy:?}");
    assert_eq!(copy.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let version: i32 =
        Connection::open(copy.path()).unwrap().query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    assert_eq!(version, 1000);
    let store = create(&path);
    assert_eq!(saying(&store, PlanId(1), &["do a", "do b"]), ["a", "b"]);
    assert_eq!(must(&store, PlanId(1), 9, &[done("a")]).unblocked, [Uid(2)]);
    assert_eq!(saying(&store, PlanId(1), &["do a", "do b"]), ["b"]);
    assert_eq!(store.check().unwrap(), [""; 0]);
    drop(store);
    // The copy of before comes back as it was, and is brought up to date again.
    punch_store::restore(&copy.path(), &path).unwrap();
    assert_eq!(whole(&create(&path), PlanId(1)).all().cloned().collect::<Vec<_>>(), todos);
}

#[test]
fn contents_that_a_program_with_an_older_schema_wrote_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let store = create(&path);
    let plan = store.create_plan("main", 0).unwrap();
    must(&store, plan, 1, &[add("one"), add("two"), add("three")]);
    let numbered = || -> bool {
        let sql = "SELECT said_revision = revision AND (SELECT count(said) = count(*) FROM todo) FROM plan";
        Connection::open(&path).unwrap().query_row(sql, [], |row| row.get(0)).unwrap()
    };
    assert!(numbered());
    // It knows neither of the columns: what it changes keeps the old number, what it adds has none.
    let older = "UPDATE todo SET body = json_set(body, '$.content', 'deux') WHERE uid = 2;
         UPDATE todo SET said = NULL WHERE uid = 3;
         UPDATE plan SET revision = 2, row = json_set(row, '$.revision', 2)";
    Connection::open(&path).unwrap().execute_batch(older).unwrap();
    assert!(!numbered());
    for written in [false, true] {
        assert_eq!(saying(&store, plan, &["two", "one"]), ["T-1"]);
        assert_eq!(saying(&store, plan, &["deux", "three"]), ["T-2", "T-3"]);
        assert_eq!(store.check().unwrap(), [""; 0]);
        assert_eq!(numbered(), written);
        must(&store, plan, 3, &[say("T-1", "one")]);
        must(&store, plan, 3, &[add("four")]);
    }
}

#[test]
fn a_newer_major_schema_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    create(&path);
    Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 4000").unwrap();
    let before = fs::read(&path).unwrap();
    let error = SqliteStore::open(&path, OpenMode::Create).err().unwrap();
    assert_eq!(error.code(), "store_too_new");
    assert!(error.message().contains("schema 4.0") && error.message().contains("store.db"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_newer_minor_schema_works_and_keeps_what_is_not_known() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let store = create(&path);
    let plan = store.create_plan("main", 0).unwrap();
    must(&store, plan, 1, &[add_as("a", &[]), add_as("b", &["a"])]);
    drop(store);
    let newer = "PRAGMA user_version = 3003;
         CREATE TABLE extra (x);
         ALTER TABLE todo ADD COLUMN color TEXT;
         UPDATE todo SET color = 'red', body = json_set(body, '$.mood', 'fine');
         UPDATE plan SET row = json_set(row, '$.season', 'autumn')";
    Connection::open(&path).unwrap().execute_batch(newer).unwrap();
    let store = SqliteStore::open(&path, OpenMode::Existing).unwrap();
    must(&store, plan, 2, &[done("a"), add("c")]);
    assert_eq!(look(&store, plan, |s| Ok(s.ready(9, None, 9)?.len())), 2);
    let spy = Connection::open(&path).unwrap();
    let kept: (String, String, String) = spy
        .query_row("SELECT color, body ->> 'mood', body ->> 'status' FROM todo WHERE uid = 1", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .unwrap();
    assert_eq!(kept, ("red".to_owned(), "fine".to_owned(), "completed".to_owned()));
    let season: String = spy.query_row("SELECT row ->> 'season' FROM plan", [], |row| row.get(0)).unwrap();
    assert_eq!(season, "autumn");
    spy.execute_batch("CREATE TRIGGER t AFTER INSERT ON todo BEGIN DELETE FROM event; END").unwrap();
    assert_eq!(SqliteStore::open(&path, OpenMode::Existing).err().unwrap().code(), "store_foreign");
}

#[test]
fn what_todos_took_before_there_was_a_ledger_is_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    schema_1_0(&path);
    let conn = Connection::open(&path).unwrap();
    for sql in [
        include_str!("../../migrations/0002_baselines.sql"),
        include_str!("../../migrations/0003_decisions.sql"),
        include_str!("../../migrations/0004_said.sql"),
        include_str!("../../migrations/0005_usage.sql"),
    ] {
        conn.execute_batch(sql).unwrap();
    }
    conn.execute_batch("INSERT INTO usage VALUES (1, 1, 1, 70, 5, 3), (1, 1, 2, 30, 6, 4), (1, 2, 1, 9, 7, 2)")
        .unwrap();
    conn.execute_batch("PRAGMA user_version = 1004").unwrap();
    drop(conn);
    let store = SqliteStore::open(&path, OpenMode::Existing).unwrap();
    let found = look(&store, PlanId(1), |s| s.usage(None));
    let found: Vec<_> = found.iter().map(|u| (u.uid.0, u.attempt, u.tokens, u.ms, u.at)).collect();
    assert_eq!(found, [(1, 1, 70, 5, 3), (1, 2, 30, 6, 4), (2, 1, 9, 7, 2)]);
}
