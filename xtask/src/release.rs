//! `cargo xtask release --check`: what has to hold before a release. Everything that a program can check is checked, in order,
//! to the end; what is left to a maintainer is printed with the commands to type.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::{Done, dist, metadata, process, registry};

/// One item of the list.
struct Item {
    what: &'static str,
    check: fn(&str) -> Result<String, String>,
}

const ITEMS: &[Item] = &[
    Item { what: "the tree is committed", check: |_| committed() },
    Item { what: "all versions agree", check: versions },
    Item { what: "the changelog has the version", check: changelog },
    Item { what: "crates can be packaged", check: |_| packaged() },
    Item { what: "names of crates are free or ours", check: |_| names() },
    Item { what: "a store of every schema opens", check: |_| stores() },
    Item { what: "the gate passes", check: |_| gate() },
    Item { what: "packages are built, reproduced and tried", check: packages },
];

/// Crates in the order in which they can be published: each after those that it uses.
const PUBLISHED: [&str; 11] = [
    "punch-core",
    "punch-store",
    "punch-agents",
    "punch-engine",
    "punch-store-pg",
    "punch-serve",
    "punch-run",
    "punch-tui",
    "punch-web",
    "punchlist",
    "punch-cli",
];

/// Walks through the list and fails if an item does.
pub fn check() -> Done {
    let version = dist::version()?;
    println!("Release {version}\n");
    let mut failed = 0;
    for item in ITEMS {
        match (item.check)(&version) {
            Ok(note) => println!("  ok      {}{}", item.what, if note.is_empty() { note } else { format!(": {note}") }),
            Err(cause) => {
                failed += 1;
                println!("  FAILED  {}: {cause}", item.what);
            }
        }
    }
    println!("\nLeft to you, in this order:");
    println!("  git tag v{version} && git push --tags");
    for name in PUBLISHED {
        println!("  cargo publish -p {name}");
    }
    println!("  npm publish target/dist/punchlist-*.tgz, each, the platform packages first");
    println!("  attach the files of target/dist and SHA256SUMS to the release");
    println!("  publish server.json to the MCP registry, after npm");
    if failed == 0 { Ok(()) } else { Err(format!("{failed} of {} items failed", ITEMS.len())) }
}

fn committed() -> Result<String, String> {
    let changed = process::read(process::command("git").args(["status", "--porcelain"]))?;
    let commit = process::read(process::command("git").args(["rev-parse", "--short", "HEAD"]))?;
    if changed.is_empty() { Ok(commit.trim().to_owned()) } else { Err("there are changes".to_owned()) }
}

/// Files that repeat the version of the workspace.
fn versions(version: &str) -> Result<String, String> {
    let read = |name: &str| -> Result<Value, String> {
        let text = fs::read_to_string(process::root().join(name)).map_err(|cause| format!("{name}: {cause}"))?;
        serde_json::from_str(&text).map_err(|cause| format!("{name}: {cause}"))
    };
    let files = [
        "server.json",
        "plugins/punch/.claude-plugin/plugin.json",
        "plugins/punch-codex/.claude-plugin/plugin.json",
        "plugins/gemini/gemini-extension.json",
    ];
    for name in files {
        if read(name)?["version"] != version {
            return Err(format!("{name} has another version"));
        }
    }
    if read("server.json")? != registry::server_json(version) {
        return Err("server.json is not what `xtask/src/registry.rs` makes".to_owned());
    }
    let members = metadata::members()?;
    if let Some(other) = members.iter().find(|package| package.version != version) {
        return Err(format!("{} has version {}", other.name, other.version));
    }
    Ok(format!("{} crates, {} files", members.len(), files.len()))
}

fn changelog(version: &str) -> Result<String, String> {
    let text =
        fs::read_to_string(process::root().join("CHANGELOG.md")).map_err(|cause| format!("CHANGELOG.md: {cause}"))?;
    let heading = format!("## {version}");
    if text.lines().any(|line| line.starts_with(&heading)) {
        Ok(String::new())
    } else {
        Err(format!("CHANGELOG.md has no heading `{heading}`"))
    }
}

fn packaged() -> Result<String, String> {
    let mut cargo = process::cargo();
    cargo.args(["package", "--workspace", "--no-verify", "--locked", "--quiet"]);
    let members = metadata::members()?;
    for package in members.iter().filter(|package| !PUBLISHED.contains(&package.name.as_str())) {
        cargo.args(["--exclude", &package.name]);
    }
    process::read(&mut cargo)?;
    Ok(format!("{} crates", PUBLISHED.len()))
}

/// Asks the registry for every name. Who owns one cannot be seen from here, so a name that is taken is reported.
fn names() -> Result<String, String> {
    let outside = tempfile::tempdir().map_err(|cause| cause.to_string())?;
    let mut taken = Vec::new();
    for name in PUBLISHED {
        // In an empty folder: here cargo would describe our own crate.
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["info", name, "--quiet"]).current_dir(outside.path());
        if process::read(&mut cargo).is_ok() {
            taken.push(name);
        }
    }
    if taken.is_empty() { Ok(String::new()) } else { Err(format!("taken on the registry: {}", taken.join(", "))) }
}

fn stores() -> Result<String, String> {
    let test = ["test", "--quiet", "--locked", "-p", "punch-store", "--test", "it", "upgrade::"];
    process::read(process::cargo().args(test)).map(|_| String::new())
}

fn gate() -> Result<String, String> {
    process::run(process::cargo().args(["xtask", "test"])).map(|()| String::new())
}

fn packages(version: &str) -> Result<String, String> {
    dist::run(&[])?;
    Ok(format!("punch {version} in target/dist"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_crate_is_published_after_those_that_it_uses() {
        let members = metadata::members().unwrap_or_else(|cause| panic!("{cause}"));
        for package in members.iter().filter(|package| PUBLISHED.contains(&package.name.as_str())) {
            let place = |name: &str| PUBLISHED.iter().position(|published| *published == name);
            let normal = package.dependencies.iter().filter(|used| used.kind != metadata::Kind::Dev);
            for used in normal.filter(|used| members.iter().any(|member| member.name == used.name)) {
                assert!(
                    place(&used.name) < place(&package.name) && place(&used.name).is_some(),
                    "{} before {}",
                    used.name,
                    package.name
                );
            }
        }
        let left_out = ["punch-testkit", "punch-fuzz", "punch-simulate", "xtask"];
        assert!(
            members
                .iter()
                .all(|package| PUBLISHED.contains(&package.name.as_str()) != left_out.contains(&package.name.as_str()))
        );
    }

    #[test]
    fn all_files_have_the_version_of_the_workspace() {
        assert!(versions(env!("CARGO_PKG_VERSION")).is_ok());
        assert!(versions("9.9.9").is_err());
    }
}
