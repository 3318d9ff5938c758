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
mod worker_ops;
mod writing_session;

pub use activity::{ActivityKind, ActivityPage, ActivityRecord, one_line};
pub use answerer::{Answerer, BrowserLink, NotTheUser, Via, browser_link};
pub use assign::{TodoAssignment, assignment_key, worker_key};
pub use checkpoint::{
    CheckpointError, CheckpointReason, Code, Differs, RestoreResult, RestoredTodo, Restoring, SavedCheckpoint, Saving,
    Verification,
};
pub use claim::ClaimResult;
pub use doctor::{Finding, Severity};
pub use embedding::{Embedding, IdMaker};
pub use engine::{Clock, DEFAULT_PLAN, Engine, News, PlanChoice, Tell};
pub use error::{Candidates, EngineError};
pub use exchange::{Brings, ImportOptions, ImportResult, plan_of, written};
pub use expected_call::{UnnamedCall, UpcomingCall};
pub use fleet::{FleetRefresher, HandedIn, WorkerBody, WorkerName, default_worker_name, is_worker_name};
pub use follow::{
    Cursor, Follower, FollowerItem, Gap, PlanRefresher, RefreshResult, Revision, RevisionPage, Revisions, TodoChanges,
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
    ConversationMark, ConversationReader, ConversationReading, DecisionRecord, Earlier, Find, Going, HookChecks,
    HostReport, ObserveResult, PromptTokens, SessionMeter, SessionStatus, Switches, TurnStart, owner_of,
};
pub use inbox::{InboxQuery, READER};
pub use link::fingerprint;
#[cfg(feature = "verify")]
pub use notify::{InboxMemory, inbox_message, notify};
pub use offer::{OfferedTool, ToolGroup, ToolOffers};
pub use plans::PlanEntry;
pub use question::{
    AgentQuestion, AnswerOutcome, GivenAnswer, QUESTION_LENGTH, QuestionOption, QuestionPoll, QuestionReply,
    QuestionRequest, SessionAsk,
};
pub use ready::{OfferedElsewhere, ReadyQuery, load_reasons};
#[cfg(feature = "files")]
pub use run::SessionFile;
pub use run::{
    AttemptCost, ControlResult, OpenTurn, RecordedLimits, RunBody, RunControls, RunEnd, RunEvent, RunHolder,
    RunOutcome, RunRecord, RunRow, RunStart, RunStep, RunView, SeatRow, SeatStage, SeatStatus, SeatTurn, Sum, TodoCost,
    TurnEnd, dollars, seat_turns,
};
pub use session::{Role, SessionState};
pub use submit::{MakeOps, PlanChange, WriteRequest};
pub use summary::plan_summary;
pub use usage::{TodoUsage, UsageDelta, UsageReport};
pub use user_changes::InformedSession;
#[cfg(feature = "verify")]
pub use verify::{BackgroundChecks, CheckLock, CheckLocks, run_command};
pub use verify::{
    CheckEnd, CheckRun, Checker, Consents, PassedCheck, Proofs, RecheckResult, ReportVerdict, TAIL, VerifyError,
    WorkTree, words as command_line,
};
pub use writing_session::WritingSession;
