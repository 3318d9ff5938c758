//! Processes that leave nothing running: each has a process group of its own, a mark in its environment, and a guard that
//! ends it even after a `kill -9` of this process (decision 0012).

mod ancestors;
mod guarded_child;
mod log;
mod marked_processes;
mod system;

pub use ancestors::{ProcessFacts, ProcessId, ancestry, process, starter};
pub use guarded_child::GuardedChild;
pub use log::Log;
pub use marked_processes::{end_marked_processes, has_marked_processes};
pub(crate) use system::{STARTED_PREFIX, await_end, kill_by_number};
pub use system::{host_name, own_process_group, shell};
