//! Lanes that a fleet shares through a git remote.

use std::fs;
use std::path::PathBuf;

use punch_run::worktree::{Lanes, PushResult, Remote, RemotePart, SettleResult, WorktreeError};

use super::disk_full::{Mounted, fill};
use super::sandbox::{Sandbox, git, write};

/// Makes a bare repository that the sandbox calls `origin`.
fn with_remote() -> (Sandbox, PathBuf) {
    let sandbox = Sandbox::new();
    make_remote(&sandbox);
    let remote = sandbox.root().join("../remote.git");
    (sandbox, remote)
}

fn make_remote(sandbox: &Sandbox) {
    sandbox.git(&["clone", "-q", "--bare", ".", "../remote.git"]);
    sandbox.git(&["remote", "add", "origin", "../remote.git"]);
}

fn begin(sandbox: &Sandbox, part: RemotePart) -> Result<Lanes, WorktreeError> {
    let remote = Remote { name: "origin".to_owned(), part };
    let folder = sandbox.lanes_folder().join(format!("{part:?}"));
    Lanes::begin_shared(&sandbox.root(), &folder, "7", remote).map(|(lanes, _)| lanes)
}

/// Commits a file in the lane of a todo, and returns the lane and the commit.
fn worked(lanes: &Lanes, todo: &str) -> (punch_run::worktree::Lane, String) {
    let lane = lanes.open(todo).unwrap();
    write(&lane, "work.txt", "work\n");
    match lanes.settle(&lane, "work").unwrap() {
        SettleResult::Ready { commit, .. } => (lane, commit),
        other => panic!("{other:?}"),
    }
}

#[test]
fn only_branches_below_punch_are_pushed_whatever_the_settings_of_the_user_say() {
    let (sandbox, remote) = with_remote();
    sandbox.git(&["config", "push.followTags", "true"]);
    sandbox.git(&["config", "push.recurseSubmodules", "check"]);
    sandbox.git(&["tag", "-a", "v1", "-m", "not for everyone"]);
    begin(&sandbox, RemotePart::Coordinator).unwrap();
    let lanes = begin(&sandbox, RemotePart::Worker).unwrap();
    let (lane, commit) = worked(&lanes, "T-1");
    assert_eq!(lanes.push(&lane, &commit).unwrap(), PushResult::Now);
    let refs = git(&remote, &["for-each-ref", "--format=%(refname)"]);
    assert_eq!(refs, "refs/heads/main\nrefs/heads/punch/7/T-1\nrefs/heads/punch/7/result");
}

#[test]
fn a_branch_in_the_way_is_named_on_both_sides() {
    let (sandbox, remote) = with_remote();
    git(&remote, &["branch", "punch", "main"]);
    let error = begin(&sandbox, RemotePart::Coordinator).unwrap_err();
    assert_eq!(error, WorktreeError::RemoteBranchTaken { branch: "punch".into(), remote: "origin".into() });
    git(&remote, &["branch", "-D", "punch"]);
    sandbox.git(&["branch", "punch"]);
    let error = begin(&sandbox, RemotePart::Coordinator).unwrap_err();
    assert_eq!(error, WorktreeError::BranchTaken { branch: "punch".into() });
}

#[cfg(unix)]
#[test]
fn a_remote_that_refuses_is_told_from_one_that_has_moved_however_much_it_prints() {
    use std::os::unix::fs::PermissionsExt;
    let (sandbox, remote) = with_remote();
    begin(&sandbox, RemotePart::Coordinator).unwrap();
    let lanes = begin(&sandbox, RemotePart::Worker).unwrap();
    let (lane, commit) = worked(&lanes, "T-1");
    let hook = remote.join("hooks/pre-receive");
    let text = "#!/bin/sh\nfor n in $(seq 1 500); do echo stale info, cannot lock ref >&2; done\necho no >&2\nexit 1\n";
    fs::write(&hook, text).unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    let Err(WorktreeError::Refused { said, .. }) = lanes.push(&lane, &commit) else { panic!("not refused") };
    assert!(said.starts_with("[remote rejected] (pre-receive hook declined)") && said.contains("remote: no"), "{said}");
    fs::write(&hook, "#!/bin/sh\nfor n in $(seq 1 500); do echo a long greeting >&2; done\n").unwrap();
    git(&remote, &["update-ref", "refs/heads/punch/7/T-1", "main"]);
    assert_eq!(lanes.push(&lane, &commit).unwrap(), PushResult::Moved);
    assert_eq!(lanes.push(&lane, &commit).unwrap(), PushResult::Now);
}

#[test]
fn a_remote_that_cannot_be_reached_is_told_from_one_that_is_not_there() {
    let (sandbox, _) = with_remote();
    let lanes = begin(&sandbox, RemotePart::Coordinator).unwrap();
    sandbox.git(&["remote", "set-url", "origin", "http://127.0.0.1:1/nobody"]);
    let error = lanes.fetch().unwrap_err();
    assert!(matches!(&error, WorktreeError::Remote { what, .. } if what == "fetch from"), "{error}");
    sandbox.git(&["remote", "set-url", "origin", "../nothing.git"]);
    let error = lanes.fetch().unwrap_err();
    assert!(error.to_string().starts_with("`origin` refused the fetch: "), "{error}");
}

#[test]
fn a_remote_that_is_full_refuses_the_push_and_takes_it_once_there_is_room() {
    let sandbox = Sandbox::new();
    let remote = sandbox.root().join("../remote.git");
    let Some(disk) = Mounted::new(remote.clone(), "size=1m") else {
        assert!(std::env::var_os("CI").is_none(), "no tmpfs can be mounted");
        return eprintln!("SKIPPED: a full remote is not tested: mounting a small disk needs root");
    };
    make_remote(&sandbox);
    begin(&sandbox, RemotePart::Coordinator).unwrap();
    let lanes = begin(&sandbox, RemotePart::Worker).unwrap();
    let is_refused = |pushed: Result<PushResult, WorktreeError>| {
        let error = pushed.unwrap_err();
        assert!(matches!(&error, WorktreeError::Refused { what, .. } if what == "push to"), "{error}");
    };
    // The work is larger than the disk.
    let (lane, _) = worked(&lanes, "T-1");
    let noise: Vec<u8> = (0..500_000u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()).collect();
    fs::write(lane.path.join("work.bin"), noise).unwrap();
    let SettleResult::Ready { commit, .. } = lanes.settle(&lane, "more").unwrap() else { panic!("not ready") };
    is_refused(lanes.push(&lane, &commit));
    // Nothing fits: first the work, then, where the remote has the work already, the ref.
    let (small, small_commit) = worked(&lanes, "T-2");
    fill(&remote);
    is_refused(lanes.push(&small, &small_commit));
    let base = sandbox.git(&["rev-parse", "main"]);
    is_refused(lanes.push(&small, &base));
    disk.resize("size=16m");
    assert_eq!(lanes.push(&small, &small_commit).unwrap(), PushResult::Now);
    assert_eq!(lanes.push(&lane, &commit).unwrap(), PushResult::Now);
}
