//! Stores with schemas 2.2 and 2.3, every table filled, that are opened by this program.

use std::fs;
use std::path::Path;
use std::time::Duration;

use punch_core::{Note, PlanRow, Uid};
use punch_store::{
    Catalogue, CompletedFiles, ControlRecord, ControlScope, Durability, ExpectedCall, HandOut, OpenMode, PlanId,
    RequestedState, SessionKey, SqliteStore, Store, StoreAdmin,
};
use rusqlite::{Connection, params};

use crate::faults::{victim, victim_store};
use crate::submit::{done, look, must, whole};

const MIGRATIONS: [&str; 9] = [
    include_str!("../../migrations/0001_plans.sql"),
    include_str!("../../migrations/0002_baselines.sql"),
    include_str!("../../migrations/0003_decisions.sql"),
    include_str!("../../migrations/0004_said.sql"),
    include_str!("../../migrations/0005_usage.sql"),
    include_str!("../../migrations/0006_runs.sql"),
    include_str!("../../migrations/0007_again.sql"),
    include_str!("../../migrations/0008_fewer_indexes.sql"),
    include_str!("../../migrations/0009_undo.sql"),
];

/// How many of the migrations make each schema, by minor version.
const SCHEMAS: [(u32, usize); 2] = [(2, MIGRATIONS.len() - 1), (3, MIGRATIONS.len())];

/// Writes a store as a program with schema 2.2 or 2.3 left it, with `todos` todos in the first of two plans.
fn older_store(path: &Path, (minor, migrations): (u32, usize), todos: u32) {
    let conn = Connection::open(path).unwrap();
    conn.execute_batch("PRAGMA journal_mode = WAL; BEGIN").unwrap();
    MIGRATIONS[..migrations].iter().for_each(|sql| conn.execute_batch(sql).unwrap());
    let mut row = PlanRow { revision: 1, next_uid: u64::from(todos) + 1, last_position: 1024, ..PlanRow::default() };
    row.counts.pending = u64::from(todos);
    let [first, second] = [&row, &PlanRow::default()].map(|row| serde_json::to_string(row).unwrap());
    let plan = "INSERT INTO plan (id, name, created_at, archived, revision, row) VALUES (?1, ?2, 5, NULL, ?3, ?4)";
    conn.execute(plan, params![1, "main", 1, first]).unwrap();
    conn.execute(plan, params![2, "side", 0, second]).unwrap();
    for uid in 1..=todos {
        let (id, mut todo) = (format!("T-{uid}"), punch_core::Todo::blank(Uid(u64::from(uid))));
        todo.fields.id.clone_from(&id);
        todo.fields.content = format!("do {uid}");
        todo.fields.position = 1024;
        todo.fields.notes = vec![Note { text: format!("about {uid}"), at: 7, by: "ann".into() }; 2];
        let body = serde_json::to_string(&todo.fields).unwrap();
        let sql = "INSERT INTO todo (plan, uid, id, position, status, unmet, level, pull, effective, updated_at, body) \
                   VALUES (1, ?1, ?2, 1024, 'pending', 0, ?3, ?4, ?5, 0, ?6)";
        let (d, effective) = (todo.derived, todo.effective_priority());
        conn.execute(sql, params![uid, id, d.level, d.pull, effective, body]).unwrap();
    }
    conn.execute_batch(
        r#"INSERT INTO answer VALUES (1, 'key', 9, '"answer"');
        INSERT INTO baseline VALUES (2, '{}');
        INSERT INTO baseline_todo VALUES (2, 1, 0, '{}');
        INSERT INTO checkpoint VALUES (1, 'c1', 9, '{"a":1}');
        INSERT INTO decision VALUES ('s', '', 1, 9, '{}');
        INSERT INTO ledger VALUES (1, 1, 1, 1, 3, 'claude', NULL, 70, 5, 2, 9, 1, 0, 9, 4);
        INSERT INTO run VALUES (1, 3, 1, 2, '{}');
        INSERT INTO session VALUES ('s', '', 1, 9, '{}');
        INSERT INTO setting VALUES
            ('plan-use:/w/one', '2'), ('plan-use:/gone', '77'), ('plan-use:/odd', 'x'),
            ('plan-file:1', '{"path":"a.plan.md"}'), ('plan-file:77', '{}'),
            ('batches:1', '[{"who":"b","todos":[1,2]},{"who":"a","todos":[2]}]'), ('batches:2', 'no json'),
            ('mirrored:1', '2 1'), ('mirrored:2', 'x y'),
            ('files:1:2', '{"at":8,"blobs":{"f":"x"}}'), ('files:1:1', '{"at":7,"blobs":{}}'),
            ('files:77:1', '{"at":7,"blobs":{}}'), ('files:2:1', 'no json'), ('files:2:2', '{"at":"x"}'),
            ('offers:1', '1 2 s'),
            ('expected_calls', '[{"host":"s","plan":1,"id":"x","fingerprint":"f","at":9},{"host":"t","subagent":"u","plan":2,"fingerprint":"g","at":10},{"odd":1}]'),
            ('keep-going', 'paused'), ('keep-going:abc', 'off'), ('keep-going:odd', 'x'),
            ('store.commits', '12 abc'), ('unknown', 'x');
        COMMIT;
        PRAGMA application_id = 0x50756E63;"#,
    )
    .unwrap();
    conn.execute_batch(&format!("PRAGMA user_version = {}", 2_000 + minor)).unwrap();
    let tables = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    assert_eq!(conn.query_row(tables, [], |row| row.get::<_, i64>(0)).unwrap(), 15, "fill the new table here");
}

