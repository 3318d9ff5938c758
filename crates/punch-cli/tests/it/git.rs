//! Projects in git: what cleans a worktree leaves the plan alone, and worktrees share it.

use crate::world::{World, finished};

#[test]
fn cleaning_and_stashing_leave_the_plan_alone() {
    let world = World::with_git();
    world.ok(&["add", "first"]);
    assert_eq!(world.git(&["status", "--porcelain"]), "");
    world.git(&["clean", "-fdxq"]);
    std::fs::write(world.project.join("b.txt"), "y").unwrap();
    world.git(&["stash", "-u", "-q"]);
    assert_eq!(world.ids(), ["T-1"]);
    world.ok(&["add", "second"]);
    world.git(&["stash", "pop", "-q"]);
    assert_eq!(world.ids(), ["T-1", "T-2"]);
    world.sound();
}

#[test]
fn a_store_beside_the_code_is_ignored_by_git_and_its_copy_survives_cleaning() {
    let world = World::with_git();
    world.ok(&["init", "--in-tree"]);
    world.ok(&["add", "first"]);
    assert_eq!(world.git(&["status", "--porcelain"]), "");
    world.git(&["stash", "-u", "-q"]);
    assert_eq!(world.ids(), ["T-1"]);
    // `-x` deletes what is ignored, and that is what was asked for.
    world.git(&["clean", "-fdxq"]);
    assert!(world.punch(&["init", "--in-tree"]).stderr.contains("a copy of the previous one was kept"));
    let copies = world.json(&["store", "info"])["copies"].clone();
    world.ok(&["store", "restore", copies[0]["file"].as_str().unwrap()]);
    assert_eq!(world.ids(), ["T-1"]);
}

#[test]
fn linked_work_trees_share_the_plan() {
    let world = World::with_git();
    world.ok(&["add", "first"]);
    let linked = world.root.join("linked");
    world.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
    let there = |arguments: &[&str]| finished(world.command(arguments).current_dir(&linked).output().unwrap());
    assert_eq!(there(&["list"]).stdout, "[ ] T-1  first\n");
    assert_eq!(there(&["add", "second"]).exit, Some(0));
    assert_eq!(world.ids(), ["T-1", "T-2"]);
    if world.punch(&["plan", "--help"]).exit != Some(0) {
        return;
    }
    // Each worktree may look at a plan of its own.
    world.ok(&["plan", "new", "other"]);
    assert_eq!(there(&["plan", "use", "other"]).exit, Some(0));
    assert_eq!(there(&["list"]).stdout, "No todos yet: `punch add 'First thing'` adds one.\n");
    assert_eq!(there(&["add", "elsewhere"]).exit, Some(0));
    assert_eq!(world.ok(&["list", "--plan", "other"]), "[ ] T-1  elsewhere\n");
    assert_eq!(world.ok(&["list", "--plan", "main"]), "[ ] T-1  first\n[ ] T-2  second\n");
}

#[test]
fn a_bare_repository_has_a_store_too() {
    let world = World::new();
    world.git_in(&world.root, &["init", "-q", "--bare", "bare.git"]);
    let bare = world.root.join("bare.git");
    let there = |arguments: &[&str]| finished(world.command(arguments).current_dir(&bare).output().unwrap());
    assert_eq!(there(&["add", "first"]).exit, Some(0));
    assert!(bare.join("punch/store.db").exists());
    assert_eq!(there(&["list"]).stdout, "[ ] T-1  first\n");
    let refused = there(&["init", "--in-tree", "--json"]);
    assert!(refused.stdout.contains("no_work_tree"), "{}", refused.stdout);
}

#[test]
fn a_subfolder_and_a_hook_find_the_same_store() {
    let world = World::with_git();
    world.ok(&["add", "first"]);
    let deep = world.project.join("a/b");
    std::fs::create_dir_all(&deep).unwrap();
    let from_below = finished(world.command(&["list"]).current_dir(&deep).output().unwrap());
    assert_eq!(from_below.stdout, "[ ] T-1  first\n");
    // git sets these for its hooks.
    let mut hook = world.command(&["list"]);
    hook.env("GIT_DIR", ".git").env("GIT_INDEX_FILE", ".git/index");
    assert_eq!(finished(hook.output().unwrap()).stdout, "[ ] T-1  first\n");
}
