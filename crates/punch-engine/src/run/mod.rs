//! Runs of a plan as they are kept: their records and what they spent. What drives the agents is a crate of its own; the
//! names of workers are [`punch_core::WorkerId`].

mod events;
mod ledger;
mod record;
mod session_file;
mod worker_claims;

pub use ledger::Sum;
pub use record::{Begin, Ended, RunBody, RunOutcome, RunRecord};
pub use session_file::SessionFile;
