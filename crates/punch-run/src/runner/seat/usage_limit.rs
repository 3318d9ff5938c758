//! What happens when an agent reaches its usage limit: the seat sleeps until the limit is reset, and the todo goes back
//! to the queue. No attempt is counted, because nothing is wrong with the todo.

use std::time::Duration;

use punch_agents::{Reset, UsageLimit};

use super::event::SeatEffect;
use super::step::SeatStep;
use super::{SeatJob, SeatState, Sleep};
use crate::observer::{RunEvent, line};
use SeatState::{Asking, Working};

/// A limit that is reset sooner than this counts as one without a time: the agent's clock and ours differ.
const SHORTEST: Duration = Duration::from_secs(1);

/// Follows a message whose clock time says nothing here.
const UNKNOWN_ZONE: &str = " (its time zone is unknown here)";

impl SeatStep<'_, '_> {
    pub(super) fn usage_limit_reached(&mut self, mut state: SeatState, limit: &UsageLimit) -> SeatState {
        // A turn that was refused cost nothing, so there is nothing to estimate.
        if state.conversation().is_some_and(|open| open.spending.tokens() > 0) {
            self.charge(&mut state);
        }
        let (Working { conversation, job } | Asking { conversation, job, .. }) = state else { return state };
        self.end_agent(&conversation);
        let sleep = self.sleep(limit);
        self.report(RunEvent::Limited {
            agent: self.seat.number,
            name: self.seat.name.clone(),
            why: sleep.message.clone(),
            until: sleep.until,
        });
        self.effect(SeatEffect::ShareLimit(sleep.clone()));
        self.seat.sleep = Some(sleep);
        self.agent_gone(job, None)
    }

    /// Returns the todo of an agent that cannot work now.
    pub(super) fn return_for_later(&mut self, job: SeatJob) -> SeatState {
        let id = line(&job.todo.id);
        self.effect(SeatEffect::Reopen(job.todo));
        self.released(id, "the usage limit of its agent is reached");
        self.leave(None, job.lane, false)
    }

    /// Returns for how long the seat sleeps. The wait is counted from the first of several limits in a row, so that an
    /// agent that only ever reports limits does not keep the run open for good.
    fn sleep(&mut self, limit: &UsageLimit) -> Sleep {
        let (wall, rules) = (self.conditions.wall, self.conditions.rules);
        let milliseconds = |time: Duration| i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
        let reset = limit.reset.at(wall).filter(|at| at.saturating_sub(wall) >= milliseconds(SHORTEST));
        let until = reset.unwrap_or_else(|| wall.saturating_add(milliseconds(rules.limit_pause)));
        let since = *self.seat.limited_since.get_or_insert(wall);
        let waits = until.saturating_sub(since) <= milliseconds(rules.limit_wait);
        let unknown = if limit.reset == Reset::UnknownZone { UNKNOWN_ZONE } else { "" };
        Sleep { until: waits.then_some(until), reset, message: format!("{}{unknown}", line(&limit.message)) }
    }
}

#[cfg(test)]
mod tests;
