//! Work of several lanes comes together, in the order in which it is handed in.

use std::fs;

use punch_run::worktree::{HeldLane, HeldReason, Lanes, PublishResult, SettleResult};

use super::sandbox::{Sandbox, hand_in, write};

#[test]
fn work_side_by_side_comes_together_and_a_later_lane_begins_with_it() {
    let sandbox = Sandbox::new();
    let before = sandbox.users_state();
    let lanes = sandbox.begin();
    let (a, b) = (lanes.open("a").unwrap(), lanes.open("b").unwrap());
    write(&a, "a.txt", "a\n");
    write(&b, "b.txt", "b\n");
    assert!(!hand_in(&lanes, &a, "T-1: a\n\nPunch-Todo: T-1"), "the first needs no merge");
    assert!(hand_in(&lanes, &b, "T-2: b"));
    assert!(b.path.join("a.txt").exists(), "the merged state can be checked in the lane");
    let c = lanes.open("c").unwrap();
    assert!(c.path.join("a.txt").exists() && c.path.join("b.txt").exists());
    // An agent that continues in its lane has the others' work too.
    assert!(lanes.refresh(&a).unwrap());
    assert!(a.path.join("b.txt").exists());
    write(&a, "a.txt", "more\n");
    assert!(!hand_in(&lanes, &a, "T-3"));
    assert_eq!(sandbox.on_result("a.txt"), "more");
    assert!(sandbox.git(&["log", "--format=%B", "punch/7/result"]).contains("T-1: a\n\nPunch-Todo: T-1"));
    assert_eq!(sandbox.users_state(), before);
}

/// Terminals and models read messages too: `git log` shows these characters to nobody, or in another order.
#[test]
fn messages_hide_and_reorder_nothing() {
    let sandbox = Sandbox::new();
    let lanes = sandbox.begin();
    let (a, b) = (lanes.open("a").unwrap(), lanes.open("b").unwrap());
    let hostile = "T-1: a\u{202e}b\u{e0041}c\u{200b}d\u{1b}[31m\u{9b}2J\u{2066}e\n\nPunch-Todo: T-1\u{feff}";
    write(&a, "a.txt", "a\n");
    hand_in(&lanes, &a, hostile);
    write(&b, "b.txt", "b\n");
    assert!(hand_in(&lanes, &b, hostile), "a merge has a message as well");
    let messages = sandbox.git(&["log", "--format=%B", "main..punch/7/result"]);
    assert!(messages.contains("T-1: a\u{fffd}b\u{fffd}c\u{fffd}d"), "{messages:?}");
    for line in messages.lines() {
        assert_eq!(punch_core::text::neutral(line), line, "{messages:?}");
    }
}

#[test]
fn a_conflict_is_held_with_paths_and_both_sides() {
    let sandbox = Sandbox::new();
    let lanes = sandbox.begin();
    let (a, b) = (lanes.open("a").unwrap(), lanes.open("b").unwrap());
    for (lane, text) in [(&a, "by a\n"), (&b, "by b\n")] {
        write(lane, "base.txt", text);
        write(lane, "sub dir/new\nline.txt", text);
    }
    hand_in(&lanes, &a, "T-1");
    let paths = vec!["base.txt".to_owned(), "sub dir/new\nline.txt".to_owned()];
    let (branch, result) = ("punch/7/b".to_owned(), "punch/7/result".to_owned());
    let held = HeldLane { why: HeldReason::Conflict, paths, branch, result };
    assert_eq!(lanes.settle(&b, "T-2").unwrap(), SettleResult::Held(held.clone()));
    assert!(held.is_conflict());
    assert_eq!(
        held.reason(),
        "`punch/7/b` and `punch/7/result` both changed `base.txt`, `sub dir/new?line.txt`: merge `punch/7/result` into \
         `punch/7/b`, or both into your own branch if the run has ended"
    );
    assert_eq!(sandbox.on_result("base.txt"), "by a");
    assert_eq!(sandbox.git(&["show", "punch/7/b:base.txt"]), "by b");
    assert_eq!(fs::read_to_string(b.path.join("base.txt")).unwrap(), "by b\n", "no markers in the files");
    let left = lanes.close(&b, "rest").unwrap();
    assert_eq!((left.branch.as_deref(), left.folder), (Some("punch/7/b"), None));

    // The user merges on the branch; the run continues from there.
    let person = sandbox.lanes_folder().join("person");
    sandbox.git(&["worktree", "add", "-q", person.to_str().unwrap(), "punch/7/b"]);
    super::sandbox::git(&person, &["merge", "-q", "-X", "ours", "punch/7/result"]);
    sandbox.git(&["worktree", "remove", person.to_str().unwrap()]);
    let b = lanes.open("b").unwrap();
    assert!(!hand_in(&lanes, &b, "T-2"));
    assert_eq!(sandbox.on_result("base.txt"), "by b");
}

