//! The tests that the documentation names for its promises exist, and every promise of README.md and SECURITY.md has one. A
//! renamed or deleted test must not leave a promise behind that nothing holds.

use std::collections::BTreeSet;
use std::fs;

use crate::{TaskResult, process, sources, test};

/// The pages with tables of promises and their tests.
const PAGES: [&str; 2] = ["docs/threat-model.md", "docs/testing.md"];
/// The page with the cases of other tools; those that the museum does not replay name a test.
const LOOPS: &str = "docs/loops.md";

/// Fails with every promise without a test, and with every name that is neither a function nor a task.
pub fn check() -> TaskResult {
    let root = process::root();
    let read = |name: &str| fs::read_to_string(root.join(name)).map_err(|cause| format!("{name}: {cause}"));
    let mut functions = BTreeSet::new();
    for file in sources::rust_files(&root.join("crates"))? {
        let text = fs::read_to_string(&file).map_err(|cause| format!("{}: {cause}", file.display()))?;
        functions.extend(defined(&text).map(str::to_owned));
    }
    let main = read("xtask/src/main.rs")?;
    let known = |name: &str| match (name.strip_prefix("cargo xtask test --only "), name.strip_prefix("cargo xtask ")) {
        (Some(step), _) => test::has_step(step),
        (None, Some(task)) => main.contains(&format!("\"{task}\"")),
        (None, None) => functions.contains(name),
    };
    let mut wrong = Vec::new();
    for page in PAGES {
        wrong.extend(unkept(page, &read(page)?, known));
    }
    let page = read("docs/testing.md")?;
    let rows: Vec<&str> = rows(&page).filter_map(|row| row.ok().map(|(promise, _)| promise)).collect();
    let promised = [promises_of_readme(&read("README.md")?), promises_of_security(&read("SECURITY.md")?)].concat();
    let missing = promised.iter().filter(|promise| !rows.contains(&promise.as_str()));
    wrong.extend(missing.map(|promise| format!("docs/testing.md: no row for the promise: {promise}")));
    let stale = rows.iter().filter(|row| !promised.iter().any(|promise| promise == *row));
    wrong.extend(stale.map(|row| format!("docs/testing.md: nothing promises: {row}")));
    let loops = read(LOOPS)?;
    let named = |row: &str| row.trim_matches('|').split('|').next_back().map(str::to_owned);
    let cases = loops.lines().skip_while(|line| !line.starts_with("| case |")).filter(|line| line.starts_with("| "));
    for tests in cases.skip(1).filter_map(named) {
        let names: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
        if names.is_empty() || !names.iter().all(|name| known(name)) {
            wrong.push(format!("{LOOPS}: no such test: {}", tests.trim()));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// The bold beginnings of the first list, and the first column of the table about the user's machine.
fn promises_of_readme(text: &str) -> Vec<String> {
    let leads = text.lines().filter_map(|line| Some(line.strip_prefix("- **")?.split_once("**")?.0.to_owned()));
    let section = text.split_once("## What it changes on your machine").map_or("", |(_, rest)| rest);
    let section = section.split_once("\n## ").map_or(section, |(section, _)| section);
    let rows = section.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| what |"));
    leads.chain(rows.filter_map(|row| Some(row.split('|').nth(1)?.trim().to_owned()))).collect()
}

/// The list under "What Punchlist promises".
fn promises_of_security(text: &str) -> Vec<String> {
    let section = text.split_once("## What Punchlist promises").map_or("", |(_, rest)| rest);
    let section = section.split_once("\n## ").map_or(section, |(section, _)| section);
    let mut out: Vec<String> = Vec::new();
    for line in section.lines() {
        match (line.strip_prefix("- "), line.strip_prefix("  "), out.last_mut()) {
            (Some(promise), ..) => out.push(promise.to_owned()),
            (None, Some(rest), Some(last)) => *last = format!("{last} {rest}"),
            _ => {}
        }
    }
    out
}

/// The rows of tables headed "promise", as promise and tests; a row of another form is an error.
fn rows(page: &str) -> impl Iterator<Item = Result<(&str, &str), &str>> {
    let mut inside = false;
    page.lines().filter_map(move |line| {
        inside = line.starts_with("| promise |") || (inside && line.starts_with('|'));
        if !inside || line.starts_with("| promise |") || line.starts_with("|---") {
            return None;
        }
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        Some(if let [promise, tests] = cells[..] { Ok((promise, tests)) } else { Err(line) })
    })
}

/// The names of the functions in a source file.
fn defined(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.split_once("fn ")?.1.split_once('(')).map(|(name, _)| name.trim())
}

/// What is wrong with the tables of promises: the second column names the tests.
fn unkept(name: &str, page: &str, known: impl Fn(&str) -> bool) -> Vec<String> {
    let mut wrong = Vec::new();
    for row in rows(page) {
        let (promise, tests) = match row {
            Ok(row) => row,
            Err(row) => {
                wrong.push(format!("{name}: not a promise and its tests: {row}"));
                continue;
            }
        };
        let names: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
        if names.is_empty() {
            wrong.push(format!("{name}: no test for: {promise}"));
        }
        wrong.extend(names.iter().filter(|test| !known(test)).map(|test| format!("{name}: no test `{test}`")));
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_needs_a_test_that_exists() {
        let page = "| promise | test |\n|---|---|\n| kept | `a_test` |\n| broken | `gone` |\n| bare | see below |\n";
        let wrong = unkept("page", page, |name| name == "a_test");
        assert_eq!(wrong, ["page: no test `gone`", "page: no test for: bare"]);
    }

    #[test]
    fn promises_are_read_from_the_readme_and_from_security() {
        let readme = "- **It holds.** Always.\n\n## What it changes on your machine\n\n| what | where |\n|---|---|\n| Time | 1 ms |\n\n## Next\n\n| a | b |\n";
        assert_eq!(promises_of_readme(readme), ["It holds.", "Time"]);
        let security = "## What Punchlist promises\n\n- One thing.\n- Another thing\n  on two lines.\n\nText.\n";
        assert_eq!(promises_of_security(security), ["One thing.", "Another thing on two lines."]);
    }

    #[test]
    fn functions_are_found_wherever_they_stand() {
        let text = "fn one() {}\n    pub fn two(a: u8) {}\n// text";
        assert_eq!(defined(text).collect::<Vec<_>>(), ["one", "two"]);
    }
}
