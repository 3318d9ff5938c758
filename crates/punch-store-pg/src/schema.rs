//! Finds out which schema a database has, and upgrades an older one. All steps run in one transaction under an advisory
//! lock, so any number of processes can try at once. Migrations are only added, never edited.

use crate::answer::SqlRow;
use punch_store::{OpenMode, SchemaVersion, StoreError, StoreObstacle, Upgrade};

use crate::address::{Address, SCHEMA};
use crate::fail;
use crate::link::{ServerLink, ask, qualified};
use crate::value::Columns;

/// One step of the schema.
struct PgMigration {
    to: SchemaVersion,
    sql: &'static str,
}

const MIGRATIONS: &[PgMigration] = &[
    PgMigration { to: SchemaVersion { major: 1, minor: 0 }, sql: include_str!("../migrations/0001_plans.sql") },
    PgMigration { to: SchemaVersion { major: 1, minor: 1 }, sql: include_str!("../migrations/0002_workers.sql") },
];

/// What this program writes.
pub const KNOWN: SchemaVersion = MIGRATIONS[MIGRATIONS.len() - 1].to;

/// "Punc", as in the header of SQLite stores.
const LOCK: i64 = 0x5075_6E63;

const FIND: &str = "SELECT m.major::int8, m.minor::int8, p.id, p.identity, \
                    floor(extract(epoch FROM clock_timestamp()) * 1000)::int8 \
                    FROM punch.meta m LEFT JOIN punch.project p ON p.name = $1";

/// What was found in a database.
pub struct SchemaState {
    pub project: i64,
    pub identity: String,
    pub now: i64,
    pub newer: bool,
    pub upgrade: Option<Upgrade>,
}

struct MetaRow {
    version: SchemaVersion,
    project: Option<(i64, String)>,
    now: i64,
}

/// Looks at the schema and finds the project; makes what is missing if the mode says so.
pub async fn examine(
    link: &mut ServerLink,
    address: &Address,
    project: &str,
    mode: OpenMode,
) -> Result<SchemaState, StoreError> {
    let mut upgrade = None;
    let mut found = look(link, address, project).await?;
    if found.as_ref().is_none_or(|meta| meta.version < KNOWN) {
        if found.is_none() && mode == OpenMode::Existing {
            let why = format!("the database has no punch schema `{}`", address.schema);
            return Err(fail::unavailable(&address.label, StoreObstacle::Missing, why));
        }
        let from = migrate(link, address).await?;
        upgrade = from.map(|from| Upgrade { from, to: KNOWN, copy: None });
        found = look(link, address, project).await?;
    }
    let Some(meta) = found else {
        return Err(fail::failed(&address.label, "the schema was created but cannot be found"));
    };
    if meta.version.major > KNOWN.major {
        return Err(StoreError::TooNew { store: address.label.clone(), found: meta.version, known: KNOWN });
    }
    let (project, identity) = match (meta.project, mode) {
        (Some(project), _) => project,
        (None, OpenMode::Existing) => {
            let why = format!("the database has no project `{project}`");
            return Err(fail::unavailable(&address.label, StoreObstacle::Missing, why));
        }
        (None, OpenMode::Create) => make_project(link, address, project, meta.now).await?,
    };
    Ok(SchemaState { project, identity, now: meta.now, newer: meta.version > KNOWN, upgrade })
}

async fn look(link: &mut ServerLink, address: &Address, project: &str) -> Result<Option<MetaRow>, StoreError> {
    let what = "read the schema";
    let rows = match link.send(&[ask!(what, FIND, project)]).await {
        Ok(rows) => rows,
        Err((_, error)) if error.code().is_some_and(|code| matches!(code, "42P01" | "3F000")) => {
            return Ok(None);
        }
        Err((_, error)) if error.code().is_some_and(|code| code == "42703") => {
            let why = format!("the schema `{}` has tables that punch did not create", address.schema);
            return Err(fail::unavailable(&address.label, StoreObstacle::Foreign, why));
        }
        Err((_, error)) => return Err(fail::sql(&address.label, what, &error)),
    };
    let read = |row: &SqlRow| -> Result<MetaRow, crate::answer::WireError> {
        let version = SchemaVersion { major: row.small(0)?, minor: row.small(1)? };
        Ok(MetaRow { version, project: row.maybe_int(2)?.zip(row.maybe_text(3)?), now: row.int(4)? })
    };
    let row = rows.first().and_then(|rows| rows.first());
    row.map(|row| read(row).map_err(|error| fail::sql(&address.label, what, &error))).transpose()
}

