//! Licences and origins of all dependencies, from what cargo knows, against the lists in `deny.toml`. It needs no
//! tool and no network, so it runs everywhere; cargo-deny adds what needs a database.

use std::fs;

use crate::{TaskResult, metadata, process};

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Fails with every package whose licence is not allowed or whose origin is not crates.io.
pub fn check() -> TaskResult {
    let path = process::root().join("deny.toml");
    let config = fs::read_to_string(path).map_err(|cause| format!("cannot read deny.toml: {cause}"))?;
    let allowed = allow_list(&config);
    if allowed.is_empty() {
        return Err("deny.toml has no `allow` list under `[licenses]`".into());
    }
    let mut wrong = Vec::new();
    let packages = metadata::everything()?;
    for package in &packages {
        let name = format!("{} {}", package.name, package.version);
        match &package.licence {
            Some(licence) if satisfied(licence, &allowed) => {}
            Some(licence) => wrong.push(format!("{name}: licence `{licence}` is not allowed")),
            None => wrong.push(format!("{name}: no licence is named")),
        }
        if let Some(source) = package.source.as_deref().filter(|source| *source != CRATES_IO) {
            wrong.push(format!("{name}: comes from {source}"));
        }
    }
    if wrong.is_empty() {
        println!("    {} packages", packages.len());
        return Ok(());
    }
    Err(wrong.join("\n"))
}

/// The quoted words of `allow = […]` under `[licenses]`: too little to bring in a parser for TOML.
fn allow_list(config: &str) -> Vec<&str> {
    let section = config.split_once("\n[licenses]").map_or("", |(_, rest)| rest);
    let section = section.split_once("\n[").map_or(section, |(section, _)| section);
    let list = section.split_once("\nallow = [").map_or("", |(_, rest)| rest);
    let list = list.split_once(']').map_or("", |(list, _)| list);
    list.split('"').skip(1).step_by(2).collect()
}

/// Whether an SPDX expression leaves a choice in which every licence is allowed. `AND` binds tighter than `OR`.
fn satisfied(expression: &str, allowed: &[&str]) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut words = spaced.split_whitespace().peekable();
    // One frame per open parenthesis: (an alternative already holds, the current one still holds).
    let mut frames = vec![(false, true)];
    while let Some(word) = words.next() {
        let holds = match word {
            "(" => {
                frames.push((false, true));
                continue;
            }
            "OR" => {
                if let Some((any, current)) = frames.last_mut() {
                    *any |= *current;
                    *current = true;
                }
                continue;
            }
            "AND" => continue,
            ")" => frames.pop().is_some_and(|(any, current)| any || current),
            licence => {
                let exception = words.next_if_eq(&"WITH").and_then(|_| words.next());
                exception.map_or(allowed.contains(&licence), |exception| {
                    allowed.contains(&format!("{licence} WITH {exception}").as_str())
                })
            }
        };
        match frames.last_mut() {
            Some((_, current)) => *current &= holds,
            None => return false,
        }
    }
    matches!(frames.as_slice(), [(any, current)] if *any || *current)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_of_an_expression_is_weighed() {
        let allowed = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"];
        for good in [
            "MIT",
            "GPL-3.0 OR MIT",
            "MIT/Apache-2.0",
            "MIT AND Apache-2.0",
            "(MIT OR GPL-3.0) AND Apache-2.0",
            "Apache-2.0 WITH LLVM-exception OR GPL-3.0",
        ] {
            assert!(satisfied(good, &allowed), "{good}");
        }
        for bad in [
            "GPL-3.0",
            "MIT AND GPL-3.0",
            "(MIT OR Apache-2.0) AND GPL-3.0",
            "MIT WITH Some-exception",
            "GPL-3.0 AND MIT OR BSL-1.0",
            "MIT)",
            "(MIT",
        ] {
            assert!(!satisfied(bad, &allowed), "{bad}");
        }
    }

    #[test]
    fn the_allow_list_is_read_from_its_section() {
        let config = "[bans]\nallow = [\"x\"]\n\n[licenses]\nconfidence = 1\nallow = [\n  \"MIT\",\n  \"ISC\",\n]\n\n[sources]\n";
        assert_eq!(allow_list(config), ["MIT", "ISC"]);
        assert!(allow_list("[bans]\nallow = [\"x\"]\n").is_empty());
    }
}
