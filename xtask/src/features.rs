//! The library with every set of features that hosts use: the smallest and the largest set with their tests and lints, which the
//! steps for the whole workspace see with the default features only; and beside a crate that links an SQLite of its own, which
//! cargo allows only once in a program.

use std::fs;

use crate::{TaskResult, process, public_api, search};

/// Sets of features that are compiled. The empty set and all features are tested too.
const SETS: &[&str] = &["sqlite", "git", "sqlite,git", "verify", "async", "sqlite,async"];

/// A program that uses the library and its own SQLite.
const HOST: &str = "\
use own_sqlite as _;

fn main() -> Result<(), punchlist::Error> {
    punchlist::Session::in_memory(punchlist::Options::new(\"host\")).map(drop)
}
";

/// Fails with the first set that does not compile or whose tests fail.
pub fn check() -> TaskResult {
    for set in SETS {
        let check = ["check", "--locked", "--quiet", "--package", "punchlist", "--no-default-features", "--features"];
        process::run(process::cargo().args(check).arg(set))
            .map_err(|cause| format!("with the features `{set}`: {cause}"))?;
    }
    for set in ["--no-default-features", "--all-features"] {
        let lint = ["clippy", "--locked", "--quiet", "--package", "punchlist", "--all-targets", set];
        process::run(process::cargo().args(lint).args(["--", "-D", "warnings"]))?;
        let mut test = process::cargo();
        test.args(["test", "--locked", "--quiet", "--package", "punchlist", set]);
        process::run(search::same_inputs(&mut test))?;
    }
    let doc = ["doc", "--locked", "--quiet", "--package", "punchlist", "--no-deps", "--all-features"];
    process::run(process::cargo().args(doc).env("RUSTDOCFLAGS", "-D warnings"))?;
    public_api::check()?;
    beside_another_sqlite()
}

/// Tests the programs that put the library into agents of other frameworks. No part of the gate: their crates take minutes to
/// build, in a folder of their own.
pub fn frameworks() -> TaskResult {
    let mut cargo = process::cargo();
    cargo.args(["test", "--locked", "--manifest-path", "examples/frameworks/Cargo.toml"]);
    process::run(cargo.env("CARGO_TARGET_DIR", process::target()?.join("frameworks")))
}

/// Compiles a program with the library for memory only and a crate that links `sqlite3`.
fn beside_another_sqlite() -> TaskResult {
    let failed = |cause: std::io::Error| format!("cannot write the host: {cause}");
    let (root, place) = (process::root(), process::target()?.join("features"));
    let library = root.join("crates/punchlist").canonicalize().map_err(failed)?;
    let package = |name: &str| format!("[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n");
    let host = format!(
        "{}\n[dependencies]\nown-sqlite = {{ path = \"own-sqlite\" }}\npunchlist = {{ path = {library:?}, default-features = \
         false }}\n\n[workspace]\n",
        package("host")
    );
    let own = format!("{}links = \"sqlite3\"\nbuild = \"build.rs\"\n", package("own-sqlite"));
    for folder in ["src", "own-sqlite/src"] {
        fs::create_dir_all(place.join(folder)).map_err(failed)?;
    }
    for (file, text) in [
        ("Cargo.toml", host.as_str()),
        ("src/main.rs", HOST),
        ("own-sqlite/Cargo.toml", own.as_str()),
        ("own-sqlite/src/lib.rs", ""),
        ("own-sqlite/build.rs", "fn main() {}\n"),
    ] {
        fs::write(place.join(file), text).map_err(failed)?;
    }
    fs::copy(root.join("Cargo.lock"), place.join("Cargo.lock")).map_err(failed)?;
    // In the folder of the workspace, most crates are compiled already.
    let target = process::target()?;
    process::run(process::cargo().args(["check", "--quiet"]).current_dir(&place).env("CARGO_TARGET_DIR", target))
}
