//! `docs/errors.md` has an entry for every error code that the program can print. The codes are read from the sources, so a
//! new refusal cannot be forgotten. An entry may outlive its code: scripts may still know it.

use std::collections::BTreeSet;
use std::fs;

use crate::{TaskResult, process, sources};

/// The page that `punch help CODE` prints from.
const PAGE: &str = "docs/errors.md";

/// Codes that are never printed: the reader of the output has gone.
const SILENT: &[&str] = &["reader_gone"];

/// Crates whose errors reach a user.
const CRATES: &[&str] = &[
    "punch-core",
    "punch-store",
    "punch-engine",
    "punch-serve",
    "punch-web",
    "punch-run",
    "punch-agents",
    "punch-cli",
];

/// Fails with every code without an entry, and with every entry that says too little.
pub fn check() -> TaskResult {
    let root = process::root();
    let mut used = BTreeSet::new();
    for name in CRATES {
        for file in sources::rust_files(&root.join("crates").join(name).join("src"))? {
            let text = fs::read_to_string(&file).map_err(|cause| format!("{}: {cause}", file.display()))?;
            used.extend(codes(text.split("#[cfg(test)]").next().unwrap_or_default()));
        }
    }
    SILENT.iter().for_each(|code| {
        used.remove(*code);
    });
    let page = fs::read_to_string(root.join(PAGE)).map_err(|cause| format!("{PAGE}: {cause}"))?;
    let known = entries(&page);
    let missing = used.difference(&known).map(|code| format!("{PAGE}: no entry for `{code}`"));
    let wrong: Vec<String> = missing.chain(thin(&page)).collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// The codes in one file: rows of an error table, arms of a `code` function, and refusals of commands.
fn codes(text: &str) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    let mut table = false;
    let mut function = false;
    let lines: Vec<&str> = text.lines().collect();
    for (at, line) in lines.iter().enumerate() {
        let trimmed = line.trim();
        if trimmed.ends_with("errors! {") {
            table = true;
        } else if *line == "}" {
            table = false;
        }
        if trimmed.contains("fn code(") {
            function = true;
        } else if *line == "    }" {
            function = false;
        }
        let row = table.then(|| trimmed.split_once(": \"").or_else(|| trimmed.split_once("=> \""))).flatten();
        let arm = function.then(|| trimmed.split_once("=> \"")).flatten();
        let field = trimmed.split_once("code: \"");
        let refusals = ["refused(\"", "Problem::new(\"", "const NO_PLAN: &str = \""]
            .iter()
            .filter_map(|call| trimmed.split_once(call));
        out.extend(row.into_iter().chain(arm).chain(field).chain(refusals).filter_map(|(_, rest)| code(rest)));
        if trimmed.ends_with("refused(") {
            let next = lines.get(at + 1).and_then(|next| next.trim().strip_prefix('"'));
            out.extend(next.and_then(code));
        }
    }
    out
}

/// The code at the beginning of a text, up to its closing quote.
fn code(text: &str) -> Option<String> {
    let (code, _) = text.split_once('"')?;
    let first = code.starts_with(|first: char| first.is_ascii_lowercase());
    let plain = first && code.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    plain.then(|| code.to_owned())
}

/// The codes that the page has a heading for.
fn entries(page: &str) -> BTreeSet<String> {
    page.lines().filter_map(|line| line.strip_prefix("### ")).map(|title| title.replace('`', "")).collect()
}

/// Entries that do not say both why the error happens and what to do.
fn thin(page: &str) -> Vec<String> {
    let entries = page.split("\n### ").skip(1);
    let lacks = entries.filter(|entry| {
        let entry = entry.split("\n## ").next().unwrap_or_default();
        !entry.contains("**Cause.**") || !entry.contains("**What to do.**")
    });
    let names = lacks.filter_map(|entry| entry.lines().next());
    names.map(|name| format!("{PAGE}: `{name}` needs a cause and a way out")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_read_from_tables_functions_and_calls() {
        let text = "punch_core::errors! {\n    A { x: u8 }: \"from_table\",\n        (\"no\"), (\"yes\");\n}\n    fn code(&self) \
                    {\n        Self::B => \"from_arm\",\n    }\nFailure::refused(\"from_call\", x)\nFailure::refused(\n    \
                    \"from_next_line\",\nlet other = \"not_a_code\";\n";
        let found: Vec<String> = codes(text).into_iter().collect();
        assert_eq!(found, ["from_arm", "from_call", "from_next_line", "from_table"]);
    }

    #[test]
    fn an_entry_has_a_cause_and_a_way_out() {
        let page = "# E\n\n### `a`\n\n**Cause.** x\n\n**What to do.** y\n\n### `b`\n\n**Cause.** x\n";
        assert_eq!(entries(page).into_iter().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(thin(page).len(), 1);
    }
}
