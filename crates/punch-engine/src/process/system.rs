//! Differences between operating systems for started processes: their group, their end, and what they leave behind. On
//! Linux every process that inherited the mark is found, even one that left its group, session and parent.

#[cfg(feature = "git")]
use std::process::{Child, Command, ExitStatus};
#[cfg(feature = "git")]
use std::sync::atomic::{AtomicU64, Ordering};

/// The identity of this process among all that run now.
#[cfg(feature = "git")]
pub(crate) fn mark() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("{:x}_{:x}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// The name of the variable that marks everything a process starts. The value says nothing; one inside another has
/// both names. It must not look like a setting.
#[cfg(feature = "git")]
pub(crate) fn variable(mark: &str) -> String {
    format!("{STARTED_PREFIX}{mark}")
}

/// What the names of variables begin with that mark everything started here.
pub(crate) const STARTED_PREFIX: &str = "_PUNCH_STARTED_";

/// Variables with passwords of the store. Only our own processes inherit them.
#[cfg(feature = "git")]
pub const PASSWORDS: [&str; 1] = ["PGPASSWORD"];

/// Keeps passwords of the store from a program that is not ours.
#[cfg(feature = "git")]
pub fn withhold_passwords(command: &mut Command) -> &mut Command {
    PASSWORDS.iter().fold(command, |command, name| command.env_remove(name))
}

/// Returns the name of this machine; empty if it has none.
pub fn host_name() -> String {
    let name = host_name_of_system();
    punch_core::text::clip(&punch_core::text::neutral(name.trim()), 100).into_owned()
}

#[cfg(target_os = "linux")]
fn host_name_of_system() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default()
}

#[cfg(all(unix, not(target_os = "linux"), feature = "git"))]
fn host_name_of_system() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// A machine without a name is never the machine of a run.
#[cfg(not(any(target_os = "linux", all(unix, feature = "git"))))]
fn host_name_of_system() -> String {
    String::new()
}

/// A line for the shell of the system.
#[cfg(feature = "git")]
pub fn shell(line: &str) -> Command {
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let mut command = Command::new(shell);
    command.arg(flag).arg(line);
    command
}

#[cfg(all(unix, feature = "git"))]
pub use unix::*;

#[cfg(all(unix, feature = "git"))]
mod unix {
    use std::os::unix::process::{CommandExt, ExitStatusExt};

    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid};

    use std::io::{self, Write};
    use std::process::{ChildStdin, Stdio};

    use super::{Child, Command, ExitStatus};

    /// A shell script that waits until its input ends. If the last message is missing, the writer has died: the script
    /// then kills the process group that it was given and, where processes can be inspected, every process with the
    /// mark. A process that is just starting may not have the mark yet, so the script looks until it finds none three
    /// times in a row.
    const GUARD: &str = r#"trap '' HUP INT QUIT TERM
group=
while read -r word; do
  [ "$word" = over ] && exit 0
  group=$word
