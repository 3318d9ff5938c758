//! The only code with which commands open a store, whatever its backend.

use std::time::Duration;

use punch_engine::locate::{Location, ServerPlace};
use punch_store::{OpenMode, StoreAdmin, StoreError, open_file};

/// Opens the store of a location. `wait` is how long a write waits for other processes, if not as long as usual.
pub fn open(location: &Location, mode: OpenMode, wait: Option<Duration>) -> Result<Box<dyn StoreAdmin>, StoreError> {
    match &location.server {
        None => open_file(&location.database, mode, wait),
        Some(place) => on_server(place, location, mode, wait),
    }
}

#[cfg(feature = "postgres")]
fn on_server(
    place: &ServerPlace,
    location: &Location,
    mode: OpenMode,
    wait: Option<Duration>,
) -> Result<Box<dyn StoreAdmin>, StoreError> {
    let options = punch_store_pg::PgOptions {
        address: place.address.clone(),
        project: place.project.clone(),
        login: crate::environment::login(),
        clone_facts: Some(location.dir.join("clone.json")),
        wait,
    };
    punch_store_pg::open(options, mode)
}

#[cfg(not(feature = "postgres"))]
fn on_server(
    _: &ServerPlace,
    location: &Location,
    _: OpenMode,
    _: Option<Duration>,
) -> Result<Box<dyn StoreAdmin>, StoreError> {
    let store = punch_store::StoreLabel::server(location.shown());
    let why = "this punch was built without PostgreSQL (the feature `postgres` of punch-cli)".to_owned();
    Err(StoreError::Unavailable { store, reason: punch_store::StoreObstacle::Address, why })
}
