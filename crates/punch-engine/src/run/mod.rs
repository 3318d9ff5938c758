//! Runs of a plan in the store: records, events, seats, controls, ledger, claims of workers. The crate `punch-run` drives the agents; workers
//! are named by [`punch_core::WorkerId`].

mod controls;
mod event;
mod events;
mod lease;
mod ledger;
mod record;
mod seats;
#[cfg(feature = "files")]
mod session_file;
mod timeline;
mod turns;
mod view;
mod worker_claims;

pub use controls::{ControlResult, RunControls};
pub use event::RunEvent;
pub(crate) use lease::HeldRun;
pub use lease::RunHolder;
pub use ledger::{AttemptCost, Sum, dollars};
pub use punch_core::RunOutcome;
pub use record::{RecordedLimits, RunBody, RunEnd, RunRecord, RunStart};
pub(crate) use record::{read as read_run, worked as worked_run, written as written_run};
pub use seats::{SeatStage, SeatStatus};
#[cfg(feature = "files")]
pub use session_file::SessionFile;
pub use timeline::{SeatTurn, TurnEnd, seat_turns};
pub use turns::OpenTurn;
pub(crate) use turns::charge as charge_turns;
pub use view::{RunRow, RunStep, RunView, SeatRow, TodoCost};
