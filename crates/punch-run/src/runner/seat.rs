//! A seat: one of the agents that work at the same time, as an explicit state machine. [`Seat::step`] is pure: it takes
//! an event and returns the effects that the runner has to perform. Results of effects come back as events (decision
//! 0031).

mod agent_events;
mod event;
mod interruptions;
mod step;
mod usage_limit;

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use punch_core::{Todo, Uid};
use punch_store::SessionKey;

use crate::agent::{PermissionRequest, TokenSpending};
use crate::worktree::Lane;

pub(super) use event::{CheckVerdict, Resume, SeatConditions, SeatEffect, SeatEvent, SeatRules};

/// Failed starts in a row after which a seat gets no more todos.
pub(super) const MAX_FAILED_STARTS: u32 = 3;

/// The longest pause between failed turns.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

/// One of the agents that work at the same time.
#[derive(Clone, Debug)]
pub(super) struct Seat {
    /// The number that users see, counted from 1. 0 for a seat without an agent, which exists only to check a todo that
    /// was reported before.
    pub number: usize,
    /// Index of the agent in the options of the run.
    pub spec: usize,
    /// The name of the agent, such as `claude`.
    pub name: String,
    /// The agent as the user named it, with its command.
    pub label: String,
    /// The agent reports a todo as done by exiting with code 0, and takes no further prompt.
    pub exit_reports_done: bool,
    /// The agent has to open a conversation first, so a started process is not yet a good start.
    pub opens_conversation: bool,
    /// Failed turns in a row: pauses grow with them.
    pub failed_turns: u32,
    /// Failed starts in a row.
    pub failed_starts: u32,
    /// The error of the last failed start.
    pub start_error: String,
    /// The seat was asked to stop and starts nothing more.
    pub stop_requested: bool,
    /// The user paused the seat: it finishes its todo and gets no other.
    pub paused: bool,
    /// The usage limit of the agent is reached: the seat gets no todo until then.
    pub sleep: Option<Sleep>,
    /// When the usage limit was reached first, in milliseconds since the epoch, if no turn succeeded since.
    pub limited_since: Option<i64>,
    /// What the seat is doing.
    pub state: SeatState,
}

/// What a seat is doing. In the states marked *transient* it waits for the result of an effect; the runner performs
/// effects at once, so no other event arrives in between.
#[derive(Clone, Debug)]
pub(super) enum SeatState {
    /// Can be given a todo, in the open conversation if there is one.
    Idle { conversation: Option<AgentConversation> },
    /// Gets no todo before `until`, after a failed start or turn.
    Resting { until: Instant, conversation: Option<AgentConversation> },
    /// Transient: a todo is being claimed.
    Claiming { conversation: Option<AgentConversation>, uid: Uid },
    /// The lane of the todo is being prepared for a worker. `inspecting` is set, and the state transient, while the todo
    /// is looked at again afterwards.
    Preparing { worker: WorkerIdentity, job: SeatJob, inspecting: bool },
    /// Transient: the agent is being prompted (in its open conversation) or launched.
    Starting { conversation: Option<AgentConversation>, job: SeatJob },
    /// The agent is in a turn.
    Working { conversation: AgentConversation, job: SeatJob },
    /// The agent waits for permissions. The user is asked about the first question.
    Asking { conversation: AgentConversation, job: SeatJob, questions: VecDeque<PermissionRequest> },
    /// Transient: the turn ended, and the plan decides what comes next. `can_check` is true if the todo has a check.
    Judging { conversation: AgentConversation, job: SeatJob, can_check: bool },
    /// Transient: the agent is gone. If it did not report its todo as done, the attempt failed because of `failure`, or
    /// does not count if that is `None`, because the agent reached its usage limit.
    AgentGone { job: SeatJob, failure: Option<String> },
    /// Transient: the agent gets a further prompt about its todo, in a new process if needed.
    Continuing { conversation: AgentConversation, job: SeatJob, text: String },
    /// Transient: a failed attempt is being recorded, then the todo claimed again for a retry in the same conversation.
    Failing { conversation: Option<AgentConversation>, job: SeatJob, why: String, checked: bool },
    /// The todo is being checked and completed. The agent may have exited.
    Checking { conversation: Option<AgentConversation>, job: SeatJob },
    /// The agent was asked to end and has not exited yet.
    Ending { conversation: AgentConversation, reason: EndReason },
}

/// How long a seat sleeps because the usage limit of its agent is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sleep {
    /// When the seat wakes up, in milliseconds since the epoch; `None` if the run does not wait that long. A time of
    /// the wall clock, because other clocks stop while the computer sleeps.
    pub until: Option<i64>,
    /// When the limit is reset, if the agent named a time.
    pub reset: Option<i64>,
    /// What the agent reported.
    pub message: String,
}

/// Why an agent was asked to end.
#[derive(Clone, Debug)]
pub(super) enum EndReason {
    /// The run ends; the todo is opened again.
    RunEnds(SeatJob),
    /// The todo belongs to another owner now. The agent may still be at work on it.
    TodoLost(Uid),
    /// The attempt failed: no sign of life, or out of time.
    Failed(SeatJob, String),
}

/// Under which names an agent works.
#[derive(Clone, Debug)]
pub(super) struct WorkerIdentity {
    /// The number of the start of its process.
    pub start: u64,
    /// The owner of its claims.
    pub owner: String,
    /// The session that its todos are assigned to.
    pub key: SessionKey,
}

