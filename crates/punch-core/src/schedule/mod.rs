//! Schedules: who works on what, when, and in which context window, if every todo takes as long as estimated.
//!
//! Time is counted in tokens: a todo of 8,000 tokens occupies its agent for 8,000. Every agent works in windows, each
//! with a budget of 70 % of its context, and a checkpoint is made between two windows of an agent.

mod agents;
mod apart;
mod batch;
mod calibrate;
mod critical_path;
mod estimate;
mod fill;
mod jobs;
mod level;
mod list;
mod next;
mod pick;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::reason::{self, Cause, WaitReason, WorkLimits};
use crate::{Plan, Todo};
use agents::Agents;
use jobs::Jobs;

pub use batch::{Batch, batch};
pub use calibrate::{Fit, Sample, calibration};
pub use critical_path::critical_path;
pub use estimate::{Estimate, budget, estimate};
pub use next::{Ranking, startable};

/// The order in which work is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ScheduleOrder {
    /// Whenever an agent is free, the best ready todo by (effective priority, longest remaining path, position) that
    /// fits its window. One agent alone takes, of the equally urgent, those that fill its window.
    #[default]
    List,
    /// One parallel group after the other, all waiting for the last of each.
    Level,
    /// Like `List`, but the longest remaining path comes first.
    Makespan,
}

impl ScheduleOrder {
    /// Every order.
    pub const ALL: [Self; 3] = [Self::List, Self::Level, Self::Makespan];

    /// The wire name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Level => "level",
            Self::Makespan => "makespan",
        }
    }
}

/// What a schedule is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScheduleRequest {
    /// The scheduling policy.
    pub order: ScheduleOrder,
    /// How many agents; none is read as one.
    pub agents: u32,
    /// Tokens that the context of an agent holds.
    pub context: u64,
    /// Actual over estimated tokens, as learned so far.
    pub calibration: f64,
    /// Leave out what is only done if time allows (rule 47).
    pub skip_optional: bool,
    /// Work on todos that are larger than a whole budget too, last (rule 29).
    pub oversize: bool,
}

impl Default for ScheduleRequest {
    fn default() -> Self {
        Self {
            order: ScheduleOrder::List,
            agents: 1,
            context: WorkLimits::USUAL.context,
            calibration: WorkLimits::USUAL.calibration,
            skip_optional: WorkLimits::USUAL.skip_optional,
            oversize: false,
        }
    }
}

/// The todos of one parallel group, closed ones too, by (priority, position).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ParallelGroup {
    /// Counted from 1.
    pub group: u32,
    /// The ids of the todos in the window.
    pub todos: Vec<String>,
}

/// What an agent does in one context window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Window {
    /// Counted from 1.
    pub agent: u32,
    /// Counted from 1 for every agent.
    pub window: u32,
    /// Ids, in the order of work.
    pub todos: Vec<String>,
    /// The sum of their estimates.
    pub estimated_tokens: u64,
}

/// When a todo is worked on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slot {
    /// The id of the todo.
    pub todo: String,
    /// The agent that works on the todo.
    pub agent: u32,
    /// The number of the window of that agent.
    pub window: u32,
    /// From here,
    pub start: u64,
    /// to here.
    pub end: u64,
}

/// A point at which an agent saves its state and begins a new window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Break {
    /// The last todo of the window that ends.
    pub after: String,
    /// Whose.
    pub agent: u32,
    /// The window that ends.
    pub window: u32,
}

/// An open todo that has no slot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Blocked {
    /// The id of the todo.
    pub id: String,
    /// What stands in its way.
    #[serde(serialize_with = "by_name", deserialize_with = "named")]
    pub cause: Cause,
    /// What stands in its way, in words.
    pub why: String,
}

impl Blocked {
    fn of(todo: &Todo, reason: &WaitReason) -> Self {
        let why = reason::summary(std::slice::from_ref(reason), 1).join("; ");
        Self { id: todo.id.clone(), cause: reason.cause, why }
    }
}

/// The name as in every other answer: the derived one is that of stored decisions.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
fn by_name<S: Serializer>(cause: &Cause, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(cause.name())
}

fn named<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Cause, D::Error> {
    let name = String::deserialize(deserializer)?;
    Cause::named(&name).ok_or_else(|| de::Error::unknown_variant(&name, &Cause::NAMES))
}

/// The whole answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Schedule {
    /// The order that was asked for.
    pub policy: ScheduleOrder,
    /// The number of agents.
    pub agents: u32,
    /// Tokens of a context.
    pub context_window: u64,
    /// Tokens of work that a window may hold.
    pub budget: u64,
    /// All todos by parallel group.
    pub groups: Vec<ParallelGroup>,
    /// The windows, sorted by agent and then by number.
    pub windows: Vec<Window>,
    /// In the order in which they were given out.
    pub slots: Vec<Slot>,
    /// When the last one ends.
    pub makespan: u64,
    /// No schedule can be shorter: the critical path, or all work spread evenly.
    pub lower_bound: u64,
    /// In the order of windows.
    pub checkpoints: Vec<Break>,
    /// Todos larger than a whole budget; if they were requested, each has a separate window.
    pub oversize: Vec<String>,
    /// Open todos that cannot be worked on.
    pub blocked: Vec<Blocked>,
}

/// Schedules the open todos of a whole plan.
pub fn schedule(plan: &Plan, ask: &ScheduleRequest, now: i64) -> Schedule {
    let jobs = Jobs::of(plan, ask, now);
    let (count, budget) = (ask.agents.max(1), budget(ask.context));
    let mut agents = Agents::new(count, budget);
    match ask.order {
        ScheduleOrder::List | ScheduleOrder::Makespan => list::run(&jobs, ask.order, &mut agents, usize::MAX),
        ScheduleOrder::Level => level::run(&jobs, &mut agents),
    }
    let critical = jobs.paths().into_iter().max().unwrap_or(0);
    let id = |job: u32| jobs.id(job).to_owned();
    let placed = agents.end(id);
    Schedule {
        policy: ask.order,
        agents: count,
        context_window: ask.context,
        budget,
        groups: jobs::groups(plan),
        makespan: placed.slots.iter().map(|slot| slot.end).max().unwrap_or(0),
        windows: placed.windows,
        slots: placed.slots,
        lower_bound: critical.max(jobs.total().div_ceil(u64::from(count))),
        checkpoints: placed.checkpoints,
        oversize: jobs.oversize,
        blocked: jobs.blocked,
    }
}

/// The todos of the first window of one agent, as in [`schedule()`] with [`ScheduleOrder::List`], without scheduling what follows.
fn first_window(plan: &Plan, ask: &ScheduleRequest, now: i64) -> Vec<String> {
    let jobs = Jobs::of(plan, ask, now);
    let mut agents = Agents::new(1, budget(ask.context));
    list::run(&jobs, ScheduleOrder::List, &mut agents, 1);
    let windows = agents.end(|job| jobs.id(job).to_owned()).windows;
    windows.into_iter().next().map(|window| window.todos).unwrap_or_default()
}
