//! Restores against every way in which a history can change.

use punch_core::Status;
use punch_engine::{CommitVerdict, Restoring};

use super::{ANYWAY, GENTLY, World, verdicts};
use crate::sandbox::Sandbox;

/// Two todos done with a commit each, and a third that is open.
fn two_done() -> World {
    let world = World::new();
    world.add("one", &[]);
    world.add("two", &["T-1"]);
    world.add("three", &["T-2"]);
    world.work("T-1");
    world.work("T-2");
    world
}

#[test]
fn a_reset_reopens_exactly_what_was_lost() {
    let world = two_done();
    let saved = world.save();
    world.work("T-3");
    world.git(&["reset", "-q", "--hard", "HEAD~1"]);
    let restored = world.restore(&saved.id, GENTLY).unwrap();
    assert_eq!(verdicts(&restored), ["T-1 valid", "T-2 valid"]);
    assert_eq!(restored.reopened, ["T-3"]);
    assert_eq!(restored.next.as_deref(), Some("T-3"));
    assert_eq!(world.in_status(Status::Completed), ["T-1", "T-2"]);
}

#[test]
fn a_reset_behind_the_checkpoint_is_refused_and_by_force_reopens_what_is_not_there() {
    let world = two_done();
    let saved = world.save();
    world.git(&["reset", "-q", "--hard", "HEAD~1"]);
    let before = world.engine.whole(world.plan).unwrap();
    let error = world.restore(&saved.id, GENTLY).unwrap_err();
    assert_eq!(error.code(), "git_mismatch");
    assert!(error.hint().contains("--force"), "{}", error.hint());
    assert_eq!(world.engine.whole(world.plan).unwrap(), before);
    let restored = world.restore(&saved.id, ANYWAY).unwrap();
    assert_eq!(verdicts(&restored), ["T-1 valid", "T-2 stale"]);
    assert_eq!(restored.reopened, ["T-2"]);
}

#[test]
fn by_choice_what_is_lost_is_only_marked() {
    let world = two_done();
    let saved = world.save();
    world.git(&["reset", "-q", "--hard", "HEAD~1"]);
    world.restore(&saved.id, Restoring { force: true, reopen: false }).unwrap();
    let whole = world.engine.whole(world.plan).unwrap();
    assert_eq!(world.in_status(Status::Completed), ["T-1", "T-2"]);
    assert!(whole.by_id("T-2").unwrap().flags.stale && !whole.by_id("T-1").unwrap().flags.stale);
}

#[test]
fn an_amended_commit_does_not_vouch_any_more() {
    let world = two_done();
    let saved = world.save();
    world.git(&["commit", "-q", "--amend", "-m", "other words"]);
    assert_eq!(world.restore(&saved.id, GENTLY).unwrap_err().code(), "git_mismatch");
    assert_eq!(verdicts(&world.restore(&saved.id, ANYWAY).unwrap()), ["T-1 valid", "T-2 stale"]);
}

#[test]
fn a_rebased_history_does_not_either() {
    let world = two_done();
    let saved = world.save();
    let first = world.git(&["rev-list", "--max-parents=0", "HEAD"]);
    world.git(&["checkout", "-q", "-b", "base", &first]);
    world.sandbox.commit("p", "base.txt");
    world.git(&["checkout", "-q", "main"]);
    world.git(&["rebase", "-q", "base"]);
    assert_eq!(verdicts(&world.restore(&saved.id, ANYWAY).unwrap()), ["T-1 stale", "T-2 stale"]);
    assert_eq!(world.in_status(Status::Completed), [""; 0]);
}

#[test]
fn a_reverted_commit_is_still_in_the_history() {
    let world = two_done();
    let saved = world.save();
    world.git(&["revert", "--no-edit", "HEAD"]);
    assert_eq!(verdicts(&world.restore(&saved.id, GENTLY).unwrap()), ["T-1 valid", "T-2 valid"]);
}

#[test]
fn merged_work_is_in_the_history() {
    let world = two_done();
    world.git(&["checkout", "-q", "-b", "side", "HEAD~2"]);
    world.work("T-3");
    world.git(&["checkout", "-q", "main"]);
    world.git(&["merge", "-q", "--no-edit", "side"]);
    let saved = world.save();
    assert_eq!(verdicts(&world.restore(&saved.id, GENTLY).unwrap()), ["T-1 valid", "T-2 valid", "T-3 valid"]);
}

#[test]
fn another_branch_is_refused() {
    let world = two_done();
    let saved = world.save();
    world.git(&["checkout", "-q", "-b", "other"]);
    let error = world.restore(&saved.id, GENTLY).unwrap_err();
    assert!(error.message().contains("it was made on main, but you are on other"), "{}", error.message());
    world.restore(&saved.id, ANYWAY).unwrap();
}

#[test]
fn a_detached_head_is_a_place_like_any_other() {
    let world = two_done();
    world.git(&["checkout", "-q", "--detach"]);
    let saved = world.save();
    assert_eq!(saved.git.as_ref().unwrap().branch, None);
    assert_eq!(verdicts(&world.restore(&saved.id, GENTLY).unwrap()), ["T-1 valid", "T-2 valid"]);
    world.git(&["checkout", "-q", "main"]);
    assert_eq!(world.restore(&saved.id, GENTLY).unwrap_err().code(), "git_mismatch");
}

