//! What can happen to a seat, and what a seat asks the runner to do.

use std::time::{Duration, Instant};

use punch_core::{HoldKind, Todo, Uid};
use punch_engine::GivenAnswer;
use punch_engine::config::Settings;
use punch_store::{LedgerEntry, SessionKey};

use super::{Sleep, WorkerIdentity};
use crate::agent::{AgentEvent, PermissionRequest};
use crate::observer::RunEvent;
use crate::permission::PermissionPolicy;
use crate::worktree::Lane;

/// Something that happened to a seat.
#[derive(Clone, Debug)]
pub(in crate::runner) enum SeatEvent {
    /// The runner gives the seat a todo, in a `fresh` conversation if the todo does not fit into the open one.
    Assign { uid: Uid, fresh: bool },
    /// The runner gives the seat a todo that is already reported and only has to be checked.
    CheckReported { todo: Todo, owner: String },
    /// The agent reported something.
    Agent(AgentEvent),
    /// The user answered a permission request; `None` if the user did not answer in time.
    Answered { request: String, answer: Option<GivenAnswer> },
    /// The check of the todo is over.
    Checked(CheckVerdict),
    /// The todo that the agent works on has changed in the plan.
    TodoChanged(Todo),
    /// Another seat with the same agent reached its usage limit.
    AgentLimited(Sleep),
    /// The run, or this seat, is to stop.
    StopRequested,
    /// Time has passed. `printed` is when the agent last printed something.
    Tick { printed: Option<Instant>, todo_time_over: bool },
    /// Result of [`SeatEffect::Claim`]: the claim was made.
    Claimed { worker: WorkerIdentity, todo: Todo },
    /// Result of [`SeatEffect::Claim`]: the todo is not ready any more, or another worker was faster.
    NotClaimed,
    /// Result of [`SeatEffect::Prepare`]: the lane is ready for the agent, or why not.
    Prepared(Result<(), String>),
    /// Result of [`SeatEffect::Launch`]: the process runs.
    Launched { worker: WorkerIdentity, lane: Option<Lane> },
    /// Result of [`SeatEffect::Launch`]: the process does not start.
    NotLaunched(String),
    /// Result of [`SeatEffect::Prompt`]: the agent begins a turn.
    Prompted,
    /// Result of [`SeatEffect::Prompt`]: the agent takes no further prompt, or there was an error.
    NotPrompted(Option<String>),
    /// Result of [`SeatEffect::Inspect`]: the todo as it is now, if it is still in the plan.
    Inspected(Option<Todo>),
    /// Result of [`SeatEffect::DecideContinuation`]: the text for the agent, if it should continue.
    Continuation(Option<String>),
    /// Result of [`SeatEffect::Fail`]: the todo afterwards, if the claim still held.
    AttemptFailed(Option<Todo>),
}

/// The result of a check.
#[derive(Clone, Debug)]
pub(in crate::runner) enum CheckVerdict {
    /// The todo is completed.
    Done,
    /// The work is pushed, and the coordinator of the fleet decides about it.
    HandedIn,
    /// The todo is not done, for this reason.
    Failed(String),
    /// The user has to do something first.
    Hold(String),
    /// The user has to bring two versions of the work together first.
    Conflict(String),
    /// The claim no longer holds.
    Lost(String),
    /// The run stopped the check. The todo stays reported.
    Stopped,
}

