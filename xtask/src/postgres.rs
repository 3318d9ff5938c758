//! The step `postgres` of the gate: the contract suite, the differential runs and the daily commands on a server that the
//! tests start themselves. Where `CI` is set, PostgreSQL is installed if it is missing, and a skip is a failure.

use std::process::Command;

use punch_testkit::postgres::programs;

use crate::{Done, process, search};

/// What the tests need: the server, a pooler in front of it, and wrong clocks.
const PACKAGES: [&str; 3] = ["postgresql", "pgbouncer", "faketime"];

/// Runs the tests that need a server.
pub fn check() -> Done {
    if process::in_ci() {
        install()?;
    } else if programs().is_none() {
        println!("    SKIPPED: PostgreSQL is not installed");
        return Ok(());
    }
    for tests in [&["-p", "punch-store-pg"][..], &["-p", "punch-cli", "--test", "it", "postgres::"]] {
        let mut cargo = process::cargo();
        if std::env::var_os(search::SEED).is_none() {
            cargo.env(search::SEED, "1");
        }
        process::run(cargo.args(["test", "--locked", "--quiet"]).args(tests))?;
    }
    Ok(())
}

fn install() -> Done {
    let mut apt = Command::new("apt-get");
    process::run(apt.args(["install", "--yes", "--no-install-recommends"]).args(PACKAGES))?;
    if programs().is_some() { Ok(()) } else { Err("PostgreSQL was installed and is not found".to_owned()) }
}
