//! Where the plans of a session are stored: in memory, in a file, or in the store that a project shares with `punch`.

#[cfg(feature = "sqlite")]
use std::path::Path;
use std::path::PathBuf;
#[cfg(feature = "sqlite")]
use std::time::Duration;
use std::time::{SystemTime, UNIX_EPOCH};

use punch_engine::Clock;
#[cfg(all(feature = "sqlite", feature = "git"))]
use punch_engine::locate::{Surroundings, locate};
use punch_store::{MemoryStore, Store};
#[cfg(feature = "sqlite")]
use punch_store::{OpenMode, open_file};

#[cfg(feature = "sqlite")]
use crate::Error;

/// A store with its folder and settings.
pub(crate) struct OpenedStore {
    pub store: Box<dyn Store>,
    /// The file, if it is one.
    #[cfg(feature = "verify")]
    pub database: Option<PathBuf>,
    /// The project's settings.
    pub config: Option<PathBuf>,
    /// The top of the worktree.
    pub root: Option<PathBuf>,
    /// The plans outlive the process.
    pub lasting: bool,
}

impl OpenedStore {
    pub fn memory() -> Self {
        Self {
            store: Box::new(MemoryStore::new()),
            #[cfg(feature = "verify")]
            database: None,
            config: None,
            root: None,
            lasting: false,
        }
    }

    pub fn own(store: Box<dyn Store>) -> Self {
        Self { store, lasting: true, ..Self::memory() }
    }

    #[cfg(feature = "sqlite")]
    pub fn file(path: &Path, wait: Option<Duration>) -> Result<Self, Error> {
        let store = open_file(path, OpenMode::Create, wait)?;
        Ok(Self {
            store,
            #[cfg(feature = "verify")]
            database: std::path::absolute(path).ok(),
            config: None,
            root: None,
            lasting: true,
        })
    }

    #[cfg(all(feature = "sqlite", feature = "git"))]
    pub fn project(folder: &Path, wait: Option<Duration>) -> Result<Self, Error> {
        let cwd = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let location = locate(&Surroundings { cwd, ..Surroundings::default() })?;
        if !location.exists {
            location.create()?;
        }
        Ok(Self {
            store: open_file(&location.database, OpenMode::Create, wait)?,
            #[cfg(feature = "verify")]
            database: Some(location.database),
            config: Some(location.config),
            root: Some(location.project_root),
            lasting: true,
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
