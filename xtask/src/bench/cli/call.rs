//! One call of a program, and what it cost. CPU time and not the clock: a busy machine makes a call wait, not work
//! more.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use wait4::Wait4;

use crate::process::TimeLimit;

/// What one call took.
#[derive(Clone, Copy, Debug)]
pub struct CallCost {
    /// User and system time.
    pub cpu: Duration,
    /// From start to end.
    pub wall: Duration,
    /// The most memory it had at once, in bytes.
    pub resident: u64,
}

/// A program that runs in a folder with an environment of two variables: home and path.
pub fn program(path: &Path, folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(path);
    command.args(arguments).current_dir(folder).env_clear().env("HOME", folder).env("PATH", "/usr/bin:/bin");
    command
}

/// Runs it to its end without input or output; anything but success is an error.
pub fn call(command: &mut Command) -> Result<CallCost, String> {
    spend(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()))
}

/// Runs a command like [`call`], and kills it if it takes longer than that.
pub fn call_within(limit: Duration, command: &mut Command) -> Result<CallCost, String> {
    spend_to(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()), 0, Some(limit))
}

/// Runs a command without input or output; any exit code but `code` is an error.
pub fn call_to(command: &mut Command, code: i32) -> Result<CallCost, String> {
    spend_to(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()), code, None)
}

/// Runs a command with the input and output that it was given; anything but success is an error.
pub fn spend(command: &mut Command) -> Result<CallCost, String> {
    spend_to(command, 0, None)
}

fn spend_to(command: &mut Command, code: i32, limit: Option<Duration>) -> Result<CallCost, String> {
    let start = Instant::now();
    let child = command.spawn();
    let child = child.map_err(|cause| format!("`{command:?}` does not start: {cause}"))?;
    let limited = limit.map(|limit| TimeLimit::start(child.id(), limit));
    let used = child.wait4().map_err(|cause| format!("`{command:?}` cannot be waited for: {cause}"))?;
    let wall = start.elapsed();
    limited.map_or(Ok(()), TimeLimit::stop)?;
    if used.status.code() != Some(code) {
        let output = command.stdout(Stdio::piped()).stderr(Stdio::piped()).output();
        let said = output.map(|o| String::from_utf8_lossy(&[o.stdout, o.stderr].concat()).into_owned());
        return Err(format!("`{command:?}` ended with {}; again it said: {}", used.status, said.unwrap_or_default()));
    }
    Ok(CallCost { cpu: used.rusage.utime + used.rusage.stime, wall, resident: used.rusage.maxrss })
}

/// What many calls of the same kind took.
#[derive(Clone, Debug, Default)]
pub struct Costs(Vec<CallCost>);

impl Costs {
    /// Adds one.
    pub fn push(&mut self, cost: CallCost) {
        self.0.push(cost);
    }

    /// The median of the CPU time in milliseconds.
    pub fn cpu(&self) -> f64 {
        let mut all: Vec<Duration> = self.0.iter().map(|cost| cost.cpu).collect();
        all.sort_unstable();
        all.get(all.len() / 2).map_or(f64::NAN, |middle| middle.as_secs_f64() * 1e3)
    }

    /// The most memory that any of them had, in megabytes.
    pub fn resident(&self) -> f64 {
        self.0.iter().map(|cost| cost.resident).max().unwrap_or_default() as f64 / 1e6
    }
}
