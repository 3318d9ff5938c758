//! A store beside the code: ignored by git, never one that came with the repository, never a second one.

use std::{fs, path::PathBuf};

use punch_engine::locate::{LocateError, Location, LocationRule, locate, locate_in_tree};

use crate::sandbox::Sandbox;

/// `punch init --in-tree` in a folder.
fn init(sandbox: &Sandbox, cwd: &str) -> Location {
    let location = locate_in_tree(&sandbox.around(cwd)).unwrap();
    location.create().unwrap();
    location
}

#[test]
fn a_store_beside_the_code_is_used_from_every_folder_and_ignored_by_git() {
    let sandbox = Sandbox::with_repository();
    sandbox.folder("p/a/b");
    let made = init(&sandbox, "p/a/b");
    assert_eq!((&made.dir, made.kind), (&sandbox.path("p/.punch"), LocationRule::InTree));
    assert_eq!(made.project_root, sandbox.path("p"));
    fs::write(&made.database, "").unwrap();
    assert_eq!(fs::read_to_string(made.dir.join(".gitignore")).unwrap(), "*\n");
    assert_eq!(sandbox.git("p", &["status", "--porcelain"]), "");
    for cwd in ["p", "p/a/b"] {
        assert_eq!(sandbox.locate(cwd), Ok(Location { exists: true, ..made.clone() }));
    }
}

#[cfg(unix)]
#[test]
fn the_folder_is_private_and_making_it_twice_changes_nothing() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::with_repository();
    let made = init(&sandbox, "p");
    assert_eq!(made.dir.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    fs::write(made.dir.join(".gitignore"), "*\n# mine\n").unwrap();
    assert_eq!(init(&sandbox, "p"), made);
    assert_eq!(fs::read_to_string(made.dir.join(".gitignore")).unwrap(), "*\n# mine\n");
}

#[test]
fn linked_work_trees_share_the_store_of_the_main_one_unless_they_have_their_own() {
    let sandbox = Sandbox::with_repository();
    sandbox.git("p", &["worktree", "add", "-q", "../linked"]);
    let main = init(&sandbox, "p");
    let from_linked = Location { project_root: sandbox.path("linked"), ..main.clone() };
    assert_eq!(sandbox.locate("linked"), Ok(from_linked));
    let own = init(&sandbox, "linked");
    assert_eq!(own.dir, sandbox.path("linked/.punch"));
    assert_eq!(sandbox.locate("linked"), Ok(own));
    assert_eq!(sandbox.locate("p"), Ok(main));
}

#[test]
fn a_tracked_store_is_refused_wherever_one_stands() {
    let sandbox = Sandbox::with_repository();
    sandbox.folder("p/a");
    sandbox.commit("p", ".punch/store.db");
    let refused = Err(LocateError::Tracked { dir: sandbox.path("p/.punch") });
    for cwd in ["p", "p/a"] {
        assert_eq!(sandbox.locate(cwd), refused);
        assert_eq!(locate_in_tree(&sandbox.around(cwd)), refused);
    }
    // Checked out by a linked worktree, and seen from one that lacks it.
    sandbox.git("p", &["worktree", "add", "-q", "../linked"]);
    assert_eq!(sandbox.locate("linked").unwrap_err().code(), "store_tracked");
    sandbox.git("p", &["worktree", "add", "-q", "../older", "HEAD~1"]);
    assert_eq!(sandbox.locate("older"), refused);
    // The way out that the hint names.
    sandbox.git("p", &["rm", "-q", "-r", "--cached", ".punch"]);
    assert_eq!(sandbox.locate("p").unwrap().dir, sandbox.path("p/.punch"));
}

#[test]
fn a_store_in_a_folder_below_the_top_is_found_and_judged_too() {
    let sandbox = Sandbox::with_repository();
    sandbox.folder("p/a/b");
    sandbox.folder("p/a/.punch");
    assert_eq!(sandbox.locate("p/a/b").unwrap().dir, sandbox.path("p/a/.punch"));
    assert_eq!(sandbox.locate("p").unwrap().kind, LocationRule::Git);
    sandbox.commit("p", "a/.punch/config.toml");
    assert_eq!(sandbox.locate("p/a/b").unwrap_err().code(), "store_tracked");
}

#[test]
fn two_stores_are_an_error_until_one_is_chosen() {
    let sandbox = Sandbox::with_repository();
    let git = sandbox.locate("p").unwrap();
    let in_tree = init(&sandbox, "p");
    git.create().unwrap();
    assert_eq!(sandbox.locate("p"), Ok(in_tree.clone()), "an empty folder is not a store");
    fs::write(&git.database, "").unwrap();
    let error = LocateError::TwoStores { in_tree: in_tree.dir.clone(), git: git.dir.clone() };
    assert_eq!(sandbox.locate("p"), Err(error.clone()));
    assert_eq!(locate_in_tree(&sandbox.around("p")), Err(error.clone()));
    for dir in [&in_tree.dir, &git.dir] {
        assert!(error.message().contains(dir.to_str().unwrap()) && error.hint().contains(dir.to_str().unwrap()));
    }
    let chosen = |flag: Option<PathBuf>, env: Option<PathBuf>| {
        let mut around = sandbox.around("p");
        (around.store_flag, around.store_env) = (flag, env);
        let found = locate(&around).unwrap();
        assert_eq!((found.kind, found.project_root), (LocationRule::Given, sandbox.path("p")));
        (found.dir, found.exists)
    };
    assert_eq!(chosen(Some(git.dir.clone()), None), (git.dir.clone(), true));
    assert_eq!(chosen(None, Some(in_tree.dir.clone())), (in_tree.dir.clone(), false));
    assert_eq!(chosen(Some(git.dir.clone()), Some(in_tree.dir.clone())), (git.dir.clone(), true), "the flag wins");
}

#[cfg(unix)]
#[test]
fn a_link_beside_the_code_is_refused() {
    let sandbox = Sandbox::with_repository();
    let link = sandbox.path("p/.punch");
    for target in [sandbox.folder("other"), sandbox.path("gone")] {
        std::os::unix::fs::symlink(target, &link).unwrap();
        assert_eq!(sandbox.locate("p"), Err(LocateError::Symlink { path: link.clone() }));
        assert_eq!(locate_in_tree(&sandbox.around("p")), Err(LocateError::Symlink { path: link.clone() }));
        fs::remove_file(&link).unwrap();
    }
}

#[test]
fn a_bare_repository_has_no_place_beside_the_code() {
    let sandbox = Sandbox::new();
    sandbox.git(".", &["init", "-q", "--bare", "bare.git"]);
    let error = locate_in_tree(&sandbox.around("bare.git")).unwrap_err();
    assert_eq!(error, LocateError::NoWorkTree { git_dir: sandbox.path("bare.git") });
}
