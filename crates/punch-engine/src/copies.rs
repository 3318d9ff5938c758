//! The safety copy of a store. It is in the user's state folder, so deleting a project's `.git` does not delete it.
//! Written at most once an hour while the store is in use. A copy that fails does not fail a command; it is made
//! another time.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use punch_core::hash::fnv1a;
use punch_store::{OpenMode, StoreError, StoreLabel, create_own_folder, name_of, open_file, update_own};

/// A copy is not renewed before it has this age.
pub const EVERY: Duration = Duration::from_secs(60 * 60);

/// Larger stores are not copied on the way: it would be felt.
pub const LARGEST: u64 = 64 << 20;

/// How long to wait after a copy that failed.
const PAUSE: Duration = Duration::from_secs(10 * 60);

/// The number of copies that are put aside and kept.
const MOST_EARLIER: usize = 10;

/// The copy of the database `store` (an absolute path) under the user's state folder.
///
/// The name never changes between versions: a copy that is never found again is useless.
pub fn copy_of(state_home: &Path, store: &Path) -> PathBuf {
    let name = format!("{:016x}.db", fnv1a(store.as_os_str().as_encoded_bytes().iter().copied()));
    state_home.join("punch").join("copies").join(name)
}

/// The folder for worktrees of agents that work for the plans of a store: beside no project, so that no tool takes
/// one for a part of the user's files.
///
/// `identity` is the id of the store, which another store at the same path does not have. A folder from a version that
/// named it after the path of the database is still used: worktrees cannot be moved.
pub fn trees_of(state_home: &Path, database: &Path, identity: &str) -> PathBuf {
    let folder = |name: &str| state_home.join("punch").join("trees").join(name);
    let earlier = folder(&format!("{:016x}", fnv1a(database.as_os_str().as_encoded_bytes().iter().copied())));
    if earlier.is_dir() { earlier } else { folder(identity) }
}

/// Whether it is time to renew the copy. Costs one look at a file.
pub fn is_due(copy: &Path) -> bool {
    older_than(copy, EVERY) && older_than(&attempt(copy), PAUSE)
}

/// Writes the copy again. A copy of another store that was at the same place before is put aside, not overwritten.
/// Returns false if this was left to another process, or if the store is too large or has lost writes, which the copy
/// may contain.
pub fn renew(copy: &Path, store: &Path) -> Result<bool, StoreError> {
    let failed = |error: io::Error| StoreError::Unavailable {
        store: StoreLabel::file(copy),
        reason: punch_store::StoreObstacle::System,
        why: format!("cannot write a copy: {error}"),
    };
    if fs::metadata(store).map_err(failed)?.len() > LARGEST {
        return Ok(false);
    }
    let folder = copy.parent().unwrap_or(copy);
    create_own_folder(folder).map_err(failed)?;
    let turn = update_own(&attempt(copy)).map_err(failed)?;
    if turn.try_lock().is_err() {
        return Ok(false);
    }
    turn.set_modified(SystemTime::now()).map_err(failed)?;
    clear_unfinished(copy, folder);
    let source = open_file(store, OpenMode::Existing, None)?;
    if source.lost().is_some() {
        return Ok(false);
    }
    if copy.exists() && name_of(copy).ok() != name_of(store).ok() {
        put_aside(copy).map_err(failed)?;
    }
    source.backup_to(copy)?;
    Ok(true)
}

/// Gives a copy another name, so that the next one does not overwrite it; the answer is where it is then. The oldest of
/// those goes when there are too many.
pub fn put_aside(copy: &Path) -> io::Result<PathBuf> {
    let numbered = |n: usize| copy.with_extension(format!("earlier-{n}.db"));
    let kept = earlier(copy).len();
    if kept < MOST_EARLIER {
        fs::rename(copy, numbered(kept + 1))?;
        return Ok(numbered(kept + 1));
    }
    for n in 1..kept {
        fs::rename(numbered(n + 1), numbered(n))?;
    }
    fs::rename(copy, numbered(kept))?;
    Ok(numbered(kept))
}

