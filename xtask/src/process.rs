//! Starts other programs from the root of the workspace.

use std::{
    env,
    ffi::OsString,
    path::PathBuf,
    process::{Command, Output, Stdio},
    sync::{OnceLock, mpsc},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::TaskResult;

/// The folder of the workspace. Cargo sets the variable for `cargo xtask`; the fallback serves a binary started by hand.
pub fn root() -> PathBuf {
    let own = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| OsString::from(env!("CARGO_MANIFEST_DIR")));
    PathBuf::from(own).join("..")
}

/// The folder that cargo builds into: `CARGO_TARGET_DIR` and cargo's own settings may put it anywhere.
pub fn target() -> Result<PathBuf, String> {
    static TARGET: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let ask = || {
        let metadata = read(cargo().args(["metadata", "--format-version=1", "--no-deps"]))?;
        let metadata: Value = serde_json::from_str(&metadata).map_err(|cause| cause.to_string())?;
        let folder = metadata["target_directory"].as_str().map(PathBuf::from);
        folder.ok_or_else(|| "cargo metadata names no target folder".to_owned())
    };
    TARGET.get_or_init(ask).clone()
}

/// Returns true in continuous integration, where everything can be installed and nothing may be skipped.
pub fn in_ci() -> bool {
    env::var_os("CI").is_some_and(|value| !value.is_empty())
}

/// Reports that a check cannot run here. In continuous integration and before a release, that is a failure.
pub fn skip(what: &str, why: &str) -> TaskResult {
    skipped(what, why, in_ci())
}

fn skipped(what: &str, why: &str, in_ci: bool) -> TaskResult {
    println!("    SKIPPED {what}: {why}");
    if in_ci {
        return Err(format!("{what} cannot run here, and with `CI` set nothing may be skipped: {why}"));
    }
    Ok(())
}

/// Builds `punch` without optimizations.
pub fn build_punch() -> Result<PathBuf, String> {
    run(cargo().args(["build", "--locked", "--package", "punch-cli", "--quiet"]))?;
    Ok(target()?.join("debug/punch"))
}

/// The cargo that runs us, started in the root of the workspace.
pub fn cargo() -> Command {
    command(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// A program started in the root of the workspace.
pub fn command(program: impl Into<OsString>) -> Command {
    let mut command = Command::new(program.into());
    command.current_dir(root());
    command
}

/// Runs it with our own input and output.
pub fn run(command: &mut Command) -> TaskResult {
    let status = command.status().map_err(|cause| format!("cannot start {}: {cause}", line(command)))?;
    if status.success() { Ok(()) } else { Err(format!("`{}` ended with {status}", line(command))) }
}

/// Runs it quietly; standard output, or an error that ends in what it said.
pub fn read(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|cause| format!("cannot start {}: {cause}", line(command)))?;
    ended(command, &output)
}

fn ended(command: &Command, output: &Output) -> Result<String, String> {
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(format!("`{}` ended with {}: {}", line(command), output.status, String::from_utf8_lossy(&output.stderr).trim()))
}

/// Runs a command like [`read`], and kills it if it takes longer than that.
pub fn read_within(limit: Duration, command: &mut Command) -> Result<String, String> {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.map_err(|cause| format!("cannot start {}: {cause}", line(command)))?;
    let limited = TimeLimit::start(child.id(), limit);
    let output = child.wait_with_output().map_err(|cause| cause.to_string())?;
    limited.stop().map_err(|cause| format!("`{}`: {cause}", line(command)))?;
    ended(command, &output)
}

/// Kills a process, or with a minus sign in front everything in its group. The shell has `kill` built in; the program of
/// that name is a package of its own.
pub fn kill(process: &str) -> TaskResult {
    read(Command::new("sh").args(["-c", "kill -KILL \"$1\"", "sh", process])).map(|_| ())
}

/// Kills a process that takes too long.
pub struct TimeLimit {
    limit: Duration,
    ended: mpsc::Sender<()>,
    thread: JoinHandle<bool>,
}

impl TimeLimit {
    /// Starts to watch a process.
    pub fn start(process: u32, limit: Duration) -> Self {
        let (ended, wait) = mpsc::channel();
        let watch = move || {
            let is_late = wait.recv_timeout(limit) == Err(mpsc::RecvTimeoutError::Timeout);
            is_late && kill(&process.to_string()).is_ok()
        };
        Self { limit, ended, thread: thread::spawn(watch) }
    }

    /// Ends the watch over a process that has ended. Fails if it had to be killed.
    pub fn stop(self) -> TaskResult {
        drop(self.ended);
        match self.thread.join() {
            Ok(false) => Ok(()),
            _ => Err(format!("killed after {} s", self.limit.as_secs_f64())),
        }
    }
}

/// Whether it runs silently to a good end in the given time; it is stopped after that.
pub fn succeeds_within(limit: Duration, command: &mut Command) -> bool {
    let Ok(mut child) = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn() else {
        return false;
    };
    let end = Instant::now() + limit;
    while Instant::now() < end {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) => thread::sleep(Duration::from_millis(50)),
            Err(_) => break,
        }
    }
    let _ = child.kill();
    let _ = child.wait();
    false
}

/// Makes sure that an optional part of the toolchain is there: minimal installations lack some.
pub fn component(name: &str, subcommand: &str) -> TaskResult {
    if read(cargo().args([subcommand, "--version"])).is_ok() {
        return Ok(());
    }
    println!("    installing {name}");
    run(command("rustup").args(["component", "add", name]))
}

fn line(command: &Command) -> String {
    let program = PathBuf::from(command.get_program());
    let mut words = vec![program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|word| word.to_string_lossy().into_owned()));
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_skipped_fails_in_ci() {
        assert_eq!(skipped("boards", "tmux is missing", false), Ok(()));
        assert!(skipped("boards", "tmux is missing", true).unwrap_err().contains("tmux is missing"));
    }

    #[test]
    fn a_program_that_hangs_is_killed_and_its_answer_is_an_error() {
        let limit = Duration::from_millis(50);
        assert_eq!(read_within(limit, Command::new("sleep").arg("60")), Err("`sleep 60`: killed after 0.05 s".into()));
        let limit = Duration::from_secs(60);
        assert_eq!(read_within(limit, Command::new("echo").arg("done")), Ok("done\n".into()));
    }
}
