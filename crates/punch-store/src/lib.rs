//! Where plans live. One trait, [`Store`], with its promises in words; two backends, memory and SQLite, that pass the
//! same contract tests. A store never decides: it loads what a footprint asks for and keeps what an outcome says.
//!
//! Nothing here reads the environment, the home folder or the command line: paths come from the caller.

mod baseline;
mod error;
mod hub;
mod memory;
pub mod platform;
mod record;
mod replace;
mod sqlite;
mod store;

pub use error::{LostPlan, LostWrites, Reason, StoreError, Version};
pub use memory::MemoryStore;
pub use record::{
    ANSWER_LIFETIME_MS, Checkpoint, DECISION_LIFETIME_MS, DECISIONS_KEPT, Decision, Durability, ListMark, PlanId,
    PlanInfo, ReadyMark, Run, Session, SessionKey, Spent, Usage, Which,
};
pub use replace::{Replacement, replace_file};
pub use sqlite::{OpenMode, SqliteStore, StoreInfo, name_of, restore, revisions_in};
pub use store::{Catalogue, Changes, Snapshot, Store, Tx};
