//! Committed writes that are gone: a log that was cut, damaged or deleted must be noticed, and nothing else may look like
//! it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use proptest::prelude::*;
use punch_core::{Outcome, Policy};
use punch_store::{Durability, OpenMode, PlanId, SqliteStore, Store, StoreAdmin, restore};
use rusqlite::Connection;
use rusqlite::config::DbConfig;

use crate::create;
use crate::submit::{add, context, look, must, submit, whole};

const FILES: [&str; 5] = ["store.db", "store.db-wal", "store.db-shm", "store.lock", "store.use"];

/// Bytes of the header of a log, and of each frame in it.
const LOG_HEADER: usize = 32;
const FRAME: usize = 24 + 4096;

fn open(path: &Path) -> SqliteStore {
    SqliteStore::open(path, OpenMode::Existing).unwrap()
}

fn log(path: &Path) -> PathBuf {
    path.with_file_name("store.db-wal")
}

fn write(store: &SqliteStore, plan: PlanId, durability: Durability, content: &str) -> Outcome {
    submit(store, plan, durability, &[add(content)], &context(1, None, Policy::default())).unwrap().unwrap()
}

/// Writes until something stays in the log.
fn leave_log(path: &Path, plan: PlanId) {
    loop {
        must(&open(path), plan, 5, &[add("in the log")]);
        if fs::metadata(log(path)).is_ok_and(|log| log.len() > 0) {
            return;
        }
    }
}

/// All files of a store, to be put back in place: the files stay the same ones for the system.
struct Saved(Vec<(PathBuf, Option<Vec<u8>>)>);

impl Saved {
    fn of(path: &Path) -> Self {
        let files = FILES.map(|name| path.with_file_name(name));
        Self(files.into_iter().map(|file| (file.clone(), fs::read(&file).ok())).collect())
    }

    fn put_back(&self) {
        for (file, bytes) in &self.0 {
            match bytes {
                Some(bytes) => fs::write(file, bytes).unwrap(),
                None => drop(fs::remove_file(file)),
            }
        }
    }
}

/// A store whose log holds several writes to two plans and some records that belong to no revision.
fn filled(folder: &Path) -> (PathBuf, PlanId) {
    let path = folder.join("store.db");
    let plan = create(&path).create_plan("main", 0).unwrap();
    for n in 0..3 {
        must(&open(&path), plan, n, &[add("before the log was merged")]);
    }
    // The log begins again at its start, and what it held before stays at its end.
    let spy = Connection::open(&path).unwrap();
    let store = open(&path);
    spy.execute_batch("PRAGMA wal_checkpoint(RESTART)").unwrap();
    let side = store.create_plan("side", 0).unwrap();
    must(&store, plan, 5, &[add("in the log")]);
    write(&store, side, Durability::Relaxed, "from a hook");
    store.write(plan, Durability::Full, &mut |tx| tx.put_plan_file(Some("y"))).unwrap();
    drop(store);
    spy.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
    drop(spy);
    assert!(fs::metadata(log(&path)).unwrap().len() > 0);
    (path, plan)
}

fn everything(store: &SqliteStore) -> String {
    let mut out = String::new();
    store
        .browse(&mut |catalogue| {
            out = format!("{:?} {:?}", catalogue.plans()?, catalogue.plan_file(PlanId(1))?);
            Ok(())
        })
        .unwrap();
    out
}

/// Every place where a log can be cut, a byte in every part of every frame, and no log at all.
fn damages(log: &[u8]) -> Vec<Option<Vec<u8>>> {
    let frames = (log.len() - LOG_HEADER) / FRAME;
    let starts = (0..=frames).map(|n| LOG_HEADER + n * FRAME);
    let cuts = [0, 1, LOG_HEADER / 2].into_iter().chain(starts.clone().flat_map(|at| [at, at + 12, at + FRAME / 2]));
    let cut = cuts.filter(|at| *at < log.len()).map(|at| Some(log[..at].to_vec()));
    let places = [0, 9, 20].into_iter().chain(starts.flat_map(|at| [at, at + 4, at + 17, at + 24, at + FRAME - 1]));
    let flipped = places.filter(|at| *at < log.len()).map(|at| {
        let mut bytes = log.to_vec();
        bytes[at] ^= 0x10;
        Some(bytes)
    });
    cut.chain(flipped).chain([None]).collect()
}

