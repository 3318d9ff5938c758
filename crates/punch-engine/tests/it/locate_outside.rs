//! Stores outside git, and stores that someone chose.

use std::{
    fs,
    path::{Path, PathBuf},
};

use punch_engine::locate::{LocateError, Location, LocationRule, locate, locate_in_tree};

use crate::sandbox::Sandbox;

fn outside(dir: PathBuf, exists: bool) -> Location {
    let root = dir.parent().unwrap().to_owned();
    Location {
        database: dir.join("store.db"),
        config: dir.join("config.toml"),
        kind: LocationRule::Outside,
        exists,
        project_root: root,
        server: None,
        dir,
    }
}

#[test]
fn without_a_store_it_is_to_be_made_here() {
    let sandbox = Sandbox::new();
    sandbox.folder("a/b");
    let here = outside(sandbox.path("a/b/.punch"), false);
    assert_eq!(sandbox.locate("a/b"), Ok(here.clone()));
    assert_eq!(locate_in_tree(&sandbox.around("a/b")), Ok(here.clone()));
    assert!(!here.dir.exists(), "looking makes nothing");
    here.create().unwrap();
    assert_eq!(fs::read_to_string(here.dir.join(".gitignore")).unwrap(), "*\n");
}

#[test]
fn the_nearest_store_upwards_is_taken() {
    let sandbox = Sandbox::new();
    sandbox.folder("a/b/c");
    sandbox.file("a/.punch/store.db", "");
    assert_eq!(sandbox.locate("a/b/c"), Ok(outside(sandbox.path("a/.punch"), true)));
    sandbox.folder("a/b/.punch");
    assert_eq!(sandbox.locate("a/b/c"), Ok(outside(sandbox.path("a/b/.punch"), false)));
}

#[test]
fn the_home_folder_is_the_boundary_and_belongs_to_the_search() {
    let sandbox = Sandbox::new();
    sandbox.folder("home/me/code");
    sandbox.folder("srv/work");
    sandbox.folder(".punch");
    let from = |cwd: &str| {
        let mut around = sandbox.around(cwd);
        around.home = Some(sandbox.path("home/me"));
        locate(&around).unwrap().dir
    };
    assert_eq!(from("home/me/code"), sandbox.path("home/me/code/.punch"));
    assert_eq!(from("home/me"), sandbox.path("home/me/.punch"));
    assert_eq!(from("srv/work"), sandbox.path(".punch"), "no boundary for those who are not below it");
    sandbox.folder("home/me/.punch");
    assert_eq!(from("home/me/code"), sandbox.path("home/me/.punch"));
    #[cfg(unix)]
    {
        fs::remove_dir(sandbox.path("home/me/.punch")).unwrap();
        std::os::unix::fs::symlink(sandbox.path("home/me"), sandbox.path("home/link")).unwrap();
        let mut around = sandbox.around("home/me/code");
        around.home = Some(sandbox.path("home/link"));
        assert_eq!(locate(&around).unwrap().dir, sandbox.path("home/me/code/.punch"));
    }
}

#[test]
fn a_file_in_the_way_is_refused() {
    let sandbox = Sandbox::new();
    let path = sandbox.file("a/.punch", "");
    assert_eq!(sandbox.locate("a"), Err(LocateError::NotAFolder { path }));
}

#[test]
fn a_chosen_store_may_be_anywhere_and_named_by_its_database() {
    let sandbox = Sandbox::new();
    sandbox.folder("a");
    let chosen = |flag: &str| {
        let mut around = sandbox.around("a");
        around.store_flag = Some(PathBuf::from(flag));
        locate(&around)
    };
    let there = Location { kind: LocationRule::Given, ..outside(sandbox.path("a/x/y"), false) };
    assert_eq!(chosen("x/y"), Ok(there.clone()));
    assert_eq!(chosen("x/y/store.db"), Ok(there.clone()));
    there.create().unwrap();
    assert_eq!(fs::read_dir(&there.dir).unwrap().count(), 0, "nothing is put into a folder someone chose");
    fs::write(&there.database, "").unwrap();
    let there = Location { exists: true, ..there };
    assert_eq!(chosen("x/../x/y/store.db"), Ok(there));
    assert_eq!(chosen(""), Err(LocateError::EmptyPath));
    let path = sandbox.file("a/plain.txt", "");
    assert_eq!(chosen("plain.txt"), Err(LocateError::NotAFolder { path }));
}

#[test]
fn an_empty_variable_counts_as_not_given_and_a_broken_repository_does_not_disturb_a_chosen_store() {
    let sandbox = Sandbox::new();
    sandbox.file("a/.git", "gitdir: /nowhere\n");
    let mut around = sandbox.around("a");
    around.store_env = Some(PathBuf::new());
    assert_eq!(locate(&around).unwrap_err().code(), "repository_broken");
    around.store_env = Some(Path::new("here").to_owned());
    assert_eq!(locate(&around).unwrap().dir, sandbox.path("a/here"));
}
