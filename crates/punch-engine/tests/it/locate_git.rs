//! The store of a git repository: in the folder that git itself calls common.

use std::{fs, path::Path};

use punch_engine::locate::{LocateError, Location, LocationRule, locate};

use crate::sandbox::Sandbox;

/// The location agrees with git, and nothing was made by looking.
fn agrees_with_git(sandbox: &Sandbox, cwd: &str) -> Location {
    let (dir, root) = sandbox.by_git(cwd).unwrap();
    let expected = Location {
        database: dir.join("store.db"),
        config: dir.join("config.toml"),
        kind: LocationRule::Git,
        exists: false,
        project_root: root,
        server: None,
        dir,
    };
    assert_eq!(sandbox.locate(cwd), Ok(expected.clone()), "from {cwd}");
    assert!(!expected.dir.exists());
    expected
}

#[test]
fn a_plain_repository_has_its_store_in_the_git_folder_from_every_folder() {
    let sandbox = Sandbox::with_repository();
    sandbox.folder("p/a/b/c");
    for cwd in ["p", "p/a", "p/a/b/c"] {
        let location = agrees_with_git(&sandbox, cwd);
        assert_eq!(location.dir, sandbox.path("p/.git/punch"));
        assert_eq!(location.project_root, sandbox.path("p"));
    }
}

#[test]
fn linked_work_trees_share_the_store_and_differ_in_their_root() {
    let sandbox = Sandbox::with_repository();
    sandbox.git("p", &["worktree", "add", "-q", "../linked"]);
    sandbox.git("p", &["worktree", "add", "-q", "inside/tree"]);
    sandbox.folder("linked/deep");
    for (cwd, root) in [("linked", "linked"), ("linked/deep", "linked"), ("p/inside/tree", "p/inside/tree")] {
        let location = agrees_with_git(&sandbox, cwd);
        assert_eq!(location.dir, sandbox.path("p/.git/punch"));
        assert_eq!(location.project_root, sandbox.path(root));
    }
}

#[test]
fn linked_work_trees_with_relative_paths_are_followed() {
    let sandbox = Sandbox::with_repository();
    sandbox.git("p", &["worktree", "add", "-q", "../linked"]);
    let git_dir = sandbox.path("p/.git/worktrees/linked");
    assert!(fs::read_to_string(sandbox.path("linked/.git")).unwrap().starts_with("gitdir: /"));
    for line in [
        "gitdir: ../p/.git/worktrees/linked\n",
        "gitdir: ../p/.git/worktrees/linked",
        "gitdir: ./../p/.git/worktrees/linked\r\n",
    ] {
        sandbox.file("linked/.git", line);
        assert_eq!(agrees_with_git(&sandbox, "linked").dir, sandbox.path("p/.git/punch"), "{line:?}");
    }
    fs::write(git_dir.join("commondir"), sandbox.path("p/.git").to_str().unwrap()).unwrap();
    agrees_with_git(&sandbox, "linked");
}

#[test]
fn a_submodule_has_a_store_of_its_own() {
    let sandbox = Sandbox::with_repository();
    sandbox.git(".", &["init", "-q", "library"]);
    sandbox.commit("library", "lib.txt");
    sandbox.git("p", &["submodule", "add", "-q", "../library", "sub"]);
    let location = agrees_with_git(&sandbox, "p/sub");
    assert_eq!(location.dir, sandbox.path("p/.git/modules/sub/punch"));
    assert_eq!(location.project_root, sandbox.path("p/sub"));
    assert_eq!(agrees_with_git(&sandbox, "p").dir, sandbox.path("p/.git/punch"));
}

#[test]
fn a_bare_repository_and_its_work_trees_have_the_store_in_it() {
    let sandbox = Sandbox::with_repository();
    sandbox.git(".", &["clone", "-q", "--bare", "p", "bare.git"]);
    sandbox.git("bare.git", &["worktree", "add", "-q", "../tree", "main"]);
    for cwd in ["bare.git", "bare.git/refs", "tree"] {
        assert_eq!(agrees_with_git(&sandbox, cwd).dir, sandbox.path("bare.git/punch"));
    }
    // A layout many use: everything in one folder, the repository hidden beside its worktrees.
    sandbox.git(".", &["clone", "-q", "--bare", "p", "hub/.bare"]);
    sandbox.file("hub/.git", "gitdir: ./.bare\n");
    sandbox.git("hub", &["worktree", "add", "-q", "main"]);
    assert_eq!(agrees_with_git(&sandbox, "hub/main").dir, sandbox.path("hub/.bare/punch"));
    assert_eq!(sandbox.locate("hub").unwrap().dir, sandbox.path("hub/.bare/punch"));
}

#[test]
fn inside_the_git_folder_the_store_is_the_same() {
    let sandbox = Sandbox::with_repository();
    sandbox.git("p", &["worktree", "add", "-q", "../linked"]);
    for cwd in ["p/.git", "p/.git/refs/heads", "p/.git/worktrees/linked"] {
        let (dir, _) = sandbox.by_git(cwd).unwrap();
        assert_eq!(sandbox.locate(cwd).unwrap().dir, dir, "{cwd}");
    }
    assert_eq!(sandbox.locate("p/.git/refs").unwrap().project_root, sandbox.path("p"));
    assert_eq!(sandbox.locate("p/.git/worktrees/linked").unwrap().project_root, sandbox.path("linked"));
}

