//! Notices writes that were committed and are gone. SQLite drops the end of a damaged log without an error, and cannot
//! tell a deleted log from one that was merged. So every write increases a counter inside the store, and after the commit
//! the same number goes into `store.lock`, outside the log. A store that counts fewer commits than its record has lost
//! writes (decision 0021).
//!
//! The record never promises more than the disk holds: it is written after the commit, and it distinguishes commits that
//! were synced from those that a power loss may legitimately undo.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::Path;

use punch_core::hash::fnv1a;
use punch_core::text;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::fail;
use crate::error::{LostPlan, LostWrites};
use crate::{Durability, StoreError, StoreLabel, platform};

/// Bytes of a record. Every record has the same length: changing the length of a file costs more than writing it.
const BYTES: usize = 1024;

/// How every record begins. A file with other content is never written.
const MAGIC: &str = "punch commits 1\n";

/// Plans whose revisions a record holds, the latest written first.
const PLANS: usize = 8;

/// Bytes of a plan's name in a record.
const NAME: usize = 48;

/// The counter inside the store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Counter {
    /// How many writes this store has committed.
    pub commits: u64,
    /// The random name of the store; `None` before the first counted write.
    store: Option<String>,
}

/// The revision of a plan after a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlanMark {
    pub id: i64,
    pub revision: u64,
    pub name: String,
}

/// What is known outside the log about the commits of one store file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CommitRecord {
    /// The number of the file in its file system. A copied folder brings its record along, but that record speaks of the
    /// original file and may be newer than the copied log.
    file: u64,
    /// The random name of the store.
    store: String,
    /// Commits that are on the disk.
    synced: u64,
    /// All commits, including those that only a power loss can undo.
    latest: u64,
    /// During which run of the system `latest` was recorded; 0 if the system does not say.
    boot: u64,
    plans: Vec<PlanMark>,
}

impl Counter {
    /// Reads the counter. A store that never counted has zero commits.
    pub fn read(conn: &Connection) -> rusqlite::Result<Self> {
        let mut statement = conn.prepare_cached("SELECT commits, store FROM commit_counter")?;
        let counter =
            |row: &Row<'_>| Ok(Self { commits: row.get::<_, i64>(0)?.cast_unsigned(), store: Some(row.get(1)?) });
        Ok(statement.query_row([], counter).optional()?.unwrap_or_default())
    }

    /// Writes the counter of the next commit into the running transaction.
    pub fn advance(self, conn: &Connection, at_least: u64) -> rusqlite::Result<Self> {
        let store = match self.store {
            Some(store) => store,
            None => store_name(conn)?,
        };
        let commits = self.commits.max(at_least).saturating_add(1);
        let sql = "INSERT OR REPLACE INTO commit_counter (one, commits, store) VALUES (1, ?1, ?2)";
        conn.prepare_cached(sql)?.execute(params![commits.cast_signed(), store])?;
        Ok(Self { commits, store: Some(store) })
    }
}

impl CommitRecord {
    /// Reads the record from an open `store.lock`. `None` if there is none, if it is damaged, or if it is about another
    /// file than `number`: then nothing is known.
    pub fn read(mut lock: &File, number: u64) -> Option<Self> {
        let mut bytes = [0; BYTES];
        lock.rewind().ok()?;
        lock.read_exact(&mut bytes).ok()?;
        Self::parse(std::str::from_utf8(&bytes).ok()?).filter(|record| record.file == number)
    }

    /// Reads the record beside a store without the right to write.
    pub fn beside(store: &Path) -> Option<Self> {
        let number = platform::identity(store).ok()?.number();
        Self::read(&platform::direct_options().read(true).open(store.with_extension("lock")).ok()?, number)
    }

    /// The highest counter that was ever recorded.
    pub fn latest(&self) -> u64 {
        self.latest.max(self.synced)
    }

    /// Records a commit. `before` is the record that it replaces.
    pub fn after(
        before: Option<Self>,
        number: u64,
        counter: &Counter,
        durability: Durability,
        plan: Option<PlanMark>,
    ) -> Self {
        let mut plans = before.as_ref().map_or_else(Vec::new, |before| before.plans.clone());
        if let Some(plan) = plan {
            plans.retain(|other| other.id != plan.id);
            plans.insert(0, plan);
            plans.truncate(PLANS);
        }
        let (synced, boot) = match durability {
            // Syncing the log syncs every commit before this one too.
            Durability::Full => (counter.commits, 0),
            Durability::Relaxed => (before.map_or(0, |before| before.synced), platform::boot()),
        };
        let store = counter.store.clone().unwrap_or_default();
        Self { file: number, store, synced, latest: counter.commits, boot, plans }
    }

