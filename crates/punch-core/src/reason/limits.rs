//! What schedules and runs leave out although it could be started: todos that no context window can hold (rule 29), and
//! optional ones if only the others are wanted (rule 47). Agents and users may still start such a todo, so it is ready on
//! every surface, marked, and comes last.

use super::{Cause, PlanReader, WaitReason, is_optional};
use crate::schedule::{ScheduleRequest, budget, estimate};
use crate::text::grouped;
use crate::{ShownStatus, Todo, Uid};

/// How much work is taken on at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorkLimits {
    /// Tokens that the context of an agent holds.
    pub context: u64,
    /// Actual over estimated tokens, as learned so far.
    pub calibration: f64,
    /// Leave out what is only done if time allows (rule 47).
    pub skip_optional: bool,
}

impl WorkLimits {
    /// The limits for readers that know nothing about the agent: a usual context window, and estimates as they were given.
    pub const USUAL: Self = Self { context: 200_000, calibration: 1.0, skip_optional: false };

    /// The limits that a schedule is asked for with.
    pub const fn of(ask: &ScheduleRequest) -> Self {
        Self { context: ask.context, calibration: ask.calibration, skip_optional: ask.skip_optional }
    }

    /// Returns true if no context window can hold the todo (rule 29).
    pub fn is_oversize(&self, todo: &Todo) -> bool {
        estimate(todo, self.calibration).tokens > budget(self.context)
    }

    /// The order in which todos that can be started are taken: those that no window can hold last.
    pub fn order(&self, todo: &Todo) -> (bool, u8, i64, Uid) {
        (self.is_oversize(todo), todo.effective_priority(), todo.position, todo.uid)
    }
}

impl PlanReader<'_> {
    /// Returns why schedules and runs leave out an open todo, even if it can be started.
    pub fn left_out(self, todo: &Todo) -> Option<WaitReason> {
        let limits = self.limits;
        let own = |cause| WaitReason::own(cause, todo, self.now);
        if limits.skip_optional && is_optional(todo) {
            return Some(own(Cause::Optional));
        }
        limits.is_oversize(todo).then(|| {
            let (needed, budget) = (estimate(todo, limits.calibration).tokens, budget(limits.context));
            own(Cause::Oversize).about(format!("{} of {} tokens", grouped(needed), grouped(budget)))
        })
    }

    /// Returns true if the todo waits to be worked on, and no window can hold it.
    pub fn is_marked_oversize(self, todo: &Todo) -> bool {
        let waits = |shown: ShownStatus| shown.is_open() && !shown.is_running();
        self.limits.is_oversize(todo) && waits(self.shown(todo))
    }
}