/// Something that the runner has to do for a seat.
#[derive(Clone, Debug)]
pub(in crate::runner) enum SeatEffect {
    /// Claim a todo for a worker, or for a new one.
    Claim { uid: Uid, worker: Option<WorkerIdentity> },
    /// Prepare the lane of a todo on a separate thread; [`SeatEvent::Prepared`] follows.
    Prepare { start: u64, todo: Todo },
    /// Start the agent on a todo. With `resume`, continue an earlier conversation.
    Launch { worker: WorkerIdentity, todo: Todo, resume: Option<Resume> },
    /// Prompt the agent in its open conversation. Without a text, with the description of the todo.
    Prompt { start: u64, todo: Todo, text: Option<String> },
    /// Answer a permission request.
    Answer { start: u64, request: PermissionRequest, answer: GivenAnswer },
    /// Ask the user about a permission request; [`SeatEvent::Answered`] follows.
    AskUser { start: u64, todo: Todo, request: PermissionRequest },
    /// Ask the agent to end; [`AgentEvent::Exited`] follows unless it ignores that.
    Cancel(u64),
    /// Kill the agent; [`AgentEvent::Exited`] follows.
    Kill(u64),
    /// Drop the agent, which kills it. No more reports come from it.
    EndAgent(u64),
    /// Read the todo from the store.
    Inspect(Uid),
    /// Decide whether the agent is told to continue, as hooks do.
    DecideContinuation { key: SessionKey, owner: String },
    /// Report the todo as done in the name of the worker.
    ReportDone { todo: Todo, owner: String, evidence: &'static str },
    /// Check the todo on a separate thread and complete it; [`SeatEvent::Checked`] follows.
    Check { todo: Todo, owner: String, lane: Option<Lane> },
    /// Record that the attempt failed.
    Fail { todo: Todo, owner: String, why: String },
    /// Count a completed todo.
    Completed(Todo),
    /// Count a todo whose work was handed in.
    HandedIn(Todo),
    /// Put the todo on hold for the user.
    Hold { todo: Todo, owner: String, kind: HoldKind, why: String },
    /// Open a todo again unless it was reported as done.
    Reopen(Todo),
    /// Renew the claim.
    Renew { uid: Uid, owner: String },
    /// Add an entry to the ledger.
    Charge(LedgerEntry),
    /// Remove the worktree of a lane; its work stays on its branch.
    CloseLane(Lane),
    /// Let the other seats with the same agent sleep too: its usage limit is reached.
    ShareLimit(Sleep),
    /// Save a snapshot of the plan and the git state.
    Checkpoint(&'static str),
    /// Start nothing more in this run because a limit is reached.
    StopRun(String),
    /// Report an event of the run.
    Report(RunEvent),
}

/// How a conversation continues in a new process.
#[derive(Clone, Debug)]
pub(in crate::runner) struct Resume {
    /// The agent's own name for the conversation. Without one, the new process starts from the description of the todo.
    pub session: Option<String>,
    /// The prompt for the agent.
    pub text: String,
}

/// What a seat knows about its surroundings at one moment.
#[derive(Clone, Debug)]
pub(in crate::runner) struct SeatConditions<'a> {
    pub now: Instant,
    /// Milliseconds since the epoch at `now`, by the wall clock.
    pub wall: i64,
    /// Nothing more is started in this run.
    pub stopping: bool,
    /// Agents that were asked to end are killed at once.
    pub urgent: bool,
    /// The limit of the run that is reached.
    pub run_limit: Option<String>,
    /// The limit that the todo of the seat has reached.
    pub todo_limit: Option<String>,
    pub rules: &'a SeatRules,
}

/// What is the same for all seats during a run.
#[derive(Clone, Debug)]
pub(in crate::runner) struct SeatRules {
    /// The number of the run.
    pub run: u64,
    /// True if every todo is worked on in a separate lane.
    pub lanes: bool,
    /// A lane is prepared before an agent starts in it.
    pub prepares: bool,
    /// How often a todo is tried.
    pub attempts: u32,
    /// The pause after the first failed turn.
    pub backoff: Duration,
    /// How long an agent may give no sign of life.
    pub idle: Duration,
    /// How long an agent may take to end before it is killed.
    pub grace: Duration,
    /// How long a claim lasts unless renewed.
    pub lease: Duration,
    /// How long a seat waits at most for the reset of a usage limit.
    pub limit_wait: Duration,
    /// How long a seat waits if the agent does not say when its usage limit is reset.
    pub limit_pause: Duration,
    /// The factor for estimates.
    pub calibration: f64,
    /// The permissions that are granted without asking.
    pub policy: PermissionPolicy,
}

impl SeatRules {
    /// Returns the rules that the settings ask for.
    pub fn of(settings: &Settings, run: u64, lanes: bool, calibration: f64, policy: PermissionPolicy) -> Self {
        Self {
            run,
            lanes,
            prepares: false,
            attempts: settings.run_attempts.value,
            backoff: settings.run_backoff.value,
            idle: settings.run_idle.value,
            grace: settings.run_grace.value,
            lease: settings.lease.value,
            limit_wait: settings.run_limit_wait.value,
            limit_pause: settings.run_limit_pause.value,
            calibration,
            policy,
        }
    }
}
