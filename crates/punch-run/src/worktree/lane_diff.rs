//! What was changed in a lane, for readers. Changes nothing, and trusts nothing that the agent in the lane could have
//! written: the git folders are those that the repository lists.

use std::path::{Path, PathBuf};

use punch_engine::{GitFolders, RunRecord};

use super::git::LaneGit;
use super::name::mark_of;
use super::{WorktreeError, lanes_name};

/// A lane of a run, as a reader finds it.
#[derive(Clone, Debug)]
pub struct LaneDiff {
    /// The folder of its worktree.
    pub path: PathBuf,
    git: LaneGit,
    base: String,
}

impl LaneDiff {
    /// Finds the lane in which a run works on a todo; `None` if there is none. `folder` is for the lanes of all runs.
    pub fn find(root: &Path, folder: &Path, plan: &str, run: &RunRecord, todo: &str) -> Option<Self> {
        let name = lanes_name(plan, run);
        let path = folder.join(name.as_str()).join(name.lane_of(todo)).canonicalize().ok()?;
        let git = LaneGit::new(root);
        let base = git.commit(&mark_of(&name.branch_of(todo))).ok()??;
        let common = git.read("find its folder", &["rev-parse", "--path-format=absolute", "--git-common-dir"]).ok()?;
        let common = PathBuf::from(&common).canonicalize().unwrap_or_else(|_| common.into());
        let folders = GitFolders::registered(&common, &path)?;
        Some(Self { git: git.in_lane(&path, folders), path, base })
    }

    /// Returns the size of the diff in words, such as "3 files changed, 10 insertions(+)"; empty if nothing was changed.
    pub fn size(&self) -> Result<String, WorktreeError> {
        self.diff("--shortstat")
    }

    /// Returns everything that was changed since the lane was made, committed or not.
    pub fn patch(&self) -> Result<String, WorktreeError> {
        self.diff("--patch")
    }

    fn diff(&self, form: &str) -> Result<String, WorktreeError> {
        self.git.read("compare", &["diff", form, "--no-color", "--no-ext-diff", "--no-textconv", &self.base, "--"])
    }
}
