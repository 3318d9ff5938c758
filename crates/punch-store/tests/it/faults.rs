//! Processes that are killed in mid-write, and disks that are full. The test binary runs itself as the victim.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use punch_store::{Durability, OpenMode, PlanId, SqliteStore, Store, StoreAdmin, restore};
use rusqlite::Connection;

use crate::create;
use crate::submit::{add, must, submit, whole};

/// Names the store to the victim; without it the victims below are no-ops.
const STORE: &str = "PUNCH_TEST_VICTIM_STORE";

/// Starts this binary again as a victim. `through` is a shell line that ends by running it.
pub fn victim(name: &str, store: &Path, through: &str) -> Child {
    Command::new("sh")
        .args(["-c", through, "victim"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture", "--test-threads=1"])
        .env(STORE, store)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

pub fn victim_store() -> Option<PathBuf> {
    let path = std::env::var_os(STORE).map(PathBuf::from)?;
    // Ends the line that the test runner has begun.
    tell("");
    Some(path)
}

fn tell(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").unwrap();
    out.flush().unwrap();
}

/// What the victim has acknowledged so far; at most `limit` lines.
fn acknowledged(out: &mut BufReader<ChildStdout>, limit: usize) -> Vec<String> {
    let lines = out.lines().map_while(Result::ok).filter_map(|line| line.strip_prefix("ack ").map(str::to_owned));
    lines.take(limit).collect()
}

fn contents(store: &SqliteStore) -> Vec<String> {
    whole(store, PlanId(1)).all().map(|todo| todo.content.clone()).collect()
}

/// Writes until it is killed, and says so after every write.
#[test]
fn victim_writes_for_ever() {
    let Some(path) = victim_store() else { return };
    let store = SqliteStore::open(&path, OpenMode::Existing).unwrap();
    for n in 0.. {
        let content = format!("{} {n} {}", std::process::id(), "x".repeat(n % 3_000));
        must(&store, PlanId(1), n as i64, &[add(&content)]);
        tell(&format!("ack {content}"));
    }
}

#[test]
fn every_acknowledged_write_survives_being_killed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    create(&path).create_plan("main", 0).unwrap();
    let mut all = Vec::new();
    for round in 0..20 {
        let mut child = victim("faults::victim_writes_for_ever", &path, "exec \"$@\"");
        let mut out = BufReader::new(child.stdout.take().unwrap());
        all.extend(acknowledged(&mut out, 1 + round * 2));
        child.kill().unwrap();
        child.wait().unwrap();
        all.extend(acknowledged(&mut out, usize::MAX));
        let store = create(&path);
        let found = contents(&store);
        let known: std::collections::HashSet<&String> = found.iter().collect();
        assert!(all.iter().all(|line| known.contains(line)), "round {round} lost a write");
        assert!(found.len() <= all.len() + round + 1, "at most one write a round was not acknowledged");
        assert_eq!(store.check().unwrap(), [""; 0], "round {round}");
        assert_eq!(store.lost(), None, "round {round}");
    }
    assert!(all.len() >= 400);
}

/// Writes of every kind, copies and restores until it is killed.
#[test]
fn victim_does_everything_for_ever() {
    let Some(path) = victim_store() else { return };
    let copy = path.with_file_name(format!("copy-{}.db", std::process::id()));
    let ctx = crate::submit::context(1, None, punch_core::Policy::default());
    for n in 0.. {
        let store = SqliteStore::open(&path, OpenMode::Existing).unwrap();
        assert_eq!(store.lost(), None);
        let durability = if n % 2 == 0 { Durability::Full } else { Durability::Relaxed };
        submit(&store, PlanId(1), durability, &[add("one more")], &ctx).unwrap().unwrap();
        match n % 7 {
            3 => store.backup_to(&copy).unwrap(),
            5 => drop(restore(&copy, &path).unwrap()),
            _ => {}
        }
        tell(&format!("ack {n}"));
    }
}

#[test]
fn a_killed_process_never_looks_like_a_loss() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    create(&path).create_plan("main", 0).unwrap();
    for round in 0..15 {
        let mut children: Vec<Child> =
            (0..3).map(|_| victim("faults::victim_does_everything_for_ever", &path, "exec \"$@\"")).collect();
        for (n, child) in children.iter_mut().enumerate() {
            let mut out = BufReader::new(child.stdout.take().unwrap());
            let wanted = 1 + (round + n * 5) % 13;
            assert_eq!(acknowledged(&mut out, wanted).len(), wanted, "a process has seen a loss in round {round}");
            child.kill().unwrap();
            child.wait().unwrap();
            assert_eq!(create(&path).lost(), None, "round {round}");
        }
        let store = create(&path);
        assert_eq!((store.lost(), store.check().unwrap()), (None, Vec::new()), "round {round}");
    }
}

/// Writes until the disk is full, and tells the code of the error.
#[test]
fn victim_fills_the_disk() {
    let Some(path) = victim_store() else { return };
    let store = SqliteStore::open(&path, OpenMode::Existing).unwrap();
    let ctx = crate::submit::context(1, None, punch_core::Policy::default());
    for n in 0..10_000 {
        let content = format!("{n} {}", "x".repeat(3_000));
        match submit(&store, PlanId(1), punch_store::Durability::Full, &[add(&content)], &ctx) {
            Ok(done) => {
                done.unwrap();
                tell(&format!("ack {content}"));
            }
            Err(error) => return tell(&format!("ack failed {}", error.code())),
        }
    }
}

#[test]
fn a_full_disk_loses_nothing_that_was_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    create(&path).create_plan("main", 0).unwrap();
    // No file may grow beyond the limit, and the signal that says so is ignored: writes fail like on a full disk.
    let mut child = victim("faults::victim_fills_the_disk", &path, "trap '' XFSZ; ulimit -f 8000; exec \"$@\"");
    let mut acknowledged = acknowledged(&mut BufReader::new(child.stdout.take().unwrap()), usize::MAX);
    child.wait().unwrap();
    let error = acknowledged.pop().unwrap();
    assert!(["failed store_full", "failed store_unavailable"].contains(&error.as_str()), "{error}");
    assert!(acknowledged.len() > 10, "{}", acknowledged.len());
    let store = create(&path);
    assert_eq!(contents(&store), acknowledged);
    assert_eq!(store.check().unwrap(), [""; 0]);
    must(&store, PlanId(1), 2, &[add("there is room again")]);
}

