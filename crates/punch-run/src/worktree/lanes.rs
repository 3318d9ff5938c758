//! The lanes of one run: setting them up, opening them, and finding out what is left of them at the end.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use punch_engine::GitFolders;
use punch_store::platform;

use super::WorktreeError;
use super::git::{LaneGit, failure};
use super::lane::{self, Lane};
use super::lane_state::LaneState;
use super::name::{RunName, mark_of};
use super::refs::{KnownRef, Refs};
use super::remote::{Remote, RemotePart, tracked};
use super::repair::remove_half_made;
use super::settle::put_aside;

/// Number of alternative names tried for a lane whose name is taken.
const TRIES: usize = 50;

/// The lanes of one run. Shared by the threads of a runner: changes of refs are serialized.
#[derive(Debug)]
pub struct Lanes {
    pub(super) git: LaneGit,
    /// The git folder that all worktrees of the repository share.
    pub(super) common: PathBuf,
    /// The git folders of lanes, recorded when a lane was created or first used.
    pub(super) recorded: Mutex<BTreeMap<PathBuf, GitFolders>>,
    pub(super) folder: PathBuf,
    pub(super) run: RunName,
    pub(super) result: String,
    base: String,
    /// The last known commit of the result branch.
    tip: Mutex<String>,
    /// Shared by those who move the result branch, or held by one that must not be overtaken.
    publishing: RwLock<()>,
    /// Options that name an author if git has none configured. Determined when first needed.
    pub(super) identity: OnceLock<&'static [&'static str]>,
    /// The git remote that a fleet shares. The result branch is then that of the remote, and this repository has none.
    pub(super) remote: Option<Remote>,
}

/// Something the user should know before agents begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneRemark {
    /// Number of files with uncommitted changes, which lanes do not contain.
    Uncommitted(usize),
    /// Number of submodules, whose folders are empty in lanes.
    Submodules(usize),
}

/// The state of the result branch after a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResultState {
    /// The run added no commit. The result branch is deleted.
    Nothing,
    /// The user's branch already contains all of it.
    TakenIn,
    /// The result branch has commits that the user can merge.
    Waiting {
        /// The result branch.
        branch: String,
        /// Number of commits that the run added.
        commits: usize,
        /// The command that merges them into the user's branch.
        command: String,
    },
}

impl Lanes {
    /// Fails if runs cannot work in lanes of this repository.
    pub fn check(root: &Path) -> Result<(), WorktreeError> {
        Self::begin_at(&LaneGit::new(root), root).map(drop)
    }

    /// The commit that a run begins with.
    fn begin_at(git: &LaneGit, root: &Path) -> Result<String, WorktreeError> {
        usable(git)?;
        git.commit("HEAD")?.ok_or_else(|| WorktreeError::NoCommit { root: root.to_owned() })
    }

    /// Sets up lanes for a run, starting from the current commit of the user's worktree, or from where the run stopped
    /// if it is resumed. `folder` is for the lanes of all runs, outside of the user's worktree, and is created if
    /// missing.
    pub fn begin(
        root: &Path,
        folder: &Path,
        run: impl Into<RunName>,
    ) -> Result<(Self, Vec<LaneRemark>), WorktreeError> {
        Self::begin_with(root, folder, run.into(), None)
    }

    /// Sets up lanes for a run that a fleet shares through a git remote. The coordinator creates the result branch there if
    /// it is missing, from the current commit of its worktree.
    pub fn begin_shared(
        root: &Path,
        folder: &Path,
        run: impl Into<RunName>,
        remote: Remote,
    ) -> Result<(Self, Vec<LaneRemark>), WorktreeError> {
        Self::begin_with(root, folder, run.into(), Some(remote))
    }

