//! The commit that a worktree stands on, in every form in which git keeps it.

use punch_engine::locate::head_commit;

use crate::sandbox::Sandbox;

fn agrees(sandbox: &Sandbox, tree: &str) {
    let said = sandbox.git(tree, &["rev-parse", "HEAD"]);
    assert_eq!(head_commit(&sandbox.path(tree)), Some(said), "{tree}");
}

#[test]
fn a_branch_is_followed() {
    let sandbox = Sandbox::with_repository();
    agrees(&sandbox, "p");
    sandbox.commit("p", "b.txt");
    agrees(&sandbox, "p");
    sandbox.git("p", &["checkout", "-q", "-b", "feature/with/slashes"]);
    sandbox.commit("p", "c.txt");
    agrees(&sandbox, "p");
}

#[test]
fn a_detached_head_is_a_commit() {
    let sandbox = Sandbox::with_repository();
    sandbox.commit("p", "b.txt");
    sandbox.git("p", &["checkout", "-q", "--detach", "HEAD~1"]);
    agrees(&sandbox, "p");
}

#[test]
fn packed_references_are_found_and_newer_loose_ones_win() {
    let sandbox = Sandbox::with_repository();
    sandbox.git("p", &["tag", "-a", "-m", "t", "v1"]);
    sandbox.git("p", &["pack-refs", "--all"]);
    agrees(&sandbox, "p");
    sandbox.commit("p", "b.txt");
    agrees(&sandbox, "p");
}

#[test]
fn every_work_tree_has_a_head_of_its_own() {
    let sandbox = Sandbox::with_repository();
    sandbox.git("p", &["worktree", "add", "-q", "../w", "-b", "w"]);
    sandbox.commit("w", "b.txt");
    agrees(&sandbox, "p");
    agrees(&sandbox, "w");
    sandbox.git("p", &["pack-refs", "--all"]);
    agrees(&sandbox, "w");
    assert_ne!(head_commit(&sandbox.path("p")), head_commit(&sandbox.path("w")));
}

#[test]
fn a_submodule_has_its_own() {
    let sandbox = Sandbox::with_repository();
    sandbox.git(".", &["init", "-q", "outer"]);
    sandbox.git("outer", &["submodule", "add", "-q", "../p", "inner"]);
    sandbox.git("outer", &["commit", "-q", "-m", "x"]);
    agrees(&sandbox, "outer");
    agrees(&sandbox, "outer/inner");
}

#[test]
fn a_shallow_clone_has_one() {
    let sandbox = Sandbox::with_repository();
    sandbox.commit("p", "b.txt");
    let from = format!("file://{}", sandbox.path("p").display());
    sandbox.git(".", &["clone", "-q", "--depth", "1", &from, "c"]);
    agrees(&sandbox, "c");
}

#[test]
fn references_in_tables_are_asked_of_git() {
    let sandbox = Sandbox::new();
    // Older versions of git have no such tables.
    if !sandbox.try_git(&sandbox.path("."), &["init", "-q", "--ref-format=reftable", "r"]).status.success() {
        return;
    }
    sandbox.commit("r", "a.txt");
    agrees(&sandbox, "r");
}

#[test]
fn without_git_or_without_a_commit_there_is_none() {
    let sandbox = Sandbox::new();
    sandbox.git(".", &["init", "-q", "empty"]);
    assert_eq!(head_commit(&sandbox.path("empty")), None);
    assert_eq!(head_commit(&sandbox.folder("plain")), None);
    assert_eq!(head_commit(&sandbox.path("missing")), None);
}

#[test]
fn a_damaged_head_is_none() {
    let sandbox = Sandbox::with_repository();
    for text in ["", "ref: ../../etc/passwd\n", "ref: refs/heads/../../x", "nonsense", "ref:", &"a".repeat(1 << 17)] {
        sandbox.file("p/.git/HEAD", text);
        assert_eq!(head_commit(&sandbox.path("p")), None, "{:.40}", text);
    }
}
