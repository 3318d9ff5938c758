//! Lanes that several machines share through a git remote. Workers push the branch of a lane there before they report its
//! todo; the coordinator fetches it, merges it and moves the result branch of the remote, by comparing and swapping
//! (decision 0180). What the remote had when it was last asked is kept under private refs.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::git::{Answer, Git};
use super::merge::Published;
use super::name::{branch_of, part};
use super::{Lane, Lanes, WorktreeError};

/// The prefix of refs that keep what the remote had. Not below `refs/remotes`, where the user's own fetches write.
pub(super) const TRACKED: &str = "refs/lanes-remote/";

/// How the names of a coordinator's lanes end.
const MERGE: &str = ".merge";

/// What git prints if the remote answered and does not want what was asked. Trying again does not help.
const REFUSED: [&str; 6] =
    ["[remote rejected]", "unpack", "Permission", "denied", "No space left", "does not appear to be a git repository"];

/// How often a push is tried that met the push of another process.
const TRIES: usize = 5;

/// One fetch at a time in this process: what a slower one brings must not replace what a later one brought.
static FETCH: Mutex<()> = Mutex::new(());

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

/// What became of the push of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pushed {
    /// The remote has the commit.
    Now,
    /// Another process has pushed to the branch. The caller looks whether its claim still holds, and tries again.
    Moved,
}

/// Fails if a repository has no remote of this name.
pub fn require_remote(root: &Path, name: &str) -> Result<(), WorktreeError> {
    Remote { name: name.to_owned(), part: RemotePart::Worker }.require(&Git::new(root))
}

/// Returns the private ref that keeps a branch of the remote.
pub(super) fn tracked(branch: &str) -> String {
    format!("{TRACKED}{branch}")
}

/// Milliseconds to wait after each try that met a ref which another process changes.
const LOCKED_PAUSES: [u64; 5] = [50, 100, 200, 400, 800];

/// Returns true if another process changes a ref at this moment.
fn is_locked(answer: &Answer) -> bool {
    answer.complaint.contains("cannot lock ref")
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
    pub(super) fn require(&self, git: &Git) -> Result<(), WorktreeError> {
        match git.holds(&["remote", "get-url", &self.name])? {
            true => Ok(()),
            false => Err(WorktreeError::NoRemote { remote: self.name.clone() }),
        }
    }

    /// Fetches every branch of a run.
    pub(super) fn fetch(&self, git: &Git, run: &str) -> Result<(), WorktreeError> {
        let run = part(run);
        let refs = format!("+refs/heads/punch/{run}/*:{TRACKED}punch/{run}/*");
        let fetch = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--prune", &self.name, &refs];
        // Other workers in the same clone fetch and push too, and git does not wait for them.
        for pause in LOCKED_PAUSES {
            let answer = git.run(&fetch, None)?;
            if answer.status.success() {
                return Ok(());
            }
            if !is_locked(&answer) {
                return Err(self.failure("fetch from", &answer));
            }
            thread::sleep(Duration::from_millis(pause));
        }
        let answer = git.run(&fetch, None)?;
        if answer.status.success() { Ok(()) } else { Err(self.failure("fetch from", &answer)) }
    }

    /// Fetches every branch of a run and returns the commit of the result branch, if there is one. Fails if that branch no
    /// longer contains what it contained before; what it contained stays known.
    pub(super) fn fetch_result(&self, git: &Git, run: &str, result: &str) -> Result<Option<String>, WorktreeError> {
        let _one = FETCH.lock().unwrap_or_else(PoisonError::into_inner);
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
    pub(super) fn push(&self, git: &Git, branch: &str, expected: &str, to: &str) -> Result<bool, WorktreeError> {
        let full = format!("refs/heads/{branch}");
        let lease = format!("--force-with-lease={full}:{expected}");
        let answer = git.run(&["push", "--quiet", "--no-verify", &lease, &self.name, &format!("{to}:{full}")], None)?;
        if answer.status.success() {
            let kept = tracked(branch);
            let update: &[&str] = if to.is_empty() { &["update-ref", "-d", &kept] } else { &["update-ref", &kept, to] };
            git.run(update, None)?;
            return Ok(true);
        }
        match answer.complaint.contains("stale info") || is_locked(&answer) {
            true => Ok(false),
            false => Err(self.failure("push to", &answer)),
        }
    }

    fn failure(&self, what: &str, answer: &Answer) -> WorktreeError {
        let said = answer.complaint.trim().replace(|c: char| c.is_control() && c != '\n', "?");
        let said = if said.is_empty() { answer.status.to_string() } else { said };
        let remote = self.name.clone();
        match REFUSED.iter().any(|words| said.contains(words)) {
            true => WorktreeError::Refused { remote, said },
            false => WorktreeError::Remote { what: what.to_owned(), remote, said },
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
        branch_of(&self.run, todo)
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
    pub fn push(&self, lane: &Lane, commit: &str) -> Result<Pushed, WorktreeError> {
        let Some(remote) = &self.remote else { return Ok(Pushed::Now) };
        let branch = lane.shown_branch();
        let expected = self.git.commit(&tracked(branch))?.unwrap_or_default();
        if expected == commit || remote.push(&self.git, branch, &expected, commit)? {
            return Ok(Pushed::Now);
        }
        self.fetch()?;
        Ok(Pushed::Moved)
    }

    /// Moves the result branch of the remote forward from its last known commit.
    pub(super) fn publish_to(&self, remote: &Remote, tip: &str, commit: &str) -> Result<Published, WorktreeError> {
        match remote.push(&self.git, &self.result, tip, commit)? {
            true => Ok(Published::Now),
            false => Ok(Published::Moved),
        }
    }

    /// Creates the result branch on the remote. If another coordinator has done so, takes that one.
    pub(super) fn create_result(
        git: &Git,
        remote: &Remote,
        run: &str,
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
