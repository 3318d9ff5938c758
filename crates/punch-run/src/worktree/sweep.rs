//! Closes lanes, at the end of a run or long after one that was killed. Removes folders and keeps work: a branch is
//! deleted only if the result branch contains all of it.

use std::fs;
use std::path::{Path, PathBuf};

use super::git::LaneGit;
use super::lane::{self, Lane};
use super::name::{MARKS, mark_of};
use super::refs::Refs;
use super::remote::tracked;
use super::{Lanes, WorktreeError};

/// What is left of a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// The name of the run in its branches.
    pub run: String,
    /// The branch, if it holds work that is nowhere else or is the result branch of a run.
    pub branch: Option<String>,
    /// The folder of the worktree, if it still exists.
    pub folder: Option<PathBuf>,
    /// Why the worktree was not removed.
    pub reason: Option<String>,
}

impl Leftover {
    /// Returns true if neither a branch nor a folder is left.
    pub fn is_nothing(&self) -> bool {
        self.branch.is_none() && self.folder.is_none()
    }
}

impl Lanes {
    /// Removes the folder of a lane, with everything in it that git ignores. Commits uncommitted work first; if that is
    /// not possible, or the worktree is locked, the folder stays. The agent must have exited.
    pub fn close(&self, lane: &Lane, message: &str) -> Result<Leftover, WorktreeError> {
        let mut left = Leftover { run: self.run.as_str().to_owned(), branch: None, folder: None, reason: None };
        let refs = match self.clear(lane, message)? {
            Ok(refs) => refs,
            Err(reason) => {
                (left.folder, left.branch) = (Some(lane.path.clone()), Some(lane.branch.clone()));
                left.reason = Some(reason);
                return Ok(left);
            }
        };
        if lane.path.is_dir() || lane::at(&self.git, &lane.path)?.is_some() {
            self.forget(lane)?;
        }
        let refs = refs.map_or_else(|| self.git.refs(&[&lane.full_branch(), &self.full_result()]), Ok)?;
        let tip = self.tip_of(&refs, &mut self.turn())?;
        match refs.get(&lane.full_branch()).map(|work| work.clone().not_in(&lane.path)) {
            Some(work) => {
                let is_pushed = self.remote.is_some()
                    && self.git.commit(&tracked(lane.shown_branch()))?.as_ref() == Some(&work.commit);
                let has_all = is_pushed || work.commit == tip || self.git.is_behind(&work.commit, &tip)?;
                let dropped = has_all && self.drop_branch(&lane.branch, &work)?;
                left.branch = (!dropped).then(|| lane.branch.clone());
            }
            // A mark without a branch: an earlier attempt was interrupted, or the user deleted the branch.
            None => drop(self.git.run(&["update-ref", "-d", &mark_of(&lane.branch)], None)?),
        }
        // A branch that stays on the remote does no harm.
        let _ = self.drop_remote(lane, &tip);
        Ok(left)
    }

    /// Commits what is left in a lane that has a folder. Returns its refs afterwards, or why the folder must stay.
    fn clear(&self, lane: &Lane, message: &str) -> Result<Result<Option<Refs>, String>, WorktreeError> {
        // A locked worktree has a file with this name.
        let locked = match self.folders(lane).map(|folders| fs::read_to_string(folders.own.join("locked"))) {
            Some(locked) => locked.ok(),
            None => lane::at(&self.git, &lane.path)?.and_then(|found| found.locked),
        };
        if locked.as_deref().is_some_and(lane::is_half_made) {
            self.unmake(lane)?;
            return Ok(Ok(None));
        }
        if let Some(why) = locked {
            return Ok(Err(format!("the worktree is locked: {}", why.trim_end())));
        }
        if !lane.path.is_dir() {
            return Ok(Ok(None));
        }
        let done = self.lane_git(lane).and_then(|git| self.commit_all(&git, lane, message));
        Ok(match done {
            Ok(Ok(refs)) => Ok(Some(refs)),
            Ok(Err((why, paths))) => Err(format!("{why:?}: {}", paths.join(", "))),
            Err(error) => Err(error.to_string()),
        })
    }

    /// Closes every lane of this run that still exists. No agent may be working in any of them.
    pub fn sweep(&self, message: &str) -> Result<Vec<Leftover>, WorktreeError> {
        let mut out = Vec::new();
        for lane in self.lanes()? {
            out.push(self.close(&lane, message)?);
        }
        out.retain(|left| !left.is_nothing());
        Ok(out)
    }

    /// Returns the lanes of this run, with or without a worktree.
    pub fn lanes(&self) -> Result<Vec<Lane>, WorktreeError> {
        let prefix = self.result.trim_end_matches("result").to_owned();
        let lane = |branch: String| {
            let name = branch.strip_prefix(&prefix)?.to_owned();
            let ours = branch != self.result && self.remote.as_ref().is_none_or(|remote| remote.has_lane(&name));
            ours.then(|| Lane { path: self.folder.join(&name), name, branch, remote: None })
        };
        Ok(marked(&self.git, &prefix)?.into_iter().filter_map(lane).collect())
    }
}

/// Returns the branches, and the worktrees below the folder for lanes, that runs left in a repository. Changes nothing.
pub fn left_behind(root: &Path, folder: &Path) -> Result<Vec<Leftover>, WorktreeError> {
    let git = LaneGit::new(root);
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let trees = lane::registered(&git)?;
    let mut out = Vec::new();
    for branch in marked(&git, "punch/")? {
        let Some(run) = branch.split('/').nth(1).map(str::to_owned) else { continue };
        let name = format!("refs/heads/{branch}");
        let tree = trees.iter().find(|tree| tree.branch.as_ref() == Some(&name) && tree.path.starts_with(&folder));
        let reason = tree.and_then(|tree| tree.locked.as_ref().map(|why| format!("the worktree is locked: {why}")));
        let there = tree.filter(|tree| !tree.missing).map(|tree| tree.path.clone());
        let branch = git.commit(&name)?.map(|_| branch);
        out.push(Leftover { run, branch, folder: there, reason });
    }
    out.retain(|left| !left.is_nothing());
    Ok(out)
}

/// Returns the branches with this prefix that punch created.
fn marked(git: &LaneGit, prefix: &str) -> Result<Vec<String>, WorktreeError> {
    let marks = ["for-each-ref", "--format=%(refname)", &format!("{MARKS}{prefix}")];
    let marks = git.read("list its worktrees", &marks)?;
    Ok(marks.lines().filter_map(|mark| mark.strip_prefix(MARKS)).map(str::to_owned).collect())
}
