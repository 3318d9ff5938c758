//! The world around the rules: submit a change, choose a plan, claim work, undo, look back, exchange, check.
//!
//! Nothing here prints, reads the command line or the environment: whatever comes from there is handed in.

mod activity;
mod activity_words;
mod answerer;
mod assign;
pub mod call;
mod checkpoint;
mod claim;
pub mod config;
#[cfg(feature = "sqlite")]
pub mod copies;
mod doctor;
mod document;
mod embedding;
mod engine;
mod error;
mod exchange;
mod expected_call;
mod fleet;
mod follow;
mod git;
mod give_back;
pub mod guide;
mod history;
mod host;
mod inbox;
mod link;
#[cfg(feature = "git")]
pub mod locate;
mod merge;
#[cfg(feature = "verify")]
mod notify;
mod observed_work;
mod offer;
mod offers;
pub mod plan_file;
mod plans;
pub mod process;
mod prune;
mod question;
mod ready;
mod reference;
mod run;
pub mod schema;
mod session;
mod submit;
mod submit_once;
mod summary;
mod usage;
mod user_changes;
mod verify;
mod writing_session;

pub use activity::{ActivityKind, ActivityPage, ActivityRecord, one_line};
pub use answerer::{Answerer, BrowserLink, NotTheUser, Via, browser_link};
pub use assign::{Assignment, assignment_key, worker_key};
pub use checkpoint::{
    CheckpointError, CheckpointReason, Code, Differs, Judged, Restored, Restoring, Saved, Saving, Verification,
};
pub use claim::Claimed;
pub use doctor::{Finding, Severity};
pub use embedding::{Embedding, IdMaker};
pub use engine::{Choice, Clock, DEFAULT_PLAN, Engine, News, Tell};
pub use error::{Candidates, EngineError};
pub use exchange::{Brings, ImportOptions, Imported, plan_of, written};
pub use expected_call::{UnnamedCall, UpcomingCall};
pub use fleet::{FleetRefresher, HandedIn, WorkerBody, WorkerName, default_worker_name, is_worker_name};
pub use follow::{
    ChangedTodos, Cursor, Followed, Follower, Gap, PlanRefresher, Refreshed, Revision, RevisionPage, Revisions,
    revisions_after, todo_of,
};
pub use git::{CommitVerdict, Git, GitFolders, GitState};
#[cfg(feature = "git")]
pub use git::{
    ELSEWHERE as GIT_ELSEWHERE, GitCall, finish as finish_git, finish_within as finish_git_within, git_link,
    program as git_program, read_beginning,
};
pub use history::{NARRATED, RevisionEntry, at_revision};
pub use host::{
    DecisionRecord, Earlier, Find, Going, HookChecks, HostReport, Mark, Meter, Observed, Read, Reading, SessionStatus,
    Spent, Switches, TurnStart, owner_of,
};
pub use inbox::{InboxQuery, READER};
pub use link::fingerprint;
#[cfg(feature = "verify")]
pub use notify::{InboxMemory, inbox_message, notify};
pub use offer::{Group, Offer, Offered};
pub use plans::PlanEntry;
pub use question::{
    AgentQuestion, Answer, AnswerOutcome, Ask, GivenAnswer, QUESTION_LENGTH, QuestionOption, SessionAsk, Taken,
};
pub use ready::{OfferedElsewhere, ReadyQuery, load_reasons};
#[cfg(feature = "files")]
pub use run::SessionFile;
pub use run::{
    AttemptCost, Begin, Controlled, Ended, OpenTurn, RunBody, RunControls, RunEvent, RunHolder, RunOutcome, RunRecord,
    RunRow, RunStep, RunView, SeatRow, SeatStage, SeatStatus, SeatTurn, Sum, TodoCost, TurnEnd, dollars, seat_turns,
};
pub use session::{Role, SessionState};
pub use submit::{Changed, MakeOps, Request};
pub use summary::plan_summary;
pub use usage::{TodoUsage, UsageReport, Used};
pub use user_changes::InformedSession;
#[cfg(feature = "verify")]
pub use verify::{BackgroundChecks, CheckLock, CheckLocks, run_command};
pub use verify::{
    Checker, Consents, End, Proof, Proofs, Ran, Rechecked, ReportVerdict, TAIL, VerifyError, WorkTree,
    words as command_line,
};
pub use writing_session::WritingSession;
