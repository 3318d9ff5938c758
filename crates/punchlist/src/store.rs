//! What it takes to keep plans in a store of your own: the trait [`Store`] with its promises, and everything that its methods
//! name. The contract tests in `crates/punch-store/tests/contract` hold for every store.

pub use punch_core::drive::Offer;
pub use punch_core::{
    Attempts, CancelledDep, Change, Counts, Dep, DepOnRunning, Derived, Event, Fields, Footprint, InProgressLimit,
    MissingDep, MissingEvidence, Need, Note, OnCycle, OnRemove, Outcome, Patch, Phase, PhaseUid, Plan, PlanRow, Policy,
    SetChange, Splice, StartGate, Swap, Todo, Uid, Undone, VerifyMode, Warning,
};
pub use punch_store::{
    ACTIVITY_KEPT, ACTIVITY_LIFETIME_MS, ANSWER_LIFETIME_MS, Activity, ActivitySpan, Ahead, BATCHES_KEPT, Batch,
    COMPLETED_FILES_KEPT, Catalogue, Changes, Checkpoint, CloneFacts, CloneFactsTx, CompletedFiles, Control,
    ControlScope, DECISION_LIFETIME_MS, DECISIONS_KEPT, Decision, Durability, EXPECTED_CALLS_KEPT, ExpectedCall,
    ListMark, LostPlan, LostWrites, Medium, MemoryStore, OFFERS_KEPT, PlanId, PlanInfo, QUESTIONS_KEPT, Question,
    QuestionAnswer, QuestionFilter, QuestionOutcome, QuestionState, READERS_KEPT, ReadMarker, ReadyMark, Reason, Run,
    RunGrant, RunLease, SeatRecord, Session, SessionKey, Snapshot, Spent, Store, StoreError, StoreLabel, Tx, Usage,
    Version, WORKER_LIFETIME_MS, Wanted, Which, WorkerRecord, backend,
};
