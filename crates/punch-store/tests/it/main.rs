//! One test binary: the contract that every backend runs, and what only the SQLite backend promises.
#![expect(clippy::unwrap_used, reason = "a test that cannot get at its store has failed")]

mod columns;
#[path = "../contract/mod.rs"]
mod contract;
mod faults;
mod files;
mod lost;
mod many;
mod notes;
mod schema;
mod sql_statuses;
mod upgrade;

use std::path::Path;

use contract::{Place, submit};
use punch_store::{MemoryStore, OpenMode, SqliteStore, Store};

fn memory() -> Option<Place<dyn Store>> {
    Some(Place { store: Box::new(MemoryStore::new()), _keep: None })
}

fn sqlite() -> Option<Place<dyn Store>> {
    let folder = tempfile::tempdir().unwrap();
    let store = create(&folder.path().join("store.db"));
    Some(Place { store: Box::new(store), _keep: Some(Box::new(folder)) })
}

fn create(path: &Path) -> SqliteStore {
    SqliteStore::open(path, OpenMode::Create).unwrap()
}

contract::contract!(memory, crate::memory);
contract::contract!(sqlite_file, crate::sqlite);
