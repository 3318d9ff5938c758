//! Which file is a store, which version it has, and how an older one becomes current. Migrations are only added, never
//! edited. `schema.sql` is what all of them together make: a store that says it is current must look exactly so.

use std::path::Path;
use std::time::Instant;

use rusqlite::{Connection, TransactionBehavior};

use super::lock::WriteTurn;
use super::{backup, fail};
use crate::{SchemaVersion, StoreError, StoreLabel, StoreObstacle, Upgrade};

/// "Punc", in the header of the file.
pub(super) const APPLICATION: i32 = 0x5075_6E63;

/// One step of the schema.
#[derive(Clone, Copy, Debug)]
pub(super) struct Migration {
    /// What it leads to.
    pub to: SchemaVersion,
    /// How.
    pub sql: &'static str,
}

/// Every step, oldest first.
pub(super) const MIGRATIONS: &[Migration] = &[
    Migration { to: SchemaVersion { major: 1, minor: 0 }, sql: include_str!("../../migrations/0001_plans.sql") },
    Migration { to: SchemaVersion { major: 1, minor: 1 }, sql: include_str!("../../migrations/0002_baselines.sql") },
    Migration { to: SchemaVersion { major: 1, minor: 2 }, sql: include_str!("../../migrations/0003_decisions.sql") },
    Migration { to: SchemaVersion { major: 1, minor: 3 }, sql: include_str!("../../migrations/0004_said.sql") },
    Migration { to: SchemaVersion { major: 1, minor: 4 }, sql: include_str!("../../migrations/0005_usage.sql") },
    Migration { to: SchemaVersion { major: 2, minor: 0 }, sql: include_str!("../../migrations/0006_runs.sql") },
    Migration { to: SchemaVersion { major: 2, minor: 1 }, sql: include_str!("../../migrations/0007_again.sql") },
    Migration {
        to: SchemaVersion { major: 2, minor: 2 },
        sql: include_str!("../../migrations/0008_fewer_indexes.sql"),
    },
    Migration { to: SchemaVersion { major: 2, minor: 3 }, sql: include_str!("../../migrations/0009_undo.sql") },
    Migration { to: SchemaVersion { major: 3, minor: 0 }, sql: include_str!("../../migrations/0010_live.sql") },
    Migration { to: SchemaVersion { major: 3, minor: 1 }, sql: include_str!("../../migrations/0011_notes.sql") },
    Migration { to: SchemaVersion { major: 3, minor: 2 }, sql: include_str!("../../migrations/0012_workers.sql") },
];

/// What this program writes.
pub(super) const KNOWN: SchemaVersion = MIGRATIONS[MIGRATIONS.len() - 1].to;

const EXPECTED: &str = include_str!("../../migrations/schema.sql");

/// How the schema of an opened store relates to ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SchemaAge {
    /// Exactly ours.
    Current,
    /// A newer minor: it has what we know and more, which must survive our writes.
    Newer,
    /// Older: to be migrated.
    Older(SchemaVersion),
}

/// Whether the file is a store we can work with.
pub(super) fn examine(conn: &Connection, path: &Path) -> Result<SchemaAge, StoreError> {
    let found = stored_version(conn, path)?;
    let application = header(conn, path, "PRAGMA application_id")?;
    if application != APPLICATION {
        let why = if application == 0 { "it is not a punch store" } else { "it belongs to another application" };
        return Err(fail::unavailable(path, StoreObstacle::Foreign, why));
    }
    if found.major > KNOWN.major {
        return Err(StoreError::TooNew { store: StoreLabel::file(path), found, known: KNOWN });
    }
    if found < KNOWN {
        return Ok(SchemaAge::Older(found));
    }
    if found == KNOWN {
        let schema = dump(conn).map_err(|e| fail::sql(path, "read its schema", &e))?;
        return if schema == EXPECTED { Ok(SchemaAge::Current) } else { Err(foreign_schema(path)) };
    }
    // Code in the schema would run inside our statements; a newer minor adds tables, columns and indexes only.
    let code = "SELECT count(*) FROM sqlite_schema WHERE type IN ('trigger', 'view')";
    let code: i64 = conn.query_row(code, [], |row| row.get(0)).map_err(|e| fail::sql(path, "read its schema", &e))?;
    if code > 0 { Err(foreign_schema(path)) } else { Ok(SchemaAge::Newer) }
}

fn foreign_schema(path: &Path) -> StoreError {
    fail::unavailable(path, StoreObstacle::Foreign, "its tables are not those of a punch store")
}

