//! One test binary: the contract that every backend runs, on a real server, and what only this backend promises.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot get at its store has failed")]

#[path = "../../../punch-store/tests/contract/mod.rs"]
mod contract;
mod cost;
mod differential;
mod faults;
mod servers;

use std::sync::atomic::{AtomicU32, Ordering};

use contract::Place;
use punch_store::{OpenMode, Store};
use punch_store_pg::{PgOptions, PgStore};
use punch_testkit::postgres::{self, Cluster};

/// A schema of its own in the server of this process; `None` if there is no server.
fn options() -> Option<PgOptions> {
    Some(options_on(postgres::shared()?))
}

fn options_on(cluster: &Cluster) -> PgOptions {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let address = format!("{}&schema=test_{number}", cluster.address("postgres"));
    PgOptions { address, project: "project".into(), ..PgOptions::default() }
}

fn create(options: &PgOptions) -> PgStore {
    PgStore::open(options.clone(), OpenMode::Create).unwrap()
}

fn server() -> Option<Place<dyn Store>> {
    let store = create(&options()?);
    Some(Place { store: Box::new(store), _keep: None })
}

contract::contract!(postgres_server, crate::server);
