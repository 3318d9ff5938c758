//! What `doctor` and the `store` commands need of a backend, apart from what the engine needs.

use std::path::{Path, PathBuf};

use crate::{LostWrites, SchemaVersion, Store, StoreError};

/// What to do where there is no store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// Fail: reads never create.
    Existing,
    /// Make one, and its folder.
    Create,
}

/// An older store that was brought up to date.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upgrade {
    /// The schema that it had.
    pub from: SchemaVersion,
    /// The schema that it has now.
    pub to: SchemaVersion,
    /// The copy of the store as it was, where the backend makes one.
    pub copy: Option<PathBuf>,
}

/// Sizes and counts of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreInfo {
    /// Its random id, see [`Store::identity`].
    pub store: String,
    /// When it was made.
    pub created_at: i64,
    /// Its schema.
    pub schema: SchemaVersion,
    /// The database engine with its version.
    pub engine: String,
    /// Bytes that it takes.
    pub bytes: u64,
    /// Bytes of a log that is not yet merged into it.
    pub wal_bytes: u64,
    /// Bytes that are free inside of it.
    pub free_bytes: u64,
    /// How many plans.
    pub plans: u64,
    /// How many todos, removed ones too.
    pub todos: u64,
    /// How many events.
    pub events: u64,
    /// How many sessions.
    pub sessions: u64,
}

/// Administers a store.
pub trait StoreAdmin: Store {
    /// Sizes and counts.
    fn info(&self) -> Result<StoreInfo, StoreError>;

    /// What is wrong with the store itself, such as columns and edges that do not say what the bodies say. Empty if all is
    /// well. Rules and derived values are checked by the engine.
    fn check(&self) -> Result<Vec<String>, StoreError>;

    /// Writes columns and edges again from the bodies.
    fn rebuild(&self) -> Result<(), StoreError>;

    /// Writes a copy of one moment to a file, replacing what is there. Writers are not blocked.
    fn backup_to(&self, to: &Path) -> Result<(), StoreError>;

    /// What had to be done to open a store with an older schema; `None` if the schema was current.
    fn upgrade(&self) -> Option<&Upgrade>;

    /// Writes that were committed and that the store did not hold any more when it was opened. Such a store can be read;
    /// it takes no new writes before [`StoreAdmin::accept_loss`] or [`crate::restore`].
    fn lost(&self) -> Option<&LostWrites>;

    /// Continues with what is left after writes were lost. Returns what was lost; `None` if nothing was.
    fn accept_loss(&mut self) -> Result<Option<LostWrites>, StoreError>;

    /// Says that the process ends with the store: files, locks and memory are left to the system.
    fn until_exit(&mut self);
}
