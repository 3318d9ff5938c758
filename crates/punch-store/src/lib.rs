//! Where plans live. One trait, [`Store`], with its promises in words; two backends, memory and SQLite, that pass the
//! same contract tests as the one in `punch-store-pg`. A store never decides: it loads what a footprint asks for and keeps what an outcome says.
//!
//! Nothing here reads the environment, the home folder or the command line: paths come from the caller.

mod admin;
mod ahead;
pub mod backend;
mod baseline;
mod clone_facts;
mod columns;
mod copy;
mod error;
#[cfg(feature = "sqlite")]
mod file_events;
mod forward;
mod hub;
mod label;
mod memory;
#[cfg(feature = "files")]
mod own_files;
#[cfg(feature = "files")]
pub mod platform;
mod record;
#[cfg(feature = "files")]
mod replace;
mod server_address;
#[cfg(feature = "sqlite")]
mod sqlite;
mod store;

pub use admin::{OpenMode, StoreAdmin, StoreInfo, Upgrade};
pub use ahead::Ahead;
pub use clone_facts::{CloneFacts, CloneFactsTx};
pub use copy::{CopyReport, PlanCopy, add_plan, copy_store, read_plan};
pub use error::{LostPlan, LostWrites, SchemaVersion, StoreError, StoreObstacle};
pub use label::{Medium, StoreLabel};
pub use memory::MemoryStore;
#[cfg(feature = "files")]
pub use own_files::{append_own, create_own_folder, open_own, read_own, update_own};
pub use record::{
    ACTIVITY_KEPT, ACTIVITY_LIFETIME_MS, ANSWER_LIFETIME_MS, Activity, ActivitySpan, AttemptUsage, BATCHES_KEPT,
    COMPLETED_FILES_KEPT, CheckpointRow, CompletedFiles, ControlRecord, ControlScope, DECISION_LIFETIME_MS,
    DECISIONS_KEPT, DecisionRow, Durability, EXPECTED_CALLS_KEPT, ExpectedCall, HandOut, LedgerEntry, ListMark,
    OFFERS_KEPT, PlanId, PlanInfo, QUESTIONS_KEPT, Question, QuestionAnswer, QuestionFilter, QuestionOutcome,
    QuestionState, READERS_KEPT, ReadMarker, ReadyMark, RequestedState, RunGrant, RunLease, SESSION_LIFETIME_MS,
    SeatRecord, SessionKey, SessionRow, StoredRun, WORKER_LIFETIME_MS, Which, WorkerRecord,
};
#[cfg(feature = "files")]
pub use replace::{Replacement, replace_file};
pub use server_address::{has_password, percent_decoded, split_query};
#[cfg(feature = "sqlite")]
pub use sqlite::{SqliteStore, name_of, open_file, restore, revisions_in};
pub use store::{BrowseBody, Catalogue, Changes, ReadBody, Snapshot, Store, Tx, WriteBody};