/// Runs what is missing. Returns the version before; `None` if there was no schema, or another process was faster.
async fn migrate(link: &mut ServerLink, address: &Address) -> Result<Option<SchemaVersion>, StoreError> {
    let what = "bring the schema up to date";
    let failed = |error: &crate::answer::WireError| fail::sql(&address.label, what, error);
    link.run("BEGIN").await.map_err(|error| failed(&error))?;
    let locked = link.send(&[ask!(what, "SELECT pg_advisory_xact_lock($1)::text", LOCK)]).await;
    locked.map_err(|(_, error)| failed(&error))?;
    let done = migrate_locked(link, address).await;
    let end = if done.is_ok() { "COMMIT" } else { "ROLLBACK" };
    let ended = link.run(end).await;
    let from = done?;
    ended.map_err(|error| failed(&error))?;
    Ok(from)
}

async fn migrate_locked(link: &mut ServerLink, address: &Address) -> Result<Option<SchemaVersion>, StoreError> {
    const STATE: &str = "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1), \
                         EXISTS (SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
                         WHERE n.nspname = $1 AND c.relname = 'meta'), \
                         EXISTS (SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
                         WHERE n.nspname = $1)";
    let what = "bring the schema up to date";
    let failed = |error: &crate::answer::WireError| fail::sql(&address.label, what, error);
    let rows = link.send(&[ask!(what, STATE, address.schema.as_str())]).await;
    let rows = rows.map_err(|(_, error)| failed(&error))?;
    let read = |row: &SqlRow| Ok((row.flag(0)?, row.flag(1)?, row.flag(2)?));
    let state = rows.first().and_then(|rows| rows.first()).map(read);
    let (has_schema, has_meta, has_tables) =
        state.unwrap_or(Ok((false, false, false))).map_err(|error| failed(&error))?;
    if has_tables && !has_meta {
        let why = format!("the schema `{}` has tables that punch did not create", address.schema);
        return Err(fail::unavailable(&address.label, StoreObstacle::Foreign, why));
    }
    let from = if has_meta { look(link, address, "").await?.map(|meta| meta.version) } else { None };
    let mut script = String::new();
    if !has_schema {
        script.push_str(&format!("CREATE SCHEMA {};\n", address.schema));
    }
    for step in MIGRATIONS.iter().filter(|step| from.is_none_or(|from| step.to > from)) {
        script.push_str(&qualified(step.sql, &address.schema));
    }
    let SchemaVersion { major, minor } = KNOWN;
    let meta = if has_meta {
        "UPDATE punch.meta SET major = {major}, minor = {minor}"
    } else {
        "INSERT INTO punch.meta (store, created_at, major, minor) VALUES (replace(gen_random_uuid()::text, '-', ''), \
         floor(extract(epoch FROM clock_timestamp()) * 1000)::int8, {major}, {minor})"
    };
    let meta = meta.replace("{major}", &major.to_string()).replace("{minor}", &minor.to_string());
    script.push_str(&if address.schema == SCHEMA {
        meta
    } else {
        meta.replace("punch.", &format!("{}.", address.schema))
    });
    if from.is_none_or(|from| from < KNOWN) {
        link.run(&script).await.map_err(|error| failed(&error))?;
    }
    Ok(from.filter(|from| *from < KNOWN))
}

async fn make_project(
    link: &mut ServerLink,
    address: &Address,
    project: &str,
    now: i64,
) -> Result<(i64, String), StoreError> {
    const INSERT: &str = "INSERT INTO punch.project (name, identity, created_at) \
                          VALUES ($1, replace(gen_random_uuid()::text, '-', ''), $2) ON CONFLICT (name) DO NOTHING";
    const FIND: &str = "SELECT id, identity FROM punch.project WHERE name = $1";
    let what = "create the project";
    let asks = [ask!(what, INSERT, project, now), ask!(what, FIND, project)];
    let rows = link.send(&asks).await.map_err(|(_, error)| fail::sql(&address.label, what, &error))?;
    let row = rows.last().and_then(|rows| rows.first());
    let read = |row: &SqlRow| Ok((row.int(0)?, row.text(1)?));
    let read =
        row.map(read).ok_or_else(|| fail::failed(&address.label, "the project was created but cannot be found"))?;
    read.map_err(|error| fail::sql(&address.label, what, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_migrations_only_grow() {
        assert!(MIGRATIONS.windows(2).all(|pair| pair[0].to < pair[1].to));
    }
}
