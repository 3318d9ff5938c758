//! Which crate may depend on which: core <- store <- store-pg, engine <- serve, run, tui, punchlist <- cli; web stands on
//! serve, agents on the core alone.

use crate::{
    TaskResult,
    metadata::{self, DependencyKind, Package},
};

/// Every crate of the workspace with those it may use. A crate that is not listed is refused, so that a new one
/// finds its place here first.
const MAY_USE: &[(&str, &[&str])] = &[
    ("punch-core", &[]),
    ("punch-store", &["punch-core"]),
    ("punch-store-pg", &["punch-core", "punch-store"]),
    ("punch-engine", &["punch-core", "punch-store"]),
    ("punch-agents", &["punch-core"]),
    ("punch-serve", &["punch-core", "punch-store", "punch-engine", "punch-agents"]),
    ("punch-run", &["punch-core", "punch-store", "punch-engine", "punch-agents"]),
    ("punch-tui", &["punch-core", "punch-store", "punch-engine"]),
    ("punch-web", &["punch-core", "punch-store", "punch-engine", "punch-serve"]),
    ("punchlist", &["punch-core", "punch-store", "punch-engine"]),
    (
        "punch-cli",
        &[
            "punch-core",
            "punch-store",
            "punch-store-pg",
            "punch-engine",
            "punch-agents",
            "punch-serve",
            "punch-run",
            "punch-tui",
            "punch-web",
            "punchlist",
        ],
    ),
    // Its models must share no code with what they judge.
    ("punch-testkit", &[]),
    ("punch-simulate", &["punch-core", "punch-store", "punch-engine", "punch-testkit"]),
    // Bodies for the fuzzer; nothing depends on it.
    (
        "punch-fuzz",
        &[
            "punch-core",
            "punch-store",
            "punch-engine",
            "punch-agents",
            "punch-serve",
            "punch-run",
            "punch-web",
            "punchlist",
            "punch-testkit",
        ],
    ),
    ("xtask", &["punch-core", "punch-agents", "punch-testkit"]),
];

/// Never part of what is shipped.
const DEV_ONLY: &str = "punch-testkit";

/// All that the rules may be built on: no I/O, no clock, no randomness.
const CORE_MAY_USE: &[&str] = &["granit-parser", "serde", "serde_json", "unicode-width", "unicode-segmentation"];

/// Fails with every dependency that points the wrong way.
pub fn check() -> TaskResult {
    let members = metadata::members()?;
    let wrong = wrong(&members);
    if wrong.is_empty() { Ok(()) } else { Err(format!("{}\nthe table is in xtask/src/crates.rs", wrong.join("\n"))) }
}

fn wrong(members: &[Package]) -> Vec<String> {
    let ours = |name: &str| members.iter().any(|member| member.name == name);
    let mut out = Vec::new();
    for member in members {
        let Some((name, may_use)) = MAY_USE.iter().find(|(name, _)| *name == member.name) else {
            out.push(format!("`{}` has no place in the order of crates", member.name));
            continue;
        };
        for dependency in &member.dependencies {
            let to = dependency.name.as_str();
            let allowed = match (ours(to), dependency.kind) {
                (true, kind) => may_use.contains(&to) || (to == DEV_ONLY && kind == DependencyKind::Dev),
                (false, DependencyKind::Normal) => *name != "punch-core" || CORE_MAY_USE.contains(&to),
                (false, DependencyKind::Build) => *name != "punch-core",
                (false, DependencyKind::Dev) => true,
            };
            if !allowed {
                out.push(format!("`{name}` must not depend on `{to}` ({:?})", dependency.kind).to_lowercase());
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::Dependency;

    fn member(name: &str, dependencies: &[(&str, DependencyKind)]) -> Package {
        let dependencies =
            dependencies.iter().map(|(name, kind)| Dependency { name: (*name).to_owned(), kind: *kind }).collect();
        Package {
            name: name.to_owned(),
            version: String::new(),
            licence: None,
            repository: None,
            rust_version: None,
            source: None,
            dependencies,
        }
    }

    fn check(package: Package) -> Vec<String> {
        let known = MAY_USE.iter().filter(|(name, _)| *name != package.name).map(|(name, _)| member(name, &[]));
        let mut members: Vec<Package> = known.collect();
        members.push(package);
        wrong(&members)
    }

    #[test]
    fn dependencies_against_the_order_are_refused() {
        assert_eq!(
            check(member("punch-store", &[("punch-engine", DependencyKind::Normal)])),
            ["`punch-store` must not depend on `punch-engine` (normal)"]
        );
        assert!(
            check(member(
                "punch-store",
                &[("punch-core", DependencyKind::Normal), ("rusqlite", DependencyKind::Normal)]
            ))
            .is_empty()
        );
    }

    #[test]
    fn the_testkit_is_for_development_only() {
        assert!(check(member("punch-store", &[("punch-testkit", DependencyKind::Dev)])).is_empty());
        assert!(!check(member("punch-store", &[("punch-testkit", DependencyKind::Normal)])).is_empty());
    }

    #[test]
    fn the_core_takes_only_listed_crates() {
        assert!(!check(member("punch-core", &[("tokio", DependencyKind::Normal)])).is_empty());
        assert!(!check(member("punch-core", &[("cc", DependencyKind::Build)])).is_empty());
        assert!(
            check(member("punch-core", &[("proptest", DependencyKind::Dev), ("serde", DependencyKind::Normal)]))
                .is_empty()
        );
    }

    #[test]
    fn a_new_crate_needs_a_place() {
        assert_eq!(check(member("punch-extra", &[])), ["`punch-extra` has no place in the order of crates"]);
    }
}
