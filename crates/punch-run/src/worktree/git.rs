//! Runs git in lanes: no hooks, no signatures, no editors, bounded output, a time limit. It changes only objects, our
//! own refs and our own worktrees.

use std::env;
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use punch_engine::process::{has_marked_processes, own_process_group};
use punch_engine::{GitCall, GitFolders, finish_git, finish_git_within, git_program, read_beginning};

use super::WorktreeError;

/// Longer answers are cut: names of refs and paths.
pub(super) const ANSWER: u64 = 8 << 20;
/// How long a git of a dead runner is waited for.
const LIMIT: Duration = Duration::from_secs(15 * 60);

/// How long git may use the network. A connection that stalls is given up earlier.
const NETWORK_LIMIT: Duration = Duration::from_secs(120);

/// Settings with which git gives up a connection over HTTP that stalls.
const STALLED: [&str; 2] = ["http.lowSpeedLimit=1000", "http.lowSpeedTime=30"];

/// The ssh of git, which never asks and gives up a connection that stalls.
const SSH: &str = "ssh -o BatchMode=yes -o ConnectTimeout=15 -o ServerAliveInterval=10";

/// How often git is asked again that met a worktree in the making, and after how long.
const LOOKS: u32 = 50;
const PAUSE: Duration = Duration::from_millis(20);

/// Names the run for which git works: a runner that was killed leaves the git that it has just started.
const WORKS_FOR: &str = "_PUNCH_LANES";

/// The repository of the user's worktree, or of a lane.
#[derive(Clone, Debug)]
pub(super) struct LaneGit {
    root: PathBuf,
    /// The git folders of a lane, as they were recorded: an agent can write `.git` in its lane.
    folders: Option<GitFolders>,
    run: String,
}

/// A call of git with the beginning of what it printed.
pub(super) type GitOutput = GitCall<Vec<u8>>;

