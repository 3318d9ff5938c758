//! Rules for source files that no compiler checks: their length, what some folders must never name, doc comments that
//! can only be understood together with the one before, and types with the same name.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::type_names::TypeNames;
use crate::{TaskResult, paths, process};

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
pub fn check() -> TaskResult {
    let root = process::root();
    let mut folders = vec![root.join("xtask").join("src")];
    folders.extend(entries(&root.join("crates"))?.into_iter().map(|folder| folder.join("src")));
    let mut wrong = Vec::new();
    let mut types = TypeNames::default();
    for folder in folders.iter().filter(|folder| folder.is_dir()) {
        for file in rust_files(folder)? {
            let text = fs::read_to_string(&file).map_err(|cause| format!("{}: {cause}", file.display()))?;
            let name = file.strip_prefix(&root).unwrap_or(&file).to_string_lossy().replace('\\', "/");
            wrong.extend(broken(&name, &text));
            types.read(&name, &text);
        }
    }
    wrong.extend(types.problems());
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// What is wrong with one file.
fn broken(name: &str, text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let lines = text.lines().count();
    if lines > MAX_LINES {
        out.push(format!("{name}: {lines} lines, at most {MAX_LINES}: split it by what it owns"));
    }
    out.extend(riddles(text).map(|line| format!("{name}:{line}: this doc comment cannot be understood alone")));
    for absence in ABSENCES.iter().filter(|absence| Path::new(name).starts_with(absence.folder)) {
        for never in absence.never {
            if let Some(found) = paths::reaching(text, never) {
                out.push(format!("{name}: `{found}` is not allowed here: {}", absence.because));
            }
        }
    }
    out
}

/// Finds doc comments that lean on another one: "The same ..", "See the ..", or nothing but "Which.". Line numbers from 1.
fn riddles(text: &str) -> impl Iterator<Item = usize> {
    let doc = |line: &str| {
        let line = line.trim_start();
        let rest = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))?;
        Some(rest.trim().to_owned())
    };
    let docs: Vec<Option<String>> = text.lines().map(doc).collect();
    let is_riddle = move |at: usize| {
        let begins = at == 0 || docs[at - 1].is_none();
        let ends = docs.get(at + 1).is_none_or(Option::is_none);
        let line = docs[at].as_deref().unwrap_or_default();
        begins && (line.starts_with("The same") || line.starts_with("See the ") || (ends && line == "Which."))
    };
    (0..text.lines().count()).filter(move |at| is_riddle(*at)).map(|at| at + 1)
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

    #[test]
    fn a_doc_comment_is_understood_alone() {
        let of = |text: &str| riddles(text).collect::<Vec<_>>();
        assert_eq!(of("/// Counts todos.\nfn a() {}\n\n    /// The same for phases.\nfn b() {}"), [4]);
        assert_eq!(of("struct A {\n    /// Which.\n    id: u8,\n    /// See the module.\n    at: u8,\n}"), [2, 4]);
        assert_eq!(
            of("/// Counts todos in one pass.\n/// The same pass counts phases.\n// The same.\nfn a() {}"),
            [0; 0]
        );
        assert_eq!(of("/// Which. A list of names.\n/// Which.\nfn a() {}"), [0; 0]);
    }
}
