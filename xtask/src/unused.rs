//! Finds public functions and constants that only tests use, and settings that no code reads.
//!
//! The compiler cannot: what a library makes public counts as used. This reads names, not types, so a function that
//! shares its name with another one is not found; every row that is found is real.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::shipped::{self, SourceFile};
use crate::{TaskResult, process};

/// What other programs call: the public library, whose callers are not in this tree.
const PUBLIC: &str = "punchlist";

/// Items and settings that wait for their caller, each with what will use it.
const EXPECTED: &[(&str, &str)] = &[];

/// The table of settings, and the folder whose mentions of a setting do not count as reading it.
const SETTINGS: &str = "crates/punch-engine/src/config/";

/// Fails with every item that could be deleted.
pub fn check() -> TaskResult {
    let sources = shipped::sources()?;
    let mut wrong = unused_items(&sources);
    wrong.extend(unread_settings(&sources)?);
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// A public function or constant and where it is defined.
struct PublicItem<'a> {
    name: &'a str,
    file: &'a str,
}

fn unused_items(sources: &[SourceFile]) -> Vec<String> {
    let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
    let mut items = Vec::new();
    for source in sources {
        for line in &source.code {
            // A re-export is not a use.
            if line.trim_start().starts_with("pub use ") {
                continue;
            }
            words(line).for_each(|word| *uses.entry(word).or_default() += 1);
            if source.package != PUBLIC {
                items.extend(defined(line).map(|name| PublicItem { name, file: &source.name }));
            }
        }
    }
    let expected: BTreeSet<&str> = EXPECTED.iter().map(|(name, _)| *name).collect();
    let defined: BTreeSet<&str> = items.iter().map(|item| item.name).collect();
    let mut out: Vec<String> = items
        .iter()
        .filter(|item| uses.get(item.name) == Some(&1) && !expected.contains(item.name))
        .map(|item| format!("{}: `{}` is public, and only tests use it: delete it", item.file, item.name))
        .collect();
    let settled = |name: &&str| defined.contains(*name) && uses.get(*name).is_some_and(|count| *count > 1);
    out.extend(
        expected
            .iter()
            .filter(|name| settled(name))
            .map(|name| format!("xtask/src/unused.rs: `{name}` has a caller: take it out of EXPECTED")),
    );
    out
}

/// The name that a line defines as a public function or constant.
fn defined(line: &str) -> Option<&str> {
    let mut words = line.trim_start().strip_prefix("pub ")?.split_whitespace().peekable();
    while words.next_if(|word| matches!(*word, "const" | "async" | "unsafe")).is_some() {
        if words.peek().is_some_and(|word| word.ends_with(':')) {
            return words.next()?.strip_suffix(':');
        }
    }
    words.next_if_eq(&"fn")?;
    let name = words.next()?;
    Some(&name[..name.find(['(', '<']).unwrap_or(name.len())])
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// A row of the table of settings names the field of `Settings` that code reads.
fn unread_settings(sources: &[SourceFile]) -> Result<Vec<String>, String> {
    let table = format!("{SETTINGS}table.rs");
    let text = fs::read_to_string(process::root().join(&table)).map_err(|cause| format!("{table}: {cause}"))?;
    let rows = text.split_once("\nsettings! {").map_or("", |(_, rows)| rows);
    let rows = rows.split("\n}").next().unwrap_or_default();
    let fields = shipped::code(rows).into_iter().filter_map(|line| {
        let (field, _) = line.trim().split_once(": ")?;
        line.contains(" = \"").then(|| field.to_owned())
    });
    // The policies and limits of the table are read through functions beside it.
    let below = text.split_once("\nimpl Settings").map_or("", |(_, functions)| functions);
    let read = |field: &str| {
        let outside = sources.iter().filter(|source| !source.name.starts_with(SETTINGS));
        words(below).any(|word| word == field)
            || outside.flat_map(|source| &source.code).any(|line| words(line).any(|word| word == field))
    };
    let fields: Vec<String> = fields.collect();
    if fields.is_empty() {
        return Err(format!("{table}: no row was found; does the check still fit the table?"));
    }
    let expected = |field: &str| EXPECTED.iter().any(|(name, _)| *name == field);
    let unread = fields.into_iter().filter(|field| !read(field) && !expected(field));
    Ok(unread.map(|field| format!("{table}: no code reads the setting `{field}`")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(name: &str, text: &str) -> SourceFile {
        SourceFile { package: "punch-core".to_owned(), name: name.to_owned(), code: shipped::code(text) }
    }

    fn found(sources: &[SourceFile]) -> Vec<String> {
        unused_items(sources).into_iter().filter(|line| !line.contains("EXPECTED")).collect()
    }

    #[test]
    fn a_function_that_only_tests_call_is_found() {
        let index =
            "pub fn longest_remaining(n: u32) {}\n#[cfg(test)]\nmod tests {\n    fn t() { longest_remaining(1) }\n}\n";
        let sources = [source("index.rs", index), source("lib.rs", "pub use index::longest_remaining;\n")];
        assert_eq!(found(&sources), ["index.rs: `longest_remaining` is public, and only tests use it: delete it"]);
        let called = [source("index.rs", index), source("call.rs", "fn f() { longest_remaining(2) }\n")];
        assert!(found(&called).is_empty());
    }

    #[test]
    fn definitions_are_recognized_with_all_their_words() {
        assert_eq!(defined("    pub const fn open(self) -> bool {"), Some("open"));
        assert_eq!(defined("pub fn all<T>(x: T) {"), Some("all"));
        assert_eq!(defined("pub const KEYS: &[Key] = &[];"), Some("KEYS"));
        assert_eq!(defined("pub async fn wait() {"), Some("wait"));
        assert_eq!(defined("pub struct Plan {"), None);
        assert_eq!(defined("pub(crate) fn hidden() {"), None);
    }
}
