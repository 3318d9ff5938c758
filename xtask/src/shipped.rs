//! The source that ships: every crate but the testkit, the simulator and the fuzz bodies, without inline tests, comments and blank lines.

use std::fs;
use std::path::{Path, PathBuf};

use crate::process;
use crate::sources::{entries, rust_files};

/// One source file of a crate.
pub struct SourceFile {
    /// The crate that it belongs to.
    pub package: String,
    /// Its path from the root of the repository, with `/` on every system.
    pub name: String,
    /// Lines of code, inline tests, comments and blank lines left out.
    pub code: Vec<String>,
}

/// Reads every file that ends up in a user's program.
pub fn sources() -> Result<Vec<SourceFile>, String> {
    let root = process::root();
    let mut out = Vec::new();
    for package in entries(&root.join("crates"))? {
        let name = package.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let folder = package.join("src");
        if ["punch-testkit", "punch-simulate", "punch-fuzz"].contains(&name.as_str()) || !folder.is_dir() {
            continue;
        }
        for file in rust_files(&folder)? {
            out.extend(source(&root, &name, &file)?);
        }
    }
    Ok(out)
}

/// Returns `None` for files that hold only tests.
fn source(root: &Path, package: &str, file: &PathBuf) -> Result<Option<SourceFile>, String> {
    let name = file.strip_prefix(root).unwrap_or(file);
    if is_test(name) {
        return Ok(None);
    }
    let text = fs::read_to_string(file).map_err(|cause| format!("{}: {cause}", file.display()))?;
    let name = name.to_string_lossy().replace('\\', "/");
    Ok(Some(SourceFile { package: package.to_owned(), name, code: code(&text) }))
}

/// Returns true for files that hold only tests: `tests.rs`, and every file in a folder `tests`.
fn is_test(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name == "tests.rs") || file.components().any(|part| part.as_os_str() == "tests")
}

/// Returns the lines of `text` that are code. Inline tests are `#[cfg(test)]` items as rustfmt writes them: they end at
/// the first line that closes them at the indentation of the attribute.
pub fn code(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let trimmed = line.trim();
        if trimmed == "#[cfg(test)]" {
            let indent = line.len() - line.trim_start().len();
            for line in lines.by_ref() {
                let at_start = line.len() - line.trim_start().len() == indent;
                if at_start && (line.trim_end().ends_with(';') || line.trim() == "}") {
                    break;
                }
            }
        } else if !trimmed.is_empty() && !trimmed.starts_with("//") {
            out.push(line.to_owned());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{code, is_test};

    #[test]
    fn files_of_tests_do_not_ship() {
        for test in ["crates/a/src/tests.rs", "crates/a/src/b/tests.rs", "crates/a/src/tests/mod.rs"] {
            assert!(is_test(Path::new(test)), "{test}");
        }
        assert!(!is_test(Path::new("crates/a/src/latest.rs")));
    }

    #[test]
    fn comments_blank_lines_and_inline_tests_are_left_out() {
        let text = "//! Head.\n\nfn a() {}\n    // why\n#[cfg(test)]\nmod tests {\n    fn b() {\n    }\n}\nfn c() {}\n";
        assert_eq!(code(text), ["fn a() {}", "fn c() {}"]);
        assert_eq!(code("#[cfg(test)]\nmod tests;\nfn c() {}\n"), ["fn c() {}"]);
    }
}
