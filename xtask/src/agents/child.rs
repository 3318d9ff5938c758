//! Programs with a time limit. Each leads a process group of its own, so that what it started ends with it.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How often a running program is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// A running program with all that it started; dropping it ends them.
pub struct ProgramGroup(pub Child);

impl ProgramGroup {
    /// Starts it at the head of its own group.
    pub fn start(command: &mut Command) -> Result<Self, String> {
        let program = command.get_program().to_string_lossy().into_owned();
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        command.spawn().map(Self).map_err(|cause| format!("cannot start {program}: {cause}"))
    }

    /// Its exit code; -1 if a signal ended it, an error if it takes too long.
    pub fn wait(&mut self, limit: Duration) -> Result<i32, String> {
        let end = Instant::now() + limit;
        loop {
            match self.0.try_wait().map_err(|cause| cause.to_string())? {
                Some(status) => return Ok(status.code().unwrap_or(-1)),
                None if Instant::now() > end => return Err(format!("not finished after {} s", limit.as_secs())),
                None => thread::sleep(LOOK),
            }
        }
    }
}

impl Drop for ProgramGroup {
    fn drop(&mut self) {
        // The standard library ends single processes only.
        let group = format!("-{}", self.0.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a program to its end with nothing on standard input.
pub fn run(command: &mut Command, limit: Duration, stdout: &Path, stderr: &Path) -> Result<i32, String> {
    command.stdin(Stdio::null()).stdout(appended(stdout)?).stderr(appended(stderr)?);
    ProgramGroup::start(command)?.wait(limit)
}

/// A file to write on at the end of.
pub fn appended(path: &Path) -> Result<File, String> {
    let file = File::options().create(true).append(true).open(path);
    file.map_err(|cause| format!("{}: {cause}", path.display()))
}
