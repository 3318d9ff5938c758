//! The end of a run, the good one and the others.

use std::fs;

use punch_run::worktree::{Leftover, ResultState, left_behind};

use super::sandbox::{Sandbox, hand_in, write};

fn waiting(commits: usize, command: &str) -> ResultState {
    ResultState::Waiting { branch: "punch/7/result".into(), commits, command: command.into() }
}

#[test]
fn a_run_without_work_leaves_nothing() {
    let sandbox = Sandbox::new();
    let before = sandbox.git(&["for-each-ref"]);
    let lanes = sandbox.begin();
    let lane = lanes.open("a").unwrap();
    assert!(lanes.close(&lane, "rest").unwrap().is_nothing());
    assert_eq!(lanes.finish().unwrap(), ResultState::Nothing);
    assert_eq!(sandbox.git(&["for-each-ref"]), before);
    assert_eq!(sandbox.git(&["worktree", "list"]).lines().count(), 1);
    assert!(!sandbox.lanes_folder().join("7").exists());
}

#[test]
fn the_command_that_is_told_takes_the_work_in() {
    let sandbox = Sandbox::new();
    let lanes = sandbox.begin();
    let lane = lanes.open("a").unwrap();
    write(&lane, "a.txt", "a\n");
    hand_in(&lanes, &lane, "T-1");
    assert!(lanes.close(&lane, "rest").unwrap().is_nothing());
    assert_eq!(lanes.finish().unwrap(), waiting(1, "git merge --ff-only punch/7/result"));
    assert!(!sandbox.root().join("a.txt").exists(), "nothing happens by itself");
    sandbox.git(&["merge", "-q", "--ff-only", "punch/7/result"]);
    assert!(sandbox.root().join("a.txt").exists());
    assert_eq!(lanes.finish().unwrap(), ResultState::TakenIn);
    assert_eq!((sandbox.branches(), sandbox.marks()), (vec![], String::new()));
}

#[test]
fn a_user_who_commits_meanwhile_gets_a_merge() {
    let sandbox = Sandbox::new();
    let lanes = sandbox.begin();
    let lane = lanes.open("a").unwrap();
    write(&lane, "a.txt", "a\n");
    fs::write(sandbox.root().join("mine.txt"), "mine\n").unwrap();
    sandbox.commit("mine");
    hand_in(&lanes, &lane, "T-1");
    lanes.close(&lane, "rest").unwrap();
    assert_eq!(lanes.finish().unwrap(), waiting(1, "git merge punch/7/result"));
    sandbox.git(&["merge", "-q", "--no-edit", "punch/7/result"]);
    assert!(sandbox.root().join("a.txt").exists() && sandbox.root().join("mine.txt").exists());
}

