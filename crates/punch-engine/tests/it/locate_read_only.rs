//! A `.git` that must not be written. Permissions do not bind the superuser, so as root the test runs itself again
//! as nobody.
#![cfg(unix)]

use std::{
    fs,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    process::Command,
};

use punch_engine::locate::LocateError;
use rustix::process::geteuid;

use crate::sandbox::Sandbox;

const NOBODY: u32 = 65_534;

#[test]
fn a_read_only_git_folder_is_told_before_and_at_the_write() {
    if geteuid().is_root() {
        return as_nobody("locate_read_only::a_read_only_git_folder_is_told_before_and_at_the_write");
    }
    let sandbox = Sandbox::with_repository();
    let location = sandbox.locate("p").unwrap();
    location.writable().unwrap();
    let set = |mode: u32| fs::set_permissions(sandbox.path("p/.git"), fs::Permissions::from_mode(mode)).unwrap();
    set(0o555);
    let answers = [location.writable(), location.create()];
    set(0o755);
    for answer in answers {
        let error = answer.unwrap_err();
        assert_eq!(error.code(), "store_read_only");
        assert!(matches!(&error, LocateError::ReadOnly { path, .. } if *path == location.dir), "{error}");
        assert!(error.hint().contains("PUNCH_STORE") && error.hint().contains("MCP tools"), "{}", error.hint());
    }
    location.create().unwrap();
    fs::write(&location.database, "").unwrap();
    fs::set_permissions(&location.database, fs::Permissions::from_mode(0o444)).unwrap();
    assert_eq!(location.writable().unwrap_err().code(), "store_read_only");
}

#[test]
fn a_store_of_another_user_is_refused() {
    if !geteuid().is_root() {
        eprintln!("SKIPPED: only root can give a folder away; the rule itself has a unit test");
        return;
    }
    let sandbox = Sandbox::with_repository();
    let location = sandbox.locate("p").unwrap();
    location.create().unwrap();
    std::os::unix::fs::chown(&location.dir, Some(NOBODY), None).unwrap();
    let error = sandbox.locate("p").unwrap_err();
    assert_eq!(error, LocateError::OtherOwner { path: location.dir.clone(), owner: NOBODY, user: 0 });
    assert!(error.hint().contains("delete it"), "{}", error.hint());
}

/// The test binary may lie where only root can go, so nobody gets a copy.
#[expect(clippy::print_stderr, reason = "a test that could not run says so")]
fn as_nobody(test: &str) {
    let here = tempfile::tempdir().unwrap();
    fs::set_permissions(here.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let binary = here.path().join("it");
    // `fs::copy` would leave the file open for writing in children that other tests start: such a program cannot run.
    assert!(Command::new("cp").arg(std::env::current_exe().unwrap()).arg(&binary).status().unwrap().success());
    let run = Command::new(&binary).args(["--exact", test]).uid(NOBODY).gid(NOBODY).current_dir("/").output();
    match run {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && said.contains("1 passed"), "{said}");
        }
        Err(error) => eprintln!("SKIPPED: cannot run {test} as nobody: {error}"),
    }
}
