//! Where the plans of a session live: memory, a file, or the store that a project shares with `punch`.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use punch_engine::Clock;
use punch_engine::locate::{Surroundings, locate};
use punch_store::{MemoryStore, OpenMode, Store, open_file};

use crate::Error;

/// A store, and what lies around it.
pub(crate) struct OpenedStore {
    pub store: Box<dyn Store>,
    /// The file, if it is one.
    pub database: Option<PathBuf>,
    /// The project's settings.
    pub config: Option<PathBuf>,
    /// The top of the worktree.
    pub root: Option<PathBuf>,
}

impl OpenedStore {
    pub fn memory() -> Self {
        Self { store: Box::new(MemoryStore::new()), database: None, config: None, root: None }
    }

    pub fn file(path: &Path) -> Result<Self, Error> {
        let store = open_file(path, OpenMode::Create, None)?;
        let database = std::path::absolute(path).ok();
        Ok(Self { store, database, config: None, root: None })
    }

    pub fn project(folder: &Path) -> Result<Self, Error> {
        let cwd = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let location = locate(&Surroundings { cwd, ..Surroundings::default() })?;
        if !location.exists {
            location.create()?;
        }
        Ok(Self {
            store: open_file(&location.database, OpenMode::Create, None)?,
            database: Some(location.database),
            config: Some(location.config),
            root: Some(location.project_root),
        })
    }
}

/// The system's clock. Before the epoch it counts as 0; the engine never goes back behind its last write.
pub(crate) fn system_clock() -> Clock {
    Box::new(|| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    })
}
