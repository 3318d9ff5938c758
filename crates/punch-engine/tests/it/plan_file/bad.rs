//! Files that cannot be used: a clear error, and neither side is changed.

use std::fs;

use punch_engine::plan_file::{FileError, SyncOptions};
use punch_engine::{EngineError, WriteRequest};

use super::{FILE, World, linked, unlinked};

fn refused(world: &World) -> EngineError {
    let request = WriteRequest::by("user", None);
    let refused = world.engine.link_plan_file(world.plan, &request, &world.path, SyncOptions::default()).unwrap_err();
    assert_eq!(world.engine.plan_file(world.plan).unwrap(), None);
    assert!(world.todos().is_empty());
    assert!(!refused.hint().is_empty());
    refused
}

#[test]
fn files_that_are_not_understood_are_not_linked() {
    let bomb = format!("---\na: &a [x, x]\nb: &b [*a, *a]\ntodos: [{}]\n---\n", "*b, ".repeat(100));
    for (text, part) in [
        ("", "no checklist found"),
        ("# Plan\n", "no checklist found"),
        ("# Plan\n\n- [ ] A\n- [?] B\n", "line 4, column 4: unknown marker `[?]`"),
        ("---\ntodos:\n  - id: a\n    content: half", "line 1, column 1: the front matter is never closed"),
        (
            "---\ntodos:\n  - {id: a, content: A}\n  - {id: a, content: B}\n---\n",
            "line 4, column 5: the id `a` is taken",
        ),
        ("---\ntodos:\n\t- id: a\n---\n", "line 3"),
        ("---\ntodos:\n  - {id: a, content: A, status: perhaps}\n---\n", "unknown status"),
        (bomb.as_str(), "aliases"),
    ] {
        let world = unlinked(text);
        world.untouched(|| {
            let refused = refused(&world);
            assert_eq!(refused.code(), "plan_file_unclear");
            assert!(refused.message().contains(part), "{}", refused.message());
        });
    }
}

#[test]
fn what_is_no_file_is_not_linked() {
    let world = unlinked(FILE);
    fs::remove_file(&world.path).unwrap();
    assert_eq!(refused(&world).code(), "plan_file_missing");
    fs::create_dir(&world.path).unwrap();
    assert!(matches!(refused(&world), EngineError::PlanFile(FileError::NotFile { .. })));
    fs::remove_dir(&world.path).unwrap();
    fs::write(&world.path, b"---\ntodos: [\xff]\n---\n").unwrap();
    assert!(matches!(refused(&world), EngineError::PlanFile(FileError::NotText { byte: 13, .. })));
    let large = format!("---\ntodos: []\n---\n{}", "x".repeat(9 << 20));
    fs::write(&world.path, large).unwrap();
    assert_eq!(refused(&world).code(), "too_large");
}

#[cfg(unix)]
#[test]
fn a_link_and_a_folder_that_cannot_be_written_are_refused() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let world = unlinked(FILE);
    let real = world.path.with_file_name("real.plan.md");
    fs::rename(&world.path, &real).unwrap();
    symlink(&real, &world.path).unwrap();
    let refusal = refused(&world);
    assert!(refusal.hint().contains("real.plan.md"), "{}", refusal.hint());
    let world = linked(FILE);
    let folder = world.path.parent().unwrap().to_owned();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o500)).unwrap();
    // A user whom permissions do not bind writes anyway.
    let bound = fs::File::create(folder.join("probe")).is_err();
    world.ask(&[punch_core::Op::Start(super::id("a"))]);
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    if bound {
        assert_eq!((world.troubles(), world.text().as_str()), (vec!["plan_file_system".to_owned()], FILE));
    }
    world.sync();
    assert!(world.text().contains("in_progress"));
}

/// Whoever can write the folder above could otherwise choose a file of the user that each change writes to.
#[cfg(unix)]
#[test]
fn a_folder_that_became_a_link_is_not_written_through() {
    use punch_core::Op;
    let world = linked(FILE);
    let folder = world.path.parent().unwrap().to_owned();
    let elsewhere = tempfile::tempdir().unwrap();
    let victim = elsewhere.path().canonicalize().unwrap().join("a.plan.md");
    fs::write(&victim, FILE).unwrap();
    let aside = folder.with_extension("aside");
    fs::rename(&folder, &aside).unwrap();
    std::os::unix::fs::symlink(victim.parent().unwrap(), &folder).unwrap();
    world.ask(&[Op::Start(super::id("a"))]);
    assert_eq!(world.troubles(), ["plan_file_kind"]);
    assert_eq!(world.try_sync().unwrap_err().code(), "plan_file_kind");
    assert_eq!(fs::read_to_string(&victim).unwrap(), FILE);
    // Once the folder is back, so is the file.
    fs::remove_file(&folder).unwrap();
    fs::rename(&aside, &folder).unwrap();
    world.sync();
    assert!(world.text().contains("in_progress"));
    assert_eq!(fs::read_to_string(&victim).unwrap(), FILE);
}

#[test]
fn one_file_belongs_to_one_plan_and_one_plan_has_one_file() {
    let world = linked(FILE);
    let request = WriteRequest::by("user", None);
    let other = world.engine.create_plan("other").unwrap();
    let taken = world.engine.link_plan_file(other, &request, &world.path, SyncOptions::default()).unwrap_err();
    assert_eq!(taken.code(), "plan_file_taken");
    let second = world.path.with_file_name("second.plan.md");
    fs::write(&second, FILE).unwrap();
    let linked = world.engine.link_plan_file(world.plan, &request, &second, SyncOptions::default()).unwrap_err();
    assert_eq!(linked.code(), "plan_file_linked");
    assert_eq!(
        world.engine.sync_plan_file(other, &request, SyncOptions::default()).unwrap_err().code(),
        "no_plan_file"
    );
}