/// Makes a store, takes its own right to write away, reads and tries to write.
#[test]
fn victim_reads_what_it_cannot_write() {
    let Some(path) = victim_store() else { return };
    let folder = path.parent().unwrap();
    let store = create(&path);
    let plan = store.create_plan("main", 0).unwrap();
    must(&store, plan, 1, &[add("written before")]);
    drop(store);
    let allow = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let files = || fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect::<Vec<_>>();
    let tries = || {
        let store = SqliteStore::open(&path, OpenMode::Existing).unwrap();
        tell(&format!("ack {:?}", contents(&store)));
        let error = store.write(plan, punch_store::Durability::Full, &mut |tx| tx.rename("other")).unwrap_err();
        tell(&format!("ack {}", error.code()));
        tell(&format!("ack woken {}", store.changes().wait(std::time::Duration::ZERO).unwrap()));
    };
    // With a log left beside it, none of the files writable.
    assert!(files().len() > 2, "{:?}", files());
    files().iter().for_each(|file| allow(file, 0o444));
    allow(folder, 0o555);
    tries();
    // Without one, only the folder not writable.
    allow(folder, 0o755);
    files().iter().for_each(|file| allow(file, 0o600));
    let spy = Connection::open(&path).unwrap();
    spy.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    drop(spy);
    assert!(!files().iter().any(|file| file.ends_with("store.db-wal")), "{:?}", files());
    allow(folder, 0o555);
    tries();
    allow(folder, 0o755);
}

#[test]
fn a_folder_that_cannot_be_written_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let allow = |path: &Path| fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
    allow(folder.path());
    // Permissions mean nothing to root, so the victim becomes nobody first; it must be able to run its own copy.
    let exe = folder.path().join("victim");
    // `fs::copy` would leave the file open for writing in children that other tests start: such a program cannot run.
    assert!(Command::new("cp").arg(std::env::current_exe().unwrap()).arg(&exe).status().unwrap().success());
    let through = format!(
        "shift; set -- '{}' \"$@\"; \
         if [ $(id -u) = 0 ]; then exec setpriv --reuid 65534 --regid 65534 --clear-groups \"$@\"; fi; exec \"$@\"",
        exe.display()
    );
    let store = folder.path().join("deep").join("store.db");
    let mut child = victim("faults::victim_reads_what_it_cannot_write", &store, &through);
    let told = acknowledged(&mut BufReader::new(child.stdout.take().unwrap()), usize::MAX);
    child.wait().unwrap();
    let once = [r#"["written before"]"#, "store_read_only", "woken false"];
    assert_eq!(told, [once, once].concat());
}

/// Writes once.
#[test]
fn victim_writes_once() {
    let Some(path) = victim_store() else { return };
    must(&SqliteStore::open(&path, OpenMode::Existing).unwrap(), PlanId(1), 1, &[add("from elsewhere")]);
}

#[test]
fn another_process_is_seen_and_wakes_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let store = create(&path);
    store.create_plan("main", 0).unwrap();
    let mut changes = store.changes();
    let mut child = victim("faults::victim_writes_once", &path, "exec \"$@\"");
    assert!(changes.wait(std::time::Duration::from_secs(60)).unwrap());
    assert_eq!(contents(&store), ["from elsewhere"]);
    child.stdout.take().unwrap().read_to_end(&mut Vec::new()).unwrap();
    assert!(child.wait().unwrap().success());
}
