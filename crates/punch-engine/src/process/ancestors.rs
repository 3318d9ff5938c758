//! The parents of this process, and the variables in their environments when they began. Only Linux shows this;
//! elsewhere nothing is known.

use serde::{Deserialize, Serialize};

/// A process that can be recognized later: numbers are used again, but not with the same start time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProcessId {
    /// The number of the process.
    pub pid: u32,
    /// When it started, in the units of the system.
    pub started: u64,
}

/// What is known about a running process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessFacts {
    /// The process.
    pub id: ProcessId,
    /// The name of its program, as the system shortens it.
    pub program: String,
    /// The names of the variables it was started with; `None` if the system does not show them to this user.
    pub variables: Option<Vec<String>>,
}

/// A process and the processes above it, nearest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessAncestry {
    /// The processes.
    pub processes: Vec<ProcessFacts>,
    /// There are more than were looked at.
    pub is_cut: bool,
}

/// Processes looked at, from this one upwards. A chain that is longer was made to be.
#[cfg(target_os = "linux")]
const DEEPEST: usize = 256;

/// Shells that agents start commands with. A user's own shell is among them, so a shell is never taken for an agent.
const SHELLS: [&str; 9] = ["sh", "bash", "dash", "ash", "zsh", "fish", "ksh", "busybox", "nu"];

#[cfg(target_os = "linux")]
pub use linux::{ancestry, process};

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::{self, File};
    use std::io::Read;

    use super::{DEEPEST, ProcessAncestry, ProcessFacts, ProcessId};

    /// The largest environment that is read. The kernel allows less.
    const LARGEST: u64 = 16 << 20;

    /// Returns this process and its parents; `None` if the system does not provide them.
    pub fn ancestry() -> Option<ProcessAncestry> {
        ancestry_to(DEEPEST)
    }

    pub(super) fn ancestry_to(deepest: usize) -> Option<ProcessAncestry> {
        let mut next = std::process::id();
        let mut out = ProcessAncestry::default();
        while next > 0 {
            if out.processes.len() == deepest {
                out.is_cut = true;
                break;
            }
            let Some((id, parent, program)) = status(next) else { break };
            out.processes.push(ProcessFacts { id, program, variables: variables(next) });
            next = parent;
        }
        (!out.processes.is_empty()).then_some(out)
    }

    /// Returns the process that has this number now.
    pub fn process(pid: u32) -> Option<ProcessId> {
        status(pid).map(|(id, ..)| id)
    }

    pub(super) fn parents() -> impl Iterator<Item = (ProcessId, String)> {
        let mut next = status(std::process::id()).map(|(_, parent, _)| parent);
        let above = std::iter::from_fn(move || {
            let (id, parent, program) = status(next.filter(|pid| *pid > 0)?)?;
            next = Some(parent);
            Some((id, program))
        });
        above.take(DEEPEST)
    }

    /// The process, its parent and the name of its program. That name may contain anything, also a `)`.
    fn status(pid: u32) -> Option<(ProcessId, u32, String)> {
        let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
        let text = String::from_utf8_lossy(&text);
        let (before, after) = text.rsplit_once(')')?;
        let program = before.split_once('(')?.1.to_owned();
        // Behind the name: state, parent, then 17 others, then the start time.
        let mut fields = after.split_whitespace();
        let parent = fields.nth(1)?.parse().ok()?;
        let started = fields.nth(17)?.parse().ok()?;
        Some((ProcessId { pid, started }, parent, program))
    }

    fn variables(pid: u32) -> Option<Vec<String>> {
        let mut bytes = Vec::new();
        File::open(format!("/proc/{pid}/environ")).ok()?.take(LARGEST).read_to_end(&mut bytes).ok()?;
        let entries = bytes.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
        let filled = entries.filter_map(|entry| {
            let at = entry.iter().position(|byte| *byte == b'=')?;
            (at + 1 < entry.len()).then(|| String::from_utf8_lossy(&entry[..at]).into_owned())
        });
        Some(filled.collect())
    }
}

#[cfg(not(target_os = "linux"))]
pub use elsewhere::{ancestry, process};

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use super::{ProcessAncestry, ProcessId};

    /// Other processes cannot be looked at here.
    pub fn ancestry() -> Option<ProcessAncestry> {
        None
    }

    /// Other processes cannot be looked at here.
    pub fn process(_pid: u32) -> Option<ProcessId> {
        None
    }

    pub(super) fn parents() -> impl Iterator<Item = (ProcessId, String)> {
        std::iter::empty()
    }
}

#[cfg(target_os = "linux")]
use linux::parents;

#[cfg(not(target_os = "linux"))]
use elsewhere::parents;

/// Returns the program that started this process, past the shells in between: for a hook, its agent. `None` if there is
/// no such program, or if the system does not show it.
pub fn starter() -> Option<ProcessId> {
    first_program(parents()).filter(|found| found.pid > 1)
}

/// Returns the first process that is not a shell.
fn first_program(mut above: impl Iterator<Item = (ProcessId, String)>) -> Option<ProcessId> {
    above.find(|(_, program)| !SHELLS.contains(&program.trim_start_matches('-'))).map(|(id, _)| id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_starter_is_the_first_program_that_is_not_a_shell() {
        let chain = |names: &[&str]| {
            let ids = names.iter().zip(1..).map(|(name, pid)| (ProcessId { pid, started: 7 }, (*name).to_owned()));
            first_program(ids.collect::<Vec<_>>().into_iter()).map(|id| id.pid)
        };
        assert_eq!(chain(&["sh", "node", "bash"]), Some(2));
        assert_eq!(chain(&["claude", "-zsh"]), Some(1));
        assert_eq!(chain(&["sh", "-bash"]), None);
        assert_eq!(chain(&[]), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_has_its_own_past_in_its_ancestry() {
        use std::process::{Command, Stdio};

        let all = ancestry().unwrap();
        assert!(!all.is_cut);
        let part = linux::ancestry_to(1).unwrap();
        assert_eq!(
            (part.processes.len(), part.is_cut),
            (1, true),
            "a chain of which only a part was looked at says so"
        );
        let own = all.processes;
        assert_eq!(own[0].id.pid, std::process::id());
        assert_eq!(process(own[0].id.pid), Some(own[0].id));
        assert!(own[0].variables.as_ref().is_some_and(|names| names.iter().any(|name| name == "PATH")));
        // A process that hides its own variables still has ours above it.
        let mut child = Command::new("sleep").arg("1000").env_clear().stdin(Stdio::null()).spawn().unwrap();
        let id = process(child.id()).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!((id.pid, process(id.pid)), (child.id(), None));
    }
}
