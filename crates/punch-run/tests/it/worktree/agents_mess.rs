//! What agents leave behind in their lanes: every state has an outcome, and no work is lost.

use std::fs;
use std::time::{Duration, SystemTime};

use punch_run::worktree::{HeldReason, SettleResult};

use super::sandbox::{Sandbox, git, hand_in, plain_git, write};

fn why(settled: SettleResult) -> (HeldReason, Vec<String>) {
    match settled {
        SettleResult::Held(held) => (held.why, held.paths),
        other => panic!("{other:?}"),
    }
}

#[test]
fn hooks_of_the_user_do_not_run_for_our_commits() {
    let sandbox = Sandbox::new();
    let ran = sandbox.lanes_folder().with_extension("ran");
    for hook in ["pre-commit", "commit-msg", "post-commit", "post-checkout", "post-merge", "reference-transaction"] {
        let path = sandbox.root().join(".git/hooks").join(hook);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/sh\necho {hook} >> '{}'\nexit 1\n", ran.display())).unwrap();
        #[cfg(unix)]
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    let lanes = sandbox.begin();
    let (a, b) = (lanes.open("a").unwrap(), lanes.open("b").unwrap());
    write(&a, "a.txt", "a\n");
    write(&b, "b.txt", "b\n");
    hand_in(&lanes, &a, "T-1");
    hand_in(&lanes, &b, "T-2");
    lanes.sweep("rest").unwrap();
    lanes.finish().unwrap();
    assert!(!ran.exists(), "{}", fs::read_to_string(&ran).unwrap_or_default());
    // An agent that commits by itself runs them, and is told by git.
    let lane = lanes.open("c").unwrap();
    write(&lane, "c.txt", "c\n");
    git(&lane.path, &["add", "--all"]);
    assert!(!plain_git(&lane.path).args(["commit", "-m", "mine"]).output().unwrap().status.success());
    assert!(ran.exists());
    hand_in(&lanes, &lane, "T-3");
}

#[test]
fn without_a_name_for_commits_there_is_one() {
    let sandbox = Sandbox::new();
    sandbox.git(&["config", "user.useConfigOnly", "true"]);
    let lanes = sandbox.begin();
    let lane = lanes.open("a").unwrap();
    write(&lane, "a.txt", "a\n");
    hand_in(&lanes, &lane, "");
    assert_eq!(sandbox.git(&["log", "-1", "--format=%s", "punch/7/result"]), "Work of an agent");
}

#[test]
fn commits_of_the_agent_count_on_whatever_branch_they_are() {
    let sandbox = Sandbox::new();
    let lanes = sandbox.begin();
    let lane = lanes.open("a").unwrap();
    for (n, go) in [&["checkout", "-q", "-b", "feature"][..], &["checkout", "-q", "--detach"]].iter().enumerate() {
        git(&lane.path, go);
        write(&lane, &format!("{n}.txt"), "x\n");
        git(&lane.path, &["add", "--all"]);
        git(&lane.path, &["commit", "-q", "-m", "mine"]);
        write(&lane, &format!("{n}-rest.txt"), "x\n");
        hand_in(&lanes, &lane, "T-1");
        assert_eq!(git(&lane.path, &["branch", "--show-current"]), "punch/7/a");
        assert_eq!(sandbox.on_result(&format!("{n}.txt")), "x");
        assert_eq!(sandbox.on_result(&format!("{n}-rest.txt")), "x");
    }
}

/// Its commits would be on no branch otherwise.
#[test]
fn an_agent_that_goes_back_in_history_loses_no_commit() {
    let sandbox = Sandbox::new();
    let lanes = sandbox.begin();
    let lane = lanes.open("a").unwrap();
    let commit = |name: &str| {
        write(&lane, name, "x\n");
        git(&lane.path, &["add", "--all"]);
        git(&lane.path, &["commit", "-q", "-m", name]);
        git(&lane.path, &["rev-parse", "HEAD"])
    };
    commit("work.txt");
    git(&lane.path, &["checkout", "-q", "--detach", "HEAD~1"]);
    hand_in(&lanes, &lane, "T-1");
    assert_eq!(sandbox.on_result("work.txt"), "x", "it only looked at something");
    assert_eq!(git(&lane.path, &["branch", "--show-current"]), "punch/7/a");
    let first = commit("first.txt");
    git(&lane.path, &["checkout", "-q", "-b", "again", "HEAD~1"]);
    write(&lane, "second.txt", "x\n");
    hand_in(&lanes, &lane, "T-1");
    assert_eq!(sandbox.on_result("second.txt"), "x");
    let aside = format!("punch/7/a-before-{}", &first[..10]);
    assert!(sandbox.git(&["ls-tree", "--name-only", &aside]).contains("first.txt"));
    lanes.close(&lane, "rest").unwrap();
    let left: Vec<_> = lanes.sweep("rest").unwrap().into_iter().filter_map(|left| left.branch).collect();
    assert_eq!(left, [aside], "it is listed");
}

#[test]
fn files_that_git_ignores_are_no_work() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.root().join(".gitignore"), "target/\n").unwrap();
    sandbox.commit("ignore");
    let lanes = sandbox.begin();
    let lane = lanes.open("a").unwrap();
    write(&lane, "target/x", "x\n");
    assert!(matches!(lanes.settle(&lane, "T-1").unwrap(), SettleResult::Nothing { .. }));
    assert!(lanes.close(&lane, "rest").unwrap().is_nothing());
}

