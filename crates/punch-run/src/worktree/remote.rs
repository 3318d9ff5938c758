//! Lanes that several machines share through a git remote. Workers push the branch of a lane there before they report its
//! todo; the coordinator fetches it, merges it and moves the result branch of the remote, by comparing and swapping
//! (decision 0180). What the remote had when it was last asked is kept under private refs.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::git::{GitOutput, LaneGit};
use super::merge::PublishResult;
use super::name::{MERGE, RunName};
use super::{Lane, Lanes, WorktreeError};

/// The prefix of refs that keep what the remote had. Not below `refs/remotes`, where the user's own fetches write.
pub(super) const TRACKED: &str = "refs/lanes-remote/";

/// What git prints if the remote answered and lets this machine neither fetch nor push. Trying again does not help.
const NO_ACCESS: [&str; 7] = [
    "Permission denied",
    "Permission to",
    "access denied",
    "Authentication failed",
    "could not read Username",
    "Repository not found",
    "does not appear to be a git repository",
];

/// What git prints if the remote has taken in what was pushed and could not store it. For a fetch, this machine is full.
const NOT_STORED: [&str; 4] = ["unpack", "No space left", "couldn't write", "The requested URL returned error: 403"];

/// What git does with a remote, in messages.
const FETCH: &str = "fetch from";
const PUSH: &str = "push to";

/// How often a push is tried that met the push of another process.
const TRIES: usize = 5;

/// One fetch at a time for each repository in this process: what a slower one brings must not replace what a later one
/// brought.
static FETCHES: Mutex<BTreeMap<PathBuf, Arc<Mutex<()>>>> = Mutex::new(BTreeMap::new());

/// The git remote that a fleet shares, and the part that these lanes have.
#[derive(Clone, Debug)]
pub struct Remote {
    /// The name of the remote in the repository.
    pub name: String,
    /// The part.
    pub part: RemotePart,
}

/// What lanes are for in a fleet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemotePart {
    /// Agents work in them, and their branches are pushed.
    Worker,
    /// Work of all workers is merged and checked in them.
    Coordinator,
}

/// The result of the push of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushResult {
    /// The remote has the commit.
    Now,
    /// Another process has pushed to the branch. The caller looks whether its claim still holds, and tries again.
    Moved,
}

/// Fails if a repository has no remote of this name.
pub fn require_remote(root: &Path, name: &str) -> Result<(), WorktreeError> {
    Remote { name: name.to_owned(), part: RemotePart::Worker }.require(&LaneGit::new(root))
}

/// Returns the private ref that keeps a branch of the remote.
pub(super) fn tracked(branch: &str) -> String {
    format!("{TRACKED}{branch}")
}

/// Milliseconds to wait after each try that met a ref which another process changes.
const LOCKED_PAUSES: [u64; 5] = [50, 100, 200, 400, 800];

/// Returns true if another process changes a ref at this moment.
fn is_locked(answer: &GitOutput) -> bool {
    answer.complaint.contains("cannot lock ref")
}

/// Returns the reason why a ref was not pushed, from the lines for programs that `git push --porcelain` prints:
/// `!`, the refs, and the reason, separated by tabs. None if the remote was not asked, or took the ref.
fn rejection(answer: &GitOutput) -> Option<String> {
    let out = String::from_utf8_lossy(&answer.out);
    let reason = out.lines().find_map(|line| line.strip_prefix("!\t")?.split_once('\t')).map(|(_, reason)| reason);
    reason.map(str::to_owned)
}

/// Returns true if a ref was not pushed because it is not where it was expected, or another process changes it.
fn is_moved(reason: &str) -> bool {
    ["stale info", "failed to update ref", "failed to lock", "cannot lock ref", "incorrect old value", "already exists"]
        .iter()
        .any(|words| reason.contains(words))
}

impl Remote {
    /// Returns the name of the lane of a todo. A coordinator has its own lanes: the worker's may be in the same clone.
    pub(super) fn lane_name(&self, name: &str) -> String {
        match self.part {
            RemotePart::Worker => name.to_owned(),
            RemotePart::Coordinator => format!("{name}{MERGE}"),
        }
    }

    /// Returns true if a lane of this name belongs to this part.
    pub(super) fn has_lane(&self, name: &str) -> bool {
        name.ends_with(MERGE) == (self.part == RemotePart::Coordinator)
    }

    /// Fails if the repository has no such remote.
    pub(super) fn require(&self, git: &LaneGit) -> Result<(), WorktreeError> {
        match git.holds(&["remote", "get-url", &self.name])? {
            true => Ok(()),
            false => Err(WorktreeError::NoRemote { remote: self.name.clone() }),
        }
    }

