//! Makes one commit of whatever an agent left in its lane, in whatever state, and brings the lane up to the result
//! branch. What cannot be decided without a person is held, and nothing of it is lost.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, SystemTime};

use super::git::{Git, failure};
use super::look::Look;
use super::merge::Merge;
use super::name::mark_of;
use super::refs::Refs;
use super::{Lane, Lanes, WorktreeError};

/// A lock of an index that is older belongs to a git that was killed.
const STALE: Duration = Duration::from_secs(5);
/// Paths that are kept of those that are in the way.
pub(super) const PATHS: usize = 50;
/// Characters of a commit message that are kept: well within a pipe.
const MESSAGE: usize = 8000;

/// Who commits where nobody has told git a name.
const MADE_UP: [&str; 4] = ["-c", "user.name=punch", "-c", "user.email=punch@localhost"];

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
        let refs = match self.commit_all(&git, lane, message)? {
            Ok(refs) => refs,
            Err((why, paths)) => return Ok(held(why, paths)),
        };
        let work = refs.get(&lane.full_branch()).ok_or_else(|| lane.gone())?;
        let tip = self.tip_of(&refs, &mut self.turn())?;
        if work.commit == tip {
            return Ok(Settled::Nothing { commit: tip });
        }
        if work.follows(&tip) {
            return Ok(Settled::Ready { commit: work.commit.clone(), merged: false });
        }
        let work = work.commit.clone();
        match git.fork(&tip, &work)? {
            None => return Ok(held(Why::Unrelated, Vec::new())),
            Some(fork) if fork == tip => return Ok(Settled::Ready { commit: work, merged: false }),
            Some(fork) if fork == work => {
                // What is checked is what there will be: with the work of the others.
                git.read("bring a lane up to date", &["merge", "--quiet", "--ff-only", &tip])?;
                return Ok(Settled::Nothing { commit: tip });
            }
            Some(_) => {}
        }
        match self.join(&git, &tip, &work, &format!("Merge {} into {}\n", lane.branch, self.result))? {
            Merge::Clean(commit) => {
                git.read("bring a lane up to date", &["merge", "--quiet", "--ff-only", &commit])?;
                Ok(Settled::Ready { commit, merged: true })
            }
            Merge::Conflict(paths) => Ok(held(Why::Conflict, paths)),
            Merge::Unrelated => Ok(held(Why::Unrelated, Vec::new())),
        }
    }

    /// Makes a commit of all of the lane's work, on the lane's branch. Answers that branch and the result branch as they
    /// are then; or why there is none.
    pub(super) fn commit_all(
        &self,
        git: &Git,
        lane: &Lane,
        message: &str,
    ) -> Result<Result<Refs, (Why, Vec<String>)>, WorktreeError> {
        let folder = git.folders().map(|folders| folders.own.clone()).ok_or_else(|| lane.gone())?;
        let look = Look::at(git)?;
        if !look.foreign.is_empty() {
            return Ok(Err((Why::Nested, look.foreign)));
        }
        if look.head.is_none() {
            return Err(lane.gone());
        }
        let under_way = |name: &str| folder.join(name).exists();
        if under_way("rebase-merge") || under_way("rebase-apply") || !look.unmerged.is_empty() {
            return Ok(Err((Why::Unfinished, look.unmerged)));
        }
        let lost = submodule_work(git, &look);
        if !lost.is_empty() {
            return Ok(Err((Why::Submodule, lost)));
        }
        // A merge that took nothing of the other side is still one.
        if look.changed || under_way("MERGE_HEAD") {
            stage(git, &folder.join("index.lock"))?;
            let nested = if look.nests { nested(git)? } else { Vec::new() };
            if !nested.is_empty() {
                // They are not to be in the next commit either, whoever makes it.
                git.read("take a repository out of the index", &["reset", "--quiet"])?;
                return Ok(Err((Why::Nested, nested)));
            }
            self.commit_staged(git, message)?;
        }
        if look.branch != lane.branch {
            back_on_branch(git, lane)?;
        }
        git.refs(&[&lane.full_branch(), &self.full_result()]).map(Ok)
    }

    fn commit_staged(&self, git: &Git, message: &str) -> Result<(), WorktreeError> {
        let commit = ["commit", "--quiet", "--no-verify", "--cleanup=verbatim", "--file=-"];
        let answer = git.run(&[self.identity(git)?, &commit[..]].concat(), Some(&capped(message)))?;
        // A difference may be gone once it is in the index: of ends of lines, say.
        match answer.status.success() || git.holds(&["diff", "--cached", "--quiet"])? {
            true => Ok(()),
            false => Err(failure(&answer, "commit the work of a lane")),
        }
    }

    /// What stands in for a name and an address that nobody has told git. Asked once.
    pub(super) fn identity(&self, git: &Git) -> Result<&'static [&'static str], WorktreeError> {
        if let Some(known) = self.identity.get() {
            return Ok(known);
        }
        let told = git.holds(&["var", "GIT_COMMITTER_IDENT"])? && git.holds(&["var", "GIT_AUTHOR_IDENT"])?;
        Ok(self.identity.get_or_init(|| if told { &[] } else { &MADE_UP }))
    }
}

/// The agent may have gone to another branch, or to none: its work counts, and belongs to the lane's branch.
fn back_on_branch(git: &Git, lane: &Lane) -> Result<(), WorktreeError> {
    let (branch, head) = (lane.full_branch(), git.commit("HEAD")?.ok_or_else(|| lane.gone())?);
    if let Some(work) = git.commit(&branch)?.filter(|work| *work != head) {
        if git.is_behind(&head, &work)? {
            // It only went back to look at something.
            return git.read("return to the branch of a lane", &["checkout", "--quiet", &lane.branch]).map(drop);
        }
        if !git.is_behind(&work, &head)? {
            put_aside(git, lane, &work)?;
        }
    }
    git.read("move the branch of a lane", &["update-ref", "--create-reflog", &branch, &head])?;
    git.read("return to the branch of a lane", &["symbolic-ref", "HEAD", &branch]).map(drop)
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
            return Err(failure(&answer, "take the work of a lane into the index"));
        };
        let age = SystemTime::now().duration_since(made).unwrap_or_default();
        if age < STALE {
            thread::sleep(Duration::from_millis(50));
        } else if fs::remove_file(lock).is_err() {
            return Err(failure(&answer, "take the work of a lane into the index"));
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
fn submodule_work(git: &Git, look: &Look) -> Vec<String> {
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
