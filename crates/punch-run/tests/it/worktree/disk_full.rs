//! A disk without room. Needs the right to mount a small one; where that is missing, nothing is tested here.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use punch_run::worktree::Lanes;

use super::sandbox::{Sandbox, hand_in, write};

pub(super) struct Mounted(PathBuf);

impl Mounted {
    pub(super) fn new(path: PathBuf, size: &str) -> Option<Self> {
        fs::create_dir_all(&path).unwrap();
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", size, "tmpfs"]).arg(&path).output();
        if !mount.is_ok_and(|output| output.status.success()) {
            return None;
        }
        Some(Self(path))
    }

    pub(super) fn resize(&self, size: &str) {
        let option = format!("remount,{size}");
        assert!(Command::new("mount").args(["-o", &option]).arg(&self.0).status().unwrap().success());
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

/// Until nothing more goes in, also of what someone gave back meanwhile.
pub(super) fn fill(path: &Path) {
    let mut round = 0;
    while pass(path, round) {
        round += 1;
    }
}

fn pass(path: &Path, round: u32) -> bool {
    let (mut size, mut wrote) = (1 << 20, false);
    while size >= 512 {
        let (mut n, chunk) = (0, vec![7u8; size]);
        while fs::write(path.join(format!("fill-{round}-{size}-{n}")), &chunk).is_ok() {
            (n, wrote) = (n + 1, true);
        }
        let _ = fs::remove_file(path.join(format!("fill-{round}-{size}-{n}")));
        size /= 2;
    }
    wrote
}

#[test]
fn a_lane_that_does_not_fit_on_the_disk_leaves_nothing_behind() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.root().join("large.bin"), vec![1; 3 << 20]).unwrap();
    sandbox.commit("large");
    let Some(disk) = Mounted::new(sandbox.lanes_folder(), "size=1m") else { return };
    let (lanes, _) = Lanes::begin(&sandbox.root(), &disk.0, "7").unwrap();
    let before = sandbox.git(&["for-each-ref"]);
    let error = lanes.open("a").unwrap_err();
    assert!(error.to_string().contains("unable to write"), "{error}");
    assert_eq!(sandbox.git(&["for-each-ref"]), before);
    assert_eq!(sandbox.git(&["worktree", "list"]).lines().count(), 1);
    disk.resize("size=8m");
    let lane = lanes.open("a").unwrap();
    write(&lane, "a.txt", "a\n");
    hand_in(&lanes, &lane, "T-1");
}

#[test]
fn a_repository_without_room_keeps_the_work_in_the_lane() {
    let sandbox = Sandbox::empty();
    let Some(disk) = Mounted::new(sandbox.root(), "size=4m") else { return };
    sandbox.git(&["init", "-q", "-b", "main"]);
    fs::write(sandbox.root().join("base.txt"), "base\n").unwrap();
    sandbox.commit("base");
    let lanes = sandbox.begin();
    let lane = lanes.open("a").unwrap();
    fs::write(
        lane.path.join("work.bin"),
        (0..200_000u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()).collect::<Vec<u8>>(),
    )
    .unwrap();
    fill(&sandbox.root());
    assert_eq!(lanes.settle(&lane, "T-1").unwrap_err().code(), "git_failed");
    let left = lanes.close(&lane, "rest").unwrap();
    assert_eq!(left.folder.as_ref(), Some(&lane.path));
    assert!(lane.path.join("work.bin").exists());
    disk.resize("size=32m");
    hand_in(&lanes, &lane, "T-1");
    assert!(lanes.close(&lane, "rest").unwrap().is_nothing());
}
