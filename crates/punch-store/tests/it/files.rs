//! The store as a file: what is made, what is refused, what is copied.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use punch_store::{Durability, OpenMode, PlanId, SqliteStore, Store, StoreAdmin, StoreError, restore};
use rusqlite::Connection;

use crate::create;
use crate::submit::{add, add_as, done, look, must, whole};

/// A folder with a store that holds one plan of three todos.
fn filled() -> (tempfile::TempDir, PathBuf, PlanId) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let store = create(&path);
    let plan = store.create_plan("main", 1).unwrap();
    must(&store, plan, 2, &[add_as("a", &[]), add_as("b", &["a"]), add_as("c", &["b"])]);
    must(&store, plan, 3, &[done("a")]);
    (folder, path, plan)
}

fn refusal(path: &Path) -> StoreError {
    match SqliteStore::open(path, OpenMode::Existing) {
        Ok(_) => panic!("{} was opened", path.display()),
        Err(error) => error,
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn names(folder: &Path) -> Vec<String> {
    let mut out: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    out.sort();
    out
}

#[test]
fn reading_never_creates() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path().join("store.db"), folder.path().join("deep/er/store.db")] {
        let error = refusal(&path);
        assert_eq!(error.code(), "store_missing");
        assert!(error.message().contains("store.db"), "{error}");
    }
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn a_new_store_is_private_and_complete() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("punch").join("store.db");
    let store = create(&path);
    let plan = store.create_plan("main", 0).unwrap();
    must(&store, plan, 1, &[add("a")]);
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    for file in names(path.parent().unwrap()) {
        assert_eq!(mode(&path.with_file_name(&file)), 0o600, "{file}");
    }
    drop(store);
    // A small log stays.
    let all = ["store.db", "store.db-shm", "store.db-wal", "store.lock", "store.use"];
    assert_eq!(names(path.parent().unwrap()), all);
    all.iter().for_each(|file| assert_eq!(mode(&path.with_file_name(file)), 0o600, "{file}"));
}

/// An old state of the file is laid under a log that knows nothing of it.
#[test]
fn a_store_that_was_exchanged_by_hand_is_never_mixed_with_the_log_of_another() {
    let (_folder, path, plan) = filled();
    let log = path.with_file_name("store.db-wal");
    let merge = || Connection::open(&path).unwrap().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let mut found = Vec::new();
    for n in 0..12 {
        merge();
        let old = fs::read(&path).unwrap();
        let before = whole(&SqliteStore::open(&path, OpenMode::Existing).unwrap(), plan);
        let many: Vec<_> = (0..20 * n).map(|_| add("much that moves pages about")).collect();
        must(&SqliteStore::open(&path, OpenMode::Existing).unwrap(), plan, 10 + n, &many);
        merge();
        must(&SqliteStore::open(&path, OpenMode::Existing).unwrap(), plan, 50 + n, &[add("in the log")]);
        let after = whole(&SqliteStore::open(&path, OpenMode::Existing).unwrap(), plan);
        assert!(fs::metadata(&log).unwrap().len() > 0);
        fs::write(&path, old).unwrap();
        // More than once: nothing is forgotten by looking.
        for _ in 0..2 {
            match SqliteStore::open(&path, OpenMode::Existing) {
                Ok(store) => {
                    let now = whole(&store, plan);
                    assert!(now == before || now == after, "a mixture after {n}");
                    found.push("sound");
                }
                Err(error) => {
                    assert_eq!(error.code(), "store_damaged", "{error}");
                    found.push("damaged");
                    assert_eq!(before, {
                        let alone = path.with_file_name("alone.db");
                        fs::copy(&path, &alone).unwrap();
                        whole(&SqliteStore::open(&alone, OpenMode::Existing).unwrap(), plan)
                    });
                }
            }
        }
        for file in ["store.db-wal", "store.db-shm"] {
            fs::remove_file(path.with_file_name(file)).unwrap();
        }
        let mut store = SqliteStore::open(&path, OpenMode::Existing).unwrap();
        assert_eq!(store.check().unwrap(), [""; 0]);
        assert!(store.accept_loss().unwrap().is_some(), "the old file lacks writes that were committed");
        drop(store);
        for file in ["alone.db", "alone.db-wal", "alone.db-shm", "alone.use"] {
            let _ = fs::remove_file(path.with_file_name(file));
        }
    }
    assert!(found.contains(&"damaged"), "{found:?}");
}

#[test]
fn a_log_that_has_grown_is_merged_by_the_last_to_leave() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let plan = create(&path).create_plan("main", 0).unwrap();
    let log = path.with_file_name("store.db-wal");
    let (mut left, mut merged) = (0, 0);
    for n in 1..=60 {
        let store = SqliteStore::open(&path, OpenMode::Existing).unwrap();
        let other = SqliteStore::open(&path, OpenMode::Existing).unwrap();
        must(&store, plan, n, &[add("one more")]);
        drop(store);
        assert!(log.exists(), "someone is still there");
        drop(other);
        let size = fs::metadata(&log).map_or(0, |log| log.len());
        assert!(size <= 192 << 10, "{size} bytes left");
        if size > 0 { left += 1 } else { merged += 1 }
    }
    assert!(left > 40 && merged > 2, "left {left} times, merged {merged} times");
    let store = SqliteStore::open(&path, OpenMode::Existing).unwrap();
    assert_eq!(whole(&store, plan).live().len(), 60);
    assert_eq!(store.check().unwrap(), [""; 0]);
}

