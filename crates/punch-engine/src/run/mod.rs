//! Runs of a plan in the store: records, ledger, claims of workers. The crate `punch-run` drives the agents; workers
//! are named by [`punch_core::WorkerId`].

mod events;
mod ledger;
mod record;
mod session_file;
mod worker_claims;

pub use ledger::Sum;
pub use record::{Begin, Ended, RunBody, RunOutcome, RunRecord};
pub use session_file::SessionFile;
