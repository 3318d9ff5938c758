//! git with a hand on it: no hooks, no signatures, no editors, bounded answers, an end in time. What it changes are
//! objects, refs of ours and work trees of ours.

use std::io::{self, BufRead, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use punch_engine::process::has_carriers;
use punch_engine::{GitFolders, git_program};

use super::WorktreeError;

/// Longer answers are cut: names of refs and paths.
pub(super) const ANSWER: u64 = 8 << 20;
/// Of what git complains about, this much is told.
const COMPLAINT: usize = 600;
/// A checkout of a very large repository may take long; something that waits for ever must not.
const LIMIT: Duration = Duration::from_secs(15 * 60);

/// How often git is asked again that met a work tree in the making, and after how long.
const LOOKS: u32 = 50;
const PAUSE: Duration = Duration::from_millis(20);

/// Names the run for which git works: a runner that was killed leaves the git that it has just started.
const WORKS_FOR: &str = "_PUNCH_LANES";

/// The repository of the user's worktree, or of a lane.
#[derive(Clone, Debug)]
pub(super) struct Git {
    root: PathBuf,
    /// The git folders of a lane, as they were recorded: an agent can write `.git` in its lane.
    folders: Option<GitFolders>,
    run: String,
}

/// What git answered.
pub(super) struct Answer {
    /// How it ended.
    pub status: ExitStatus,
    /// What it printed.
    pub out: Vec<u8>,
    /// What it complained about.
    pub complaint: String,
}

impl Git {
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), folders: None, run: String::new() }
    }

    /// The same, at work for a run.
    #[must_use]
    pub fn working_for(self, run: &str) -> Self {
        Self { run: run.to_owned(), ..self }
    }

    /// Waits until no git works for this run any more: one that a dead runner has started comes to its end.
    pub fn outlast(&self) {
        let begun = Instant::now();
        while has_carriers(WORKS_FOR, &self.run) && begun.elapsed() < LIMIT {
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// The user's work tree.
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

    /// The same, with something to read.
    pub fn read_with(&self, what: &str, arguments: &[&str], input: Option<&str>) -> Result<String, WorktreeError> {
        let answer = self.run(arguments, input)?;
        match answer.status.success() {
            true => Ok(answer.text()),
            false => Err(answer.failed(what)),
        }
    }

    /// Those records of its answer, each ended by a zero byte, that are wanted. However long the answer is, only they are
    /// kept.
    pub fn records(
        &self,
        what: &str,
        arguments: &[&str],
        wanted: &(dyn Fn(&[u8]) -> bool + Sync),
    ) -> Result<Vec<String>, WorktreeError> {
        let failed = |cause: io::Error| WorktreeError::NoGit { cause: cause.to_string() };
        let mut command = self.command(arguments).map_err(failed)?;
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(failed)?;
        let complaint = drain(child.stderr.take(), COMPLAINT as u64);
        let mut out = Vec::new();
        if let Some(mut pipe) = child.stdout.take().map(io::BufReader::new) {
            let mut record = Vec::new();
            while pipe.read_until(0, &mut record).map_err(failed)? > 0 {
                if wanted(&record) {
                    out.push(String::from_utf8_lossy(record.strip_suffix(b"\0").unwrap_or(&record)).into_owned());
                }
                record.clear();
            }
        }
        let status = wait(child, LIMIT).map_err(failed)?;
        let complaint = String::from_utf8_lossy(&complaint.recv().unwrap_or_default()).into_owned();
        match status.success() {
            true => Ok(out),
            false => Err(Answer { status, out: Vec::new(), complaint }.failed(what)),
        }
    }

    /// Whether it succeeds.
    pub fn holds(&self, arguments: &[&str]) -> Result<bool, WorktreeError> {
        Ok(self.run(arguments, None)?.status.success())
    }

    /// The commit that a name stands for, if it stands for one.
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
            Some(0) => Ok(Some(answer.text())),
            Some(1) => Ok(None),
            _ => Err(answer.failed("compare two histories")),
        }
    }

    /// Runs it to its end.
    pub fn run(&self, arguments: &[&str], input: Option<&str>) -> Result<Answer, WorktreeError> {
        let once = || self.command(arguments).and_then(|command| finish(command, input, LIMIT));
        let mut left = LOOKS;
        loop {
            let answer = once().map_err(|cause| WorktreeError::NoGit { cause: cause.to_string() })?;
            if left == 0 || !answer.met_half_made() {
                return Ok(answer);
            }
            left -= 1;
            thread::sleep(PAUSE);
        }
    }

    fn command(&self, arguments: &[&str]) -> io::Result<Command> {
        // git would look the folder up by name, and work in another one if this is gone.
        if !self.root.is_dir() {
            return Err(io::Error::new(io::ErrorKind::NotFound, format!("`{}` is gone", self.root.display())));
        }
        let mut git = git_program(&self.root);
        if let Some(folders) = &self.folders {
            folders.apply(&mut git, &self.root);
        }
        // Hooks may ask, wait or change what they look at, and nobody is there: a check that must hold is a todo's
        // verify command. The same goes for a signature that wants a passphrase, and for work in the background.
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
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut git, 0);
        Ok(git)
    }
}

