//! Runs of a plan as they are kept: their records, what they spent, and the names under which their workers act. What
//! drives the agents is a crate of its own.

mod give;
mod ledger;
mod record;
mod session_file;
mod story;

pub use ledger::Sum;
pub use record::{Begin, Ended, Outcome, RunBody, RunRecord};
pub use session_file::SessionFile;

/// Owners that are workers of a runner begin with this; no session of a host does.
const WORKER: &str = "run:";

/// The owner under which the n-th agent of a run works. `epoch` counts how often the run was taken up: a worker that a
/// crash has left behind must not have the name of a new one.
pub fn worker_name(run: u64, epoch: u32, n: u64) -> String {
    format!("{WORKER}{run}/{epoch}.{n}")
}

/// The owner is a worker of a runner: what it calls done is reported, and the runner completes it.
pub fn is_worker(owner: &str) -> bool {
    owner.starts_with(WORKER)
}

/// The run that a worker belongs to.
pub fn run_of(owner: &str) -> Option<u64> {
    owner.strip_prefix(WORKER)?.split_once('/')?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_is_known_by_its_name() {
        let name = worker_name(3, 2, 11);
        assert_eq!(name, "run:3/2.11");
        assert!(is_worker(&name));
        assert_eq!((run_of(&name), run_of("run:x/1.1"), run_of("me")), (Some(3), None, None));
        for other in ["", "run", "worker-1", "mcp-run:3/1.1"] {
            assert!(!is_worker(other), "{other}");
        }
    }
}