#[test]
fn a_half_done_merge_is_held_and_nothing_with_markers_is_committed() {
    let sandbox = Sandbox::new();
    let lanes = sandbox.begin();
    let lane = lanes.open("a").unwrap();
    git(&lane.path, &["checkout", "-q", "-b", "other"]);
    write(&lane, "base.txt", "other\n");
    git(&lane.path, &["commit", "-qam", "other"]);
    git(&lane.path, &["checkout", "-q", "punch/7/a"]);
    write(&lane, "base.txt", "mine\n");
    git(&lane.path, &["commit", "-qam", "mine"]);
    assert!(!plain_git(&lane.path).args(["merge", "-q", "other"]).output().unwrap().status.success());
    assert_eq!(why(lanes.settle(&lane, "T-1").unwrap()), (HeldReason::Unfinished, vec!["base.txt".into()]));
    let left = lanes.close(&lane, "rest").unwrap();
    assert_eq!(left.folder, Some(lane.path.clone()));
    write(&lane, "base.txt", "both\n");
    git(&lane.path, &["add", "--all"]);
    hand_in(&lanes, &lane, "T-1");
    assert_eq!(sandbox.on_result("base.txt"), "both");
}

#[test]
fn a_repository_inside_the_lane_is_held_not_lost() {
    let sandbox = Sandbox::new();
    let lanes = sandbox.begin();
    let lane = lanes.open("a").unwrap();
    write(&lane, "vendor/x/file.txt", "x\n");
    let inside = lane.path.join("vendor/x");
    git(&inside, &["init", "-q"]);
    git(&inside, &["add", "--all"]);
    git(&inside, &["commit", "-q", "-m", "inside"]);
    assert_eq!(why(lanes.settle(&lane, "T-1").unwrap()), (HeldReason::Nested, vec!["vendor/x".into()]));
    assert!(lanes.close(&lane, "rest").unwrap().folder.is_some());
    fs::remove_dir_all(inside.join(".git")).unwrap();
    hand_in(&lanes, &lane, "T-1");
    assert_eq!(sandbox.on_result("vendor/x/file.txt"), "x");
}

#[test]
fn work_inside_a_submodule_is_held_not_lost() {
    let library = Sandbox::new();
    let sandbox = Sandbox::new();
    let url = library.root().display().to_string();
    let files = ["-c", "protocol.file.allow=always"];
    sandbox.git(&[&files[..], &["submodule", "add", "-q", &url, "lib"]].concat());
    sandbox.commit("lib");
    let lanes = sandbox.begin();
    let lane = lanes.open("a").unwrap();
    git(&lane.path, &[&files[..], &["submodule", "update", "-q", "--init"]].concat());
    write(&lane, "lib/base.txt", "changed\n");
    assert_eq!(why(lanes.settle(&lane, "T-1").unwrap()), (HeldReason::Submodule, vec!["lib".into()]));
    git(&lane.path.join("lib"), &["commit", "-qam", "only here"]);
    assert_eq!(why(lanes.settle(&lane, "T-1").unwrap()), (HeldReason::Submodule, vec!["lib".into()]));
    assert!(lanes.close(&lane, "rest").unwrap().folder.is_some());
    // Once a remote has it, the lane may go.
    git(&lane.path.join("lib"), &["push", "-q", "origin", "HEAD:refs/heads/new"]);
    hand_in(&lanes, &lane, "T-1");
    assert!(lanes.close(&lane, "rest").unwrap().is_nothing());
}