/// A conversation with an agent.
#[derive(Clone, Debug)]
pub(super) struct AgentConversation {
    pub worker: WorkerIdentity,
    /// The agent's own name for the conversation, once known.
    pub session: Option<String>,
    /// Estimated size of its context, in tokens.
    pub used: u64,
    /// Todos completed in it.
    pub done: Vec<Uid>,
    /// The last sign of life.
    pub last_sign: Instant,
    /// When the current turn began.
    pub turn_began: Instant,
    /// The current turn has not been charged yet.
    pub turn_open: bool,
    /// Usage of the current turn.
    pub spending: TokenSpending,
    /// When the agent was asked to end. It is killed after a grace period.
    pub asked_to_end: Option<Instant>,
}

/// A todo that a seat works on.
#[derive(Clone, Debug)]
pub(super) struct SeatJob {
    /// The todo as it was when it was claimed, with the fence of the claim.
    pub todo: Todo,
    /// The owner of the claim.
    pub owner: String,
    /// The lane it is worked on in.
    pub lane: Option<Lane>,
    /// When the attempt began.
    pub since: Instant,
    /// When the claim was last renewed.
    pub renewed: Instant,
    /// An estimate was already charged for this attempt.
    pub estimate_charged: bool,
}

impl Seat {
    /// Returns a seat for the check of a todo that an agent of an earlier run reported.
    pub fn for_check() -> Self {
        Self::new(0, 0, String::new(), String::new())
    }

    pub const fn new(number: usize, spec: usize, name: String, label: String) -> Self {
        Self {
            number,
            spec,
            name,
            label,
            exit_reports_done: false,
            opens_conversation: false,
            failed_turns: 0,
            failed_starts: 0,
            start_error: String::new(),
            stop_requested: false,
            paused: false,
            sleep: None,
            limited_since: None,
            state: SeatState::Idle { conversation: None },
        }
    }

    /// Returns true if the seat can be given a todo now.
    pub const fn is_free(&self) -> bool {
        matches!(self.state, SeatState::Idle { .. })
            && self.number > 0
            && !self.paused
            && self.sleep.is_none()
            && !self.is_stopped()
    }

    /// Returns true if the seat gets no more todos: it was asked to stop, or its agent failed to start too often.
    pub const fn is_stopped(&self) -> bool {
        self.stop_requested || self.is_broken()
    }

    /// Returns true if the seat gets no more todos in this run, because it was stopped or its usage limit is reset too late.
    pub fn is_out(&self) -> bool {
        self.is_stopped() || self.sleep.as_ref().is_some_and(|sleep| sleep.until.is_none())
    }

    /// Returns true if the agent failed to start too often.
    pub const fn is_broken(&self) -> bool {
        self.failed_starts >= MAX_FAILED_STARTS
    }
}

/// Takes a state apart, by shared or by mutable reference.
macro_rules! parts {
    ($state:expr, $as_option:ident) => {
        match $state {
            SeatState::Idle { conversation }
            | SeatState::Resting { conversation, .. }
            | SeatState::Claiming { conversation, .. } => (conversation.$as_option(), None),
            SeatState::Starting { conversation, job }
            | SeatState::Failing { conversation, job, .. }
            | SeatState::Checking { conversation, job } => (conversation.$as_option(), Some(job)),
            SeatState::Working { conversation, job }
            | SeatState::Asking { conversation, job, .. }
            | SeatState::Judging { conversation, job, .. }
            | SeatState::Continuing { conversation, job, .. }
            | SeatState::Ending { conversation, reason: EndReason::RunEnds(job) | EndReason::Failed(job, _) } => {
                (Some(conversation), Some(job))
            }
            SeatState::Ending { conversation, reason: EndReason::TodoLost(_) } => (Some(conversation), None),
            SeatState::AgentGone { job, .. } | SeatState::Preparing { job, .. } => (None, Some(job)),
        }
    };
}

impl SeatState {
    /// Returns true if the seat has no todo and waits for no agent.
    pub const fn is_idle(&self) -> bool {
        matches!(self, Self::Idle { .. } | Self::Resting { .. })
    }

    /// Returns the conversation and the job, where the state has them.
    pub const fn parts(&self) -> (Option<&AgentConversation>, Option<&SeatJob>) {
        parts!(self, as_ref)
    }

    /// Returns the conversation and the job, where the state has them, for changing them.
    pub const fn parts_mut(&mut self) -> (Option<&mut AgentConversation>, Option<&mut SeatJob>) {
        parts!(self, as_mut)
    }

    pub const fn conversation(&self) -> Option<&AgentConversation> {
        self.parts().0
    }

    /// Returns the todo that no other seat may be given now: its agent works on it, or has not exited yet.
    pub const fn todo(&self) -> Option<Uid> {
        match self {
            Self::Claiming { uid, .. } | Self::Ending { reason: EndReason::TodoLost(uid), .. } => Some(*uid),
            state => match state.parts().1 {
                Some(job) => Some(job.todo.uid),
                None => None,
            },
        }
    }

    /// Returns the job that the agent is at work on, even if it waits for an answer or was asked to end.
    pub const fn job_in_work(&self) -> Option<&SeatJob> {
        match self {
            Self::Working { .. } | Self::Asking { .. } | Self::Ending { .. } => self.parts().1,
            _ => None,
        }
    }
}

impl AgentConversation {
    fn new(worker: WorkerIdentity, now: Instant) -> Self {
        Self {
            worker,
            session: None,
            used: 0,
            done: Vec::new(),
            last_sign: now,
            turn_began: now,
            turn_open: true,
            spending: TokenSpending::default(),
            asked_to_end: None,
        }
    }
}

impl SeatJob {
    const fn new(todo: Todo, owner: String, lane: Option<Lane>, now: Instant) -> Self {
        Self { todo, owner, lane, since: now, renewed: now, estimate_charged: false }
    }
}

#[cfg(test)]
mod tests;
