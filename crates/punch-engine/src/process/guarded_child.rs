//! A child process under a guard: started in its own process group, asked to exit, or killed with everything it
//! started. Dropping it kills it.

use std::io;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use std::thread;
use std::time::{Duration, Instant};

use super::system::{
    Guard, ask_to_end, await_end, code, end_all, has_ended, mark, own_process_group, variable, withhold_passwords,
};

/// How long a killed process is waited for: the kernel may hold it while a disk does not answer.
const GRACE: Duration = Duration::from_secs(2);

/// A child process that leaves nothing running after its end.
#[derive(Debug)]
pub struct GuardedChild {
    child: Child,
    mark: String,
    guard: Option<Guard>,
}

impl GuardedChild {
    /// Starts a command in its own process group, under a guard. The caller chooses streams, folder and environment;
    /// passwords of the store are never part of it.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        let mark = mark();
        // Before the process, so that it is never without a guard.
        let mut guard = Guard::new(&mark)?;
        withhold_passwords(command).env(variable(&mark), "1");
        own_process_group(command);
        let mut child = command.spawn()?;
        if let Err(error) = guard.over(&child) {
            end_all(&mut child, &mark);
            let _ = child.wait();
            return Err(error);
        }
        Ok(Self { child, mark, guard: Some(guard) })
    }

    /// The pipe to standard input; only the first call returns it.
    pub fn stdin(&mut self) -> Option<ChildStdin> {
        self.child.stdin.take()
    }

    /// The pipe from standard output; only the first call returns it.
    pub fn stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// The pipe from standard error; only the first call returns it.
    pub fn stderr(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    /// The process number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns true if the process has ended. What it started may still run.
    pub fn has_ended(&mut self) -> bool {
        has_ended(&mut self.child)
    }

    /// Returns a function that blocks until the process has ended, or for a while on systems that cannot wait for it. Call
    /// it on another thread, again until [`GuardedChild::has_ended`].
    pub fn waiter(&self) -> impl Fn() + Send + use<> {
        let pid = self.child.id();
        move || await_end(pid)
    }

    /// Replaces the guard if it was killed.
    pub fn renew_guard(&mut self) {
        if self.guard.as_mut().is_some_and(Guard::is_gone) && !self.has_ended() {
            let new = Guard::new(&self.mark).and_then(|mut guard| guard.over(&self.child).map(|()| guard));
            // If no guard can be started, the process runs on; the next call tries again.
            if let Ok(new) = new {
                self.guard = Some(new);
            }
        }
    }

    /// Asks the process group to end, where the system can.
    pub fn ask_to_end(&mut self) {
        if !self.has_ended() {
            ask_to_end(&self.child);
        }
    }

    /// Ends the process and everything it started. Returns its exit code, 128 and more for signals; `None` if the kernel
    /// still holds the process.
    pub fn end(&mut self) -> Option<i32> {
        if self.guard.is_some() {
            let ended = has_ended(&mut self.child);
            end_all(&mut self.child, &self.mark);
            let until = Instant::now() + GRACE;
            while !has_ended(&mut self.child) && Instant::now() < until {
                thread::sleep(Duration::from_millis(1));
            }
            if !ended {
                // The process may have forked while its group was being killed.
                end_all(&mut self.child, &self.mark);
            }
            self.guard = None;
        }
        self.child.try_wait().ok().flatten().map(code)
    }
}

impl Drop for GuardedChild {
    fn drop(&mut self) {
        self.end();
    }
}
