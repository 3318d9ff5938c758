//! The tests that `docs/threat-model.md` names for its promises exist. A renamed or deleted test must not leave a promise
//! behind that nothing holds.

use std::collections::BTreeSet;
use std::fs;

use crate::{Done, process, sources};

/// The page with the promises.
const PAGE: &str = "docs/threat-model.md";

/// Fails with every promise without a test, and with every name that is neither a function nor a task.
pub fn check() -> Done {
    let root = process::root();
    let mut functions = BTreeSet::new();
    for file in sources::rust_files(&root.join("crates"))? {
        let text = fs::read_to_string(&file).map_err(|cause| format!("{}: {cause}", file.display()))?;
        functions.extend(defined(&text).map(str::to_owned));
    }
    let page = fs::read_to_string(root.join(PAGE)).map_err(|cause| format!("{PAGE}: {cause}"))?;
    let main = fs::read_to_string(root.join("xtask/src/main.rs")).map_err(|cause| format!("main.rs: {cause}"))?;
    let known = |name: &str| match name.strip_prefix("cargo xtask ") {
        Some(task) => main.contains(&format!("\"{task}\"")),
        None => functions.contains(name),
    };
    let wrong = unkept(&page, known);
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// The names of the functions in a source file.
fn defined(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.split_once("fn ")?.1.split_once('(')).map(|(name, _)| name.trim())
}

/// What is wrong with the tables of promises: the second column names the tests.
fn unkept(page: &str, known: impl Fn(&str) -> bool) -> Vec<String> {
    let mut wrong = Vec::new();
    for row in page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| promise |")) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [promise, tests] = cells[..] else {
            wrong.push(format!("{PAGE}: not a promise and its tests: {row}"));
            continue;
        };
        let names: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
        if names.is_empty() {
            wrong.push(format!("{PAGE}: no test for: {promise}"));
        }
        wrong.extend(names.iter().filter(|name| !known(name)).map(|name| format!("{PAGE}: no test `{name}`")));
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_needs_a_test_that_exists() {
        let page = "| promise | test |\n|---|---|\n| kept | `a_test` |\n| broken | `gone` |\n| bare | see below |\n";
        let wrong = unkept(page, |name| name == "a_test");
        assert_eq!(wrong, [format!("{PAGE}: no test `gone`"), format!("{PAGE}: no test for: bare")]);
    }

    #[test]
    fn functions_are_found_wherever_they_stand() {
        let text = "fn one() {}\n    pub fn two(a: u8) {}\n// text";
        assert_eq!(defined(text).collect::<Vec<_>>(), ["one", "two"]);
    }
}
