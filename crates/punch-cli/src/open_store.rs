//! The one way in which commands open a store, whatever its backend.

use std::time::Duration;

use punch_engine::locate::Location;
use punch_store::{OpenMode, StoreAdmin, StoreError, open_file};

/// Opens the store of a location. `wait` is how long a write waits for other processes, if not as long as usual.
pub fn open(location: &Location, mode: OpenMode, wait: Option<Duration>) -> Result<Box<dyn StoreAdmin>, StoreError> {
    open_file(&location.database, mode, wait)
}