    /// Fetches every branch of a run.
    pub(super) fn fetch(&self, git: &LaneGit, run: &RunName) -> Result<(), WorktreeError> {
        let run = run.as_str();
        let refs = format!("+refs/heads/punch/{run}/*:{TRACKED}punch/{run}/*");
        let fetch = ["fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--prune"];
        let fetch = [&fetch[..], &[self.name.as_str(), refs.as_str()][..]].concat();
        // Other workers in the same clone fetch and push too, and git does not wait for them.
        for pause in LOCKED_PAUSES {
            let answer = self.call(git, FETCH, &fetch)?;
            if answer.status.success() {
                return Ok(());
            }
            if !is_locked(&answer) {
                return Err(self.failure(FETCH, &answer));
            }
            thread::sleep(Duration::from_millis(pause));
        }
        let answer = self.call(git, FETCH, &fetch)?;
        if answer.status.success() { Ok(()) } else { Err(self.failure(FETCH, &answer)) }
    }

    /// Fetches every branch of a run and returns the commit of the result branch, if there is one. Fails if that branch no
    /// longer contains what it contained before; what it contained stays known.
    pub(super) fn fetch_result(
        &self,
        git: &LaneGit,
        run: &RunName,
        result: &str,
    ) -> Result<Option<String>, WorktreeError> {
        let of_repository = Arc::clone(
            FETCHES.lock().unwrap_or_else(PoisonError::into_inner).entry(git.root().to_owned()).or_default(),
        );
        let _one = of_repository.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = tracked(result);
        let before = git.commit(&kept)?;
        self.fetch(git, run)?;
        let now = git.commit(&kept)?;
        let Some(before) = before else { return Ok(now) };
        if let Some(now) = &now
            && (*now == before || git.is_behind(&before, now)?)
        {
            return Ok(Some(now.clone()));
        }
        git.read("remember a branch", &["update-ref", &kept, &before])?;
        Err(WorktreeError::Rewritten { branch: result.to_owned(), remote: self.name.clone() })
    }

    /// Moves a branch of the remote to a commit if it is at `expected`, or does not exist if that is empty. False if it is
    /// elsewhere.
    pub(super) fn push(&self, git: &LaneGit, branch: &str, expected: &str, to: &str) -> Result<bool, WorktreeError> {
        let full = format!("refs/heads/{branch}");
        let lease = format!("--force-with-lease={full}:{expected}");
        // The user's settings may ask for tags and submodules too.
        let push = ["push", "--quiet", "--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no"];
        let refs = format!("{to}:{full}");
        let answer =
            self.call(git, PUSH, &[&push[..], &[lease.as_str(), self.name.as_str(), refs.as_str()][..]].concat())?;
        if answer.status.success() {
            let kept = tracked(branch);
            let update: &[&str] = if to.is_empty() { &["update-ref", "-d", &kept] } else { &["update-ref", &kept, to] };
            git.run(update, None)?;
            return Ok(true);
        }
        let is_full = NOT_STORED.iter().any(|words| answer.complaint.contains(words));
        if is_full || rejection(&answer).is_none_or(|reason| !is_moved(&reason)) {
            return Err(self.failure(PUSH, &answer));
        }
        // A ref cannot be below another one, and then the push would be in vain forever.
        match expected.is_empty().then(|| self.branch_above(git, branch)).transpose()?.flatten() {
            Some(branch) => Err(WorktreeError::RemoteBranchTaken { branch, remote: self.name.clone() }),
            None => Ok(false),
        }
    }

    /// Returns a branch of the remote with a name that this branch would have to be below.
    fn branch_above(&self, git: &LaneGit, branch: &str) -> Result<Option<String>, WorktreeError> {
        let above: Vec<&str> = branch.match_indices('/').filter_map(|(at, _)| branch.get(..at)).collect();
        let full: Vec<String> = above.iter().map(|above| format!("refs/heads/{above}")).collect();
        let mut list = vec!["ls-remote", self.name.as_str()];
        list.extend(full.iter().map(String::as_str));
        let answer = self.call(git, FETCH, &list)?;
        if !answer.status.success() {
            return Err(self.failure(FETCH, &answer));
        }
        let out = String::from_utf8_lossy(&answer.out);
        let found: Vec<&str> =
            out.lines().filter_map(|line| line.split_once("\trefs/heads/")).map(|(_, name)| name).collect();
        // A pattern without a star matches the end of longer names too.
        Ok(above.into_iter().find(|above| found.contains(above)).map(str::to_owned))
    }

    /// Runs git with the remote. One that does not come to an end cannot be reached.
    fn call(&self, git: &LaneGit, what: &str, arguments: &[&str]) -> Result<GitOutput, WorktreeError> {
        git.run_remote(arguments).map_err(|cause| match cause.kind() {
            io::ErrorKind::TimedOut => {
                let said = "it took too long".to_owned();
                WorktreeError::Remote { what: what.to_owned(), remote: self.name.clone(), said }
            }
            _ => WorktreeError::NoGit { cause: cause.to_string() },
        })
    }