#[test]
fn commits_that_are_gone_for_good_are_stale() {
    let world = two_done();
    let saved = world.save();
    world.git(&["reset", "-q", "--hard", "HEAD~1"]);
    world.git(&["reflog", "expire", "--expire=now", "--all"]);
    world.git(&["gc", "-q", "--prune=now"]);
    assert_eq!(verdicts(&world.restore(&saved.id, ANYWAY).unwrap()), ["T-1 valid", "T-2 stale"]);
}

#[test]
fn in_a_shallow_clone_what_lies_beyond_is_unknown() {
    let mut world = two_done();
    let saved = world.save();
    let from = format!("file://{}", world.sandbox.path("p").display());
    world.sandbox.git(".", &["clone", "-q", "--depth", "1", &from, "c"]);
    std::fs::remove_dir_all(world.sandbox.path("p")).unwrap();
    std::fs::rename(world.sandbox.path("c"), world.sandbox.path("p")).unwrap();
    let restored = world.restore(&saved.id, GENTLY).unwrap();
    assert_eq!(verdicts(&restored), ["T-1 unknown", "T-2 valid"]);
    assert_eq!(world.in_status(Status::Completed), ["T-1", "T-2"]);
    world.sandbox = Sandbox::new();
}

#[test]
fn without_git_everything_is_unknown_and_stays() {
    let sandbox = Sandbox::new();
    sandbox.folder("p");
    let world = World::beside(sandbox);
    world.add("one", &[]);
    world.done("T-1");
    let saved = world.save();
    assert_eq!(saved.git, None);
    let restored = world.restore(&saved.id, GENTLY).unwrap();
    assert_eq!(restored.judged[0].verdict, CommitVerdict::Unknown);
    assert_eq!(world.status("T-1"), Status::Completed);
}

#[test]
fn git_that_is_gone_since_is_elsewhere() {
    let world = two_done();
    let saved = world.save();
    std::fs::remove_dir_all(world.sandbox.path("p/.git")).unwrap();
    assert_eq!(world.restore(&saved.id, GENTLY).unwrap_err().code(), "git_mismatch");
    assert_eq!(verdicts(&world.restore(&saved.id, ANYWAY).unwrap()), ["T-1 unknown", "T-2 unknown"]);
}

#[test]
fn before_the_first_commit_there_is_a_branch_without_one() {
    let sandbox = Sandbox::new();
    sandbox.git(".", &["init", "-q", "p"]);
    sandbox.file("p/a.txt", "x");
    let world = World::beside(sandbox);
    world.add("one", &[]);
    let saved = world.save();
    let git = saved.git.as_ref().unwrap();
    assert_eq!((git.branch.as_deref(), &git.commit, git.untracked_total), (Some("main"), &None, 1));
    world.restore(&saved.id, GENTLY).unwrap();
}

#[test]
fn a_submodule_is_a_file_that_differs() {
    let world = World::new();
    world.sandbox.git(".", &["init", "-q", "inner"]);
    world.sandbox.commit("inner", "i.txt");
    world.git(&["submodule", "add", "-q", "../inner", "inner"]);
    world.git(&["commit", "-q", "-m", "with it"]);
    world.sandbox.commit("p/inner", "more.txt");
    let git = world.save().git.unwrap();
    assert_eq!((git.dirty, git.modified), (true, vec!["inner".to_owned()]));
}

#[test]
fn what_is_not_committed_can_be_had_back() {
    let world = World::new();
    world.sandbox.file("p/a.txt", "changed\n");
    world.sandbox.file("p/staged.txt", "new\n");
    world.git(&["add", "staged.txt"]);
    world.sandbox.file("p/with space.bin", [0u8, 159, 146, 150]);
    world.git(&["add", "with space.bin"]);
    world.sandbox.file("p/unknown.txt", "u");
    let git = world.save().git.unwrap();
    assert_eq!(git.modified, ["a.txt", "staged.txt", "with space.bin"]);
    assert_eq!(git.untracked, ["unknown.txt"]);
    let patch = world.sandbox.file("patch", git.patch.unwrap());
    world.git(&["reset", "-q", "--hard"]);
    world.git(&["apply", &patch.display().to_string()]);
    let read = |name: &str| std::fs::read(world.sandbox.path(name)).unwrap();
    assert_eq!(read("p/a.txt"), b"changed\n");
    assert_eq!(read("p/with space.bin"), [0u8, 159, 146, 150]);
}

#[test]
fn a_patch_that_is_too_large_is_left_out_and_said_so() {
    let world = World::new();
    world.sandbox.file("p/a.txt", "0123456789\n".repeat(200_000));
    let git = world.save().git.unwrap();
    assert!(git.dirty && git.patch.is_none());
    assert!(git.patch_left_out.unwrap().contains("larger than"));
}