#[test]
fn a_damaged_log_is_complete_or_reported() {
    let folder = tempfile::tempdir().unwrap();
    let (path, plan) = filled(folder.path());
    let saved = Saved::of(&path);
    let before = everything(&open(&path));
    let bytes = fs::read(log(&path)).unwrap();
    let (mut complete, mut reported) = (0, 0);
    for (n, damaged) in damages(&bytes).into_iter().enumerate() {
        saved.put_back();
        match &damaged {
            Some(damaged) => fs::write(log(&path), damaged).unwrap(),
            None => fs::remove_file(log(&path)).unwrap(),
        }
        if n % 3 == 0 {
            fs::remove_file(path.with_extension("use")).unwrap();
        }
        // Looking does not make it forgotten.
        for _ in 0..2 {
            let store = open(&path);
            let Some(lost) = store.lost() else {
                assert_eq!(everything(&store), before, "damage {n} was not noticed");
                complete += 1;
                continue;
            };
            reported += 1;
            assert!(lost.writes > 0);
            for gone in &lost.plans {
                assert!(gone.found.is_none_or(|found| found < gone.recorded), "{gone:?}");
            }
            let error = store.write(plan, Durability::Full, &mut |tx| tx.put_plan_file(None)).unwrap_err();
            assert_eq!(error.code(), "store_lost_writes", "{error}");
            let error = store.create_plan("another", 1).unwrap_err();
            assert_eq!(error.code(), "store_lost_writes", "{error}");
        }
    }
    assert!(complete > 0 && reported > 100, "{complete} complete, {reported} reported");
}

#[test]
fn the_report_names_plans_and_revisions() {
    let folder = tempfile::tempdir().unwrap();
    let (path, plan) = filled(folder.path());
    let was = look(&open(&path), plan, |s| Ok(s.row()?.revision));
    fs::remove_file(log(&path)).unwrap();
    let store = open(&path);
    let is = look(&store, plan, |s| Ok(s.row()?.revision));
    let lost = store.lost().unwrap().to_string();
    assert!(lost.contains(&format!("plan `main` was at revision {was}, but the file has {is}")), "{lost}");
    assert!(lost.contains("plan `side` was at revision 1, but it is missing from the file"), "{lost}");
    assert!(lost.starts_with("the last 4 writes are missing"), "{lost}");
}

#[test]
fn a_loss_that_was_accepted_is_over() {
    let folder = tempfile::tempdir().unwrap();
    let (path, plan) = filled(folder.path());
    fs::remove_file(log(&path)).unwrap();
    let mut store = open(&path);
    let lost = store.lost().cloned().unwrap();
    assert_eq!(store.accept_loss().unwrap(), Some(lost));
    must(&store, plan, 9, &[add("after it")]);
    drop(store);
    let mut store = open(&path);
    assert_eq!(store.lost(), None);
    assert_eq!(store.accept_loss().unwrap(), None);
    assert_eq!(store.check().unwrap(), [""; 0]);
    drop(store);
    // What is lost from now on is noticed again, even the accepting itself.
    fs::remove_file(log(&path)).unwrap();
    assert!(open(&path).lost().is_some());
}

#[test]
fn a_copy_that_was_brought_back_is_no_loss_but_losing_it_again_is() {
    let folder = tempfile::tempdir().unwrap();
    let (path, plan) = filled(folder.path());
    let copy = folder.path().join("copy.db");
    open(&path).backup_to(&copy).unwrap();
    let kept = whole(&open(&path), plan);
    must(&open(&path), plan, 5, &[add("after the copy")]);
    restore(&copy, &path).unwrap();
    assert_eq!(open(&path).lost(), None);
    // Over a store that has lost writes.
    leave_log(&path, plan);
    fs::remove_file(log(&path)).unwrap();
    assert!(open(&path).lost().is_some());
    restore(&copy, &path).unwrap();
    let store = open(&path);
    assert_eq!(store.lost(), None);
    assert_eq!(whole(&store, plan), kept);
    must(&store, plan, 6, &[add("works again")]);
}

