//! Finds processes by a variable in their environment. Everything a process starts inherits the variable, also what left
//! its group, session and parent. Only Linux shows the environment of others; elsewhere nothing is found.

#[cfg(target_os = "linux")]
pub use linux::{end_marked_processes, has_marked_processes};

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::os::fd::OwnedFd;
    use std::time::Duration;

    use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};

    /// How often processes are looked for. What forks faster than it is found is left alone.
    const LOOKS: u32 = 40;

    /// Ends every process whose variable `name` has a value that begins with `begins`, except this process.
    pub fn end_marked_processes(name: &str, begins: &str) {
        let mut none = 0;
        for _ in 0..LOOKS {
            let found = marked_processes(name, begins);
            let ended = found.iter().filter(|held| pidfd_send_signal(held, Signal::KILL).is_ok()).count();
            none = if ended == 0 { none + 1 } else { 0 };
            // One that is just being started has no environment for a moment.
            if none == 2 {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Returns true if a process has a variable `name` whose value begins with `begins`.
    pub fn has_marked_processes(name: &str, begins: &str) -> bool {
        !marked_processes(name, begins).is_empty()
    }

    fn marked_processes(name: &str, begins: &str) -> Vec<OwnedFd> {
        let wanted = format!("{name}={begins}");
        let own = getpid();
        let names = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.file_name());
        let numbers = names.filter_map(|name| name.to_str()?.parse::<i32>().ok());
        let held = |number: i32| {
            let pid = Pid::from_raw(number).filter(|pid| *pid != own)?;
            // Held before it is looked at: the number may go to another process, the handle does not.
            let held = pidfd_open(pid, PidfdFlags::empty()).ok()?;
            let environment = fs::read(format!("/proc/{number}/environ")).ok()?;
            let carries = environment.split(|byte| *byte == 0).any(|entry| entry.starts_with(wanted.as_bytes()));
            carries.then_some(held)
        };
        numbers.filter_map(held).collect()
    }
}

#[cfg(not(target_os = "linux"))]
pub use elsewhere::{end_marked_processes, has_marked_processes};

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    /// Marked processes cannot be found here.
    pub fn end_marked_processes(_name: &str, _begins: &str) {}

    /// Marked processes cannot be found here.
    pub fn has_marked_processes(_name: &str, _begins: &str) -> bool {
        false
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn only_processes_with_that_value_are_ended() {
        let start = |value: &str| Command::new("sleep").arg("1000").env("_PUNCH_TEST_CARRIED", value).spawn().unwrap();
        let own = std::process::id();
        let (mut one, mut two) = (start(&format!("{own}/a/1")), start(&format!("{own}/b/1")));
        let name = "_PUNCH_TEST_CARRIED";
        for value in ["a", "b"] {
            while !has_marked_processes(name, &format!("{own}/{value}/")) {
                std::thread::yield_now();
            }
        }
        end_marked_processes(name, &format!("{own}/a/"));
        assert!(!one.wait().unwrap().success());
        assert!(two.try_wait().unwrap().is_none() && has_marked_processes(name, &format!("{own}/")));
        end_marked_processes(name, &format!("{own}/"));
        two.wait().unwrap();
        assert!(!has_marked_processes(name, &format!("{own}/")));
    }
}
