//! Runs git: with a clean environment, a time limit, and bounded error output. Every part of Punchlist starts git here.

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use super::GitFolders;
use crate::process;

/// How long git may take. A checkout of a very large repository takes long; a git that waits forever must be ended.
const LIMIT: Duration = Duration::from_secs(15 * 60);

/// The number of bytes of git's error output that are kept, counted from the end, where git says why it failed.
const COMPLAINT: usize = 2_000;

/// Variables that lead git to another repository, index or object store than those of its folder. A hook of git has them.
pub const ELSEWHERE: [&str; 8] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
];

/// A call of git that came to its end.
#[derive(Debug)]
pub struct GitCall<T> {
    /// The exit status of git.
    pub status: ExitStatus,
    /// What was read of its standard output.
    pub out: T,
    /// The end of its standard error.
    pub complaint: String,
}

/// Prepares git in a folder. It never prompts, answers in English, and works on the repository of the folder whatever the
/// environment says; with recorded git folders, on those.
pub fn program(folder: &Path, recorded: Option<&GitFolders>) -> Command {
    let mut git = Command::new("git");
    // A monitor and a verifier of signatures are programs named by the configuration; an index must not be written while
    // others work.
    git.arg("--no-optional-locks");
    for setting in ["core.fsmonitor=false", "core.quotePath=false", "log.showSignature=false"] {
        git.args(["-c", setting]);
    }
    git.current_dir(folder).env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
    for variable in ELSEWHERE {
        git.env_remove(variable);
    }
    // Git runs hooks and filters.
    process::withhold_passwords(&mut git);
    if let Some(folders) = recorded {
        folders.apply(&mut git, folder);
    }
    git
}

/// Runs git to its end while `read` reads its standard output. If `read` stops early, git loses its reader and ends.
pub fn finish<T>(
    git: Command,
    input: Option<String>,
    read: impl FnOnce(ChildStdout) -> io::Result<T>,
) -> io::Result<GitCall<T>> {
    finish_within(LIMIT, git, input, read)
}

/// Runs git like [`finish`], for at most `limit`. The error has the kind `TimedOut` if git took longer.
pub fn finish_within<T>(
    limit: Duration,
    mut git: Command,
    input: Option<String>,
    read: impl FnOnce(ChildStdout) -> io::Result<T>,
) -> io::Result<GitCall<T>> {
    git.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
    let mut child = git.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    // Written beside the reading: both sides could wait for each other. A git that does not listen has its reason.
    let writer = child.stdin.take().zip(input);
    let writing = writer.map(|(mut pipe, text)| thread::spawn(move || drop(pipe.write_all(text.as_bytes()))));
    let complaining = thread::spawn(move || read_end(stderr, COMPLAINT).unwrap_or_default());
    let number = child.id();
    let (ended, end) = channel::<()>();
    let watching = thread::spawn(move || {
        let late = end.recv_timeout(limit) == Err(RecvTimeoutError::Timeout);
        if late {
            process::kill_by_number(number);
        }
        late
    });
    let out = read(stdout);
    // Its number stays taken until it is waited for, so the watcher can only end this process.
    process::await_end(number);
    drop(ended);
    let late = watching.join().unwrap_or_default();
    let status = child.wait()?;
    drop(writing.map(thread::JoinHandle::join));
    let complaint = complaining.join().unwrap_or_default();
    if late {
        return Err(io::Error::new(io::ErrorKind::TimedOut, "it did not finish in time"));
    }
    Ok(GitCall { status, out: out?, complaint: String::from_utf8_lossy(&complaint).into_owned() })
}

/// Reads to the end and keeps the first `limit` bytes.
pub fn read_beginning(mut pipe: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut beginning = Vec::new();
    pipe.by_ref().take(limit).read_to_end(&mut beginning)?;
    io::copy(&mut pipe, &mut io::sink())?;
    Ok(beginning)
}

/// Reads to the end and keeps the last `limit` bytes.
fn read_end(mut pipe: impl Read, limit: usize) -> io::Result<Vec<u8>> {
    let (mut kept, mut buffer) = (Vec::new(), [0; 4_096]);
    loop {
        match pipe.read(&mut buffer) {
            Ok(0) => return Ok(kept),
            Ok(count) => kept.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        kept.drain(..kept.len().saturating_sub(limit));
    }
}

/// Reads everything; an error if that is more than `limit` bytes.
pub(super) fn read_all(pipe: impl Read, limit: usize) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    pipe.take(limit as u64 + 1).read_to_end(&mut out)?;
    match out.len() > limit {
        true => Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {limit} bytes"))),
        false => Ok(out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_long_complaint_is_kept() {
        let said = format!("{}fatal: the reason", "warning: something else\n".repeat(1_000));
        let kept = read_end(said.as_bytes(), COMPLAINT).unwrap();
        assert_eq!(kept.len(), COMPLAINT);
        assert!(kept.ends_with(b"fatal: the reason"));
        assert_eq!(read_end(&b"short"[..], COMPLAINT).unwrap(), b"short");
    }

    #[cfg(unix)]
    #[test]
    fn a_git_that_takes_too_long_is_ended() {
        let mut waits = Command::new("sleep");
        waits.arg("600");
        let late = finish_within(Duration::from_millis(50), waits, None, |pipe| read_beginning(pipe, 10));
        assert_eq!(late.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }
}
