//! Merges two commits without a worktree, and moves the result branch forward. A conflict leaves no trace.

use super::git::{LaneGit, failure};
use super::settle::{capped, paths};
use super::{Lane, Lanes, WorktreeError};

/// The result of merging two commits.
pub(super) enum MergeResult {
    /// The merge commit.
    Clean(String),
    /// The paths with conflicts.
    Conflict(Vec<String>),
    /// The commits have no common ancestor.
    Unrelated,
}

/// The result of publishing a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PublishResult {
    /// The result branch contains the commit now.
    Now,
    /// The result branch has moved: settle and check again.
    Moved,
    /// The result branch is checked out somewhere, so moving it would make the files there outdated.
    CheckedOut {
        /// The worktree.
        path: String,
    },
}

impl Lanes {
    /// Moves the result branch forward to a commit of a lane, which must be a descendant of it.
    pub fn publish(&self, lane: &Lane, commit: &str) -> Result<PublishResult, WorktreeError> {
        let mut known = self.turn();
        let refs = self.git.refs(&[&lane.full_branch(), &self.full_result()])?;
        let tip = self.tip_of(&refs, &mut known)?;
        if tip == commit {
            return Ok(PublishResult::Now);
        }
        let direct = refs.get(&lane.full_branch()).is_some_and(|work| work.commit == commit && work.follows(&tip));
        if !direct && !self.git.is_behind(&tip, commit)? {
            // A lane without changes is already contained in the result branch.
            return Ok(if self.git.is_behind(commit, &tip)? { PublishResult::Now } else { PublishResult::Moved });
        }
        if let Some(remote) = &self.remote {
            let published = self.publish_to(remote, &tip, commit)?;
            if published == PublishResult::Now {
                known.clear();
                known.push_str(commit);
            }
            return Ok(published);
        }
        let branch = self.full_result();
        if let Some(path) = refs.get(&branch).and_then(|result| result.tree.clone()) {
            return Ok(PublishResult::CheckedOut { path });
        }
        let reason = format!("punch run: {}", lane.name);
        let moved = self.git.run(&["update-ref", "-m", &reason, &branch, commit, &tip], None)?;
        if moved.status.success() {
            known.clear();
            known.push_str(commit);
            return Ok(PublishResult::Now);
        }
        // Another process may have moved the branch first; anything else is an error.
        match self.git.commit(&branch)? {
            Some(now) if now != tip => Ok(PublishResult::Moved),
            _ => Err(failure(&moved, "move the result branch")),
        }
    }
    /// Merges two commits. The first one becomes the first parent.
    pub(super) fn join(
        &self,
        git: &LaneGit,
        first: &str,
        second: &str,
        message: &str,
    ) -> Result<MergeResult, WorktreeError> {
        let merged = ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", first, second];
        let answer = git.run(&merged, None)?;
        let text = String::from_utf8_lossy(&answer.out).into_owned();
        let (tree, rest) = text.split_once('\0').unwrap_or((text.as_str(), ""));
        let is_tree = matches!(tree.len(), 40 | 64) && tree.bytes().all(|byte| byte.is_ascii_hexdigit());
        match answer.status.code() {
            Some(0) if is_tree => {}
            Some(1) if is_tree => return Ok(MergeResult::Conflict(paths(rest))),
            _ if answer.complaint.contains("unrelated histories") => return Ok(MergeResult::Unrelated),
            _ => return Err(failure(&answer, "merge the work in a worktree")),
        }
        let commit = ["commit-tree", tree, "-p", first, "-p", second];
        let commit = [self.identity(git)?, &commit[..]].concat();
        git.read_with("commit a merge", &commit, Some(&capped(message))).map(MergeResult::Clean)
    }
}
