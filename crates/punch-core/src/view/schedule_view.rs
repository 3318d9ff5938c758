//! A schedule as a value: its todos as rows, for boards and for [`super::Gantt`].

use serde::Serialize;

use super::Plain;
use crate::reason::{Cause, PlanReader};
use crate::schedule::{Schedule, ScheduleOrder};
use crate::{ShownStatus, Uid};

/// A todo in a schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SlotRow {
    /// The todo.
    pub uid: Option<Uid>,
    /// The id of the todo.
    pub id: Plain,
    /// Its status as a reader sees it.
    pub status: ShownStatus,
    /// The agent that works on the todo, counted from 1.
    pub agent: u32,
    /// The window of that agent, counted from 1.
    pub window: u32,
    /// When it begins, in tokens of work before it.
    pub start: u64,
    /// When the work on the todo ends.
    pub end: u64,
}

/// What an agent does in one context window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WindowRow {
    /// Counted from 1.
    pub agent: u32,
    /// Counted from 1 for every agent.
    pub window: u32,
    /// Ids, in the order of work.
    pub todos: Vec<Plain>,
    /// The sum of their estimates.
    pub tokens: u64,
}

/// An open todo that has no place in the schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOutRow {
    /// The todo.
    pub uid: Option<Uid>,
    /// The id of the todo.
    pub id: Plain,
    /// How it stands in its way.
    pub cause: Cause,
    /// What stands in its way, in words.
    pub why: Plain,
}

/// A schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ScheduleView {
    /// The order that was asked for.
    pub policy: ScheduleOrder,
    /// The number of agents.
    pub agents: u32,
    /// Tokens of work that a window may hold.
    pub budget: u64,
    /// When the last todo ends.
    pub makespan: u64,
    /// No schedule can be shorter.
    pub lower_bound: u64,
    /// In the order in which they were given out.
    pub slots: Vec<SlotRow>,
    /// The windows, sorted by agent and then by number.
    pub windows: Vec<WindowRow>,
    /// Ids of todos larger than a whole budget.
    pub oversize: Vec<Plain>,
    /// Open todos that cannot be worked on.
    pub left_out: Vec<LeftOutRow>,
}

impl ScheduleView {
    /// The schedule of the reader's plan.
    pub fn of(reader: PlanReader<'_>, made: &Schedule) -> Self {
        let find = |id: &str| reader.plan.by_id(id);
        let slot = |slot: &crate::schedule::Slot| {
            let todo = find(&slot.todo);
            SlotRow {
                uid: todo.map(|todo| todo.uid),
                id: Plain::id(&slot.todo),
                status: todo.map_or(ShownStatus::Ready, |todo| reader.shown(todo)),
                agent: slot.agent,
                window: slot.window,
                start: slot.start,
                end: slot.end,
            }
        };
        let window = |window: &crate::schedule::Window| WindowRow {
            agent: window.agent,
            window: window.window,
            todos: window.todos.iter().map(|id| Plain::id(id)).collect(),
            tokens: window.estimated_tokens,
        };
        let left_out = |blocked: &crate::schedule::Blocked| LeftOutRow {
            uid: find(&blocked.id).map(|todo| todo.uid),
            id: Plain::id(&blocked.id),
            cause: blocked.cause,
            why: Plain::text(&blocked.why),
        };
        Self {
            policy: made.policy,
            agents: made.agents,
            budget: made.budget,
            makespan: made.makespan,
            lower_bound: made.lower_bound,
            slots: made.slots.iter().map(slot).collect(),
            windows: made.windows.iter().map(window).collect(),
            oversize: made.oversize.iter().map(|id| Plain::id(id)).collect(),
            left_out: made.blocked.iter().map(left_out).collect(),
        }
    }
}
