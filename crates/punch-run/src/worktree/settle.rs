//! Makes one commit of whatever an agent left in its lane, in whatever state, and brings the lane up to the result
//! branch. What cannot be decided without a person is held, and nothing of it is lost.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, SystemTime};

use super::git::Git;
use super::merge::{self, Merge};
use super::name::mark_of;
use super::{Lane, Lanes, WorktreeError};

/// A lock of an index that is older belongs to a git that was killed.
const STALE: Duration = Duration::from_secs(5);
/// Paths that are kept of those that are in the way.
const PATHS: usize = 50;
/// Characters of a commit message that are kept: well within a pipe.
const MESSAGE: usize = 8000;

/// What became of the work in a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settled {
    /// There is no work that the result branch does not have.
    Nothing {
        /// Where the lane is.
        commit: String,
    },
    /// The lane is at this commit, which has the result branch behind it: it can be checked and published.
    Ready {
        /// The commit.
        commit: String,
        /// It joins this lane with others: nobody has seen this state of the files before.
        merged: bool,
    },
    /// A person is needed; branch and work tree stay as they are.
    Held(Held),
}

/// Work that cannot be joined with the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The reason.
    pub why: Why,
    /// What it is about, at most fifty.
    pub paths: Vec<String>,
    /// The branch that has the work.
    pub branch: String,
    /// The branch that it should come together with.
    pub result: String,
}

/// Why a person is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Both sides changed the same.
    Conflict,
    /// The agent left a merge or a rebase half done.
    Unfinished,
    /// A repository inside the repository, whose files a commit would not have.
    Nested,
    /// Work inside a submodule that is nowhere else.
    Submodule,
    /// The lane has a history that has nothing to do with the run's.
    Unrelated,
}

impl Held {
    /// The reason in one line, for a hold: short and without anything that a terminal would take for a command.
    pub fn reason(&self) -> String {
        let shown: Vec<String> = self.paths.iter().take(5).map(|path| plain(path, 80)).collect();
        let more = self.paths.len().saturating_sub(shown.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let paths = format!("{}{more}", shown.join(", "));
        let (branch, result) = (&self.branch, &self.result);
        match self.why {
            Why::Conflict => format!("`{branch}` and `{result}` both changed {paths}: merge them on `{branch}`"),
            Why::Unfinished => format!("a merge or rebase on `{branch}` is half done: {paths}"),
            Why::Nested => format!("a git repository of its own is inside the work on `{branch}`: {paths}"),
            Why::Submodule => format!("work in a submodule on `{branch}` is nowhere else: {paths}"),
            Why::Unrelated => format!("`{branch}` has no history in common with `{result}`"),
        }
    }
}

impl Lanes {
    /// Commits what is uncommitted and joins it with the result branch, inside the lane. The agent must not work in it
    /// meanwhile. Calling it again is harmless.
    pub fn settle(&self, lane: &Lane, message: &str) -> Result<Settled, WorktreeError> {
        let held =
            |why, paths| Settled::Held(Held { why, paths, branch: lane.branch.clone(), result: self.result.clone() });
        let git = self.lane_git(lane)?;
        let work = match commit_all(&git, lane, message)? {
            Ok(work) => work,
            Err((why, paths)) => return Ok(held(why, paths)),
        };
        let tip = self.tip(&mut self.turn())?;
        if git.is_behind(&work, &tip)? {
            // What is checked is what there will be: with the work of the others.
            if work != tip {
                git.read("bring a lane up to date", &["merge", "--quiet", "--ff-only", &tip])?;
            }
            return Ok(Settled::Nothing { commit: tip });
        }
        if git.is_behind(&tip, &work)? {
            return Ok(Settled::Ready { commit: work, merged: false });
        }
        match merge::join(&git, &tip, &work, &format!("Merge {} into {}\n", lane.branch, self.result))? {
            Merge::Clean(commit) => {
                git.read("bring a lane up to date", &["merge", "--quiet", "--ff-only", &commit])?;
                Ok(Settled::Ready { commit, merged: true })
            }
            Merge::Conflict(paths) => Ok(held(Why::Conflict, paths)),
            Merge::Unrelated => Ok(held(Why::Unrelated, Vec::new())),
        }
    }