    fn begin_with(
        root: &Path,
        folder: &Path,
        run: RunName,
        remote: Option<Remote>,
    ) -> Result<(Self, Vec<LaneRemark>), WorktreeError> {
        let git = LaneGit::new(root);
        let head = Self::begin_at(&git, root)?;
        let folder = folder.join(run.as_str());
        platform::create_private_folders(&folder)
            .map_err(|cause| WorktreeError::Folder { path: folder.clone(), cause: cause.to_string() })?;
        // git stores paths with links followed.
        let folder = folder.canonicalize().unwrap_or(folder);
        let Some(name) = folder.to_str() else {
            return Err(WorktreeError::Folder { path: folder, cause: "its name is not UTF-8".into() });
        };
        let git = git.working_for(name);
        git.outlast();
        remove_half_made(&git, &folder)?;
        let common = common_folder(&git)?;
        let result = run.result_branch();
        let (branch, mark) = (format!("refs/heads/{result}"), mark_of(&result));
        let (base, tip) = match &remote {
            Some(remote) => {
                require_room(&git, &run)?;
                shared_result(&git, remote, &run, &result, head)?
            }
            None => match (git.commit(&branch)?, git.commit(&mark)?) {
                (Some(tip), Some(base)) => (base, tip),
                (Some(_), None) => return Err(WorktreeError::BranchTaken { branch: result }),
                (None, _) => {
                    require_room(&git, &run)?;
                    let both = format!("create {branch} {head}\nupdate {mark} {head}\n");
                    git.read_with("create the result branch", &["update-ref", "--stdin"], Some(&both))?;
                    (head.clone(), head)
                }
            },
        };
        let remarks = remarks(&git)?;
        let (tip, identity) = (Mutex::new(tip), OnceLock::new());
        let (recorded, publishing) = (Mutex::default(), RwLock::default());
        Ok((Self { git, common, recorded, folder, run, result, base, tip, publishing, identity, remote }, remarks))
    }

    /// Returns the name of the result branch.
    pub fn result_branch(&self) -> &str {
        &self.result
    }

    /// Returns the commit that the run began with.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Opens the lane of this name. An existing one is as it was left; a new one begins with everything on the result
    /// branch, which includes the work of the todos that its todo depends on.
    pub fn open(&self, name: &str) -> Result<Lane, WorktreeError> {
        self.fetch()?;
        self.open_known(name)
    }

    /// Opens the lane of this name like [`Lanes::open`], with what was last fetched from the remote: nothing here waits for
    /// the network.
    pub fn open_known(&self, name: &str) -> Result<Lane, WorktreeError> {
        let remote = self.remote.as_ref().map(|_| self.remote_branch(name));
        let name = self.run.lane_of(name);
        let name = self.remote.as_ref().map_or_else(|| name.clone(), |remote| remote.lane_name(&name));
        let mut turn = self.turn();
        let mut taken = None;
        for n in 1..=TRIES {
            let name = if n == 1 { name.clone() } else { format!("{name}-{n}") };
            let (branch, path) = (self.run.branch_with(&name), self.folder.join(&name));
            let lane = Lane { name, branch, path, remote: remote.clone() };
            let (branch, mark) = (lane.full_branch(), mark_of(&lane.branch));
            let refs = self.git.refs(&[&branch, &mark, &self.full_result()])?;
            let mut known = refs.has(&branch);
            if known && !refs.has(&mark) {
                taken = Some(lane.branch);
                continue;
            }
            let tip = self.tip_of(&refs, &mut turn)?;
            let mut first = tip;
            if self.remote.is_some() {
                // Putting a lane of this clone aside takes a separate turn.
                drop(turn);
                first = self.first_commit(&lane, &first)?;
                turn = self.turn();
                known = self.git.commit(&branch)?.is_some();
            }
            if lane.path.symlink_metadata().is_err() {
                self.add(&lane, known, &first)?;
            } else {
                match lane::at(&self.git, &lane.path)? {
                    // Files in an unregistered folder may be work of the user.
                    None => continue,
                    // Files that were never checked out would look like deletions by the agent.
                    Some(found) if found.is_half_made() => {
                        self.unmake(&lane)?;
                        self.add(&lane, known, &first)?;
                    }
                    Some(_) => {}
                }
            }
            drop(turn);
            // No agent is at work in it yet.
            self.lane_git(&lane)?;
            if known {
                self.refresh(&lane)?;
            }
            return Ok(lane);
        }
        Err(WorktreeError::BranchTaken { branch: taken.unwrap_or_else(|| self.run.branch_with(&name)) })
    }