/// Copies that were put aside, oldest first.
pub fn earlier(copy: &Path) -> Vec<PathBuf> {
    (1..).map(|n| copy.with_extension(format!("earlier-{n}.db"))).take_while(|path| path.exists()).collect()
}

/// The age of a copy; `None` if there is none. A time that is still to come counts as now.
pub fn age(copy: &Path) -> Option<Duration> {
    let modified = fs::metadata(copy).and_then(|found| found.modified()).ok()?;
    Some(modified.elapsed().unwrap_or_default())
}

/// What is not there is old, and so is what comes from the future: the clock was put back since.
fn older_than(path: &Path, limit: Duration) -> bool {
    let modified = fs::metadata(path).and_then(|found| found.modified());
    !modified.is_ok_and(|modified| modified.elapsed().is_ok_and(|age| age < limit))
}

/// Its lock says who copies now, its time when the last attempt was.
fn attempt(copy: &Path) -> PathBuf {
    copy.with_extension("lock")
}

/// The holder of the lock is alone, so unfinished copies belong to processes that were killed.
fn clear_unfinished(copy: &Path, folder: &Path) {
    let Some(name) = copy.file_name().and_then(|name| name.to_str()) else { return };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let unfinished = |found: &str| found.starts_with(&format!("{name}.")) && found.contains(".part");
        if entry.file_name().to_str().is_some_and(unfinished) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use punch_store::{SqliteStore, Store, StoreAdmin};

    use super::*;

    #[test]
    fn a_copy_is_found_again_by_the_path_of_its_store() {
        let copy = |store: &str| copy_of(Path::new("/state"), Path::new(store));
        assert_eq!(copy("/p/.git/punch/store.db"), copy("/p/.git/punch/store.db"));
        assert_ne!(copy("/p/.git/punch/store.db"), copy("/q/.git/punch/store.db"));
        assert_eq!(copy("a"), Path::new("/state/punch/copies/af63dc4c8601ec8c.db"));
    }

    #[test]
    fn a_copy_is_renewed_when_it_is_old_and_no_attempt_is_recent() {
        let folder = tempfile::tempdir().unwrap();
        let (store, copy) = (folder.path().join("store.db"), folder.path().join("state/copy.db"));
        let plans = SqliteStore::open(&store, OpenMode::Create).unwrap();
        assert!(is_due(&copy));
        assert!(renew(&copy, &store).unwrap());
        assert!(!is_due(&copy));
        plans.create_plan("main", 0).unwrap();
        let touch = |path: &Path, time| File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
        let long_ago = SystemTime::now() - 2 * EVERY;
        touch(&copy, long_ago);
        assert!(!is_due(&copy), "an attempt a moment ago");
        touch(&attempt(&copy), long_ago);
        assert!(is_due(&copy));
        fs::write(copy.with_extension("db.1.part"), "").unwrap();
        assert!(renew(&copy, &store).unwrap());
        assert_eq!(SqliteStore::open(&copy, OpenMode::Existing).unwrap().info().unwrap().plans, 1);
        assert!(!copy.with_extension("db.1.part").exists());
        touch(&copy, SystemTime::now() + 2 * EVERY);
        touch(&attempt(&copy), SystemTime::now() + 2 * EVERY);
        assert!(is_due(&copy), "the clock was put back");
    }

    #[test]
    fn the_copy_of_an_earlier_store_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (store, copy) = (folder.path().join("store.db"), folder.path().join("copy.db"));
        SqliteStore::open(&store, OpenMode::Create).unwrap();
        renew(&copy, &store).unwrap();
        let first = name_of(&copy).unwrap();
        fs::remove_file(&store).unwrap();
        SqliteStore::open(&store, OpenMode::Create).unwrap();
        renew(&copy, &store).unwrap();
        assert_ne!(name_of(&copy).unwrap(), first);
        assert_eq!(earlier(&copy), [folder.path().join("copy.earlier-1.db")]);
        assert_eq!(name_of(&earlier(&copy)[0]).unwrap(), first);
    }
}