impl LaneGit {
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), folders: None, run: String::new() }
    }

    /// This repository, with every git marked as working for a run.
    #[must_use]
    pub fn working_for(self, run: &str) -> Self {
        Self { run: run.to_owned(), ..self }
    }

    /// Waits until no git works for this run any more: one that a dead runner has started comes to its end.
    pub fn outlast(&self) {
        let begun = Instant::now();
        while has_marked_processes(WORKS_FOR, &self.run) && begun.elapsed() < LIMIT {
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// The user's worktree.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// git in a lane, with the folders that were recorded for it.
    pub fn in_lane(&self, lane: &Path, folders: GitFolders) -> Self {
        Self { root: lane.to_owned(), folders: Some(folders), run: self.run.clone() }
    }

    /// git in the folder of a submodule, whose git folder must have been looked at before.
    pub fn in_submodule(&self, folder: &Path) -> Self {
        Self { root: folder.to_owned(), folders: None, run: self.run.clone() }
    }

    /// The git folders of the lane in which it works.
    pub fn folders(&self) -> Option<&GitFolders> {
        self.folders.as_ref()
    }

    /// What it prints; an error if it fails. `what` completes "git could not".
    pub fn read(&self, what: &str, arguments: &[&str]) -> Result<String, WorktreeError> {
        self.read_with(what, arguments, None)
    }

    /// What git prints after reading `input`; an error if it fails. `what` completes "git could not".
    pub fn read_with(&self, what: &str, arguments: &[&str], input: Option<&str>) -> Result<String, WorktreeError> {
        let answer = self.run(arguments, input)?;
        match answer.status.success() {
            true => Ok(text(&answer)),
            false => Err(failure(&answer, what)),
        }
    }

    /// Returns the requested records of git's output, each ended by a zero byte. However long the output is, only these
    /// are kept.
    pub fn records(
        &self,
        what: &str,
        arguments: &[&str],
        wanted: &(dyn Fn(&[u8]) -> bool + Sync),
    ) -> Result<Vec<String>, WorktreeError> {
        let failed = |cause: io::Error| WorktreeError::NoGit { cause: cause.to_string() };
        let command = self.command(arguments).map_err(failed)?;
        let call = finish_git(command, None, |pipe| {
            let (mut pipe, mut record, mut out) = (io::BufReader::new(pipe), Vec::new(), Vec::new());
            while pipe.read_until(0, &mut record)? > 0 {
                if wanted(&record) {
                    out.push(String::from_utf8_lossy(record.strip_suffix(b"\0").unwrap_or(&record)).into_owned());
                }
                record.clear();
            }
            Ok(out)
        })
        .map_err(failed)?;
        match call.status.success() {
            true => Ok(call.out),
            false => Err(failure(&call, what)),
        }
    }

    /// Whether it succeeds.
    pub fn holds(&self, arguments: &[&str]) -> Result<bool, WorktreeError> {
        Ok(self.run(arguments, None)?.status.success())
    }

    /// Returns the commit that a name refers to, if any.
    pub fn commit(&self, name: &str) -> Result<Option<String>, WorktreeError> {
        let answer = self.run(&["rev-parse", "--verify", "--quiet", &format!("{name}^{{commit}}")], None)?;
        let found = String::from_utf8_lossy(&answer.out).trim().to_owned();
        Ok(Some(found).filter(|found| answer.status.success() && !found.is_empty()))
    }

    /// Whether the one commit has the other behind it, or is it.
    pub fn is_behind(&self, old: &str, new: &str) -> Result<bool, WorktreeError> {
        self.holds(&["merge-base", "--is-ancestor", old, new])
    }

    /// Where two commits parted; the older one if the other has it behind it. None if they have nothing in common.
    pub fn fork(&self, one: &str, other: &str) -> Result<Option<String>, WorktreeError> {
        let answer = self.run(&["merge-base", one, other], None)?;
        match answer.status.code() {
            Some(0) => Ok(Some(text(&answer))),
            Some(1) => Ok(None),
            _ => Err(failure(&answer, "compare two histories")),
        }
    }

    /// Runs it to its end.
    pub fn run(&self, arguments: &[&str], input: Option<&str>) -> Result<GitOutput, WorktreeError> {
        let once = || {
            let command = self.command(arguments)?;
            finish_git(command, input.map(str::to_owned), |pipe| read_beginning(pipe, ANSWER))
        };
        let mut left = LOOKS;
        loop {
            let answer = once().map_err(|cause| WorktreeError::NoGit { cause: cause.to_string() })?;
            if left == 0 || !met_half_made(&answer) {
                return Ok(answer);
            }
            left -= 1;
            thread::sleep(PAUSE);
        }
    }

    /// Runs git to its end with a remote. The error has the kind `TimedOut` if that took too long.
    pub fn run_remote(&self, arguments: &[&str]) -> io::Result<GitOutput> {
        let settings = STALLED.iter().flat_map(|setting| ["-c", *setting]);
        let mut command = self.command(&settings.chain(arguments.iter().copied()).collect::<Vec<_>>())?;
        let is_chosen = ["GIT_SSH_COMMAND", "GIT_SSH"].iter().any(|name| env::var_os(name).is_some())
            || self.holds(&["config", "--get", "core.sshCommand"]).unwrap_or(true);
        if !is_chosen {
            command.env("GIT_SSH_COMMAND", SSH);
        }
        finish_git_within(NETWORK_LIMIT, command, None, |pipe| read_beginning(pipe, ANSWER))
    }

    fn command(&self, arguments: &[&str]) -> io::Result<Command> {
        // git would look the folder up by name, and work in another one if this is gone.
        if !self.root.is_dir() {
            return Err(io::Error::new(io::ErrorKind::NotFound, format!("`{}` is gone", self.root.display())));
        }
        let mut git = git_program(&self.root, self.folders.as_ref());
        // Hooks may ask, wait or change files, and no one is there to answer; a check that must pass is a todo's verify
        // command. The same goes for a signature that needs a passphrase, and for background work.
        for setting in [
            "core.hooksPath=/dev/null",
            "commit.gpgSign=false",
            "gc.auto=0",
            "maintenance.auto=false",
            "i18n.commitEncoding=UTF-8",
            "core.editor=true",
            "advice.detachedHead=false",
        ] {
            git.args(["-c", setting]);
        }
        git.args(arguments).env("GIT_MERGE_AUTOEDIT", "no").env(WORKS_FOR, &self.run);
        // A Ctrl-C is for the runner; a commit that it cut in half would need more care than one that is finished.
        own_process_group(&mut git);
        Ok(git)
    }
}

/// What git printed. Where parts end with a zero byte, the end of a line belongs to a path.
fn text(answer: &GitOutput) -> String {
    let text = String::from_utf8_lossy(&answer.out);
    if text.contains('\0') { text.into_owned() } else { text.trim_end_matches('\n').to_owned() }
}

/// Returns true if git looked at the worktrees while another git was creating one, whose entry is there before it is
/// written.
fn met_half_made(answer: &GitOutput) -> bool {
    !answer.status.success() && answer.complaint.contains("failed to read") && answer.complaint.contains("/worktrees/")
}

/// The error for a call that failed. `what` completes "git could not".
pub(super) fn failure<T>(call: &GitCall<T>, what: &str) -> WorktreeError {
    let said = match call.complaint.trim() {
        "" => call.status.to_string(),
        said => said.replace(|c: char| c.is_control() && c != '\n', "?"),
    };
    WorktreeError::Git { what: what.to_owned(), said }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_work_tree_in_the_making_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let git = LaneGit::new(folder.path());
        git.read("begin", &["init", "-q"]).unwrap();
        let names = ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "first"];
        git.read("commit", &names).unwrap();
        git.read("make one", &["worktree", "add", "-q", "lane"]).unwrap();
        // As it is for a moment: the file is made, then filled.
        let file = folder.path().join(".git/worktrees/lane/commondir");
        let filled = fs::read(&file).unwrap();
        fs::write(&file, "").unwrap();
        let ask = ["for-each-ref", "--format=%(worktreepath)"];
        let made = thread::spawn(move || {
            thread::sleep(PAUSE * 3);
            fs::write(&file, filled).unwrap();
        });
        assert!(git.read("look", &ask).unwrap().contains("lane"));
        made.join().unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_connection_that_stalls_is_given_up_and_the_ssh_of_the_user_is_used() {
        let folder = tempfile::tempdir().unwrap();
        let git = LaneGit::new(folder.path());
        git.read("begin", &["init", "-q"]).unwrap();
        let printed = |arguments: &[&str]| text(&git.run_remote(arguments).unwrap());
        assert_eq!(printed(&["config", "--get", "http.lowSpeedTime"]), "30");
        let ssh = ["-c", "alias.ssh=!printf %s \"$GIT_SSH_COMMAND\"", "ssh"];
        let of_user = env::var("GIT_SSH_COMMAND").ok();
        let is_chosen = of_user.is_some() || env::var_os("GIT_SSH").is_some();
        if !is_chosen && !git.holds(&["config", "--get", "core.sshCommand"]).unwrap() {
            assert_eq!(printed(&ssh), SSH);
        }
        git.read("configure", &["config", "core.sshCommand", "ssh -i key"]).unwrap();
        assert_eq!(printed(&ssh), of_user.unwrap_or_default());
    }
}