    /// Returns true if this clone has work in the lane of this name.
    pub fn has_work(&self, name: &str) -> Result<bool, WorktreeError> {
        let branch = format!("refs/heads/{}", self.run.branch_of(name));
        Ok(self.git.commit(&branch)?.is_some())
    }

    /// Moves a lane without changes to the result branch. Returns true if the lane is at the result branch now.
    pub fn refresh(&self, lane: &Lane) -> Result<bool, WorktreeError> {
        let tip = self.tip(&mut self.turn())?;
        let git = self.lane_git(lane)?;
        let look = LaneState::at(&git)?;
        let Some(head) = look.head else { return Ok(false) };
        if head == tip {
            return Ok(true);
        }
        if look.changed || !git.is_behind(&head, &tip)? {
            return Ok(false);
        }
        git.holds(&["merge", "--quiet", "--ff-only", &tip])
    }

    /// Returns the state of the result branch, and deletes it if it has no commits. Call it after closing all lanes.
    pub fn finish(&self) -> Result<ResultState, WorktreeError> {
        let refs = self.git.refs(&[&self.full_result()])?;
        let tip = self.tip_of(&refs, &mut self.turn())?;
        let _ = fs::remove_dir(&self.folder);
        let head = self.git.commit("HEAD")?.unwrap_or_default();
        if tip == self.base || (!head.is_empty() && self.git.is_behind(&tip, &head)?) {
            let done = if tip == self.base { ResultState::Nothing } else { ResultState::TakenIn };
            if let Some(result) = refs.get(&self.full_result()).filter(|_| self.remote.is_none()) {
                self.drop_branch(&self.result, result)?;
            }
            return Ok(done);
        }
        let range = format!("{}..{tip}", self.base);
        let commits = self.git.read("count commits", &["rev-list", "--count", &range])?.parse().unwrap_or_default();
        let forward = !head.is_empty() && self.git.is_behind(&head, &tip)?;
        let flag = if forward { "--ff-only " } else { "" };
        let command = match &self.remote {
            Some(remote) => format!("git pull {flag}{} {}", remote.name, self.result),
            None => format!("git merge {flag}{}", self.result),
        };
        Ok(ResultState::Waiting { branch: self.result.clone(), commits, command })
    }

    /// Keeps every other thread from moving the result branch.
    pub(crate) fn hold_result(&self) -> RwLockWriteGuard<'_, ()> {
        self.publishing.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until no other thread keeps the result branch where it is.
    pub(crate) fn share_result(&self) -> RwLockReadGuard<'_, ()> {
        self.publishing.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn turn(&self) -> MutexGuard<'_, String> {
        self.tip.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the full ref of the result branch.
    pub(super) fn full_result(&self) -> String {
        match self.remote {
            Some(_) => tracked(&self.result),
            None => format!("refs/heads/{}", self.result),
        }
    }

    /// Returns the commit of the result branch.
    pub(super) fn tip(&self, known: &mut MutexGuard<'_, String>) -> Result<String, WorktreeError> {
        self.tip_of(&self.git.refs(&[&self.full_result()])?, known)
    }

    /// Returns the commit of the result branch from refs that were already read. If the user deleted the branch, it is
    /// restored: it holds finished work.
    pub(super) fn tip_of(&self, refs: &Refs, known: &mut MutexGuard<'_, String>) -> Result<String, WorktreeError> {
        match refs.get(&self.full_result()) {
            Some(result) => known.clone_from(&result.commit),
            None => {
                let mark = match self.remote {
                    Some(_) => String::new(),
                    None => format!("update {} {}\n", mark_of(&self.result), self.base),
                };
                let both = format!("create {} {known}\n{mark}", self.full_result());
                self.git.read_with("recreate the result branch", &["update-ref", "--stdin"], Some(&both))?;
            }
        }
        Ok(known.clone())
    }

