//! `cargo xtask release --check`: what has to hold before a release. Everything that a program can check is checked, in order,
//! to the end; what is left to a maintainer is printed with the commands to type.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::{TaskResult, compare, dist, features, metadata, process, registry};

/// One item of the list.
struct ReleaseItem {
    what: &'static str,
    check: fn(&str) -> Result<String, String>,
}

const ITEMS: &[ReleaseItem] = &[
    ReleaseItem { what: "the tree is committed", check: |_| committed() },
    ReleaseItem { what: "all versions agree", check: versions },
    ReleaseItem { what: "the changelog has the version, and nothing is unreleased", check: changelog },
    ReleaseItem { what: "the address of the repository is set", check: |_| repository() },
    ReleaseItem { what: "crates can be packaged, and compile from their packages", check: |_| packaged() },
    ReleaseItem { what: "names of crates are free or ours", check: |_| names() },
    ReleaseItem { what: "a store of every schema opens", check: |_| stores() },
    ReleaseItem { what: "the gate passes, with nothing skipped", check: |_| task(&["test"]) },
    ReleaseItem {
        what: "the programs for other frameworks work",
        check: |_| features::frameworks().map(|()| String::new()),
    },
    ReleaseItem { what: "every agent does what every scenario says", check: |_| task(&["agents", "--all"]) },
    ReleaseItem { what: "fuzzing finds nothing", check: |_| task(&["fuzz", "--seconds", "60"]) },
    ReleaseItem { what: "the pages with benchmarks are current", check: |_| benchmarks() },
    ReleaseItem { what: "packages are built, reproduced and tried", check: packages },
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
pub fn check() -> TaskResult {
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
    println!("  mcp-publisher validate && mcp-publisher publish    # server.json, after npm");
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
    released(&text, version).map(|()| String::new())
}

/// Fails if the version has no section, or if there are entries that no version has.
fn released(changelog: &str, version: &str) -> TaskResult {
    let heading =
        |line: &str| line.strip_prefix("## ").and_then(|rest| rest.split_whitespace().next().map(str::to_owned));
    let is_known = changelog.lines().any(|line| heading(line).as_deref() == Some(version));
    let unreleased = changelog.lines().skip_while(|line| heading(line).as_deref() != Some("Unreleased")).skip(1);
    let entries = unreleased.take_while(|line| heading(line).is_none()).filter(|line| line.starts_with("- ")).count();
    match (is_known, entries) {
        (true, 0) => Ok(()),
        (true, _) => Err(format!(
            "there are unreleased entries ({entries}), but {version} has a section already: choose a new version, or move them there"
        )),
        (false, _) => Err(format!("CHANGELOG.md has no heading `## {version}`: move the unreleased entries under it")),
    }
}

/// The address that every crate names. `cargo binstall` looks for releases there, and `names` knows our crates by it.
fn repository() -> Result<String, String> {
    let members = metadata::members()?;
    let published = members.iter().filter(|package| PUBLISHED.contains(&package.name.as_str()));
    let addresses: Vec<(&str, Option<&str>)> =
        published.map(|package| (package.name.as_str(), package.repository.as_deref())).collect();
    common_address(&addresses)
}

fn common_address(crates: &[(&str, Option<&str>)]) -> Result<String, String> {
    let first = crates.iter().find_map(|(_, address)| *address);
    let Some(address) = first else {
        return Err("set `repository` in `[workspace.package]` and in every crate that is published".to_owned());
    };
    match crates.iter().find(|(_, other)| *other != Some(address)) {
        Some((name, _)) => Err(format!("{name} does not name {address}")),
        None => Ok(address.to_owned()),
    }
}

/// Everything that publishing does except the upload: each crate is compiled from its own package.
fn packaged() -> Result<String, String> {
    let mut cargo = process::cargo();
    cargo.args(["publish", "--dry-run", "--workspace", "--locked", "--quiet"]);
    let members = metadata::members()?;
    for package in members.iter().filter(|package| !PUBLISHED.contains(&package.name.as_str())) {
        cargo.args(["--exclude", &package.name]);
    }
    process::read(&mut cargo)?;
    Ok(format!("{} crates", PUBLISHED.len()))
}

/// Asks the registry for every name. A crate is ours if it names our repository.
fn names() -> Result<String, String> {
    let ours = repository().ok();
    let outside = tempfile::tempdir().map_err(|cause| cause.to_string())?;
    let (mut taken, mut published) = (Vec::new(), 0);
    for name in PUBLISHED {
        // In an empty folder: here cargo would describe our own crate.
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["info", name, "--quiet"]).current_dir(outside.path());
        match name_on_registry(process::read(&mut cargo), ours.as_deref())? {
            NameOwner::Free => {}
            NameOwner::Ours => published += 1,
            NameOwner::Taken => taken.push(name),
        }
    }
    match taken.is_empty() {
        true => Ok(format!("{published} published already")),
        false => Err(format!("taken by others on the registry: {}", taken.join(", "))),
    }
}

/// Who has a name on the registry.
#[derive(Debug, PartialEq, Eq)]
enum NameOwner {
    Free,
    Ours,
    Taken,
}

