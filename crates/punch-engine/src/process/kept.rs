//! A long-lived process under guard: started apart, asked to end or ended with everything it started, and ended at the
//! latest when it is dropped.

use std::io;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use std::thread;
use std::time::{Duration, Instant};

use super::system::{Guard, apart, ask_to_end, await_end, code, end_all, has_ended, mark, variable};

/// The kernel may hold on to a killed process, for a disk that does not answer; nobody waits longer than this for it.
const GRACE: Duration = Duration::from_secs(2);

/// A process that leaves nothing behind.
#[derive(Debug)]
pub struct Kept {
    child: Child,
    mark: String,
    guard: Option<Guard>,
}

impl Kept {
    /// Starts a command in a group of its own, under guard. Streams, folder and environment are the caller's choice.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        let mark = mark();
        // First, so that there is no moment without it.
        let mut guard = Guard::new(&mark)?;
        command.env(variable(&mark), "1");
        apart(command);
        let mut child = command.spawn()?;
        if let Err(error) = guard.over(&child) {
            end_all(&mut child, &mark);
            let _ = child.wait();
            return Err(error);
        }
        Ok(Self { child, mark, guard: Some(guard) })
    }

    /// The end for writing, once.
    pub fn stdin(&mut self) -> Option<ChildStdin> {
        self.child.stdin.take()
    }

    /// The end for reading, once.
    pub fn stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// The end for reading, once.
    pub fn stderr(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    /// Its number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether the first process has ended; what it started may still be there.
    pub fn has_ended(&mut self) -> bool {
        has_ended(&mut self.child)
    }

    /// Something that blocks for a while, on a system that can until the first process has ended: to be called on
    /// another thread, and again until [`Kept::has_ended`].
    pub fn waiter(&self) -> impl Fn() + Send + use<> {
        let pid = self.child.id();
        move || await_end(pid)
    }

    /// Sees to it that it is watched over: a guard that somebody has killed is replaced.
    pub fn tend(&mut self) {
        if self.guard.as_mut().is_some_and(Guard::is_gone) && !self.has_ended() {
            let new = Guard::new(&self.mark).and_then(|mut guard| guard.over(&self.child).map(|()| guard));
            // Without one it goes on: the next look tries again.
            if let Ok(new) = new {
                self.guard = Some(new);
            }
        }
    }

    /// Asks it to end, as politely as the system can.
    pub fn ask_to_end(&mut self) {
        if !self.has_ended() {
            ask_to_end(&self.child);
        }
    }

    /// Ends it and everything it started. Answers its exit code, 128 and more for signals; `None` if the kernel does
    /// not let go of it.
    pub fn end(&mut self) -> Option<i32> {
        if self.guard.is_some() {
            end_all(&mut self.child, &self.mark);
            let until = Instant::now() + GRACE;
            while !has_ended(&mut self.child) && Instant::now() < until {
                thread::sleep(Duration::from_millis(1));
            }
            // What was forked while the group was being killed.
            end_all(&mut self.child, &self.mark);
            self.guard = None;
        }
        self.child.try_wait().ok().flatten().map(code)
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.end();
    }
}