    /// Removes a lane of this clone that has other work than the remote. The work of agents stays on a branch beside it.
    pub(super) fn put_lane_aside(&self, lane: &Lane, part: RemotePart) -> Result<(), WorktreeError> {
        if lane.path.is_dir() {
            self.close(lane, "Work of an earlier attempt\n")?;
        }
        if let Some(found) = self.git.refs(&[&lane.full_branch()])?.get(&lane.full_branch()) {
            if part == RemotePart::Worker {
                put_aside(&self.git, lane, &found.commit)?;
            }
            self.drop_branch(&lane.branch, found)?;
        }
        Ok(())
    }

    /// Deletes a branch and its mark, unless it is checked out or was moved. Returns whether it did.
    pub(super) fn drop_branch(&self, branch: &str, found: &KnownRef) -> Result<bool, WorktreeError> {
        if found.tree.is_some() {
            return Ok(false);
        }
        let both = format!("delete refs/heads/{branch} {}\ndelete {}\n", found.commit, mark_of(branch));
        Ok(self.git.run(&["update-ref", "--stdin"], Some(&both))?.status.success())
    }

    /// Removes the registration of a worktree whose folder is gone.
    pub(super) fn forget(&self, lane: &Lane) -> Result<(), WorktreeError> {
        self.records().remove(&lane.path);
        let path = lane.path.to_string_lossy();
        self.git.read("remove a worktree", &["worktree", "remove", "--force", "--force", &path]).map(drop)
    }

    /// Removes a worktree that git did not finish creating. No agent has worked in it.
    pub(super) fn unmake(&self, lane: &Lane) -> Result<(), WorktreeError> {
        // git removes a worktree without a folder, but not one without `.git`.
        if let Err(cause) = fs::remove_dir_all(&lane.path)
            && cause.kind() != std::io::ErrorKind::NotFound
        {
            return Err(WorktreeError::Folder { path: lane.path.clone(), cause: cause.to_string() });
        }
        self.forget(lane)
    }

    fn add(&self, lane: &Lane, exists: bool, tip: &str) -> Result<(), WorktreeError> {
        if !exists {
            // In one transaction: a branch without a mark would never be recognized as created by punch.
            let both = format!("update {} {tip}\ncreate {} {tip}\n", mark_of(&lane.branch), lane.full_branch());
            self.git.read_with("create the branch of a worktree", &["update-ref", "--stdin"], Some(&both))?;
        }
        let path = lane.path.to_string_lossy();
        let add = ["worktree", "add", "--quiet", &*path, &lane.branch];
        let answer = self.git.run(&add, None)?;
        if answer.status.success() {
            return Ok(());
        }
        // git may have been killed.
        remove_half_made(&self.git, &self.folder)?;
        // The folder was deleted by hand; git still lists it, and the commits are on the branch.
        if lane::at(&self.git, &lane.path)?.is_some() && lane.path.symlink_metadata().is_err() {
            self.forget(lane)?;
            return self.git.read("create a worktree", &add).map(drop);
        }
        if !exists {
            // An incomplete checkout, for example on a full disk, contains no work.
            let _ = self.git.run(&["worktree", "remove", "--force", "--force", &path], None);
            let _ = fs::remove_dir_all(&lane.path);
            if let Some(made) = self.git.refs(&[&lane.full_branch()])?.get(&lane.full_branch()) {
                let _ = self.drop_branch(&lane.branch, made);
            }
        }
        Err(failure(&answer, "create a worktree"))
    }
}

impl fmt::Display for LaneRemark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = |n: usize| if n == 1 { "1 path differs".to_owned() } else { format!("{n} paths differ") };
        match self {
            Self::Uncommitted(n) => {
                write!(f, "{} from the last commit; agents in worktrees do not see that", files(*n))
            }
            Self::Submodules(1) => f.write_str("the folder of 1 submodule is empty in the worktrees of agents"),
            Self::Submodules(n) => write!(f, "the folders of {n} submodules are empty in the worktrees of agents"),
        }
    }
}