#[test]
fn a_crash_while_making_a_store_does_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    for leftover in ["store.new", "store.new-wal", "store.lock"] {
        fs::write(folder.path().join(leftover), "leftover").unwrap();
    }
    let store = create(&path);
    assert_eq!(store.check().unwrap(), [""; 0]);
}

#[test]
fn the_log_of_a_store_that_is_gone_does_no_harm() {
    let (_folder, path, plan) = filled();
    let log = path.with_file_name("store.db-wal");
    let store = create(&path);
    must(&store, plan, 4, &[add("in the log only")]);
    let left = fs::read(&log).unwrap();
    assert!(!left.is_empty());
    drop(store);
    fs::remove_file(&path).unwrap();
    fs::write(&log, left).unwrap();
    let store = create(&path);
    assert_eq!(store.check().unwrap(), [""; 0]);
    store.create_plan("main", 5).unwrap();
}

#[test]
fn what_is_not_our_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (_other, real, _) = filled();
    let at = |name: &str| folder.path().join(name);

    symlink(&real, at("link.db")).unwrap();
    assert_eq!(refusal(&at("link.db")).code(), "store_symlink");
    assert_eq!(SqliteStore::open(&at("link.db"), OpenMode::Create).err().unwrap().code(), "store_symlink");

    fs::create_dir(at("folder.db")).unwrap();
    assert_eq!(refusal(&at("folder.db")).code(), "store_foreign");

    fs::write(at("text.db"), "this is a shopping list, not a database. ".repeat(100)).unwrap();
    assert_eq!(refusal(&at("text.db")).code(), "store_damaged");

    fs::write(at("empty.db"), "").unwrap();
    assert_eq!(refusal(&at("empty.db")).code(), "store_damaged");

    Connection::open(at("plain.db")).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    assert_eq!(refusal(&at("plain.db")).code(), "store_foreign");

    Connection::open(at("other.db")).unwrap().execute_batch("PRAGMA application_id = 7; CREATE TABLE t (x)").unwrap();
    let error = refusal(&at("other.db"));
    assert_eq!(error.code(), "store_foreign");
    assert!(error.message().contains("another application"), "{error}");

    assert_eq!(fs::read(at("empty.db")).unwrap(), b"", "nothing refused is touched");
}

#[test]
fn a_folder_behind_a_link_is_fine() {
    let (folder, path, plan) = filled();
    let link = tempfile::tempdir().unwrap();
    symlink(folder.path(), link.path().join("project")).unwrap();
    let store = SqliteStore::open(&link.path().join("project/store.db"), OpenMode::Existing).unwrap();
    assert_eq!(store.path(), fs::canonicalize(path).unwrap());
    assert_eq!(whole(&store, plan).all().count(), 3);
}

#[test]
fn code_in_the_schema_is_refused() {
    for sql in [
        "CREATE TRIGGER t AFTER INSERT ON todo BEGIN DELETE FROM event; END",
        "CREATE VIEW v AS SELECT 1",
        "DROP INDEX todo_ready",
        "CREATE TABLE extra (x)",
    ] {
        let (_folder, path, _) = filled();
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        assert_eq!(refusal(&path).code(), "store_foreign", "{sql}");
    }
}

#[test]
fn a_deleted_or_replaced_file_is_noticed() {
    let (folder, path, plan) = filled();
    let store = SqliteStore::open(&path, OpenMode::Existing).unwrap();
    must(&store, plan, 4, &[add("d")]);
    fs::rename(&path, folder.path().join("away.db")).unwrap();
    let write = |store: &SqliteStore| store.write(plan, Durability::Full, &mut |tx| tx.put_plan_file(Some("y")));
    assert_eq!(write(&store).unwrap_err().code(), "store_missing");
    assert_eq!(store.read(plan, &mut |_| Ok(())).unwrap_err().code(), "store_missing");
    create(&path);
    assert_eq!(write(&store).unwrap_err().code(), "store_missing", "that is another store");
}

#[test]
fn damage_is_found_and_named() {
    let (_folder, path, plan) = filled();
    let size = fs::metadata(&path).unwrap().len();
    let mut bytes = fs::read(&path).unwrap();
    for at in (4096..size as usize).step_by(64) {
        bytes[at] ^= 0x5a;
    }
    fs::write(&path, &bytes).unwrap();
    let store = match SqliteStore::open(&path, OpenMode::Existing) {
        Ok(store) => store,
        Err(error) => return assert_eq!(error.code(), "store_damaged"),
    };
    match store.check() {
        Ok(problems) => assert_ne!(problems, [""; 0]),
        Err(error) => assert_eq!(error.code(), "store_damaged"),
    }
    let read = store.read(plan, &mut |s| s.events(0, 99).map(|_| ()));
    let error = read.unwrap_err();
    assert_eq!(error.code(), "store_damaged");
    assert!(error.message().contains("store.db") && error.hint().contains("backups"), "{error}");
}

