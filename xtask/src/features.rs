//! The library with every set of features that hosts use, checked without building anything; and beside a crate that links an
//! SQLite of its own, which cargo allows only once in a program.

use std::fs;

use crate::{Done, process};

/// Sets of features.
const SETS: &[&str] = &["", "sqlite", "git", "sqlite,git", "verify", "async"];

/// Fails with the first set that does not compile.
pub fn check() -> Done {
    for set in SETS {
        let check = ["check", "--locked", "--quiet", "--package", "punchlist", "--no-default-features", "--features"];
        process::run(process::cargo().args(check).arg(set))
            .map_err(|cause| format!("with the features `{set}`: {cause}"))?;
    }
    beside_another_sqlite()
}

/// Lets cargo resolve a program with the library for memory only and a crate that links `sqlite3`. A conflict shows here.
fn beside_another_sqlite() -> Done {
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
        ("src/lib.rs", ""),
        ("own-sqlite/Cargo.toml", own.as_str()),
        ("own-sqlite/src/lib.rs", ""),
        ("own-sqlite/build.rs", "fn main() {}\n"),
    ] {
        fs::write(place.join(file), text).map_err(failed)?;
    }
    fs::copy(root.join("Cargo.lock"), place.join("Cargo.lock")).map_err(failed)?;
    process::read(process::cargo().args(["tree", "--quiet"]).current_dir(&place)).map(drop)
}
