//! Assigns todos: the best one that can be started goes to the seat that suits it best.

use std::collections::HashSet;

use punch_core::schedule::{ScheduleOrder, ScheduleRequest, budget, estimate};
use punch_core::{Dep, HoldKind, Todo, Uid};

use super::seat::{Seat, SeatEvent};
use super::{Runner, StopCause};
use crate::error::RunError;

impl Runner<'_, '_> {
    /// Assigns everything that can be started now.
    pub(super) fn assign(&mut self) -> Result<(), RunError> {
        if self.is_coordinator() {
            return self.verify_handed_in();
        }
        self.settle_seats();
        let mut refused: HashSet<Uid> = HashSet::new();
        while self.may_start() && self.seats.iter().any(Seat::is_free) {
            let Some(uid) = self.best(&refused)? else { break };
            if !self.take_seat(uid)? {
                break;
            }
            if let Some(why) = self.meter.stops_run() {
                self.stop = Some(StopCause::Budget(why));
                break;
            }
            if !self.start(uid)? {
                refused.insert(uid);
                self.settle_seats();
            }
        }
        Ok(())
    }

    /// Returns true if the runner may give out todos.
    fn may_start(&self) -> bool {
        self.stop.is_none() && !self.paused && !self.run_over && !self.is_draining()
    }

    /// Returns what the run takes on, and in which order.
    pub(super) fn schedule_request(&self) -> ScheduleRequest {
        let (context, calibration) = (self.world.settings.run_context.value, self.rules.calibration);
        let (skip_optional, oversize) = (self.options.skip_optional, self.options.oversize);
        ScheduleRequest { order: ScheduleOrder::List, agents: 1, context, calibration, skip_optional, oversize }
    }

    /// Returns the todo to start next.
    pub(super) fn best(&mut self, refused: &HashSet<Uid>) -> Result<Option<Uid>, RunError> {
        let ask = self.schedule_request();
        let now = self.world.engine.now();
        let busy: Vec<Uid> = self.seats.iter().filter_map(|seat| seat.state.todo()).collect();
        self.refresh_cache()?;
        let (fleet, world) = (self.fleet, self.world);
        let takes = |todo: &Todo| fleet.is_none_or(|part| part.takes(world, todo));
        Ok(self.cache.best(&ask, &busy, now, |todo| !refused.contains(&todo.uid) && takes(todo)))
    }

    /// Starts a todo; false if that was not possible after all.
    fn start(&mut self, uid: Uid) -> Result<bool, RunError> {
        let Some(todo) = self.plan()?.get(uid).cloned() else { return Ok(false) };
        if todo.flags.reported {
            return self.adopt(&todo);
        }
        if let Some(why) = self.meter.stops_todo(uid) {
            self.hold(0, &todo, None, (HoldKind::Human, &format!("its limit is reached: {why}")))?;
            return Ok(false);
        }
        let Some((at, fresh)) = self.seat_for(&todo) else { return Ok(false) };
        self.dispatch(at, SeatEvent::Assign { uid, fresh })?;
        Ok(!self.seats[at].state.is_idle())
    }

    /// Returns the best free seat, and whether its open conversation has no room for the todo. Prefers a conversation
    /// that knows what the todo builds on, then one with room, then a seat without a conversation.
    fn seat_for(&self, todo: &Todo) -> Option<(usize, bool)> {
        let window = budget(self.world.settings.run_context.value);
        let needs = estimate(todo, self.rules.calibration).tokens;
        let before: Vec<Uid> = todo.depends_on.iter().filter_map(Dep::target).collect();
        let free = self.seats.iter().enumerate().filter(|(_, seat)| seat.is_free());
        let ranked = free.map(|(at, seat)| {
            let open = seat.state.conversation();
            let room = open.is_some_and(|open| open.used.saturating_add(needs) <= window);
            let knows = open.is_some_and(|open| open.done.iter().any(|uid| before.contains(uid)));
            let full = open.is_some() && !room;
            (full, !(room && knows), !room, at)
        });
        ranked.min().map(|(full, .., at)| (at, full))
    }
}