#[test]
fn a_body_that_cannot_be_read_is_damage_and_not_a_crash() {
    let (_folder, path, plan) = filled();
    Connection::open(&path).unwrap().execute("UPDATE todo SET body = '{' WHERE uid = 2", []).unwrap();
    let store = SqliteStore::open(&path, OpenMode::Existing).unwrap();
    let error = store.read(plan, &mut |s| s.find("b").map(|_| ())).unwrap_err();
    assert_eq!(error.code(), "store_damaged");
    assert!(error.message().contains("todo 2"), "{error}");
    store.read(plan, &mut |s| s.find("a").map(|_| ())).unwrap();
}

#[test]
fn wrong_columns_and_edges_are_found_and_rebuilt() {
    let (_folder, path, plan) = filled();
    let before = whole(&create(&path), plan);
    let wrong = "UPDATE todo SET status = 'failed', position = 7, effective = 1 WHERE uid = 2; DELETE FROM edge;
                 INSERT INTO dangling VALUES (1, 'x', 1)";
    Connection::open(&path).unwrap().execute_batch(wrong).unwrap();
    let store = SqliteStore::open(&path, OpenMode::Existing).unwrap();
    assert_eq!(store.check().unwrap().len(), 2);
    store.rebuild().unwrap();
    assert_eq!(store.check().unwrap(), [""; 0]);
    let number = "UPDATE todo SET said = 5 WHERE uid = 3";
    assert_eq!(Connection::open(&path).unwrap().execute(number, []).unwrap(), 1);
    assert_eq!(store.check().unwrap().len(), 1);
    store.rebuild().unwrap();
    assert_eq!(store.check().unwrap(), [""; 0]);
    assert_eq!(whole(&store, plan).all().collect::<Vec<_>>(), before.all().collect::<Vec<_>>());
    assert_eq!(look(&store, plan, |s| Ok(s.ready(9, None, 9)?[0].id.clone())), "b");
}

#[test]
fn a_copy_is_private_and_comes_back() {
    let (folder, path, plan) = filled();
    let store = SqliteStore::open(&path, OpenMode::Existing).unwrap();
    let copy = folder.path().join("copy.db");
    store.backup_to(&copy).unwrap();
    assert_eq!(mode(&copy), 0o600);
    let before = whole(&store, plan);
    must(&store, plan, 5, &[done("b"), add("later")]);
    // Over the living store: a process that has it open sees the copy, and can continue.
    let mut changes = store.changes();
    assert_eq!(restore(&copy, &path).unwrap(), None);
    assert!(changes.wait(Duration::from_secs(20)).unwrap());
    assert_eq!(whole(&store, plan), before);
    must(&store, plan, 6, &[done("b")]);
    assert_eq!(store.check().unwrap(), [""; 0]);
    drop((store, changes));
    // Over ruins: they are kept beside it.
    fs::write(&path, "ruins ".repeat(1000)).unwrap();
    fs::remove_file(path.with_file_name("store.db-wal")).unwrap();
    let aside = restore(&copy, &path).unwrap().unwrap();
    assert_eq!(fs::read(aside).unwrap(), "ruins ".repeat(1000).as_bytes());
    assert_eq!(whole(&SqliteStore::open(&path, OpenMode::Existing).unwrap(), plan), before);
    // Where there is nothing.
    let fresh = folder.path().join("new/store.db");
    assert_eq!(restore(&copy, &fresh).unwrap(), None);
    assert_eq!(whole(&SqliteStore::open(&fresh, OpenMode::Existing).unwrap(), plan), before);
    assert_eq!(mode(&fresh), 0o600);
    // From something that is no copy.
    fs::write(folder.path().join("empty"), "").unwrap();
    assert_eq!(restore(&folder.path().join("empty"), &path).unwrap_err().code(), "store_foreign");
    assert_eq!(restore(&folder.path().join("store.lock"), &path).unwrap_err().code(), "store_damaged");
    assert_eq!(whole(&SqliteStore::open(&path, OpenMode::Existing).unwrap(), plan), before);
}

#[test]
fn a_store_tells_its_sizes() {
    let (_folder, path, _) = filled();
    let store = SqliteStore::open(&path, OpenMode::Existing).unwrap();
    let info = store.info().unwrap();
    assert_eq!((info.plans, info.todos, info.events, info.sessions), (1, 3, 4, 0));
    assert_eq!((info.schema.to_string().as_str(), info.store.len()), ("3.2", 32));
    assert!(info.bytes > 0 && info.created_at > 1_700_000_000_000);
}

#[test]
fn a_path_with_odd_letters_works() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a b?c#d%20'é").join("store.db");
    let store = create(&path);
    let plan = store.create_plan("main", 0).unwrap();
    store.backup_to(&path.with_file_name("copy?.db")).unwrap();
    assert_eq!(restore(&path.with_file_name("copy?.db"), &path).unwrap(), None);
    assert_eq!(whole(&store, plan).row.revision, 0);
}
