//! Joins two commits without a work tree, and moves the result branch forward. A conflict leaves no trace.

use super::git::{Git, failure};
use super::settle::{capped, paths};
use super::{Lane, Lanes, WorktreeError};

/// What came of joining two commits.
pub(super) enum Merge {
    /// This commit has both behind it.
    Clean(String),
    /// Both changed these paths.
    Conflict(Vec<String>),
    /// They have no commit in common.
    Unrelated,
}

/// What came of moving the result branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Published {
    /// It is there.
    Now,
    /// It has moved on meanwhile: settle and check once more.
    Moved,
    /// Somebody has the result branch checked out, and files there would no longer fit it.
    CheckedOut {
        /// The work tree.
        path: String,
    },
}

impl Lanes {
    /// Moves the result branch to a commit of a lane, which must have it behind it: nothing is ever taken back.
    pub fn publish(&self, lane: &Lane, commit: &str) -> Result<Published, WorktreeError> {
        let mut known = self.turn();
        let refs = self.git.refs(&[&lane.full_branch(), &self.full_result()])?;
        let tip = self.tip_of(&refs, &mut known)?;
        if tip == commit {
            return Ok(Published::Now);
        }
        let direct = refs.get(&lane.full_branch()).is_some_and(|work| work.commit == commit && work.follows(&tip));
        if !direct && !self.git.is_behind(&tip, commit)? {
            // Work that brought nothing is behind it already.
            return Ok(if self.git.is_behind(commit, &tip)? { Published::Now } else { Published::Moved });
        }
        let branch = self.full_result();
        if let Some(path) = refs.get(&branch).and_then(|result| result.tree.clone()) {
            return Ok(Published::CheckedOut { path });
        }
        let reason = format!("punch run: {}", lane.name);
        let moved = self.git.run(&["update-ref", "-m", &reason, &branch, commit, &tip], None)?;
        if moved.status.success() {
            known.clear();
            known.push_str(commit);
            return Ok(Published::Now);
        }
        // Another process may have been faster; anything else is a failure.
        match self.git.commit(&branch)? {
            Some(now) if now != tip => Ok(Published::Moved),
            _ => Err(failure(&moved, "move the result branch")),
        }
    }
    /// One commit of two. The first is what the history follows.
    pub(super) fn join(&self, git: &Git, first: &str, second: &str, message: &str) -> Result<Merge, WorktreeError> {
        let merged = ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", first, second];
        let answer = git.run(&merged, None)?;
        let text = String::from_utf8_lossy(&answer.out).into_owned();
        let (tree, rest) = text.split_once('\0').unwrap_or((text.as_str(), ""));
        let is_tree = matches!(tree.len(), 40 | 64) && tree.bytes().all(|byte| byte.is_ascii_hexdigit());
        match answer.status.code() {
            Some(0) if is_tree => {}
            Some(1) if is_tree => return Ok(Merge::Conflict(paths(rest))),
            _ if answer.complaint.contains("unrelated histories") => return Ok(Merge::Unrelated),
            _ => return Err(failure(&answer, "merge the work of a lane")),
        }
        let commit = ["commit-tree", tree, "-p", first, "-p", second];
        let commit = [self.identity(git)?, &commit[..]].concat();
        git.read_with("commit a merge", &commit, Some(&capped(message))).map(Merge::Clean)
    }
}
