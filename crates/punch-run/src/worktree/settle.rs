//! Settles a lane: commits whatever the agent left in it, in whatever state, and merges the result branch into the
//! lane. If the user has to decide something, the todo is put on hold, and no work is lost.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, SystemTime};

use super::git::{LaneGit, failure};
use super::lane_state::LaneState;
use super::merge::MergeResult;
use super::name::mark_of;
use super::refs::Refs;
use super::{Lane, Lanes, WorktreeError};

/// The age from which a lock of the index counts as left over by a killed git.
const STALE: Duration = Duration::from_secs(5);
/// Number of paths named in a hold.
pub(super) const PATHS: usize = 50;
/// The longest commit message, in characters; small enough for the buffer of a pipe.
const MESSAGE: usize = 8000;

/// Options that name an author if git has none configured.
const MADE_UP: [&str; 4] = ["-c", "user.name=punch", "-c", "user.email=punch@localhost"];

/// The result of settling a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettleResult {
    /// The lane has no work that is not on the result branch.
    Nothing {
        /// The commit of the lane.
        commit: String,
    },
    /// The lane is at a descendant of the result branch, which can be checked and published.
    Ready {
        /// The commit.
        commit: String,
        /// True if the commit is a merge with other work, so this state of the files is new.
        merged: bool,
    },
    /// The user has to decide. Branch and worktree stay as they are.
    Held(HeldLane),
}

/// Work that cannot be merged without the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldLane {
    /// The reason.
    pub why: HeldReason,
    /// The paths in question, at most fifty.
    pub paths: Vec<String>,
    /// The branch that has the work.
    pub branch: String,
    /// The branch that it should be merged with.
    pub result: String,
}

/// Why the user has to decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldReason {
    /// Both sides changed the same lines.
    Conflict,
    /// The agent left a merge or a rebase half done.
    Unfinished,
    /// There is a repository inside the repository, whose files would not be committed.
    Nested,
    /// A submodule has work that no remote has.
    Submodule,
    /// The history of the lane has no commit in common with the run.
    Unrelated,
}

impl HeldLane {
    /// Returns true if two versions of the same files have to be brought together.
    pub const fn is_conflict(&self) -> bool {
        match self.why {
            HeldReason::Conflict | HeldReason::Unfinished => true,
            HeldReason::Nested | HeldReason::Submodule | HeldReason::Unrelated => false,
        }
    }

    /// Returns the reason in one short line that is safe to print.
    pub fn reason(&self) -> String {
        let shown: Vec<String> = self.paths.iter().take(5).map(|path| plain(path, 80)).collect();
        let more = self.paths.len().saturating_sub(shown.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let paths = format!("{}{more}", shown.join(", "));
        let (branch, result) = (&self.branch, &self.result);
        match self.why {
            HeldReason::Conflict => format!(
                "`{branch}` and `{result}` both changed {paths}: merge `{result}` into `{branch}`, or both into your own \
                 branch if the run has ended"
            ),
            HeldReason::Unfinished => format!("a merge or rebase on `{branch}` is half done: {paths}"),
            HeldReason::Nested => format!("a git repository of its own is inside the work on `{branch}`: {paths}"),
            HeldReason::Submodule => format!("work in a submodule on `{branch}` exists nowhere else: {paths}"),
            HeldReason::Unrelated => format!("`{branch}` has no history in common with `{result}`"),
        }
    }
}

impl Lanes {
    /// Commits uncommitted work and merges the result branch, inside the lane. The agent must not be working in it.
    /// Calling this again is harmless.
    pub fn settle(&self, lane: &Lane, message: &str) -> Result<SettleResult, WorktreeError> {
        let held = |why, paths| {
            SettleResult::Held(HeldLane { why, paths, branch: lane.shown_branch().into(), result: self.result.clone() })
        };
        let git = self.lane_git(lane)?;
        let refs = match self.commit_all(&git, lane, message)? {
            Ok(refs) => refs,
            Err((why, paths)) => return Ok(held(why, paths)),
        };
        let work = refs.get(&lane.full_branch()).ok_or_else(|| lane.gone())?;
        let tip = self.tip_of(&refs, &mut self.turn())?;
        if work.commit == tip {
            return Ok(SettleResult::Nothing { commit: tip });
        }
        if work.follows(&tip) {
            return Ok(SettleResult::Ready { commit: work.commit.clone(), merged: false });
        }
        let work = work.commit.clone();
        match git.fork(&tip, &work)? {
            None => return Ok(held(HeldReason::Unrelated, Vec::new())),
            Some(fork) if fork == tip => return Ok(SettleResult::Ready { commit: work, merged: false }),
            Some(fork) if fork == work => {
                // The check runs on what will be published, with the work of others.
                git.read("bring a worktree up to date", &["merge", "--quiet", "--ff-only", &tip])?;
                return Ok(SettleResult::Nothing { commit: tip });
            }
            Some(_) => {}
        }
        match self.join(&git, &tip, &work, &format!("Merge {} into {}\n", lane.shown_branch(), self.result))? {
            MergeResult::Clean(commit) => {
                git.read("bring a worktree up to date", &["merge", "--quiet", "--ff-only", &commit])?;
                Ok(SettleResult::Ready { commit, merged: true })
            }
            MergeResult::Conflict(paths) => Ok(held(HeldReason::Conflict, paths)),
            MergeResult::Unrelated => Ok(held(HeldReason::Unrelated, Vec::new())),
        }
    }