#[test]
fn a_git_folder_reached_by_a_link_and_one_kept_elsewhere_are_followed() {
    let sandbox = Sandbox::with_repository();
    sandbox.git(".", &["init", "-q", "--separate-git-dir", "away", "q"]);
    assert_eq!(agrees_with_git(&sandbox, "q").dir, sandbox.path("away/punch"));
    #[cfg(unix)]
    {
        sandbox.folder("r");
        std::os::unix::fs::symlink(sandbox.path("p/.git"), sandbox.path("r/.git")).unwrap();
        assert_eq!(agrees_with_git(&sandbox, "r").dir, sandbox.path("p/.git/punch"));
    }
}

#[test]
fn what_git_does_not_take_for_a_repository_is_none() {
    let sandbox = Sandbox::with_repository();
    sandbox.folder("p/x/.git");
    assert_eq!(agrees_with_git(&sandbox, "p/x").dir, sandbox.path("p/.git/punch"));
    sandbox.folder("y/.git");
    assert_eq!(sandbox.by_git("y"), None);
    assert_eq!(sandbox.locate("y").unwrap().kind, LocationRule::Outside);
}

#[test]
fn a_git_file_that_leads_nowhere_is_named() {
    let sandbox = Sandbox::with_repository();
    for text in ["gitdir: ../gone\n", "gitdir:\n", "gitdir: \n", "", "hello", "\u{0}"] {
        let file = sandbox.file("p/w/.git", text);
        assert!(!sandbox.try_git(&sandbox.path("p/w"), &["rev-parse"]).status.success(), "{text:?}");
        let error = sandbox.locate("p/w").unwrap_err();
        assert_eq!(error.code(), "repository_broken", "{text:?}");
        assert!(error.message().contains(file.to_str().unwrap()), "{error}");
    }
    sandbox.file("p/w/.git", "x".repeat(100_000));
    assert_eq!(sandbox.locate("p/w").unwrap_err().code(), "repository_broken");
}

#[test]
fn the_variables_that_git_sets_for_hooks_are_obeyed() {
    let sandbox = Sandbox::with_repository();
    sandbox.git("p", &["worktree", "add", "-q", "../linked"]);
    sandbox.folder("elsewhere");
    let located = |cwd: &str, git_dir: &Path, top: Option<&str>| {
        let mut around = sandbox.around(cwd);
        around.git_dir_env = Some(git_dir.to_owned());
        around.git_work_tree_env = top.map(|top| sandbox.path(top));
        locate(&around).map(|found| (found.dir, found.project_root))
    };
    let store = sandbox.path("p/.git/punch");
    assert_eq!(located("p", Path::new(".git"), None), Ok((store.clone(), sandbox.path("p"))));
    let linked = sandbox.path("p/.git/worktrees/linked");
    assert_eq!(located("linked", &linked, None), Ok((store.clone(), sandbox.path("linked"))));
    let git = sandbox.path("p/.git");
    assert_eq!(located("elsewhere", &git, Some("elsewhere")), Ok((store, sandbox.path("elsewhere"))));
    assert_eq!(located("p", Path::new("gone"), None).unwrap_err().code(), "repository_broken");
}

#[test]
fn the_store_survives_cleaning_and_stashing_and_is_never_in_the_status() {
    let sandbox = Sandbox::with_repository();
    let location = sandbox.locate("p").unwrap();
    location.create().unwrap();
    fs::write(&location.database, "data").unwrap();
    sandbox.file("p/new.txt", "x");
    sandbox.git("p", &["stash", "-u"]);
    sandbox.git("p", &["clean", "-fdx"]);
    assert_eq!(sandbox.git("p", &["status", "--porcelain", "--ignored"]), "");
    assert_eq!(fs::read_to_string(&location.database).unwrap(), "data");
    assert_eq!(sandbox.locate("p"), Ok(Location { exists: true, ..location }));
}

#[cfg(unix)]
#[test]
fn links_and_files_in_place_of_the_store_are_refused() {
    let sandbox = Sandbox::with_repository();
    let other = sandbox.folder("other");
    let dir = sandbox.path("p/.git/punch");
    std::os::unix::fs::symlink(&other, &dir).unwrap();
    assert_eq!(sandbox.locate("p"), Err(LocateError::Symlink { path: dir.clone() }));
    fs::remove_file(&dir).unwrap();
    fs::write(&dir, "").unwrap();
    assert_eq!(sandbox.locate("p"), Err(LocateError::NotAFolder { path: dir.clone() }));
    fs::remove_file(&dir).unwrap();
    fs::create_dir(&dir).unwrap();
    std::os::unix::fs::symlink(other.join("store.db"), dir.join("store.db")).unwrap();
    assert_eq!(sandbox.locate("p"), Err(LocateError::Symlink { path: dir.join("store.db") }));
}

#[test]
fn a_bare_repository_that_a_worktree_tracks_is_refused() {
    let sandbox = Sandbox::with_repository();
    for file in ["HEAD", "objects/k", "refs/k", "punch/config.toml"] {
        sandbox.file(&format!("p/vendor/{file}"), "ref: refs/heads/main\n");
    }
    assert_eq!(sandbox.locate("p/vendor").unwrap().dir, sandbox.path("p/vendor/punch"), "it is the user's own");
    sandbox.git("p", &["add", "vendor"]);
    sandbox.git("p", &["commit", "-q", "-m", "vendor"]);
    sandbox.git(".", &["clone", "-q", "p", "clone"]);
    // Neither the way in nor a file that names a worktree makes a difference.
    sandbox.file("clone/vendor/gitdir", "../x/.git\n");
    for cwd in ["clone/vendor", "clone/vendor/punch", "clone/vendor/refs"] {
        let (dir, outer) = (sandbox.path("clone/vendor"), sandbox.path("clone"));
        assert_eq!(sandbox.locate(cwd), Err(LocateError::Embedded { dir, outer }), "{cwd}");
    }
}