done
[ -z "$group" ] || kill -s KILL -- "-$group" 2>/dev/null
look=0 calm=0
while [ $look -lt 60 ] && [ $calm -lt 3 ]; do
  look=$((look + 1))
  found=$(grep -l -e "$1=" /proc/[0-9]*/environ 2>/dev/null)
  if [ -z "$found" ]; then calm=$((calm + 1)); sleep 0.02; continue; fi
  calm=0
  for file in $found; do pid=${file#/proc/}; kill -KILL "${pid%/environ}" 2>/dev/null; done
done"#;

    /// Ends a process when this one is gone, however it went: also by a signal that cannot be caught. A signal to the
    /// process at the death of its parent would need `unsafe`, and would miss what it has started.
    #[derive(Debug)]
    pub(crate) struct Guard {
        child: Child,
        line: Option<ChildStdin>,
    }

    impl Guard {
        /// Watches over everything with that mark. Made before there is anything to watch over: between two starts
        /// there would be a moment without it.
        pub fn new(mark: &str) -> io::Result<Self> {
            let mut command = Command::new("sh");
            command.args(["-c", GUARD, "guard"]).arg(super::variable(mark));
            // Signals from the terminal go to a whole group. Its folder may be deleted.
            command.process_group(0).current_dir("/");
            command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
            let mut child = command.spawn()?;
            let line = child.stdin.take();
            Ok(Self { child, line })
        }

        /// It is gone before its time: it was killed.
        pub fn is_gone(&mut self) -> bool {
            !matches!(self.child.try_wait(), Ok(None))
        }

        /// The process that leads the group.
        pub fn over(&mut self, leader: &Child) -> io::Result<()> {
            self.line.as_mut().map_or(Ok(()), |line| writeln!(line, "{}", leader.id()))
        }
    }

    impl Drop for Guard {
        fn drop(&mut self) {
            if let Some(mut line) = self.line.take() {
                let _ = line.write_all(b"over\n");
            }
            let _ = self.child.wait();
        }
    }

    /// Gives the command its own process group. A Ctrl-C in the terminal does not reach it.
    pub fn own_process_group(command: &mut Command) {
        command.process_group(0);
    }

    /// Whether it has ended. Its number stays taken until it is waited for, so that its group can be ended safely.
    pub(crate) fn has_ended(child: &mut Child) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        match waitid(WaitId::Pid(Pid::from_child(child)), options) {
            Ok(status) => status.is_some(),
            Err(rustix::io::Errno::INTR) => false,
            // Nothing else waits for it; whatever this is, asking again would not help.
            Err(_) => true,
        }
    }

    /// Ends a child process by its number, with its process group if it has its own. It has not been waited for, so the
    /// number is still its own.
    pub(crate) fn kill_by_number(pid: u32) {
        if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(pid, Signal::KILL);
            let _ = kill_process(pid, Signal::KILL);
        }
    }

    /// Waits until a child process has ended, by its number, which stays taken until it is waited for.
    pub(crate) fn await_end(pid: u32) {
        let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(pid), options), Err(rustix::io::Errno::INTR)) {}
    }

    /// Asks the group to end. `child` has not been waited for.
    pub(crate) fn ask_to_end(child: &Child) {
        let _ = kill_process_group(Pid::from_child(child), Signal::TERM);
    }

    /// Ends everything that the process started and that is still there. `child` has not been waited for.
    pub(crate) fn end_all(child: &mut Child, mark: &str) {
        // Gone already, if the answer is an error.
        let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
        super::super::marked_processes::end_marked_processes(&super::variable(mark), "");
    }

    /// The exit code, as shells count signals.
    pub(crate) fn code(status: ExitStatus) -> i32 {
        status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(-1)
    }
}

#[cfg(all(not(unix), feature = "git"))]
pub use other::*;

#[cfg(all(not(unix), feature = "git"))]
mod other {
    use super::{Child, Command, ExitStatus};

    /// Nothing here outlives the process but what it started.
    #[derive(Debug)]
    pub(crate) struct Guard;

    impl Guard {
        /// There is nothing to watch with.
        pub fn new(_mark: &str) -> std::io::Result<Self> {
            Ok(Self)
        }

        /// There is nothing to watch with.
        pub fn is_gone(&mut self) -> bool {
            false
        }

        /// There is nothing to watch with.
        pub fn over(&mut self, _leader: &Child) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// There are no process groups here.
    pub fn own_process_group(_command: &mut Command) {}

    /// Returns true if the child has exited.
    pub(crate) fn has_ended(child: &mut Child) -> bool {
        !matches!(child.try_wait(), Ok(None))
    }

    /// There is no way to wait by number; the caller asks again.
    pub(crate) fn await_end(_pid: u32) {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }

    /// There is no way to end a process by its number.
    pub(crate) fn kill_by_number(_pid: u32) {}

    /// There is no way to ask.
    pub(crate) fn ask_to_end(_child: &Child) {}

    /// Ends the process itself; what it started keeps running.
    pub(crate) fn end_all(child: &mut Child, _mark: &str) {
        let _ = child.kill();
    }

    /// The exit code.
    pub(crate) fn code(status: ExitStatus) -> i32 {
        status.code().unwrap_or(-1)
    }
}