#[test]
fn a_log_that_is_cut_under_a_running_process_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let (path, plan) = filled(folder.path());
    let running = open(&path);
    must(&running, plan, 7, &[add("the last one")]);
    fs::File::options().write(true).open(log(&path)).unwrap().set_len(0).unwrap();
    // The process may not notice: it has what it needs in memory.
    let ctx = context(8, None, Policy::default());
    let _ = submit(&running, plan, Durability::Full, &[add("one more")], &ctx);
    drop(running);
    let store = SqliteStore::open(&path, OpenMode::Existing);
    assert!(store.as_ref().map_or(true, |store| store.lost().is_some()));
}

/// A copied folder brings its record along; copied file by file while someone writes, that record is newer than the log.
#[test]
fn a_folder_that_was_copied_while_in_use_is_no_loss() {
    let folder = tempfile::tempdir().unwrap();
    let (path, plan) = filled(folder.path());
    let copy = folder.path().join("copy").join("store.db");
    fs::create_dir(copy.parent().unwrap()).unwrap();
    let running = open(&path);
    for name in FILES {
        let _ = fs::copy(path.with_file_name(name), copy.with_file_name(name));
        must(&running, plan, 9, &[add("in between")]);
    }
    let store = open(&copy);
    assert_eq!(store.lost(), None);
    must(&store, plan, 10, &[add("in the copy")]);
    drop(store);
    assert_eq!(open(&copy).lost(), None);
    leave_log(&copy, plan);
    fs::remove_file(log(&copy)).unwrap();
    assert!(open(&copy).lost().is_some(), "from the first write on the copy has its own record");
}

/// As after a crash between the commit and its record, or a power loss that took the record.
#[test]
fn a_record_that_is_behind_missing_or_damaged_is_no_loss() {
    let folder = tempfile::tempdir().unwrap();
    let (path, plan) = filled(folder.path());
    let lock = path.with_extension("lock");
    let old = fs::read(&lock).unwrap();
    must(&open(&path), plan, 9, &[add("recorded nowhere")]);
    fs::write(&lock, &old).unwrap();
    assert_eq!(open(&path).lost(), None);
    for n in (0..old.len()).step_by(7) {
        let mut damaged = old.clone();
        damaged[n] ^= 0x11;
        fs::write(&lock, &damaged).unwrap();
        assert_eq!(open(&path).lost(), None, "byte {n}");
        fs::write(&lock, &old[..n]).unwrap();
        assert_eq!(open(&path).lost(), None, "{n} bytes");
    }
    fs::remove_file(&lock).unwrap();
    assert_eq!(open(&path).lost(), None);
    leave_log(&path, plan);
    fs::remove_file(log(&path)).unwrap();
    assert!(open(&path).lost().is_some());
}

#[test]
fn another_store_at_the_same_place_is_no_loss() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _) = filled(folder.path());
    let other = folder.path().join("other").join("store.db");
    let plan = create(&other).create_plan("main", 0).unwrap();
    Connection::open(&other).unwrap().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    // Written into the same file.
    let _ = fs::remove_file(log(&path));
    fs::write(&path, fs::read(&other).unwrap()).unwrap();
    let store = open(&path);
    assert_eq!(store.lost(), None);
    must(&store, plan, 1, &[add("a")]);
    drop(store);
    assert_eq!(open(&path).lost(), None);
    // Made anew: the system may give the new file the number of the old one.
    for _ in 0..5 {
        fs::remove_file(&path).unwrap();
        let store = create(&path);
        assert_eq!(store.lost(), None);
        store.create_plan("main", 0).unwrap();
    }
}

#[test]
fn a_link_in_place_of_the_lock_file_is_not_written_through() {
    for name in ["store.lock", "store.use"] {
        let folder = tempfile::tempdir().unwrap();
        let (path, plan) = filled(folder.path());
        let (link, target) = (path.with_file_name(name), folder.path().join("precious"));
        fs::write(&target, "").unwrap();
        fs::remove_file(&link).unwrap();
        symlink(&target, &link).unwrap();
        let ctx = context(1, None, Policy::default());
        let _ = submit(&open(&path), plan, Durability::Full, &[add("a")], &ctx);
        let _ = open(&path);
        assert_eq!(fs::read(&target).unwrap(), b"", "{name}");
    }
}