    pub(super) fn lane_git(&self, lane: &Lane) -> Result<Git, WorktreeError> {
        let git = self.git.within(&lane.path);
        let gone = || WorktreeError::Gone { path: lane.path.clone(), branch: lane.branch.clone() };
        // Without its `.git` the folder is no work tree, and git would look further up.
        if !lane.path.join(".git").is_file() || !git.holds(&["rev-parse", "--verify", "--quiet", "HEAD"])? {
            return Err(gone());
        }
        Ok(git)
    }
}

/// The commit that has all of the lane's work; or why there is none.
pub(super) fn commit_all(
    git: &Git,
    lane: &Lane,
    message: &str,
) -> Result<Result<String, (Why, Vec<String>)>, WorktreeError> {
    let git_dir = git.read("find the folder of a lane", &["rev-parse", "--absolute-git-dir"])?;
    let git_dir = Path::new(&git_dir);
    let unmerged = paths(&git.read("look for conflicts", &["diff", "--name-only", "--diff-filter=U", "-z"])?);
    let rebasing = ["rebase-merge", "rebase-apply"].iter().any(|name| git_dir.join(name).exists());
    if rebasing || !unmerged.is_empty() {
        return Ok(Err((Why::Unfinished, unmerged)));
    }
    let lost = submodule_work(git)?;
    if !lost.is_empty() {
        return Ok(Err((Why::Submodule, lost)));
    }
    stage(git, &git_dir.join("index.lock"))?;
    let nested = nested(git)?;
    if !nested.is_empty() {
        // They are not to be in the next commit either, whoever makes it.
        git.read("take a repository out of the index", &["reset", "--quiet"])?;
        return Ok(Err((Why::Nested, nested)));
    }
    if !git.holds(&["diff", "--cached", "--quiet"])? {
        let identity = identity(git)?;
        let identity: Vec<&str> = identity.iter().map(String::as_str).collect();
        let commit = ["commit", "--quiet", "--no-verify", "--cleanup=verbatim", "--file=-"];
        let message = capped(message);
        git.read_with("commit the work of a lane", &[&identity[..], &commit[..]].concat(), Some(&message))?;
    }
    let head = git.commit("HEAD")?.unwrap_or_default();
    back_on_branch(git, lane, head).map(Ok)
}

/// The agent may have gone to another branch, or to none: its work counts, and belongs to the lane's branch. Answers the
/// commit that has it.
fn back_on_branch(git: &Git, lane: &Lane, head: String) -> Result<String, WorktreeError> {
    let branch = format!("refs/heads/{}", lane.branch);
    let now = git.run(&["symbolic-ref", "--quiet", "HEAD"], None)?;
    if String::from_utf8_lossy(&now.out).trim() == branch {
        return Ok(head);
    }
    if let Some(work) = git.commit(&branch)?.filter(|work| *work != head) {
        if git.is_behind(&head, &work)? {
            // It only went back to look at something.
            git.read("return to the branch of a lane", &["checkout", "--quiet", &lane.branch])?;
            return Ok(work);
        }
        if !git.is_behind(&work, &head)? {
            put_aside(git, lane, &work)?;
        }
    }
    git.read("move the branch of a lane", &["update-ref", "--create-reflog", &branch, &head])?;
    git.read("return to the branch of a lane", &["symbolic-ref", "HEAD", &branch])?;
    Ok(head)
}

/// Keeps work that the agent has begun anew without, as a branch beside the lane's: it is listed, and never lost.
fn put_aside(git: &Git, lane: &Lane, work: &str) -> Result<(), WorktreeError> {
    let short = work.get(..10).unwrap_or(work);
    let branch = format!("{}-before-{short}", lane.branch);
    let both = format!("update refs/heads/{branch} {work}\nupdate {} {work}\n", mark_of(&branch));
    git.read_with("put work aside", &["update-ref", "--stdin"], Some(&both)).map(drop)
}

/// Takes everything into the index, also past the lock of a git that was killed.
fn stage(git: &Git, lock: &Path) -> Result<(), WorktreeError> {
    loop {
        let answer = git.run(&["add", "--all"], None)?;
        if answer.status.success() {
            return Ok(());
        }
        let Ok(made) = fs::symlink_metadata(lock).and_then(|found| found.modified()) else {
            return Err(answer.failed("take the work of a lane into the index"));
        };
        let age = SystemTime::now().duration_since(made).unwrap_or_default();
        if age < STALE {
            thread::sleep(Duration::from_millis(50));
        } else if fs::remove_file(lock).is_err() {
            return Err(answer.failed("take the work of a lane into the index"));
        }
    }
}

/// Repositories that were made inside: a commit would only have their names.
fn nested(git: &Git) -> Result<Vec<String>, WorktreeError> {
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

/// Submodules with files that are not committed, or with commits that no remote has.
fn submodule_work(git: &Git) -> Result<Vec<String>, WorktreeError> {
    let status = ["status", "--porcelain=v2", "-z", "--no-renames", "--untracked-files=no", "--ignore-submodules=none"];
    let status = git.read("look at submodules", &status)?;
    let mut out = Vec::new();
    for entry in status.split('\0').filter(|entry| entry.starts_with("1 ")) {
        let mut fields = entry.splitn(9, ' ');
        let (Some(flags), Some(path)) = (fields.nth(2), fields.nth(5)) else { continue };
        let flags = flags.as_bytes();
        let [b'S', commit, modified, untracked] = *flags else { continue };
        let inside = git.within(&git.root().join(path));
        let unknown = || {
            let held = ["for-each-ref", "--count=1", "--contains", "HEAD", "refs/remotes"];
            inside.run(&held, None).map_or(true, |answer| answer.out.is_empty())
        };
        if modified == b'M' || untracked == b'U' || (commit == b'C' && inside.root().join(".git").exists() && unknown())
        {
            out.push(path.to_owned());
        }
    }
    out.truncate(PATHS);
    Ok(out)
}

/// What stands in for a name and an address that nobody has told git.
pub(super) fn identity(git: &Git) -> Result<Vec<String>, WorktreeError> {
    if git.holds(&["var", "GIT_COMMITTER_IDENT"])? && git.holds(&["var", "GIT_AUTHOR_IDENT"])? {
        return Ok(Vec::new());
    }
    Ok(["-c", "user.name=punch", "-c", "user.email=punch@localhost"].map(str::to_owned).to_vec())
}

pub(super) fn paths(answer: &str) -> Vec<String> {
    answer.split('\0').filter(|path| !path.is_empty()).take(PATHS).map(str::to_owned).collect()
}

pub(super) fn capped(message: &str) -> String {
    let text: String = message.chars().filter(|c| *c == '\n' || !c.is_control()).take(MESSAGE).collect();
    match text.trim() {
        "" => "Work of an agent\n".to_owned(),
        text => format!("{text}\n"),
    }
}

fn plain(path: &str, most: usize) -> String {
    let shown: String = path.chars().take(most).map(|c| if c.is_control() { '?' } else { c }).collect();
    format!("`{}`", shown.replace('`', "'"))
}