impl Answer {
    /// What it printed. Where parts end with a zero byte, the end of a line belongs to a path.
    fn text(&self) -> String {
        let text = String::from_utf8_lossy(&self.out);
        if text.contains('\0') { text.into_owned() } else { text.trim_end_matches('\n').to_owned() }
    }

    /// It looked at the work trees while another git was making one, whose entry is there before it is written.
    fn met_half_made(&self) -> bool {
        !self.status.success() && self.complaint.contains("failed to read") && self.complaint.contains("/worktrees/")
    }

    /// The failure that it is.
    pub fn failed(&self, what: &str) -> WorktreeError {
        let said = match self.complaint.trim() {
            "" => self.status.to_string(),
            said => said.replace(|c: char| c.is_control() && c != '\n', "?"),
        };
        WorktreeError::Git { what: what.to_owned(), said }
    }
}

fn finish(mut command: Command, input: Option<&str>, limit: Duration) -> io::Result<Answer> {
    command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    if let Some((mut pipe, text)) = child.stdin.take().zip(input) {
        // Shorter than any pipe; a git that does not listen has its reason.
        let _ = pipe.write_all(text.as_bytes());
    }
    let (out, complaint) = (drain(child.stdout.take(), ANSWER), drain(child.stderr.take(), COMPLAINT as u64));
    let status = wait(child, limit)?;
    let (out, complaint) = (out.recv().unwrap_or_default(), complaint.recv().unwrap_or_default());
    Ok(Answer { status, out, complaint: String::from_utf8_lossy(&complaint).into_owned() })
}

/// Reads to the end and keeps the beginning.
fn drain(pipe: Option<impl Read + Send + 'static>, most: u64) -> std::sync::mpsc::Receiver<Vec<u8>> {
    let (send, received) = channel();
    thread::spawn(move || {
        let mut kept = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.by_ref().take(most).read_to_end(&mut kept);
            let _ = io::copy(&mut pipe, &mut io::sink());
        }
        let _ = send.send(kept);
    });
    received
}

fn wait(mut child: Child, limit: Duration) -> io::Result<ExitStatus> {
    let id = child.id();
    let (send, ended) = channel();
    thread::spawn(move || send.send(child.wait()));
    match ended.recv_timeout(limit) {
        Ok(status) => status,
        Err(RecvTimeoutError::Timeout) => {
            end(id);
            Err(io::Error::new(io::ErrorKind::TimedOut, "it did not come to an end"))
        }
        Err(RecvTimeoutError::Disconnected) => Err(io::Error::other("nobody waited for it")),
    }
}

#[cfg(unix)]
fn end(id: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};
    // It has not been waited for, so the number is still its own.
    if let Some(group) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

#[cfg(not(unix))]
fn end(_id: u32) {}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_work_tree_in_the_making_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let git = Git::new(folder.path());
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
}