#[test]
fn a_history_of_its_own_is_held() {
    let sandbox = Sandbox::new();
    let lanes = sandbox.begin();
    let lane = lanes.open("a").unwrap();
    git(&lane.path, &["checkout", "-q", "--orphan", "new"]);
    git(&lane.path, &["commit", "-q", "-m", "from nothing"]);
    assert_eq!(why(lanes.settle(&lane, "T-1").unwrap()), (HeldReason::Unrelated, vec![]));
}

#[test]
fn the_lock_of_a_killed_git_is_no_obstacle() {
    let sandbox = Sandbox::new();
    let lanes = sandbox.begin();
    let lane = lanes.open("a").unwrap();
    write(&lane, "a.txt", "a\n");
    let lock = sandbox.root().join(".git/worktrees/a/index.lock");
    let file = fs::File::create(&lock).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
    hand_in(&lanes, &lane, "T-1");
    assert!(!lock.exists());
}

#[test]
fn a_work_tree_that_was_deleted_by_hand_is_told_and_made_again() {
    let sandbox = Sandbox::new();
    let lanes = sandbox.begin();
    let lane = lanes.open("a").unwrap();
    write(&lane, "a.txt", "a\n");
    lanes.settle(&lane, "T-1").unwrap();
    fs::remove_dir_all(&lane.path).unwrap();
    assert_eq!(lanes.settle(&lane, "T-1").unwrap_err().code(), "lane_gone");
    let again = lanes.open("a").unwrap();
    assert_eq!(again, lane);
    assert_eq!(fs::read_to_string(again.path.join("a.txt")).unwrap(), "a\n", "what was committed is there");
    // Only the files are gone, and the lane's tie to its repository with them.
    fs::remove_file(lane.path.join(".git")).unwrap();
    assert_eq!(lanes.settle(&lane, "T-1").unwrap_err().code(), "lane_gone");
    let left = lanes.close(&lane, "rest").unwrap();
    assert_eq!(left.folder, Some(lane.path), "files that no branch has are not deleted");
}

#[test]
fn odd_names_and_contents_are_work_like_any_other() {
    let sandbox = Sandbox::new();
    let lanes = sandbox.begin();
    let lane = lanes.open("a").unwrap();
    for name in ["with space", "new\nline", "-dash", "\"quote\"", "ümlaut", "tab\there"] {
        write(&lane, name, "x\n");
    }
    fs::write(lane.path.join("bytes"), [0, 159, 146, 150]).unwrap();
    fs::remove_file(lane.path.join("base.txt")).unwrap();
    hand_in(&lanes, &lane, "T-1 \u{1b}[31m\0 red");
    let names = sandbox.git(&["ls-tree", "-z", "--name-only", "punch/7/result"]);
    assert_eq!(names.split('\0').filter(|name| !name.is_empty()).count(), 7);
    assert_eq!(sandbox.git(&["log", "-1", "--format=%s", "punch/7/result"]), "T-1 ␛[31m␀ red");
}

#[test]
fn a_merge_that_takes_nothing_of_the_other_side_is_finished() {
    let sandbox = Sandbox::new();
    let lanes = sandbox.begin();
    let lane = lanes.open("a").unwrap();
    git(&lane.path, &["checkout", "-q", "-b", "other"]);
    write(&lane, "base.txt", "other\n");
    git(&lane.path, &["commit", "-qam", "other"]);
    git(&lane.path, &["checkout", "-q", "punch/7/a"]);
    write(&lane, "base.txt", "mine\n");
    git(&lane.path, &["commit", "-qam", "mine"]);
    git(&lane.path, &["merge", "-q", "--no-commit", "-s", "ours", "other"]);
    hand_in(&lanes, &lane, "T-1");
    assert_eq!(sandbox.on_result("base.txt"), "mine");
    assert!(sandbox.git(&["log", "--format=%s", "punch/7/result"]).contains("other"), "both sides are behind it");
    assert!(lanes.close(&lane, "rest").unwrap().is_nothing());
}

#[test]
fn a_difference_that_is_gone_in_the_index_is_no_work() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.root().join(".gitattributes"), "*.txt text eol=lf\n").unwrap();
    sandbox.commit("line ends");
    let lanes = sandbox.begin();
    let lane = lanes.open("a").unwrap();
    write(&lane, "base.txt", "base\r\n");
    assert!(matches!(lanes.settle(&lane, "T-1").unwrap(), SettleResult::Nothing { .. }));
    assert!(lanes.close(&lane, "rest").unwrap().is_nothing());
}
