//! The tests that the documentation names for its promises exist, and every promise of README.md and SECURITY.md has one. A
//! renamed or deleted test must not leave a promise behind that nothing holds.

use std::collections::BTreeSet;
use std::fs;

use crate::{TaskResult, process, sources, test};

/// The pages with tables of promises and their tests.
const PAGES: [&str; 2] = ["docs/threat-model.md", "docs/testing.md"];
/// Promises of the README that stand in a comment or a table of another section.
const PHRASES: [&str; 1] = ["any change can be undone"];
/// The page with the cases of other tools; those that the museum does not replay name a test.
const LOOPS: &str = "docs/loops.md";

/// Fails with every promise without a test, and with every name that is neither a test nor a task.
pub fn check() -> TaskResult {
    let root = process::root();
    let read = |name: &str| fs::read_to_string(root.join(name)).map_err(|cause| format!("{name}: {cause}"));
    let mut functions = BTreeSet::new();
    for file in sources::rust_files(&root.join("crates"))? {
        let text = fs::read_to_string(&file).map_err(|cause| format!("{}: {cause}", file.display()))?;
        functions.extend(tests_in(&text).map(str::to_owned));
    }
    let main = read("xtask/src/main.rs")?;
    let tasks: Vec<TaskArm<'_>> = arms(&main).collect();
    let known = |name: &str| match (name.strip_prefix("cargo xtask test --only "), name.strip_prefix("cargo xtask ")) {
        (Some(step), _) => test::has_step(step),
        (None, Some(task)) => tasks.iter().any(|arm| arm.takes(task)),
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

/// What the README promises: the bold beginnings of the first list; the first column of the table about the user's machine,
/// and the sentences below it; the sentences about runs; and phrases in other places.
fn promises_of_readme(text: &str) -> Vec<String> {
    let leads = text.lines().filter_map(|line| Some(line.strip_prefix("- **")?.split_once("**")?.0.to_owned()));
    let machine = section(text, "## What it changes on your machine");
    let rows = machine.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| what |"));
    let rows = rows.filter_map(|row| Some(row.split('|').nth(1)?.trim().to_owned()));
    let phrases = PHRASES.into_iter().filter(|phrase| text.contains(phrase)).map(str::to_owned);
    let sentences = sentences(machine).into_iter().chain(sentences(section(text, "## Run a plan overnight")));
    leads.chain(rows).chain(sentences).chain(phrases).collect()
}

/// The text below a heading, up to the next one.
fn section<'a>(text: &'a str, heading: &str) -> &'a str {
    let section = text.split_once(heading).map_or("", |(_, rest)| rest);
    section.split_once("\n## ").map_or(section, |(section, _)| section)
}

/// The sentences of paragraphs, without tables, code, and those that only lead to another page.
fn sentences(section: &str) -> Vec<String> {
    let mut fence = false;
    let prose = section.lines().filter(|line| {
        fence ^= line.starts_with("```");
        !fence && !line.starts_with("```") && !line.starts_with('|')
    });
    let prose = prose.map(|line| if line.is_empty() { "\n" } else { line.trim() }).collect::<Vec<_>>().join(" ");
    let paragraphs = prose.split('\n').map(str::trim).filter(|paragraph| !paragraph.is_empty());
    let sentences = paragraphs.flat_map(|paragraph| paragraph.split_inclusive(". ")).map(str::trim);
    sentences.filter(|sentence| !sentence.starts_with('[')).map(str::to_owned).collect()
}

/// The list under "What Punchlist promises".
fn promises_of_security(text: &str) -> Vec<String> {
    let section = section(text, "## What Punchlist promises");
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

/// The names of the tests in a source file. A helper that a test calls proves nothing by itself.
fn tests_in(text: &str) -> impl Iterator<Item = &str> {
    let mut is_test = false;
    text.lines().map(str::trim).filter_map(move |line| {
        if line.starts_with("#[") || line.starts_with("//") {
            is_test |= line == "#[test]" || line.starts_with("#[tokio::test");
            return None;
        }
        let marked = std::mem::take(&mut is_test);
        let name = line.split_once("fn ")?.1.split_once('(')?.0.trim();
        marked.then_some(name)
    })
}

/// The words of a task, as `main` matches them.
struct TaskArm<'a> {
    words: Vec<&'a str>,
    /// It takes more words.
    is_open: bool,
}

impl TaskArm<'_> {
    /// Returns true if a command line reaches this arm.
    fn takes(&self, task: &str) -> bool {
        let given: Vec<&str> = task.split(' ').collect();
        given == self.words || self.is_open && given.starts_with(&self.words)
    }
}

/// The arms of the match over tasks.
fn arms(main: &str) -> impl Iterator<Item = TaskArm<'_>> {
    main.lines().filter_map(|line| {
        let pattern = line.trim().strip_prefix('[')?.split_once("] =>")?.0;
        let parts: Vec<&str> = pattern.split(',').map(str::trim).collect();
        let words: Vec<&str> = parts.iter().filter_map(|part| part.strip_prefix('"')?.strip_suffix('"')).collect();
        (!words.is_empty()).then_some(TaskArm { is_open: parts.len() > words.len(), words })
    })
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
        let readme = "- **It holds.** Always.\n\npunch undo   # any change can be undone\n\n## What it changes on your machine\n\n\
                      | what | where |\n|---|---|\n| Time | 1 ms |\n\n`punch` leaves\nno trace.\n\n## Run a plan overnight\n\n\
                      ```sh\npunch run\n```\n\nIt ends. It costs 1.5 dollars.\n\n[Runs](run.md) has more.\n\n## Next\n\nMore. | a | b |\n";
        let promises = [
            "It holds.",
            "Time",
            "`punch` leaves no trace.",
            "It ends.",
            "It costs 1.5 dollars.",
            "any change can be undone",
        ];
        assert_eq!(promises_of_readme(readme), promises);
        let security = "## What Punchlist promises\n\n- One thing.\n- Another thing\n  on two lines.\n\nText.\n";
        assert_eq!(promises_of_security(security), ["One thing.", "Another thing on two lines."]);
    }

    #[test]
    fn only_tests_prove_something() {
        let text = "fn helper() {}\n#[test]\n// why\n#[cfg(unix)]\nfn one() {}\n    #[tokio::test(flavor = \"x\")]\n    async fn two() {}\n\
                    #[inline]\nfn other(a: u8) {}\n";
        assert_eq!(tests_in(text).collect::<Vec<_>>(), ["one", "two"]);
    }

    #[test]
    fn a_task_is_named_as_it_is_called() {
        let main = "        [\"bench\", \"mcp\"] => bench::mcp(),\n        [\"agents\", rest @ ..] => agents::run(rest),\n        [] => x,\n";
        let takes = |task: &str| arms(main).any(|arm| arm.takes(task));
        assert!(takes("bench mcp") && takes("agents") && takes("agents --all"));
        assert!(!takes("bench") && !takes("bench mcp --fast") && !takes("mcp"));
    }
}
