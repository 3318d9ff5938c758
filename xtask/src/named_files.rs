//! Files that the guides for contributors name: ARCHITECTURE.md, CONTRIBUTING.md and the decisions must not send a reader
//! to a file that is gone.

use std::fs;
use std::path::Path;

use crate::{TaskResult, process};

/// The guides that are read.
const GUIDES: &[&str] = &["ARCHITECTURE.md", "CONTRIBUTING.md"];

/// The walks that ARCHITECTURE.md must have.
const WALKS: usize = 4;

/// What CONTRIBUTING.md says about these names at most this many files.
const TASKS: &[&str] = &["A new agent", "A new setting", "A new import format", "A new verb"];
const FILES: usize = 4;

/// Fails with every name that is no file, and with every guide that says too little or too much.
pub fn check() -> TaskResult {
    let root = process::root();
    let mut wrong = Vec::new();
    for guide in GUIDES {
        let text = fs::read_to_string(root.join(guide)).map_err(|cause| format!("{guide}: {cause}"))?;
        wrong.extend(missing(&root, guide, &text));
        if *guide == "ARCHITECTURE.md" {
            wrong.extend(walks(&text));
        } else {
            wrong.extend(tasks(&text));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// Paths in backticks: from the root, or from the sources of the crate whose modules a section is about.
fn missing(root: &Path, guide: &str, text: &str) -> Vec<String> {
    let mut base = None;
    let mut out = Vec::new();
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            base = title.strip_prefix("Modules of ").map(|package| root.join("crates").join(package).join("src"));
        }
        // The first column of a table of modules; names in the other columns are types and commands.
        let column = line.split('|').nth(1).unwrap_or_default();
        let modules = base.iter().flat_map(|base| ticked(column).map(|name| (name, base.join(name))));
        // Of a file that is yet to be written only the folder exists.
        let existing = |name: &str| root.join(name.split("NAME").next().unwrap_or_default());
        let paths = ticked(line).filter(|name| is_path(name)).map(|name| (name, existing(name)));
        out.extend(
            modules
                .filter(|(name, _)| !is_path(name))
                .chain(paths)
                .filter(|(_, path)| !path.exists())
                .map(|(name, _)| format!("{guide}: `{name}` does not exist")),
        );
    }
    out
}

fn is_path(name: &str) -> bool {
    let folder = ["crates/", "xtask/", "docs/"].iter().any(|folder| name.starts_with(folder));
    folder && !name.contains(['*', '…', ' ', '{'])
}

/// What stands between backticks.
fn ticked(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// Each walk names the files it passes, in order.
fn walks(text: &str) -> Vec<String> {
    let titles: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("### Walk: ")).collect();
    let short = text.split("\n### Walk: ").skip(1).filter(|walk| {
        let walk = walk.split("\n#").next().unwrap_or_default();
        walk.lines().flat_map(ticked).filter(|name| is_path(name)).count() < 5
    });
    let mut out: Vec<String> = short
        .filter_map(|walk| Some(format!("ARCHITECTURE.md: the walk `{}` names few files", walk.lines().next()?)))
        .collect();
    if titles.len() < WALKS {
        out.push(format!("ARCHITECTURE.md: {} of {WALKS} walks: {titles:?}", titles.len()));
    }
    out
}

/// Each task has its paragraph with few files.
fn tasks(text: &str) -> Vec<String> {
    TASKS
        .iter()
        .filter_map(|task| {
            let Some((_, rest)) = text.split_once(&format!("**{task}.**")) else {
                return Some(format!("CONTRIBUTING.md: `{task}` is missing"));
            };
            let paragraph = rest.split("\n\n").next().unwrap_or_default();
            let files = paragraph.lines().flat_map(ticked).filter(|name| is_path(name)).count();
            (files == 0 || files > FILES)
                .then(|| format!("CONTRIBUTING.md: `{task}` names {files} files, not 1 to {FILES}"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_is_gone_is_found_and_a_pattern_is_not_looked_for() {
        let text = "See `docs/rules.md`, `docs/gone.md` and `docs/formats/*.json`.\n## Modules of punch-core\n| `op.rs`, `gone/` | `Gone` |";
        let found = missing(&process::root(), "G", text);
        assert_eq!(found, ["G: `docs/gone.md` does not exist", "G: `gone/` does not exist"]);
    }

    #[test]
    fn a_task_with_five_files_is_too_large() {
        let files = "`docs/a` `docs/b` `docs/c` `docs/d` `docs/e`";
        let text: String = TASKS.iter().map(|task| format!("**{task}.** {files}\n\n")).collect();
        assert_eq!(tasks(&text).len(), TASKS.len());
        assert_eq!(tasks("").len(), TASKS.len());
    }
}