    /// Commits all work of the lane on the lane's branch. Returns that branch and the result branch as they are then,
    /// or why there is no commit.
    pub(super) fn commit_all(
        &self,
        git: &LaneGit,
        lane: &Lane,
        message: &str,
    ) -> Result<Result<Refs, (HeldReason, Vec<String>)>, WorktreeError> {
        let folder = git.folders().map(|folders| folders.own.clone()).ok_or_else(|| lane.gone())?;
        let look = LaneState::at(git)?;
        if !look.foreign.is_empty() {
            return Ok(Err((HeldReason::Nested, look.foreign)));
        }
        if look.head.is_none() {
            return Err(lane.gone());
        }
        let under_way = |name: &str| folder.join(name).exists();
        if under_way("rebase-merge") || under_way("rebase-apply") || !look.unmerged.is_empty() {
            return Ok(Err((HeldReason::Unfinished, look.unmerged)));
        }
        let lost = submodule_work(git, &look);
        if !lost.is_empty() {
            return Ok(Err((HeldReason::Submodule, lost)));
        }
        // A merge without changes is still a merge.
        if look.changed || under_way("MERGE_HEAD") {
            stage(git, &folder.join("index.lock"))?;
            let nested = if look.nests { nested(git)? } else { Vec::new() };
            if !nested.is_empty() {
                // They must not be in the next commit either.
                git.read("take a repository out of the index", &["reset", "--quiet"])?;
                return Ok(Err((HeldReason::Nested, nested)));
            }
            self.commit_staged(git, message)?;
        }
        if look.branch != lane.branch {
            back_on_branch(git, lane)?;
        }
        git.refs(&[&lane.full_branch(), &self.full_result()]).map(Ok)
    }

    fn commit_staged(&self, git: &LaneGit, message: &str) -> Result<(), WorktreeError> {
        let commit = ["commit", "--quiet", "--no-verify", "--cleanup=verbatim", "--file=-"];
        let answer = git.run(&[self.identity(git)?, &commit[..]].concat(), Some(&capped(message)))?;
        // A difference may vanish in the index, for example one of line endings.
        match answer.status.success() || git.holds(&["diff", "--cached", "--quiet"])? {
            true => Ok(()),
            false => Err(failure(&answer, "commit the work in a worktree")),
        }
    }

    /// Returns options that name an author if git has none configured. git is asked once.
    pub(super) fn identity(&self, git: &LaneGit) -> Result<&'static [&'static str], WorktreeError> {
        if let Some(known) = self.identity.get() {
            return Ok(known);
        }
        let told = git.holds(&["var", "GIT_COMMITTER_IDENT"])? && git.holds(&["var", "GIT_AUTHOR_IDENT"])?;
        Ok(self.identity.get_or_init(|| if told { &[] } else { &MADE_UP }))
    }
}