/// What may happen to a store in its life without anything being lost.
#[derive(Clone, Copy, Debug)]
enum Step {
    Full,
    Relaxed,
    Nothing,
    CreatePlan,
    Prune,
    Reopen,
    Second,
    Checkpoint,
    ForeignClose,
    BackupRestore,
    OldRestore,
    MoveFolder,
    CopyFolder,
    RemoveUse,
    Rebuild,
}

fn step() -> impl Strategy<Value = Step> {
    use Step::{
        BackupRestore, Checkpoint, CopyFolder, CreatePlan, ForeignClose, Full, MoveFolder, Nothing, OldRestore, Prune,
        Rebuild, Relaxed, RemoveUse, Reopen, Second,
    };
    prop_oneof![
        4 => prop::sample::select(vec![Full, Relaxed]),
        3 => prop::sample::select(vec![
            Nothing, CreatePlan, Prune, Reopen, Second, Checkpoint, ForeignClose, BackupRestore, OldRestore, MoveFolder,
            CopyFolder, RemoveUse, Rebuild,
        ]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn nothing_that_is_in_order_looks_like_a_loss(steps in proptest::collection::vec(step(), 1..25)) {
        let folder = tempfile::tempdir().unwrap();
        let mut path = folder.path().join("0").join("store.db");
        let mut store = create(&path);
        let plan = store.create_plan("main", 0).unwrap();
        let copy = folder.path().join("copy.db");
        store.backup_to(&copy).unwrap();
        for (n, step) in steps.iter().enumerate() {
            match step {
                Step::Full => drop(write(&store, plan, Durability::Full, "full")),
                Step::Relaxed => drop(write(&store, plan, Durability::Relaxed, "relaxed")),
                Step::Nothing => store.write(plan, Durability::Full, &mut |_| Ok(())).unwrap(),
                Step::CreatePlan => drop(store.create_plan(&format!("plan {n}"), 0).unwrap()),
                Step::Prune => {
                    let before = look(&store, plan, |s| Ok(s.row()?.revision));
                    store.write(plan, Durability::Full, &mut |tx| tx.prune(before, &mut Vec::new()).map(drop)).unwrap();
                }
                Step::Reopen => {
                    drop(store);
                    store = open(&path);
                }
                Step::Second => drop(write(&open(&path), plan, Durability::Full, "another process")),
                Step::Checkpoint => {
                    let spy = Connection::open(&path).unwrap();
                    spy.execute_batch("PRAGMA wal_checkpoint(PASSIVE); PRAGMA wal_checkpoint(RESTART)").unwrap();
                }
                Step::ForeignClose => {
                    // As the last to close, SQLite merges the log and removes it.
                    drop(store);
                    Connection::open(&path).unwrap().execute_batch("SELECT count(*) FROM plan").unwrap();
                    store = open(&path);
                }
                Step::BackupRestore => {
                    store.backup_to(&copy).unwrap();
                    restore(&copy, &path).unwrap();
                }
                Step::OldRestore => drop(restore(&copy, &path).unwrap()),
                Step::MoveFolder | Step::CopyFolder => {
                    if matches!(step, Step::MoveFolder) {
                        drop(store);
                    }
                    let to = folder.path().join((n + 1).to_string());
                    match step {
                        Step::MoveFolder => fs::rename(path.parent().unwrap(), &to).unwrap(),
                        _ => assert!(Command::new("cp").arg("-r").args([path.parent().unwrap(), &to]).status().unwrap().success()),
                    }
                    path = to.join("store.db");
                    store = open(&path);
                }
                Step::RemoveUse => drop(fs::remove_file(path.with_extension("use"))),
                Step::Rebuild => store.rebuild().unwrap(),
            }
            prop_assert_eq!(open(&path).lost().cloned(), None, "after step {} of {:?}", n, steps);
            prop_assert_eq!(store.lost(), None);
        }
        write(&store, plan, Durability::Full, "works");
    }
}