/// Returns the git folder that all worktrees of a repository share.
pub(crate) fn shared_git_folder(root: &Path) -> Result<PathBuf, WorktreeError> {
    common_folder(&LaneGit::new(root))
}

fn common_folder(git: &LaneGit) -> Result<PathBuf, WorktreeError> {
    let common = git.read("find its folder", &["rev-parse", "--path-format=absolute", "--git-common-dir"])?;
    Ok(PathBuf::from(&common).canonicalize().unwrap_or_else(|_| common.into()))
}

/// Fails if a branch has a name that the branches of the run would have to be below.
fn require_room(git: &LaneGit, run: &RunName) -> Result<(), WorktreeError> {
    for above in ["punch".to_owned(), format!("punch/{}", run.as_str())] {
        if git.commit(&format!("refs/heads/{above}"))?.is_some() {
            return Err(WorktreeError::BranchTaken { branch: above });
        }
    }
    Ok(())
}

/// Returns the first and the current commit of the result branch that a fleet shares. Only the coordinator creates it.
fn shared_result(
    git: &LaneGit,
    remote: &Remote,
    run: &RunName,
    result: &str,
    head: String,
) -> Result<(String, String), WorktreeError> {
    remote.require(git)?;
    let tip = match (remote.fetch_result(git, run, result)?, remote.part) {
        (Some(tip), _) => tip,
        (None, RemotePart::Coordinator) => Lanes::create_result(git, remote, run, result, &head)?,
        (None, RemotePart::Worker) => {
            return Err(WorktreeError::NoResult { branch: result.to_owned(), remote: remote.name.clone() });
        }
    };
    let base = git.fork(&head, &tip)?.unwrap_or_else(|| tip.clone());
    Ok((base, tip))
}

/// Checks that git and the repository support lanes.
fn usable(git: &LaneGit) -> Result<(), WorktreeError> {
    let version = git.read("tell its version", &["version"])?;
    let mut numbers = version.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse::<u32>().ok());
    if (numbers.next(), numbers.next()) < (Some(2), Some(38)) {
        return Err(WorktreeError::TooOld { version });
    }
    let inside = git.run(&["rev-parse", "--is-inside-work-tree"], None)?;
    match inside.out.starts_with(b"true") {
        true => Ok(()),
        false => Err(WorktreeError::NoRepository { root: git.root().to_owned() }),
    }
}

fn remarks(git: &LaneGit) -> Result<Vec<LaneRemark>, WorktreeError> {
    let status = git.read("look at the worktree", &["status", "--porcelain", "-z", "--no-renames"])?;
    let uncommitted = status.split('\0').filter(|entry| !entry.is_empty()).count();
    let modules = ["config", "--blob", "HEAD:.gitmodules", "--name-only", "--get-regexp", r"^submodule\..*\.path$"];
    let modules = git.run(&modules, None)?.out.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count();
    let (uncommitted, modules) = (LaneRemark::Uncommitted(uncommitted), LaneRemark::Submodules(modules));
    let none = [LaneRemark::Uncommitted(0), LaneRemark::Submodules(0)];
    Ok([uncommitted, modules].into_iter().filter(|remark| !none.contains(remark)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_holds_the_result_branch_is_not_overtaken() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("repo");
        fs::create_dir(&root).unwrap();
        let git = LaneGit::new(&root);
        git.read("begin", &["init", "-q"]).unwrap();
        let names = ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "first"];
        git.read("commit", &names).unwrap();
        let (lanes, _) = Lanes::begin(&root, &folder.path().join("lanes"), "7").unwrap();
        let quick = [lanes.share_result(), lanes.share_result()];
        assert!(lanes.publishing.try_write().is_err(), "it waits for those who publish");
        drop(quick);
        let slow = lanes.hold_result();
        assert!(lanes.publishing.try_read().is_err(), "those who publish wait for it");
        drop(slow);
        drop(lanes.share_result());
    }
}
