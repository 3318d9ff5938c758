//! For `doctor` and the `store` commands.

use std::path::Path;

use punch_store::{
    LostWrites, OpenMode, SqliteStore, StoreAdmin, StoreError, StoreInfo, StoreLabel, StoreObstacle, Upgrade,
    copy_store,
};

use crate::link::ask;
use crate::store::PgStore;
use crate::value::Columns;
use crate::{check, fail};

impl StoreAdmin for PgStore {
    fn info(&self) -> Result<StoreInfo, StoreError> {
        const INFO: &str = "SELECT m.major::int8, m.minor::int8, p.created_at, \
            (SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::int8 FROM pg_catalog.pg_class c \
             WHERE c.relnamespace = (SELECT relnamespace FROM pg_catalog.pg_class WHERE oid = 'punch.plan'::regclass) \
             AND c.relkind = 'r'), \
            (SELECT count(*) FROM punch.plan WHERE project = $1), \
            (SELECT count(*) FROM punch.todo t JOIN punch.plan n ON n.id = t.plan WHERE n.project = $1), \
            (SELECT count(*) FROM punch.event e JOIN punch.plan n ON n.id = e.plan WHERE n.project = $1), \
            (SELECT count(*) FROM punch.session WHERE project = $1), current_setting('server_version') \
            FROM punch.meta m JOIN punch.project p ON p.id = $1";
        let read = self.browse_view(|view| {
            view.first(ask!("read sizes", INFO, self.project), |row| {
                Ok(StoreInfo {
                    store: self.identity.clone(),
                    created_at: row.int(2)?,
                    schema: punch_store::SchemaVersion { major: row.small(0)?, minor: row.small(1)? },
                    engine: format!("PostgreSQL {}", row.text(8)?),
                    bytes: row.number(3)?,
                    wal_bytes: 0,
                    free_bytes: 0,
                    plans: row.number(4)?,
                    todos: row.number(5)?,
                    events: row.number(6)?,
                    sessions: row.number(7)?,
                })
            })
        })?;
        read.ok_or_else(|| fail::damaged(self.label(), "the project is gone"))
    }

    fn check(&self) -> Result<Vec<String>, StoreError> {
        let mut out = Vec::new();
        let plans = self.browse_view(|view| punch_store::Catalogue::plans(view))?;
        for plan in plans {
            self.read_view(plan.id, |view| check::check_plan(view, &mut out))?;
        }
        Ok(out)
    }

    fn rebuild(&self) -> Result<(), StoreError> {
        let plans = self.browse_view(|view| punch_store::Catalogue::plans(view))?;
        plans.into_iter().try_for_each(|plan| check::rebuild_plan(self, plan.id))
    }

    fn backup_to(&self, to: &Path) -> Result<(), StoreError> {
        let failed = |what: &str, error: &std::io::Error| {
            let why = format!("cannot {what} the copy: {error}");
            StoreError::Unavailable { store: StoreLabel::file(to), reason: StoreObstacle::System, why }
        };
        let folder = punch_store::platform::folder_of(to).to_owned();
        let scratch = folder.join(format!(".punch-copy-{}", std::process::id()));
        punch_store::create_own_folder(&scratch).map_err(|e| failed("create a folder for", &e))?;
        let part = scratch.join("store.db");
        let copied = SqliteStore::open(&part, OpenMode::Create).and_then(|file| {
            copy_store(self, &file)?;
            // Without a log beside it, one file is everything.
            file.backup_to(to)
        });
        let _ = std::fs::remove_dir_all(&scratch);
        copied
    }

    fn upgrade(&self) -> Option<&Upgrade> {
        self.upgrade.as_ref()
    }

    fn lost(&self) -> Option<&LostWrites> {
        None
    }

    fn accept_loss(&mut self) -> Result<Option<LostWrites>, StoreError> {
        Ok(None)
    }

    fn until_exit(&mut self) {}
}