    /// Writes the record in its place. The caller has the turn to write.
    pub fn write(&self, lock: &File) -> io::Result<()> {
        put(lock, &self.to_text())
    }

    /// Removes what is recorded, durably: the store is about to be replaced.
    pub fn forget(lock: &File) -> io::Result<()> {
        put(lock, MAGIC)?;
        lock.sync_data()
    }

    /// Whether the store counts fewer commits than it must have.
    pub fn exceeds(&self, counter: &Counter) -> bool {
        counter.commits < self.synced
            || (counter.commits < self.latest && self.boot != 0 && self.boot == platform::boot())
    }

    /// What is missing in the store behind `conn`; `None` if the record is about another store.
    pub fn compare(&self, conn: &Connection, counter: &Counter) -> rusqlite::Result<Option<LostWrites>> {
        let store = match &counter.store {
            Some(store) => store.clone(),
            None => store_name(conn)?,
        };
        if store != self.store {
            return Ok(None);
        }
        let mut statement = conn.prepare("SELECT revision FROM plan WHERE id = ?1")?;
        let mut plans = Vec::new();
        for mark in &self.plans {
            let found: Option<i64> = statement.query_row([mark.id], |row| row.get(0)).optional()?;
            let found = found.map(i64::cast_unsigned);
            if found.is_none_or(|found| found < mark.revision) {
                plans.push(LostPlan { name: mark.name.clone(), recorded: mark.revision, found });
            }
        }
        Ok(Some(LostWrites { writes: self.latest().saturating_sub(counter.commits), plans }))
    }

    fn to_text(&self) -> String {
        let Self { file, store, synced, latest, boot, plans } = self;
        // The length is known at the end.
        let mut out = format!("{MAGIC}0000\n{file} {store} {synced} {latest} {boot}\n");
        for PlanMark { id, revision, name } in plans {
            let name = text::neutral(name);
            let name = name.replace(['\n', '\r'], " ");
            let end = (0..=NAME.min(name.len())).rev().find(|end| name.is_char_boundary(*end)).unwrap_or(0);
            out.push_str(&format!("{id} {revision} {}\n", &name[..end]));
        }
        out.replace_range(MAGIC.len()..MAGIC.len() + 4, &format!("{:04}", out.len()));
        let sum = fnv1a(out.bytes());
        out.push_str(&format!("{sum:016x}"));
        out
    }

    fn parse(text: &str) -> Option<Self> {
        // The length leads to the sum: searching the padding for it would take longer than all the rest.
        let length = text.strip_prefix(MAGIC)?.get(..4)?.parse().ok()?;
        let (body, rest) = text.split_at_checked(length)?;
        if u64::from_str_radix(rest.get(..16)?, 16).ok()? != fnv1a(body.bytes()) {
            return None;
        }
        let mut lines = body.get(MAGIC.len() + 5..)?.lines();
        let mut first = lines.next()?.split(' ');
        let file = first.next()?.parse().ok()?;
        let store = first.next()?.to_owned();
        let mut number = || first.next()?.parse().ok();
        let (synced, latest, boot) = (number()?, number()?, number()?);
        let plans = lines.map(|line| {
            let mut parts = line.splitn(3, ' ');
            let (id, revision) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
            Some(PlanMark { id, revision, name: parts.next()?.to_owned() })
        });
        Some(Self { file, store, synced, latest, boot, plans: plans.collect::<Option<_>>()? })
    }
}

/// What the store behind `conn` has lost. `record` must have been read before the first look at the store: a commit may
/// follow at any time, and its record with it.
pub(super) fn lost(conn: &Connection, path: &Path, record: Option<CommitRecord>) -> Option<LostWrites> {
    let exceeded = |record: &CommitRecord| Counter::read(conn).is_ok_and(|counter| record.exceeds(&counter));
    record.filter(exceeded)?;
    // A restore in between explains the difference, and has removed the record before it began.
    let record = CommitRecord::beside(path)?;
    let counter = Counter::read(conn).ok().filter(|counter| record.exceeds(counter))?;
    record.compare(conn, &counter).ok()?
}

