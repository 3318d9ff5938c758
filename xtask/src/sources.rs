//! Rules for source files that no compiler checks: their length, and what some folders must never name.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{Done, paths, process};

/// Past this a file is split.
const MAX_LINES: usize = 600;

/// A folder with the paths that must not occur in it, and the reason.
struct Absence {
    folder: &'static str,
    never: &'static [&'static str],
    because: &'static str,
}

const ABSENCES: &[Absence] = &[
    Absence {
        folder: "crates/punch-core/src",
        never: &["std::fs", "std::net", "std::process", "std::env", "std::time::SystemTime", "std::time::Instant"],
        because: "the core does no I/O and reads no clock: ids and times come in with the op",
    },
    Absence {
        folder: "crates/punch-core/src/apply",
        never: &["crate::dialect", "crate::view"],
        because: "apply knows policies, never a dialect or a view",
    },
    Absence {
        folder: "crates/punch-core/src/graph",
        never: &["crate::dialect", "crate::view", "crate::apply"],
        because: "the graph is below the rules",
    },
    Absence {
        folder: "crates/punch-engine/src",
        never: &["std::env"],
        because: "the engine is handed its surroundings as values: only the command line reads them",
    },
];

/// Fails with every broken rule.
pub fn check() -> Done {
    let root = process::root();
    let mut folders = vec![root.join("xtask").join("src")];
    folders.extend(entries(&root.join("crates"))?.into_iter().map(|folder| folder.join("src")));
    let mut wrong = Vec::new();
    for folder in folders.iter().filter(|folder| folder.is_dir()) {
        for file in rust_files(folder)? {
            let text = fs::read_to_string(&file).map_err(|cause| format!("{}: {cause}", file.display()))?;
            let name = file.strip_prefix(&root).unwrap_or(&file).to_string_lossy().replace('\\', "/");
            wrong.extend(broken(&name, &text));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// What is wrong with one file.
fn broken(name: &str, text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let lines = text.lines().count();
    if lines > MAX_LINES {
        out.push(format!("{name}: {lines} lines, at most {MAX_LINES}: split it by what it owns"));
    }
    for absence in ABSENCES.iter().filter(|absence| Path::new(name).starts_with(absence.folder)) {
        for never in absence.never {
            if let Some(found) = paths::reaching(text, never) {
                out.push(format!("{name}: `{found}` is not allowed here: {}", absence.because));
            }
        }
    }
    out
}

/// Lists the Rust files below a folder.
pub fn rust_files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut out = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in entries(&folder)? {
            if entry.is_dir() {
                open.push(entry);
            } else if entry.extension().is_some_and(|extension| extension == "rs") {
                out.push(entry);
            }
        }
    }
    Ok(out)
}

/// Lists what a folder holds, sorted.
pub fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let fail = |cause| format!("{}: {cause}", folder.display());
    let mut out = Vec::new();
    for entry in fs::read_dir(folder).map_err(fail)? {
        out.push(entry.map_err(fail)?.path());
    }
    out.sort();
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_file_is_named() {
        assert_eq!(broken("xtask/src/x.rs", &"\n".repeat(600)), [""; 0]);
        assert_eq!(broken("xtask/src/x.rs", &"\n".repeat(601)).len(), 1);
    }

    #[test]
    fn the_core_reads_no_clock_and_others_may() {
        let text = "use std::{collections::BTreeMap, time::{Duration, Instant}};";
        assert_eq!(broken("crates/punch-core/src/plan.rs", text).len(), 1);
        assert_eq!(broken("crates/punch-cli/src/main.rs", text), [""; 0]);
    }

    #[test]
    fn apply_names_no_dialect() {
        let text = "use crate::{Op, dialect::cursor};";
        assert_eq!(broken("crates/punch-core/src/apply/mod.rs", text).len(), 1);
        assert_eq!(broken("crates/punch-core/src/replay.rs", text), [""; 0]);
    }
}