#[test]
fn a_reason_is_short_whatever_the_paths_are() {
    let paths = (0..50).map(|n| format!("{n}\u{1b}[31m{}`", "x".repeat(5000))).collect();
    let held =
        HeldLane { why: HeldReason::Conflict, paths, branch: "punch/7/b".into(), result: "punch/7/result".into() };
    let reason = held.reason();
    assert!(reason.len() < 700 && reason.contains("and 45 more"), "{reason}");
    assert!(!reason.contains('\u{1b}'));
}

#[test]
fn a_result_that_moved_on_is_not_taken_back() {
    let sandbox = Sandbox::new();
    let lanes = sandbox.begin();
    let (a, b) = (lanes.open("a").unwrap(), lanes.open("b").unwrap());
    write(&a, "a.txt", "a\n");
    write(&b, "b.txt", "b\n");
    let SettleResult::Ready { commit, merged: false } = lanes.settle(&b, "T-2").unwrap() else { panic!() };
    hand_in(&lanes, &a, "T-1");
    assert_eq!(lanes.publish(&b, &commit).unwrap(), PublishResult::Moved);
    assert!(hand_in(&lanes, &b, "T-2"));
    assert_eq!((sandbox.on_result("a.txt"), sandbox.on_result("b.txt")), ("a".into(), "b".into()));
}

#[test]
fn settling_twice_is_harmless_and_no_work_is_no_commit() {
    let sandbox = Sandbox::new();
    let lanes = sandbox.begin();
    let lane = lanes.open("a").unwrap();
    let base = lanes.base().to_owned();
    assert_eq!(lanes.settle(&lane, "T-1").unwrap(), SettleResult::Nothing { commit: base });
    write(&lane, "a.txt", "a\n");
    let first = lanes.settle(&lane, "T-1").unwrap();
    assert_eq!(lanes.settle(&lane, "T-1").unwrap(), first);
}

#[test]
fn a_lane_without_work_is_published_while_others_move_on() {
    let sandbox = Sandbox::new();
    let lanes = sandbox.begin();
    let (idle, busy) = (lanes.open("idle").unwrap(), lanes.open("busy").unwrap());
    write(&busy, "a.txt", "a\n");
    hand_in(&lanes, &busy, "T-1");
    let SettleResult::Nothing { commit } = lanes.settle(&idle, "T-2").unwrap() else { panic!() };
    assert!(idle.path.join("a.txt").exists(), "it is checked with the work of the others");
    write(&busy, "b.txt", "b\n");
    hand_in(&lanes, &busy, "T-3");
    assert_eq!(lanes.publish(&idle, &commit).unwrap(), PublishResult::Now);
    assert_eq!(sandbox.on_result("b.txt"), "b");
}

#[test]
fn a_result_branch_that_somebody_has_checked_out_does_not_move() {
    let sandbox = Sandbox::new();
    let lanes = sandbox.begin();
    let lane = lanes.open("a").unwrap();
    sandbox.git(&["checkout", "-q", "punch/7/result"]);
    let before = sandbox.users_state();
    write(&lane, "a.txt", "a\n");
    let SettleResult::Ready { commit, .. } = lanes.settle(&lane, "T-1").unwrap() else { panic!() };
    let path = sandbox.root().canonicalize().unwrap().display().to_string();
    assert_eq!(lanes.publish(&lane, &commit).unwrap(), PublishResult::CheckedOut { path });
    assert_eq!(sandbox.users_state(), before);
    sandbox.git(&["checkout", "-q", "main"]);
    assert_eq!(lanes.publish(&lane, &commit).unwrap(), PublishResult::Now);
}

#[test]
fn a_result_branch_that_was_deleted_comes_back() {
    let sandbox = Sandbox::new();
    let lanes = sandbox.begin();
    let lane = lanes.open("a").unwrap();
    write(&lane, "a.txt", "a\n");
    hand_in(&lanes, &lane, "T-1");
    sandbox.git(&["branch", "-D", "punch/7/result"]);
    write(&lane, "b.txt", "b\n");
    hand_in(&lanes, &lane, "T-2");
    assert_eq!((sandbox.on_result("a.txt"), sandbox.on_result("b.txt")), ("a".into(), "b".into()));
}

#[test]
fn many_lanes_at_once_lose_nothing() {
    let sandbox = Sandbox::new();
    let lanes = sandbox.begin();
    std::thread::scope(|scope| {
        for n in 0..8 {
            let lanes: &Lanes = &lanes;
            scope.spawn(move || {
                let lane = lanes.open(&format!("agent-{n}")).unwrap();
                for todo in 0..3 {
                    lanes.refresh(&lane).unwrap();
                    write(&lane, &format!("{n}-{todo}.txt"), "x\n");
                    loop {
                        let SettleResult::Ready { commit, .. } = lanes.settle(&lane, "work").unwrap() else { panic!() };
                        if lanes.publish(&lane, &commit).unwrap() == PublishResult::Now {
                            break;
                        }
                    }
                }
                assert!(lanes.close(&lane, "rest").unwrap().is_nothing());
            });
        }
    });
    let files = sandbox.git(&["ls-tree", "--name-only", "punch/7/result"]);
    assert_eq!(files.lines().count(), 1 + 8 * 3);
    assert_eq!(sandbox.branches(), ["punch/7/result"]);
}
