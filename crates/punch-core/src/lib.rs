//! The rules of Punchlist: data, ops, one `apply`, the graph, the dialects and the views.
//!
//! Nothing here does I/O, reads a clock, draws a random number or spawns a thread: ids and times come in with the
//! op and its context. The way of a change is dialect -> ops -> [`apply()`] -> events; the way of a reading is view.

mod actor;
pub mod apply;
mod checkpoint;
pub mod dialect;
pub mod drive;
mod error_table;
mod event;
pub mod evidence;
mod field;
pub mod files;
pub mod filter;
mod footprint;
pub mod format;
pub mod graph;
pub mod hash;
pub mod inbox;
pub mod json;
mod label;
mod op;
mod plan;
mod plan_check;
pub mod plan_file;
mod policy;
pub mod reason;
mod record;
mod refusal;
pub mod replay;
mod run_outcome;
pub mod runs_on;
pub mod schedule;
pub mod schema;
mod shown;
pub mod splice;
mod status;
pub mod text;
pub mod time;
mod todo;
pub mod view;
mod warning;
mod words;

pub use actor::{Actor, ActorKind, WorkerId, short_owner};
pub use apply::{ApplyStop, Context, ObservedWork, Outcome, UndoState, UndoWalk, Undone, apply};
pub use checkpoint::{Lists, TodoProgress};
pub use dialect::Dialect;
pub use error_table::ErrorValue;
pub use event::{Event, EventKind, Patch};
pub use evidence::Proof;
pub use field::{FieldChange, Fields, ListSplice, SetChange, Swap};
pub use footprint::{Footprint, Need};
pub use format::Format;
pub use label::{Label, LabelEdit};
pub use op::{Add, CarriedHistory, Edit, Keep, ListPosition, Op, PhaseRef, Ref};
pub use plan::{Counts, Phase, PhaseUid, Plan, PlanRow, Uid};
pub use plan_check::{PLAN_CHECK, due_plan_check, is_plan_check, may_be_finished};
pub use policy::{
    ATTEMPTS, Attempts, CancelledDep, DepOnRunning, InProgressLimit, MissingDep, MissingEvidence, OnCycle, OnRemove,
    Policy, StartGate, VerifyMode,
};
pub use record::{Document, Marks, ParsedDocument, Record, RecordStatus, Records, Remark};
pub use refusal::Refusal;
pub use run_outcome::RunOutcome;
pub use shown::ShownStatus;
pub use status::Status;
pub use todo::{
    Complexity, Dep, Derived, Evidence, Extra, Flags, Hold, HoldKind, LONGEST_LEASE, NO_PULL, Note, Observed, Todo,
    Verify,
};
pub use warning::Warning;