/// The error for a write to a store that has lost some, if it has.
pub(super) fn refuse(
    conn: &Connection,
    path: &Path,
    record: Option<&CommitRecord>,
    counter: &Counter,
) -> Result<(), StoreError> {
    let Some(record) = record.filter(|record| record.exceeds(counter)) else { return Ok(()) };
    match record.compare(conn, counter).map_err(|e| fail::sql(path, "be read", &e))? {
        Some(lost) => Err(StoreError::LostWrites { store: StoreLabel::file(path), lost: Box::new(lost) }),
        None => Ok(()),
    }
}

fn store_name(conn: &Connection) -> rusqlite::Result<String> {
    conn.query_row("SELECT store FROM meta", [], |row| row.get(0))
}

/// Writes over a record or into an empty file, and leaves everything else alone: the name may lead to a file that is not
/// ours.
fn put(mut lock: &File, text: &str) -> io::Result<()> {
    let mut start = [0; MAGIC.len()];
    lock.rewind()?;
    let ours = match lock.read_exact(&mut start) {
        Ok(()) => start == MAGIC.as_bytes(),
        Err(e) => e.kind() == io::ErrorKind::UnexpectedEof && lock.metadata()?.len() == 0,
    };
    if !ours {
        return Err(io::Error::other("the lock file has other content"));
    }
    let mut bytes = [b' '; BYTES];
    let length = text.len().min(BYTES);
    bytes[..length].copy_from_slice(&text.as_bytes()[..length]);
    lock.rewind()?;
    lock.write_all(&bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn mark() -> impl Strategy<Value = PlanMark> {
        (any::<i64>(), any::<u64>(), ".*").prop_map(|(id, revision, name)| PlanMark { id, revision, name })
    }

    proptest! {
        /// What is written is read again with its names shortened, fits, and is unknown after any change of a byte.
        #[test]
        fn a_record_is_read_as_written_or_not_at_all(
            numbers in any::<(u64, u64, u64, u64)>(),
            plans in proptest::collection::vec(mark(), 0..=PLANS),
            at in any::<prop::sample::Index>(),
        ) {
            let (file, synced, latest, boot) = numbers;
            let record = CommitRecord { file, store: "0123456789abcdef".repeat(2), synced, latest, boot, plans };
            let lock = tempfile::tempfile().unwrap();
            record.write(&lock).unwrap();
            let found = CommitRecord::read(&lock, file).unwrap();
            let outside = |record: &CommitRecord| CommitRecord { plans: Vec::new(), ..record.clone() };
            prop_assert_eq!(outside(&found), outside(&record));
            for (found, mark) in found.plans.iter().zip(&record.plans) {
                prop_assert_eq!((found.id, found.revision), (mark.id, mark.revision));
            }
            prop_assert_eq!(found.plans.len(), record.plans.len());
            prop_assert_eq!(CommitRecord::read(&lock, file.wrapping_add(1)), None);
            prop_assert_eq!(lock.metadata().unwrap().len(), BYTES as u64);
            let mut text = record.to_text().into_bytes();
            let at = at.index(text.len());
            text[at] ^= 1;
            prop_assert_eq!(std::str::from_utf8(&text).ok().and_then(CommitRecord::parse), None);
        }
    }

    #[test]
    fn a_file_with_other_content_is_left_alone() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"a letter").unwrap();
        assert!(CommitRecord::default().write(&file).is_err());
        assert!(CommitRecord::forget(&file).is_err());
        assert_eq!(CommitRecord::read(&file, 0), None);
        assert_eq!(file.metadata().unwrap().len(), 8);
    }

    #[test]
    fn commits_that_were_not_synced_count_until_the_system_restarts() {
        let counter = |commits| Counter { commits, store: None };
        let record = CommitRecord { synced: 3, latest: 5, boot: platform::boot(), ..CommitRecord::default() };
        assert!(record.exceeds(&counter(2)));
        assert_eq!(record.exceeds(&counter(4)), platform::boot() != 0);
        assert!(!record.exceeds(&counter(5)));
        let restarted = CommitRecord { boot: platform::boot().wrapping_add(1), ..record };
        assert!(restarted.exceeds(&counter(2)));
        assert!(!restarted.exceeds(&counter(3)), "a power loss may undo what was not synced");
    }
}