/// Everything that the older schemas could hold is there after the upgrade.
fn is_complete(store: &SqliteStore, todos: usize) {
    let (main, side) = (PlanId(1), PlanId(2));
    assert_eq!(store.check().unwrap(), [""; 0]);
    let plan = whole(store, main);
    assert_eq!(plan.all().count(), todos);
    for todo in plan.all() {
        let note = Note { text: format!("about {}", todo.uid.0), at: 7, by: "ann".into() };
        assert_eq!(todo.notes, [note.clone(), note]);
    }
    look(store, main, |s| {
        assert_eq!(s.answer("key", 10)?.as_deref(), Some("\"answer\""));
        assert_eq!(s.checkpoints(9)?.len(), 1);
        assert_eq!(s.ledger(3)?.len(), 1);
        assert_eq!(s.runs(9)?.len(), 1);
        assert_eq!((s.sessions(None, i64::MIN, 9)?.len(), s.decisions(None, 9)?.len()), (1, 1));
        let batch = |owner: &str, at, todos: &[u64]| HandOut {
            owner: owner.into(),
            todos: todos.iter().copied().map(Uid).collect(),
            at,
        };
        assert_eq!(s.batches()?, [batch("b", 0, &[1, 2]), batch("a", 1, &[2])]);
        assert_eq!(s.mirrored()?, [Uid(2), Uid(1)]);
        let files = |todo, at, blobs: &str| CompletedFiles { todo: Uid(todo), at, blobs: blobs.into() };
        assert_eq!(s.completed_files(Uid(2))?, Some(files(2, 8, "{\"f\":\"x\"}")));
        assert_eq!(s.completed_files(Uid(1))?, Some(files(1, 7, "{}")));
        assert_eq!(s.offers()?, []);
        clone_and_sessions(s)
    });
    look(store, side, |s| {
        assert_eq!((s.batches()?, s.mirrored()?, s.completed_files(Uid(1))?), (vec![], vec![], None));
        Ok(())
    });
}

fn clone_and_sessions(s: &(impl Catalogue + ?Sized)) -> Result<(), punch_store::StoreError> {
    assert_eq!((s.worktree_plan("/w/one")?, s.worktree_plan("/gone")?), (Some(PlanId(2)), None));
    assert_eq!(s.worktree_plan("/odd")?, None);
    assert_eq!(s.plan_file(PlanId(1))?.as_deref(), Some("{\"path\":\"a.plan.md\"}"));
    let call = |seq, session, plan, call: Option<&str>, fingerprint: &str, at| ExpectedCall {
        seq,
        session,
        plan: PlanId(plan),
        call: call.map(str::to_owned),
        fingerprint: fingerprint.into(),
        at,
    };
    let calls = [
        call(1, SessionKey::new("s", None), 1, Some("x"), "f", 9),
        call(2, SessionKey::new("t", Some("u")), 2, None, "g", 10),
    ];
    assert_eq!(s.expected_calls()?, calls);
    let control = |scope, wanted| ControlRecord { scope, wanted, by: "user".into(), at: 0 };
    let session = |name: &str| ControlScope::Session(name.into());
    let all = s.control(&ControlScope::Sessions)?;
    assert_eq!(all, Some(control(ControlScope::Sessions, RequestedState::Pause)));
    assert_eq!(s.control(&session("abc"))?, Some(control(session("abc"), RequestedState::Stop)));
    assert_eq!(s.control(&session("odd"))?, None);
    Ok(())
}

/// Every schema that a program ever wrote, with the migration that made it.
const RELEASED: [(u32, &str); 12] = [
    (1_000, MIGRATIONS[0]),
    (1_001, MIGRATIONS[1]),
    (1_002, MIGRATIONS[2]),
    (1_003, MIGRATIONS[3]),
    (1_004, MIGRATIONS[4]),
    (2_000, MIGRATIONS[5]),
    (2_001, MIGRATIONS[6]),
    (2_002, MIGRATIONS[7]),
    (2_003, MIGRATIONS[8]),
    (3_000, include_str!("../../migrations/0010_live.sql")),
    (3_001, include_str!("../../migrations/0011_notes.sql")),
    (3_002, include_str!("../../migrations/0012_workers.sql")),
];

