//! Applies a batch of ops to a plan. The order inside a write is always: references, removals, fields, edges, statuses,
//! derived values, events, revision. A refused batch changes nothing, because the plan is only read here.

mod claims;
mod derive;
mod draft;
mod edges;
mod finish;
mod order;
mod remove;
mod resolve;
mod restore;
mod revert;
mod revert_effects;
mod transition;
mod undo_walk;
mod update;
mod vouch;

use std::collections::BTreeMap;

use crate::{Actor, Event, Evidence, Need, Op, Plan, PlanRow, Policy, Refusal, Todo, Uid, Warning};

pub use claims::{is_protected, leased, leave_out, spare};
pub use derive::{derive, fold};
use draft::PlanDraft;
pub use undo_walk::{UndoState, UndoWalk};

/// The context of a write: who asks, when, and under which policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// The current time in milliseconds. Leases and timers are judged against it; events are never dated before the last one.
    pub now: i64,
    /// The actor that asks: it signs events and notes, and owns what it starts.
    pub actor: Actor,
    /// The policy of this session's dialect on this plan.
    pub policy: Policy,
    /// How long a claim lasts unless renewed, in milliseconds.
    pub lease: i64,
    /// What hooks saw of the work on todos that the batch may complete.
    pub observed: BTreeMap<Uid, ObservedWork>,
}

/// What hooks saw of the work on a todo that an agent has in progress.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObservedWork {
    /// The observation; `None` if nothing was seen.
    pub evidence: Option<Evidence>,
    /// The agent was already asked for a check.
    pub asked: bool,
}

impl Context {
    /// How long a claim lasts where no setting says so, in milliseconds.
    pub const LEASE: i64 = 15 * 60 * 1000;

    /// A context in which claims last as long as they do by default.
    pub fn new(now: i64, actor: Actor, policy: Policy) -> Self {
        Self { now, actor, policy, lease: Self::LEASE, observed: BTreeMap::new() }
    }
}

/// What a write did. Without events and rows nothing changed and the revision stayed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The events of the write, in order.
    pub events: Vec<Event>,
    /// Every todo whose row changed, derived values included, in uid order.
    pub rows: Vec<Todo>,
    /// The plan row afterwards.
    pub plan: PlanRow,
    /// Todos that were blocked before and are ready now, in list order.
    pub unblocked: Vec<Uid>,
    /// The uids of the batch's adds, in their order.
    pub added: Vec<Uid>,
    /// Worth telling.
    pub warnings: Vec<Warning>,
    /// What was undone, if the batch was an undo or a redo.
    pub undone: Option<Undone>,
}

/// What an undo or a redo undid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undone {
    /// The revision whose inverse was written: of a redo, that of the undo.
    pub revision: u64,
    /// The change that is undone or in force again now: the revision itself, or what a chain of undos began with.
    pub change: u64,
    /// The author of that change.
    pub by: String,
    /// The change is in force again.
    pub redo: bool,
}

/// Why there is no outcome.
#[derive(Clone, Debug, PartialEq)]
pub enum ApplyStop {
    /// The rules refused the batch.
    Refused(Vec<Refusal>),
    /// More of the plan is needed; load it and run again.
    Need(Need),
}

impl From<Need> for ApplyStop {
    fn from(need: Need) -> Self {
        Self::Need(need)
    }
}

impl From<Refusal> for ApplyStop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(vec![refusal])
    }
}

/// Applies a batch, all or nothing. The plan stays as it is; [`Plan::commit`] takes the outcome over.
pub fn apply(plan: &Plan, ops: &[Op], ctx: &Context) -> Result<Outcome, ApplyStop> {
    let mut draft = PlanDraft::new(plan, ctx);
    let batch = resolve::resolve(&mut draft, ops)?;
    claims::protect(&draft, &batch)?;
    revert::revert(&mut draft, &batch)?;
    remove::remove(&mut draft, &batch)?;
    update::update(&mut draft, &batch)?;
    edges::edges(&mut draft, &batch)?;
    transition::transitions(&mut draft, &batch)?;
    derive::settle(&mut draft)?;
    finish::finish(draft, &batch)
}