#[test]
fn what_a_dead_run_left_is_listed_and_swept_without_loss() {
    let sandbox = Sandbox::new();
    let lanes = sandbox.begin();
    let (a, b, c) = (lanes.open("a").unwrap(), lanes.open("b").unwrap(), lanes.open("c").unwrap());
    write(&a, "a.txt", "a\n");
    hand_in(&lanes, &a, "T-1");
    write(&b, "b.txt", "half\n");
    fs::remove_dir_all(&c.path).unwrap();
    drop(lanes);
    let found = left_behind(&sandbox.root(), &sandbox.lanes_folder()).unwrap();
    let left = |branch: &str, folder: Option<&std::path::Path>| Leftover {
        run: "7".into(),
        branch: Some(branch.into()),
        folder: folder.map(Into::into),
        reason: None,
    };
    let wanted = [
        left("punch/7/a", Some(&a.path)),
        left("punch/7/b", Some(&b.path)),
        left("punch/7/c", None),
        left("punch/7/result", None),
    ];
    assert_eq!(found, wanted);
    let again = sandbox.begin();
    assert_eq!(again.sweep("Left by run 7").unwrap(), [left("punch/7/b", None)]);
    assert_eq!(sandbox.git(&["show", "punch/7/b:b.txt"]), "half");
    assert_eq!(sandbox.git(&["log", "-1", "--format=%s", "punch/7/b"]), "Left by run 7");
    assert_eq!(sandbox.branches(), ["punch/7/b", "punch/7/result"]);
    assert_eq!(sandbox.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(again.sweep("again").unwrap(), [left("punch/7/b", None)], "sweeping again is harmless");
}

#[test]
fn a_locked_work_tree_stays_and_is_told() {
    let sandbox = Sandbox::new();
    let lanes = sandbox.begin();
    let lane = lanes.open("a").unwrap();
    sandbox.git(&["worktree", "lock", "--reason", "looking at it", lane.path.to_str().unwrap()]);
    let left = lanes.close(&lane, "rest").unwrap();
    assert_eq!(left.folder.as_ref(), Some(&lane.path));
    assert_eq!(left.reason.as_deref(), Some("the worktree is locked: looking at it"));
    assert_eq!(left_behind(&sandbox.root(), &sandbox.lanes_folder()).unwrap()[0], left);
    sandbox.git(&["worktree", "unlock", lane.path.to_str().unwrap()]);
    assert!(lanes.close(&lane, "rest").unwrap().is_nothing());
}

#[test]
fn a_branch_that_somebody_looks_at_is_not_deleted() {
    let sandbox = Sandbox::new();
    let lanes = sandbox.begin();
    let lane = lanes.open("a").unwrap();
    lanes.close(&lane, "rest").unwrap();
    sandbox.git(&["checkout", "-q", "punch/7/result"]);
    assert_eq!(lanes.finish().unwrap(), ResultState::Nothing);
    assert_eq!(sandbox.branches(), ["punch/7/result"]);
}

#[test]
fn work_trees_of_the_user_are_never_touched() {
    let sandbox = Sandbox::new();
    let theirs = sandbox.lanes_folder().with_extension("theirs");
    sandbox.git(&["worktree", "add", "-q", "-b", "theirs", theirs.to_str().unwrap()]);
    fs::remove_dir_all(&theirs).unwrap();
    let lanes = sandbox.begin();
    lanes.open("a").unwrap();
    lanes.sweep("rest").unwrap();
    lanes.finish().unwrap();
    // It may be on a disk that is not plugged in.
    assert!(sandbox.git(&["worktree", "list"]).contains("theirs"));
}

/// The git that makes a worktree locks it until all files are there; killed, it leaves it so.
#[test]
fn a_work_tree_whose_making_was_cut_short_is_made_again_with_all_its_files() {
    let sandbox = Sandbox::new();
    for has_git_file in [true, false] {
        let lanes = sandbox.begin();
        let lane = lanes.open("a").unwrap();
        fs::write(sandbox.root().join(".git/worktrees/a/locked"), "initializing").unwrap();
        fs::remove_file(lane.path.join("base.txt")).unwrap();
        if !has_git_file {
            fs::remove_file(lane.path.join(".git")).unwrap();
        }
        assert_eq!(lanes.open("a").unwrap(), lane);
        assert!(lane.path.join("base.txt").exists(), "nobody has deleted it");
        write(&lane, &format!("{has_git_file}.txt"), "a\n");
        hand_in(&lanes, &lane, "T-1");
        assert_eq!(sandbox.on_result("base.txt"), "base");
        fs::write(sandbox.root().join(".git/worktrees/a/locked"), "initializing").unwrap();
        assert!(lanes.close(&lane, "rest").unwrap().is_nothing());
        assert!(!lane.path.exists());
    }
}

/// Killed a moment earlier, it leaves an entry with which no git lists worktrees any more.
#[test]
fn an_entry_of_git_that_is_half_written_is_removed_and_those_of_others_stay() {
    let sandbox = Sandbox::new();
    let lanes = sandbox.begin();
    let lane = lanes.open("a").unwrap();
    let theirs = sandbox.lanes_folder().with_extension("theirs");
    sandbox.git(&["worktree", "add", "-q", "-b", "theirs", theirs.to_str().unwrap()]);
    let entries = sandbox.root().join(".git/worktrees");
    for name in [lane.path.file_name().unwrap(), theirs.file_name().unwrap()] {
        fs::write(entries.join(name).join("locked"), "initializing").unwrap();
    }
    fs::write(entries.join("a/commondir"), "").unwrap();
    fs::remove_file(lane.path.join("base.txt")).unwrap();
    drop(lanes);
    let lanes = sandbox.begin();
    assert!(sandbox.git(&["worktree", "list"]).contains("theirs"), "git lists again");
    assert_eq!(lanes.open("a").unwrap(), lane);
    assert!(lane.path.join("base.txt").exists() && theirs.join("base.txt").exists());
}

#[test]
fn a_mark_without_a_branch_goes() {
    let sandbox = Sandbox::new();
    let lanes = sandbox.begin();
    let head = sandbox.git(&["rev-parse", "HEAD"]);
    sandbox.git(&["update-ref", "refs/lanes/punch/7/a", &head]);
    assert_eq!(lanes.sweep("rest").unwrap(), []);
    lanes.finish().unwrap();
    assert_eq!(sandbox.marks(), "");
}