/// Brings work that the agent left on another branch, or on none, onto the lane's branch.
fn back_on_branch(git: &LaneGit, lane: &Lane) -> Result<(), WorktreeError> {
    let (branch, head) = (lane.full_branch(), git.commit("HEAD")?.ok_or_else(|| lane.gone())?);
    if let Some(work) = git.commit(&branch)?.filter(|work| *work != head) {
        if git.is_behind(&head, &work)? {
            // The agent only checked out an older commit.
            return git.read("return to the branch of a worktree", &["checkout", "--quiet", &lane.branch]).map(drop);
        }
        if !git.is_behind(&work, &head)? {
            put_aside(git, lane, &work)?;
        }
    }
    git.read("move the branch of a worktree", &["update-ref", "--create-reflog", &branch, &head])?;
    git.read("return to the branch of a worktree", &["symbolic-ref", "HEAD", &branch]).map(drop)
}

/// Keeps commits that the agent dropped from its history on a branch beside the lane's, which `punch run list` names.
pub(super) fn put_aside(git: &LaneGit, lane: &Lane, work: &str) -> Result<(), WorktreeError> {
    let short = work.get(..10).unwrap_or(work);
    let branch = format!("{}-before-{short}", lane.branch);
    let both = format!("update refs/heads/{branch} {work}\nupdate {} {work}\n", mark_of(&branch));
    git.read_with("put work aside", &["update-ref", "--stdin"], Some(&both)).map(drop)
}

/// Adds everything to the index, removing a lock left over by a killed git.
fn stage(git: &LaneGit, lock: &Path) -> Result<(), WorktreeError> {
    loop {
        let answer = git.run(&["add", "--all"], None)?;
        if answer.status.success() {
            return Ok(());
        }
        let Ok(made) = fs::symlink_metadata(lock).and_then(|found| found.modified()) else {
            return Err(failure(&answer, "stage the work in a worktree"));
        };
        let age = SystemTime::now().duration_since(made).unwrap_or_default();
        if age < STALE {
            thread::sleep(Duration::from_millis(50));
        } else if fs::remove_file(lock).is_err() {
            return Err(failure(&answer, "stage the work in a worktree"));
        }
    }
}

/// Returns repositories inside the lane: a commit would contain only their names.
fn nested(git: &LaneGit) -> Result<Vec<String>, WorktreeError> {
    let raw = ["diff", "--cached", "--raw", "--no-renames", "-z", "--diff-filter=AT", "HEAD"];
    let raw = git.read("compare with the last commit", &raw)?;
    let mut fields = raw.split('\0');
    let mut out = Vec::new();
    while let (Some(modes), Some(path)) = (fields.next(), fields.next()) {
        let listed = || {
            let known = ["config", "--file", ".gitmodules", "--get-regexp", r"^submodule\..*\.path$"];
            git.run(&known, None).is_ok_and(|known| {
                String::from_utf8_lossy(&known.out)
                    .lines()
                    .any(|line| line.split_once(' ').is_some_and(|l| l.1 == path))
            })
        };
        if modes.split(' ').nth(1) == Some("160000") && !listed() {
            out.push(path.to_owned());
        }
    }
    out.truncate(PATHS);
    Ok(out)
}

/// Returns submodules with uncommitted files, or with commits that no remote has.
fn submodule_work(git: &LaneGit, look: &LaneState) -> Vec<String> {
    let is_lost = |(flags, path): &&([u8; 3], String)| {
        let [commit, modified, untracked] = *flags;
        let inside = git.in_submodule(&git.root().join(path));
        let unknown = || {
            let held = ["for-each-ref", "--count=1", "--contains", "HEAD", "refs/remotes"];
            inside.run(&held, None).map_or(true, |answer| answer.out.is_empty())
        };
        modified == b'M' || untracked == b'U' || (commit == b'C' && inside.root().join(".git").exists() && unknown())
    };
    look.submodules.iter().filter(is_lost).take(PATHS).map(|(_, path)| path.clone()).collect()
}

pub(super) fn paths(answer: &str) -> Vec<String> {
    answer.split('\0').filter(|path| !path.is_empty()).take(PATHS).map(str::to_owned).collect()
}

pub(super) fn capped(message: &str) -> String {
    let text: String = punch_core::text::neutral_lines(message).chars().take(MESSAGE).collect();
    match text.trim() {
        "" => "Work of an agent\n".to_owned(),
        text => format!("{text}\n"),
    }
}

fn plain(path: &str, most: usize) -> String {
    let shown: String = path.chars().take(most).map(|c| if c.is_control() { '?' } else { c }).collect();
    format!("`{}`", shown.replace('`', "'"))
}
