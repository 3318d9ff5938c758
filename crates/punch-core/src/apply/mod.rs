//! The one road of a change.

use crate::{Event, Footprint, Op, Plan, PlanRow, Policy, Refusal, Todo, Uid, Warning};

/// Who asks, when, under which policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// Milliseconds; raised to the plan's last time if the clock went backwards.
    pub now: i64,
    /// Who, for events and notes.
    pub by: String,
    /// The owner under which todos are started.
    pub owner: Option<String>,
    /// The policy of this session's dialect on this plan.
    pub policy: Policy,
}

/// What a write did. Empty `events` and `rows` mean that nothing changed and the revision stayed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// What happened, in order.
    pub events: Vec<Event>,
    /// Every todo whose row changed, derived values included, in uid order.
    pub rows: Vec<Todo>,
    /// The plan row afterwards.
    pub plan: PlanRow,
    /// Todos that became ready because what they waited for was satisfied.
    pub unblocked: Vec<Uid>,
    /// The uids of the batch's adds, in their order.
    pub added: Vec<Uid>,
    /// Worth telling.
    pub warnings: Vec<Warning>,
}

/// Why there is no outcome.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// Rules said no.
    Refused(Vec<Refusal>),
    /// More of the plan is needed; load it and run again.
    Need(Box<Footprint>),
}

/// Applies a batch, all or nothing. The plan stays as it is; [`Plan::commit`] takes the outcome over.
pub fn apply(_plan: &Plan, _ops: &[Op], _ctx: &Context) -> Result<Outcome, Stop> {
    Err(Stop::Refused(Vec::new()))
}