#[test]
fn a_store_of_every_released_schema_opens_and_takes_writes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
    let migrations = fs::read_dir(folder).unwrap().flatten().filter(|entry| entry.file_name() != "schema.sql").count();
    assert_eq!(migrations, RELEASED.len(), "add the new schema to the table above");
    for (n, (version, _)) in RELEASED.iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        {
            let conn = Connection::open(&path).unwrap();
            conn.execute_batch("PRAGMA journal_mode = WAL; BEGIN").unwrap();
            RELEASED[..=n].iter().for_each(|(_, sql)| conn.execute_batch(sql).unwrap());
            let mut row = PlanRow { revision: 1, next_uid: 2, last_position: 1024, ..PlanRow::default() };
            row.counts.pending = 1;
            let plan =
                "INSERT INTO plan (id, name, created_at, archived, revision, row) VALUES (1, 'main', 5, NULL, 1, ?1)";
            conn.execute(plan, params![serde_json::to_string(&row).unwrap()]).unwrap();
            let mut todo = punch_core::Todo::blank(Uid(1));
            (todo.fields.id, todo.fields.content, todo.fields.position) = ("T-1".into(), "do 1".into(), 1024);
            let sql = "INSERT INTO todo (plan, uid, id, position, status, unmet, level, pull, effective, updated_at, body) \
                       VALUES (1, 1, 'T-1', 1024, 'pending', 0, ?1, ?2, ?3, 0, ?4)";
            let (derived, effective) = (todo.derived, todo.effective_priority());
            let body = serde_json::to_string(&todo.fields).unwrap();
            conn.execute(sql, params![derived.level, derived.pull, effective, body]).unwrap();
            conn.execute_batch("COMMIT; PRAGMA application_id = 0x50756E63;").unwrap();
            conn.execute_batch(&format!("PRAGMA user_version = {version}")).unwrap();
        }
        let store = SqliteStore::open(&path, OpenMode::Existing).unwrap();
        assert_eq!(store.upgrade().is_some(), n + 1 < RELEASED.len(), "schema {version}");
        assert_eq!(store.check().unwrap(), [""; 0], "schema {version}");
        assert_eq!(whole(&store, PlanId(1)).all().count(), 1, "schema {version}");
        must(&store, PlanId(1), 20, &[done("T-1")]);
    }
}

#[test]
fn everything_in_an_older_store_is_there_after_the_upgrade() {
    SCHEMAS.into_iter().for_each(is_upgraded);
}

fn is_upgraded(schema: (u32, usize)) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    older_store(&path, schema, 3);
    let store = SqliteStore::open(&path, OpenMode::Existing).unwrap();
    let upgrade = store.upgrade().unwrap();
    assert_eq!((upgrade.from.to_string(), upgrade.to.to_string()), (format!("2.{}", schema.0), "3.2".to_owned()));
    let copy = Connection::open(upgrade.copy.as_ref().unwrap()).unwrap();
    assert_eq!(copy.query_row("SELECT count(*) FROM setting", [], |row| row.get::<_, i64>(0)).unwrap(), 21);
    assert_eq!(copy.query_row("PRAGMA user_version", [], |row| row.get::<_, u32>(0)).unwrap(), 2_000 + schema.0);
    is_complete(&store, 3);
    let counted = || -> (i64, String) {
        let spy = Connection::open(&path).unwrap();
        spy.query_row("SELECT commits, store FROM commit_counter", [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
    };
    assert_eq!(counted(), (12, "abc".to_owned()));
    must(&store, PlanId(1), 20, &[done("T-1")]);
    assert_eq!(counted().0, 13, "lost writes are noticed as before");
    drop(store);
    let store = SqliteStore::open(&path, OpenMode::Existing).unwrap();
    assert_eq!(store.upgrade(), None);
    store.write(PlanId(1), Durability::Full, &mut |tx| tx.put_plan_file(None)).unwrap();
}

/// Brings a store up to date, if it gets that far.
#[test]
fn victim_upgrades() {
    let Some(path) = victim_store() else { return };
    let _ = SqliteStore::open(&path, OpenMode::Existing);
}

#[test]
fn an_upgrade_that_is_killed_leaves_the_older_store_or_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let (mut older, mut newer) = (0, 0);
    for round in 0..16 {
        let folder = folder.path().join(format!("{round}"));
        fs::create_dir(&folder).unwrap();
        let path = folder.join("store.db");
        older_store(&path, SCHEMAS[1], 500);
        let mut child = victim("upgrade::victim_upgrades", &path, "exec \"$@\"");
        // The last ones have all the time they need.
        if round < 14 {
            std::thread::sleep(Duration::from_millis(4 * round));
            child.kill().unwrap();
        }
        child.wait().unwrap();
        let version: i64 = {
            let spy = Connection::open(&path).unwrap();
            spy.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
        };
        match version {
            2003 => older += 1,
            3002 => newer += 1,
            other => panic!("round {round} left version {other}"),
        }
        is_complete(&SqliteStore::open(&path, OpenMode::Existing).unwrap(), 500);
    }
    assert!(newer > 0 && older + newer == 16, "{older} older, {newer} newer");
}
