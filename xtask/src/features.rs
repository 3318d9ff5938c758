//! The library with every set of features that hosts use: the smallest and the largest set with their tests and lints, which the
//! steps for the whole workspace see with the default features only; with the oldest Rust that it promises; with SQLite as hosts
//! compile it; and beside a crate that links an SQLite of its own, which cargo allows only once in a program.

use std::fs;

use crate::{TaskResult, metadata, process, public_api, search};

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
    oldest_rust()?;
    sqlite_of_hosts()?;
    beside_another_sqlite()
}

/// Compiles the smallest and the largest set with the Rust version that the library promises. The lint that watches this
/// version knows the standard library, but not every change of the language and of dependencies.
fn oldest_rust() -> TaskResult {
    let members = metadata::members()?;
    let library = members.into_iter().find(|package| package.name == "punchlist");
    let version = library.and_then(|library| library.rust_version).ok_or("punchlist names no Rust version")?;
    let installed = process::read(process::command("rustup").args(["toolchain", "list"])).unwrap_or_default();
    let Some(toolchain) = toolchain(&installed, &version) else {
        println!(
            "SKIPPED: Rust {version}, the oldest that the library promises; `rustup toolchain install {version}` adds it"
        );
        return Ok(());
    };
    for set in ["--no-default-features", "--all-features"] {
        // Through rustup: the cargo that runs us is that of another toolchain.
        let mut cargo = process::command("rustup");
        cargo.args(["run", toolchain, "cargo", "check", "--locked", "--quiet", "--package", "punchlist", set]);
        cargo.env_remove("CARGO").env_remove("RUSTC").env_remove("RUSTUP_TOOLCHAIN");
        let target = process::target()?.join("oldest-rust");
        process::run(cargo.env("CARGO_TARGET_DIR", target)).map_err(|cause| format!("Rust {version}: {cause}"))?;
    }
    Ok(())
}

/// The toolchain of this version in the list of rustup; `1.91` is also `1.91.3`.
fn toolchain<'a>(installed: &'a str, version: &str) -> Option<&'a str> {
    let mut names = installed.lines().filter_map(|line| line.split_whitespace().next());
    let is_same = |rest: &str| rest.is_empty() || rest.starts_with(['-', '.']);
    names.find(|name| name.strip_prefix(version).is_some_and(is_same))
}

/// Tests the library with SQLite as it is compiled outside of this workspace, where no setting of ours leaves parts of it
/// out.
fn sqlite_of_hosts() -> TaskResult {
    let mut test = process::cargo();
    test.args(["test", "--locked", "--quiet", "--package", "punchlist", "--test", "it"]);
    // Empty in the environment wins over the configuration of the workspace.
    test.env("LIBSQLITE3_FLAGS", "").env("CARGO_TARGET_DIR", process::target()?.join("sqlite-of-hosts"));
    process::run(search::same_inputs(&mut test)).map_err(|cause| format!("with SQLite as hosts compile it: {cause}"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toolchains_are_found_by_their_version() {
        let installed =
            "stable-x86_64-unknown-linux-gnu (active, default)\n1.91-x86_64-unknown-linux-gnu\n1.95.0-x86_64\n";
        for (version, found) in [
            ("1.91", Some("1.91-x86_64-unknown-linux-gnu")),
            ("1.95", Some("1.95.0-x86_64")),
            ("1.9", None),
            ("1.96", None),
        ] {
            assert_eq!(toolchain(installed, version), found, "{version}");
        }
    }
}
