//! What a store of your own has to implement: the trait [`Store`] with its promises, and every type that its methods
//! use. The contract tests in `crates/punch-store/tests/contract` apply to every store.

pub use punch_core::drive::TodoOffer;
pub use punch_core::{
    Attempts, CancelledDep, Counts, Dep, DepOnRunning, Derived, Event, FieldChange, Fields, Footprint, InProgressLimit,
    ListSplice, MissingDep, MissingEvidence, Need, Note, OnCycle, OnRemove, Outcome, Patch, Phase, PhaseUid, Plan,
    PlanRow, Policy, SetChange, StartGate, Swap, Todo, Uid, Undone, VerifyMode, Warning,
};
pub use punch_store::{
    ACTIVITY_KEPT, ACTIVITY_LIFETIME_MS, ANSWER_LIFETIME_MS, Activity, ActivitySpan, Ahead, AttemptUsage, BATCHES_KEPT,
    BrowseBody, COMPLETED_FILES_KEPT, Catalogue, Changes, CheckpointRow, CloneFacts, CloneFactsTx, CompletedFiles,
    ControlRecord, ControlScope, DECISION_LIFETIME_MS, DECISIONS_KEPT, DecisionRow, Durability, EXPECTED_CALLS_KEPT,
    ExpectedCall, HandOut, LedgerEntry, ListMark, LostPlan, LostWrites, Medium, MemoryStore, OFFERS_KEPT, PlanId,
    PlanInfo, QUESTIONS_KEPT, Question, QuestionAnswer, QuestionFilter, QuestionOutcome, QuestionState, READERS_KEPT,
    ReadBody, ReadMarker, ReadyMark, RequestedState, RunGrant, RunLease, SESSION_LIFETIME_MS, SchemaVersion,
    SeatRecord, SessionKey, SessionRow, Snapshot, Store, StoreError, StoreLabel, StoreObstacle, StoredRun, Tx,
    WORKER_LIFETIME_MS, Which, WorkerRecord, WriteBody, backend,
};
