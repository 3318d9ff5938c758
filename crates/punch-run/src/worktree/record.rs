//! The git folders of lanes. They come from the repository's list, never from `.git` in the lane: an agent can change
//! that file to lead to a repository with filters and other programs, or to the user's branch (decision 0020).

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{MutexGuard, PoisonError};

use punch_engine::{GitFolders, git_link};

use super::git::LaneGit;
use super::{Lane, Lanes, WorktreeError};

impl Lanes {
    /// Returns git for a lane, with the recorded git folders. Fails if `.git` in the lane leads elsewhere, because
    /// agents and checks in the lane would follow it.
    pub(super) fn lane_git(&self, lane: &Lane) -> Result<LaneGit, WorktreeError> {
        let folders = self.folders(lane).filter(|_| lane.path.is_dir()).ok_or_else(|| lane.gone())?;
        if folders.match_link(&lane.path) {
            return Ok(self.git.in_lane(&lane.path, folders));
        }
        if lane.path.join(".git").symlink_metadata().is_err() {
            return Err(lane.gone());
        }
        Err(WorktreeError::Relinked { path: lane.path.clone(), now: git_link(&lane.path), recorded: folders.own })
    }

    /// Returns the git folders of a lane that the repository lists.
    pub fn folders(&self, lane: &Lane) -> Option<GitFolders> {
        let mut records = self.records();
        if let Some(known) = records.get(&lane.path).filter(|known| known.own.is_dir()) {
            return Some(known.clone());
        }
        let found = GitFolders::registered(&self.common, &lane.path)?;
        records.insert(lane.path.clone(), found.clone());
        Some(found)
    }

    pub(super) fn records(&self) -> MutexGuard<'_, BTreeMap<PathBuf, GitFolders>> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
