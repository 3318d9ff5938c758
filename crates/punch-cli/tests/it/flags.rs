//! The flags of every verb, wherever they stand.

use std::path::Path;

use crate::punch::punch;

fn run(store: &Path, arguments: &[&str]) -> String {
    let store = store.to_str().unwrap();
    let run = punch(&[&["--store", store], arguments].concat(), "");
    assert_eq!(run.exit, Some(0), "{}{}", run.stdout, run.stderr);
    run.stdout
}

#[test]
fn flags_of_every_verb_work_before_it_and_after_it() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), &["add", "something"]);
    let after = run(folder.path(), &["next", "--json"]);
    assert!(after.starts_with("{\"schema\":1,\"todo\":{"), "{after}");
    assert_eq!(run(folder.path(), &["--json", "next"]), after);
    assert_eq!(run(folder.path(), &["--json", "next", "--json"]), after);
}

#[test]
fn flags_of_every_verb_work_behind_a_verb_of_a_verb() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), &["add", "something"]);
    let after = run(folder.path(), &["plan", "list", "--json"]);
    assert!(after.starts_with("{\"schema\":1,"), "{after}");
    assert_eq!(run(folder.path(), &["plan", "--json", "list"]), after);
    assert_eq!(run(folder.path(), &["--json", "plan", "list"]), after);
}

#[test]
fn what_stands_after_the_verb_wins() {
    let folder = tempfile::tempdir().unwrap();
    let other = tempfile::tempdir().unwrap();
    run(folder.path(), &["add", "here"]);
    run(other.path(), &["add", "there"]);
    let shown = run(folder.path(), &["next", "--store", other.path().to_str().unwrap()]);
    assert!(shown.contains("there"), "{shown}");
}
