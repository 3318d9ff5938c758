//! The statuses that SQL statements name. The compiler does not read SQL, so this test does: a new status does not compile
//! here until its place in the statements is decided, and a statement that names a status is counted.

use std::fs;
use std::path::Path;

use punch_core::Status;

/// Every source of the SQLite backend: statements in Rust, schema and migrations.
fn sources(folder: &Path, out: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, out);
        } else {
            out.push(fs::read_to_string(path).unwrap());
        }
    }
}

/// The words of all `status = '…'` and `status IN (…)`, one list for each.
fn clauses() -> Vec<Vec<String>> {
    let mut texts = Vec::new();
    for folder in ["src/sqlite", "migrations"] {
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut texts);
    }
    let mut out = Vec::new();
    for text in texts {
        for (at, _) in text.match_indices("status ") {
            let rest = &text[at + "status ".len()..];
            let list = match (rest.strip_prefix("= '"), rest.strip_prefix("IN (")) {
                (Some(word), _) => word.split('\'').next(),
                (None, Some(list)) => list.split(')').next(),
                (None, None) => None,
            };
            out.extend(
                list.map(|list| list.split(',').map(|word| word.trim().trim_matches('\'').to_owned()).collect()),
            );
        }
    }
    out
}

#[test]
fn sql_names_statuses_that_exist_and_knows_which_are_open() {
    let clauses: Vec<Vec<String>> = clauses();
    assert!(clauses.len() >= 10, "{clauses:?}");
    let open: Vec<&str> = Status::ALL.into_iter().filter(|s| s.is_open()).map(Status::name).collect();
    // What needs work or a decision: the listing of unfinished todos.
    let unfinished: Vec<&str> = open.iter().copied().chain([Status::Failed.name()]).collect();
    for clause in &clauses {
        let known = |word: &String| Status::ALL.iter().any(|status| status.name() == word);
        assert!(clause.iter().all(known), "{clause:?}");
        let is_list = *clause == open || *clause == unfinished;
        assert!(clause.len() == 1 || is_list, "{clause:?} means the open ones {open:?} or {unfinished:?}");
    }
    for status in Status::ALL {
        let single = clauses.iter().any(|clause| *clause == [status.name()]);
        // What SQL asks for by itself: what can be started, and what someone works on.
        let asked = match status {
            Status::Pending | Status::InProgress => true,
            Status::Completed | Status::Cancelled | Status::Failed => false,
        };
        assert_eq!(single, asked, "{status:?}");
    }
}
