//! A repository with one commit, a folder for lanes beside it, and git without anyone's settings.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use punch_run::worktree::{Lane, Lanes, PublishResult, SettleResult};

pub struct Sandbox {
    folder: tempfile::TempDir,
}

impl Sandbox {
    /// With one file, committed.
    pub fn new() -> Self {
        let sandbox = Self::empty();
        sandbox.git(&["init", "-q", "-b", "main"]);
        fs::write(sandbox.root().join("base.txt"), "base\n").unwrap();
        sandbox.commit("base");
        sandbox
    }

    /// Without git.
    pub fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("repo")).unwrap();
        Self { folder }
    }

    pub fn root(&self) -> PathBuf {
        self.folder.path().join("repo")
    }

    pub fn lanes_folder(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    pub fn begin(&self) -> Lanes {
        Lanes::begin(&self.root(), &self.lanes_folder(), "7").unwrap().0
    }

    pub fn git(&self, arguments: &[&str]) -> String {
        git(&self.root(), arguments)
    }

    pub fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "-q", "-m", message]);
    }

    /// Branch, commit, index, files: everything of the user's that must stay as it is.
    pub fn users_state(&self) -> String {
        let index = fs::read(self.root().join(".git/index")).map(|bytes| bytes.len()).unwrap_or_default();
        let ask = ["status", "--porcelain=v2", "--branch", "--untracked-files=all"];
        format!("{}\n{}\n{index}", self.git(&ask), self.git(&["ls-files", "-s"]))
    }

    pub fn branches(&self) -> Vec<String> {
        let all = self.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads/punch"]);
        all.lines().map(str::to_owned).collect()
    }

    pub fn marks(&self) -> String {
        self.git(&["for-each-ref", "--format=%(refname)", "refs/lanes"])
    }

    /// The file on the result branch.
    pub fn on_result(&self, path: &str) -> String {
        self.git(&["show", &format!("punch/7/result:{path}")])
    }
}

pub fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = plain_git(folder).args(arguments).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

pub fn plain_git(folder: &Path) -> Command {
    let mut git = Command::new("git");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_")) {
        git.env_remove(name);
    }
    git.current_dir(folder).env("LC_ALL", "C").args(["-c", "user.name=t", "-c", "user.email=t@example.com"]);
    git
}

pub fn write(lane: &Lane, path: &str, text: &str) {
    let path = lane.path.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Settles and publishes work that must fit.
pub fn hand_in(lanes: &Lanes, lane: &Lane, message: &str) -> bool {
    match lanes.settle(lane, message).unwrap() {
        SettleResult::Ready { commit, merged } => {
            assert_eq!(lanes.publish(lane, &commit).unwrap(), PublishResult::Now);
            merged
        }
        other => panic!("{other:?}"),
    }
}