/// The schema as text, in the order of names.
pub(super) fn dump(conn: &Connection) -> rusqlite::Result<String> {
    // Sorted and sifted here: the statement runs whenever a store is opened, and so it is the plainest there is.
    let mut statement = conn.prepare("SELECT name, sql FROM sqlite_schema")?;
    let mut rows = statement.query([])?;
    let mut all: Vec<(String, String)> = Vec::with_capacity(64);
    while let Some(row) = rows.next()? {
        let (name, sql) = (row.get_ref(0)?.as_str()?, row.get_ref(1)?.as_str_or_null()?);
        all.extend(sql.filter(|_| !name.starts_with("sqlite_")).map(|sql| (name.to_owned(), sql.to_owned())));
    }
    all.sort_unstable();
    let mut out = String::with_capacity(EXPECTED.len() + 64);
    for (_, sql) in &all {
        out.push_str(sql);
        out.push_str(";\n");
    }
    Ok(out)
}

/// Brings a fresh, empty file to the current schema.
pub(super) fn create(conn: &mut Connection, path: &Path) -> Result<(), StoreError> {
    run(conn, path, MIGRATIONS, None)
}

/// Brings an older store to the current schema, after a copy was put beside it. Answers what was done; `None` if another
/// process has done it in the meantime.
pub(super) fn migrate(
    conn: &mut Connection,
    path: &Path,
    migrations: &[Migration],
    deadline: Instant,
) -> Result<Option<Upgrade>, StoreError> {
    let _turn = WriteTurn::take(path, deadline)?;
    // Another process may have done it while we waited.
    let from = stored_version(conn, path)?;
    if !migrations.iter().any(|step| step.to > from) {
        return Ok(None);
    }
    let copy = backup::before_migration(conn, path, from)?;
    run(conn, path, migrations, Some(from))?;
    Ok(Some(Upgrade { from, to: KNOWN, copy: Some(copy) }))
}

/// All steps in one transaction: an interrupted migration leaves the older store.
fn run(
    conn: &mut Connection,
    path: &Path,
    migrations: &[Migration],
    from: Option<SchemaVersion>,
) -> Result<(), StoreError> {
    let failed = |e: rusqlite::Error| fail::sql(path, "bring its schema up to date", &e);
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    for step in migrations.iter().filter(|step| from.is_none_or(|from| step.to > from)) {
        tx.execute_batch(step.sql).map_err(failed)?;
        tx.pragma_update(None, "user_version", number(step.to)).map_err(failed)?;
    }
    tx.pragma_update(None, "application_id", APPLICATION).map_err(failed)?;
    tx.commit().map_err(failed)
}

/// The version in the header of the file.
pub(super) fn stored_version(conn: &Connection, path: &Path) -> Result<SchemaVersion, StoreError> {
    let number = header(conn, path, "PRAGMA user_version")?.unsigned_abs();
    Ok(SchemaVersion { major: number / 1000, minor: number % 1000 })
}

/// How a version stands in the header.
const fn number(version: SchemaVersion) -> i32 {
    (version.major * 1000 + version.minor).cast_signed()
}

fn header(conn: &Connection, path: &Path, pragma: &str) -> Result<i32, StoreError> {
    conn.query_row(pragma, [], |row| row.get(0)).map_err(|e| fail::sql(path, "read its header", &e))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn all_migrations_together_make_the_expected_schema() {
        let mut conn = Connection::open_in_memory().unwrap();
        create(&mut conn, Path::new("store.db")).unwrap();
        assert_eq!(dump(&conn).unwrap(), EXPECTED, "put the left side into migrations/schema.sql");
        assert_eq!(examine(&conn, Path::new("store.db")).unwrap(), SchemaAge::Current);
    }

    #[test]
    fn versions_of_migrations_only_grow() {
        assert!(MIGRATIONS.windows(2).all(|pair| pair[0].to < pair[1].to));
        assert!(MIGRATIONS.iter().all(|step| step.to.minor < 1000));
    }

    #[test]
    fn a_migration_that_fails_leaves_the_older_store_and_a_copy() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let mut conn = Connection::open(&path).unwrap();
        run(&mut conn, &path, &MIGRATIONS[..1], None).unwrap();
        let before = dump(&conn).unwrap();
        let next = SchemaVersion { major: 1, minor: 1 };
        let broken = [MIGRATIONS[0], Migration { to: next, sql: "CREATE TABLE extra (x); SELECT nonsense;" }];
        let deadline = Instant::now() + Duration::from_secs(10);
        let refused = migrate(&mut conn, &path, &broken, deadline).unwrap_err();
        assert_eq!(refused.code(), "store_failed");
        assert_eq!(dump(&conn).unwrap(), before);
        assert_eq!(stored_version(&conn, &path).unwrap(), SchemaVersion { major: 1, minor: 0 });
        let copies: Vec<_> = std::fs::read_dir(folder.path().join("backups")).unwrap().collect();
        assert_eq!(copies.len(), 1);
        let copy = Connection::open(copies[0].as_ref().unwrap().path()).unwrap();
        assert_eq!(dump(&copy).unwrap(), before);
        assert_eq!(stored_version(&copy, &path).unwrap(), SchemaVersion { major: 1, minor: 0 });
    }
}