/// Reads the answer of `cargo info`. Fails if the registry could not be asked.
fn name_on_registry(answer: Result<String, String>, ours: Option<&str>) -> Result<NameOwner, String> {
    match answer {
        Err(cause) if cause.contains("could not find") => Ok(NameOwner::Free),
        Err(cause) => Err(cause),
        Ok(info) => {
            let address = info.lines().find_map(|line| line.strip_prefix("repository: ")).map(str::trim);
            Ok(if address.is_some() && address == ours { NameOwner::Ours } else { NameOwner::Taken })
        }
    }
}

fn stores() -> Result<String, String> {
    let test = ["test", "--quiet", "--locked", "-p", "punch-store", "--test", "it", "upgrade::"];
    process::read(process::cargo().args(test)).map(|_| String::new())
}

/// Runs another task as CI does: what cannot run here is a failure.
fn task(words: &[&str]) -> Result<String, String> {
    process::run(process::cargo().arg("xtask").args(words).env("CI", "1")).map(|()| String::new())
}

/// Pages of a release describe its program: the comparison names the commit that it was measured with.
fn benchmarks() -> Result<String, String> {
    let page = fs::read_to_string(process::root().join(compare::PATH))
        .map_err(|cause| format!("{}: {cause}; `cargo xtask compare` writes it", compare::PATH))?;
    let commit = measured_commit(&page).ok_or_else(|| format!("{} names no commit without changes", compare::PATH))?;
    let since = ["diff", "--name-only", commit, "HEAD", "--", "crates/*/src"];
    match process::read(process::command("git").args(since))?.lines().count() {
        0 => Ok(format!("measured with {commit}")),
        changed => Err(format!(
            "{changed} source files have changed since {commit}: run `cargo xtask compare`, `bench finish --write` and `bench tokens --write`"
        )),
    }
}

/// The commit that a page was measured with; `None` if there is none, or if it had changes that nobody else has.
fn measured_commit(page: &str) -> Option<&str> {
    let (commit, rest) = page.split_once(" from commit ")?.1.split_once(' ')?;
    (!rest.starts_with("with changes") && commit.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(commit)
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
            let normal = package.dependencies.iter().filter(|used| used.kind != metadata::DependencyKind::Dev);
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
    fn every_published_crate_carries_the_licences() {
        let members = metadata::members().unwrap_or_else(|cause| panic!("{cause}"));
        for package in members.iter().filter(|package| PUBLISHED.contains(&package.name.as_str())) {
            for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
                let root = process::root();
                let copy = fs::read(root.join("crates").join(&package.name).join(name)).unwrap_or_default();
                assert!(!copy.is_empty() && copy == fs::read(root.join(name)).unwrap_or_default(), "{}", package.name);
            }
        }
    }

    #[test]
    fn a_version_with_a_section_leaves_nothing_unreleased() {
        let log = |unreleased: &str| format!("# Changelog\n\n## Unreleased\n{unreleased}\n## 0.1.0\n- first\n");
        assert_eq!(released(&log(""), "0.1.0"), Ok(()));
        assert!(
            released(&log("\n### New\n- more\n"), "0.1.0").unwrap_err().starts_with("there are unreleased entries (1)")
        );
        assert!(released(&log("- more\n"), "0.2.0").unwrap_err().contains("no heading `## 0.2.0`"));
        assert!(released(&log(""), "0.1").is_err());
    }

    #[test]
    fn every_published_crate_names_one_repository() {
        let address = Some("https://example.org/punch");
        assert_eq!(common_address(&[("a", address), ("b", address)]), Ok("https://example.org/punch".to_owned()));
        assert!(common_address(&[("a", None), ("b", None)]).unwrap_err().starts_with("set `repository`"));
        assert_eq!(
            common_address(&[("a", address), ("b", None)]).unwrap_err(),
            "b does not name https://example.org/punch"
        );
    }

    #[test]
    fn a_name_is_ours_if_it_leads_to_our_repository() {
        let (ours, info) =
            (Some("https://example.org/punch"), "punch-core\nversion: 0.1.0\nrepository: https://example.org/punch\n");
        let of =
            |answer: Result<&str, &str>, ours| name_on_registry(answer.map(str::to_owned).map_err(str::to_owned), ours);
        assert_eq!(of(Ok(info), ours), Ok(NameOwner::Ours));
        assert_eq!(of(Ok(info), None), Ok(NameOwner::Taken));
        assert_eq!(of(Ok("punch-core\nversion: 3.0.0\n"), ours), Ok(NameOwner::Taken));
        assert_eq!(of(Err("error: could not find `punch-core` in registry"), ours), Ok(NameOwner::Free));
        assert!(of(Err("error: failed to reach the registry"), ours).is_err());
    }

    #[test]
    fn a_page_is_current_only_if_it_names_a_commit_that_others_have() {
        let page = |source: &str| {
            format!("Made by `cargo xtask compare` on 2026-01-01 from {source} (a machine). Less is better.")
        };
        assert_eq!(measured_commit(&page("commit 0123456789ab")), Some("0123456789ab"));
        assert_eq!(measured_commit(&page("commit 0123456789ab with changes")), None);
        assert_eq!(measured_commit(&page("a program that was built before")), None);
    }

    #[test]
    fn all_files_have_the_version_of_the_workspace() {
        assert!(versions(env!("CARGO_PKG_VERSION")).is_ok());
        assert!(versions("9.9.9").is_err());
    }
}
