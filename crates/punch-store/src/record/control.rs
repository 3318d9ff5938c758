//! The user's controls of runs and sessions, and the state of the seats of a run.

use crate::PlanId;

/// What a control is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ControlScope {
    /// A run and all of its seats.
    Run {
        /// The plan of the run.
        plan: PlanId,
        /// The number of the run.
        run: u64,
    },
    /// One seat of a run.
    Seat {
        /// The plan of the run.
        plan: PlanId,
        /// The number of the run.
        run: u64,
        /// The number of the seat.
        seat: u32,
    },
    /// A session, by the id that its agent gave to it, with its subagents.
    Session(String),
    /// Every session of the store.
    Sessions,
}

/// What the user wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RequestedState {
    /// To work. For sessions: automatic continuation is on.
    #[default]
    Go,
    /// To finish what is being worked on and start nothing new. For sessions: no automatic continuation for now.
    Pause,
    /// To end. For sessions: automatic continuation is off.
    Stop,
}

impl RequestedState {
    /// The word under which it is stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Go => "go",
            Self::Pause => "pause",
            Self::Stop => "stop",
        }
    }

    /// Reads what [`RequestedState::as_str`] writes.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Go, Self::Pause, Self::Stop].into_iter().find(|wanted| wanted.as_str() == text)
    }
}

/// What the user wants of a run, a seat or a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlRecord {
    /// What it is about.
    pub scope: ControlScope,
    /// What is wanted.
    pub wanted: RequestedState,
    /// Who wants it.
    pub by: String,
    /// Since when.
    pub at: i64,
}

/// Where a seat of a run stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeatRecord {
    /// The number of the run.
    pub run: u64,
    /// The number of the seat in the run.
    pub n: u32,
    /// When this was written.
    pub at: i64,
    /// Stage, todo, last sign, spend: JSON of the engine, kept as it is.
    pub body: String,
}

/// The right to work a plan, held by one runner at a time. It runs out unless it is renewed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunLease {
    /// The runner that has it.
    pub holder: String,
    /// Grows by one with every holder and is never reused. A runner that finds another epoch than its own has been
    /// replaced, and must not write.
    pub epoch: u64,
    /// When it runs out; `None` after it was released.
    pub until: Option<i64>,
}

impl RunLease {
    /// Returns true if another runner may not take the plan. A lease that ends later than two full ones from now comes
    /// from a clock that ran ahead, and is not respected.
    pub fn is_live(&self, lease_ms: i64, now: i64) -> bool {
        self.until.is_some_and(|until| now < until && until <= now.saturating_add(lease_ms.saturating_mul(2)))
    }
}

/// The answer to a runner that asks for a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunGrant {
    /// The plan is this runner's.
    Granted {
        /// To be checked with every write.
        epoch: u64,
    },
    /// Another runner has it.
    HeldBy(RunLease),
}
