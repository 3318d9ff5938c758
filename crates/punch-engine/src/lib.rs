//! The world around the rules: submit a change, choose a plan, claim work, undo, look back, exchange, check.
//!
//! Nothing here prints, reads the command line or the environment: whatever comes from there is handed in.

mod assign;
pub mod call;
mod checkpoint;
mod claim;
pub mod config;
pub mod copies;
mod doctor;
mod document;
mod engine;
mod error;
mod exchange;
mod expected_call;
mod git;
mod give_back;
pub mod guide;
mod history;
mod host;
mod link;
pub mod locate;
mod offer;
mod offers;
pub mod plan_file;
mod plans;
pub mod process;
mod prune;
mod reference;
mod run;
pub mod schema;
mod session;
mod submit;
mod usage;
mod verify;

pub use assign::{Assignment, assignment_key};
pub use checkpoint::{
    CheckpointError, CheckpointReason, Code, Differs, Judged, Restored, Restoring, Saved, Saving, Verification,
};
pub use claim::Claimed;
pub use doctor::{Finding, Severity};
pub use engine::{Choice, Clock, DEFAULT_PLAN, Engine, News, Tell, used_by};
pub use error::EngineError;
pub use exchange::{Brings, ImportOptions, Imported, plan_of, written};
pub use expected_call::{UnnamedCall, UpcomingCall};
pub use git::{
    CommitVerdict, ELSEWHERE as GIT_ELSEWHERE, Git, GitCall, GitFolders, GitState, finish as finish_git, git_link,
    program as git_program, read_beginning,
};
pub use history::{RevisionEntry, at_revision};
pub use host::{
    DecisionRecord, Earlier, Find, Going, HostReport, Mark, Meter, Observed, Read, Reading, Spent, Switches, TurnStart,
    owner_of,
};
pub use link::fingerprint;
pub use offer::{Group, Offer, Offered};
pub use offers::best_free;
pub use plans::PlanEntry;
pub use run::{Begin, Ended, RunBody, RunOutcome, RunRecord, SessionFile, Sum};
pub use session::{Role, SessionState};
pub use submit::{Changed, MakeOps, Request};
pub use usage::{TodoUsage, UsageReport, Used};
pub use verify::{
    Checker, Consents, End, Proof, Proofs, Ran, Rechecked, TAIL, VerifyError, WorkTree, words as command_line,
};
