//! One test binary: the contract that every backend runs, and what only the SQLite backend promises.
#![expect(clippy::unwrap_used, reason = "a test that cannot get at its store has failed")]

mod contract;
mod faults;
mod files;
mod hand_out;
mod live;
mod lost;
mod many;
mod ops;
mod random;
mod reading;
mod schema;
mod sql_statuses;
mod submit;
mod upgrade;

use std::path::Path;

use punch_store::{MemoryStore, OpenMode, SqliteStore, Store};

/// A store for one test, with the folder it lives in.
struct Place<S: ?Sized> {
    store: Box<S>,
    _folder: Option<tempfile::TempDir>,
}

fn memory() -> Place<dyn Store> {
    Place { store: Box::new(MemoryStore::new()), _folder: None }
}

fn sqlite() -> Place<dyn Store> {
    let folder = tempfile::tempdir().unwrap();
    let store = create(&folder.path().join("store.db"));
    Place { store: Box::new(store), _folder: Some(folder) }
}

fn create(path: &Path) -> SqliteStore {
    SqliteStore::open(path, OpenMode::Create).unwrap()
}

contract::contract!(memory, crate::memory);
contract::contract!(sqlite_file, crate::sqlite);
