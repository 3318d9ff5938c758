//! What lanes begin from, and where they cannot.

use std::fs;

use punch_run::worktree::{LaneRemark, Lanes, WorktreeError};

use super::sandbox::{Sandbox, hand_in, write};

fn refused(sandbox: &Sandbox) -> WorktreeError {
    Lanes::begin(&sandbox.root(), &sandbox.lanes_folder(), "7").map(drop).unwrap_err()
}

#[test]
fn without_git_there_are_no_lanes() {
    let sandbox = Sandbox::empty();
    assert_eq!(refused(&sandbox).code(), "no_repository");
    let gone = Lanes::begin(&sandbox.root().join("gone"), &sandbox.lanes_folder(), "7").map(drop).unwrap_err();
    assert_eq!(gone.code(), "no_git");
}

#[test]
fn without_a_commit_there_are_no_lanes_and_a_bare_repository_has_none() {
    let sandbox = Sandbox::empty();
    sandbox.git(&["init", "-q"]);
    assert_eq!(refused(&sandbox), WorktreeError::NoCommit { root: sandbox.root() });
    let bare = Sandbox::empty();
    bare.git(&["init", "-q", "--bare"]);
    assert_eq!(refused(&bare).code(), "no_repository");
}

#[test]
fn uncommitted_work_is_told_and_left_alone() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.root().join("base.txt"), "mine\n").unwrap();
    fs::write(sandbox.root().join("new.txt"), "mine\n").unwrap();
    fs::write(sandbox.root().join("staged.txt"), "mine\n").unwrap();
    sandbox.git(&["add", "staged.txt"]);
    let before = sandbox.users_state();
    let (lanes, remarks) = Lanes::begin(&sandbox.root(), &sandbox.lanes_folder(), "7").unwrap();
    assert_eq!(remarks, [LaneRemark::Uncommitted(3)]);
    let lane = lanes.open("a").unwrap();
    assert_eq!(fs::read_to_string(lane.path.join("base.txt")).unwrap(), "base\n");
    assert!(!lane.path.join("new.txt").exists());
    write(&lane, "base.txt", "the agent's\n");
    hand_in(&lanes, &lane, "T-1");
    lanes.close(&lane, "rest").unwrap();
    lanes.finish().unwrap();
    assert_eq!(sandbox.users_state(), before);
    assert_eq!(fs::read_to_string(sandbox.root().join("base.txt")).unwrap(), "mine\n");
}

#[test]
fn a_detached_head_is_as_good_as_a_branch() {
    let sandbox = Sandbox::new();
    sandbox.git(&["checkout", "-q", "--detach"]);
    let before = sandbox.users_state();
    let lanes = sandbox.begin();
    let lane = lanes.open("a").unwrap();
    write(&lane, "a.txt", "a\n");
    hand_in(&lanes, &lane, "T-1");
    assert_eq!(sandbox.on_result("a.txt"), "a");
    assert_eq!(sandbox.users_state(), before);
}

#[test]
fn submodules_are_told_and_empty() {
    let library = Sandbox::new();
    let sandbox = Sandbox::new();
    let url = library.root().display().to_string();
    sandbox.git(&["-c", "protocol.file.allow=always", "submodule", "add", "-q", &url, "lib"]);
    sandbox.commit("lib");
    let (lanes, remarks) = Lanes::begin(&sandbox.root(), &sandbox.lanes_folder(), "7").unwrap();
    assert_eq!(remarks, [LaneRemark::Submodules(1)]);
    let lane = lanes.open("a").unwrap();
    assert_eq!(fs::read_dir(lane.path.join("lib")).unwrap().count(), 0);
    write(&lane, "a.txt", "a\n");
    hand_in(&lanes, &lane, "T-1");
    assert!(lanes.close(&lane, "rest").unwrap().is_nothing());
    assert!(sandbox.git(&["ls-tree", "punch/7/result", "lib"]).contains("160000 commit"));
}

#[test]
fn branches_of_somebody_else_are_not_taken() {
    let sandbox = Sandbox::new();
    sandbox.git(&["branch", "punch/7/result"]);
    assert_eq!(refused(&sandbox), WorktreeError::BranchTaken { branch: "punch/7/result".into() });
    sandbox.git(&["branch", "-D", "punch/7/result"]);
    for name in ["punch", "punch/7"] {
        sandbox.git(&["branch", name]);
        assert_eq!(refused(&sandbox), WorktreeError::BranchTaken { branch: name.into() });
        sandbox.git(&["branch", "-D", name]);
    }
    let lanes = sandbox.begin();
    sandbox.git(&["branch", "punch/7/a"]);
    let lane = lanes.open("a").unwrap();
    assert_eq!(lane.branch, "punch/7/a-2");
    // A folder that git does not know may hold anything.
    fs::create_dir(sandbox.lanes_folder().join("7/b")).unwrap();
    assert_eq!(lanes.open("b").unwrap().branch, "punch/7/b-2");
}

#[test]
fn a_run_that_comes_back_finds_its_lanes_as_it_left_them() {
    let sandbox = Sandbox::new();
    let first = sandbox.begin();
    let (a, b) = (first.open("a").unwrap(), first.open("b").unwrap());
    write(&a, "a.txt", "a\n");
    hand_in(&first, &a, "T-1");
    write(&b, "b.txt", "half\n");
    drop(first);
    // The user continues to work.
    fs::write(sandbox.root().join("mine.txt"), "mine\n").unwrap();
    sandbox.commit("mine");
    let second = sandbox.begin();
    assert_ne!(second.base(), sandbox.git(&["rev-parse", "HEAD"]));
    let again = second.open("b").unwrap();
    assert_eq!(again, b);
    assert_eq!(fs::read_to_string(again.path.join("b.txt")).unwrap(), "half\n");
    assert!(hand_in(&second, &again, "T-2"), "it has to be joined with what came first");
    assert_eq!((sandbox.on_result("a.txt"), sandbox.on_result("b.txt")), ("a".into(), "half".into()));
}

#[test]
fn the_folder_may_have_any_name() {
    let sandbox = Sandbox::new();
    let folder = sandbox.lanes_folder().join("with space\nand line");
    let (lanes, _) = Lanes::begin(&sandbox.root(), &folder, "7").unwrap();
    let lane = lanes.open("T-1: two words\n").unwrap();
    assert!(lane.branch.starts_with("punch/7/T-1-two-words-"), "{}", lane.branch);
    write(&lane, "a.txt", "a\n");
    hand_in(&lanes, &lane, "T-1");
    assert_eq!(lanes.open("T-1: two words\n").unwrap(), lane);
    assert!(lanes.close(&lane, "rest").unwrap().is_nothing());
    assert!(!lane.path.exists());
}

#[test]
fn a_folder_that_cannot_be_made_is_told() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.lanes_folder(), "a file").unwrap();
    assert_eq!(refused(&sandbox).code(), "lane_folder");
}