    fn failure(&self, what: &str, answer: &GitOutput) -> WorktreeError {
        let said = answer.complaint.trim().replace(|c: char| c.is_control() && c != '\n', "?");
        let said = match rejection(answer) {
            Some(reason) => format!("{reason}: {said}"),
            None if said.is_empty() => answer.status.to_string(),
            None => said,
        };
        let remote = self.name.clone();
        let has = |list: &[&str]| list.iter().any(|words| said.contains(words));
        let is_refused = rejection(answer).is_some() || has(&NO_ACCESS) || (what == PUSH && has(&NOT_STORED));
        let what = what.to_owned();
        if is_refused {
            WorktreeError::Refused { what, remote, said }
        } else {
            WorktreeError::Remote { what, remote, said }
        }
    }
}

impl Lanes {
    /// Brings what is known of the remote up to date. Fails if the result branch there is gone, or no longer contains what
    /// it contained: someone has rewritten it. Does nothing without a remote.
    pub fn fetch(&self) -> Result<(), WorktreeError> {
        let Some(remote) = &self.remote else { return Ok(()) };
        remote.fetch_result(&self.git, &self.run, &self.result).map(drop)
    }

    /// Returns the commit of the branch of a lane.
    pub fn head(&self, lane: &Lane) -> Result<String, WorktreeError> {
        self.git.commit(&lane.full_branch())?.ok_or_else(|| lane.gone())
    }

    /// Returns the branch of the remote with the work of a todo.
    pub fn remote_branch(&self, todo: &str) -> String {
        self.run.branch_of(todo)
    }

    /// Returns true if the branch of a todo on the remote, or the result branch, contains a commit, as of the last fetch.
    pub fn has_handed_in(&self, todo: &str, commit: &str) -> Result<bool, WorktreeError> {
        if self.git.commit(commit)?.is_none() {
            return Ok(false);
        }
        for branch in [&self.remote_branch(todo), &self.result] {
            if let Some(work) = self.git.commit(&tracked(branch))?
                && self.git.is_behind(commit, &work)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Pushes a commit of a lane to the branch of its todo. Only branches below `punch/` are ever pushed.
    pub fn push(&self, lane: &Lane, commit: &str) -> Result<PushResult, WorktreeError> {
        let Some(remote) = &self.remote else { return Ok(PushResult::Now) };
        let branch = lane.shown_branch();
        let expected = self.git.commit(&tracked(branch))?.unwrap_or_default();
        if expected == commit || remote.push(&self.git, branch, &expected, commit)? {
            return Ok(PushResult::Now);
        }
        self.fetch()?;
        Ok(PushResult::Moved)
    }

    /// Moves the result branch of the remote forward from its last known commit.
    pub(super) fn publish_to(&self, remote: &Remote, tip: &str, commit: &str) -> Result<PublishResult, WorktreeError> {
        match remote.push(&self.git, &self.result, tip, commit)? {
            true => Ok(PublishResult::Now),
            false => Ok(PublishResult::Moved),
        }
    }

    /// Creates the result branch on the remote. If another coordinator has done so, takes that one.
    pub(super) fn create_result(
        git: &LaneGit,
        remote: &Remote,
        run: &RunName,
        result: &str,
        at: &str,
    ) -> Result<String, WorktreeError> {
        for _ in 0..TRIES {
            if remote.push(git, result, "", at)? {
                return Ok(at.to_owned());
            }
            remote.fetch(git, run)?;
            if let Some(found) = git.commit(&tracked(result))? {
                return Ok(found);
            }
        }
        Err(WorktreeError::Rewritten { branch: result.to_owned(), remote: remote.name.clone() })
    }

    /// Returns the commit that a new lane begins with: what the remote has of earlier attempts at its todo, else the result
    /// branch. A lane of this clone with other work is put aside first.
    pub(super) fn first_commit(&self, lane: &Lane, tip: &str) -> Result<String, WorktreeError> {
        let Some(remote) = &self.remote else { return Ok(tip.to_owned()) };
        let Some(work) = self.git.commit(&tracked(lane.shown_branch()))? else { return Ok(tip.to_owned()) };
        let local = self.git.commit(&lane.full_branch())?;
        if let Some(local) = local.filter(|local| *local != work) {
            let has_it = self.git.is_behind(&work, &local)?;
            if remote.part == RemotePart::Coordinator || !has_it {
                self.put_lane_aside(lane, remote.part)?;
            }
        }
        Ok(work)
    }

    /// Deletes the branch of a lane from the remote, once the result branch contains all of it.
    pub(super) fn drop_remote(&self, lane: &Lane, tip: &str) -> Result<(), WorktreeError> {
        let Some(remote) = self.remote.as_ref().filter(|remote| remote.part == RemotePart::Coordinator) else {
            return Ok(());
        };
        let branch = lane.shown_branch();
        match self.git.commit(&tracked(branch))? {
            Some(work) if self.git.is_behind(&work, tip)? => remote.push(&self.git, branch, &work, "").map(drop),
            _ => Ok(()),
        }
    }
}
