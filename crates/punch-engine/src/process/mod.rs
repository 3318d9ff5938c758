//! Processes that leave nothing running: each has a process group of its own, a mark in its environment, and a guard that
//! ends it even after a `kill -9` of this process (decision 0012).

mod ancestors;
#[cfg(feature = "git")]
mod guarded_child;
#[cfg(feature = "files")]
mod log;
mod machine;
#[cfg(feature = "git")]
mod marked_processes;
mod system;

pub use ancestors::{ProcessAncestry, ProcessFacts, ProcessId, ancestry, process, starter};
#[cfg(feature = "git")]
pub use guarded_child::GuardedChild;
#[cfg(feature = "files")]
pub use log::BoundedLog;
pub use machine::machine_name;
pub(crate) use machine::{is_same_machine, machine};
#[cfg(feature = "git")]
pub use marked_processes::{end_marked_processes, has_marked_processes};
pub(crate) use system::STARTED_PREFIX;
pub use system::host_name;
#[cfg(feature = "git")]
pub use system::{PASSWORDS, own_process_group, shell, withhold_passwords};
#[cfg(feature = "git")]
pub(crate) use system::{await_end, kill_by_number};
