//! How a seat reacts to requests to stop, changes of the plan by others, and time.

use std::time::Instant;

use punch_core::{Status, Todo};
use punch_engine::config::print_duration;

use super::event::SeatEffect;
use super::step::{REMOVED, SOMEONE_ELSES, SeatStep, closed};
use super::{EndReason, SeatState};
use SeatState::{Asking, Checking, Ending, Idle, Resting, Working};

impl SeatStep<'_, '_> {
    pub(super) fn stop(&mut self, mut state: SeatState) -> SeatState {
        self.seat.stop_requested = true;
        match state {
            Idle { conversation } | Resting { conversation, .. } => self.leave(conversation, None, false),
            Working { conversation, job } => self.ask_to_end(conversation, EndReason::RunEnds(job)),
            Asking { ref mut conversation, .. } | Checking { conversation: Some(ref mut conversation), .. } => {
                self.cancel(conversation);
                state
            }
            // The result of a pending effect leads to a state that heeds the request.
            state => state,
        }
    }

    pub(super) fn todo_changed(&mut self, state: SeatState, todo: &Todo) -> SeatState {
        let Some(job) = state.job_in_work().filter(|job| job.todo.uid == todo.uid) else { return state };
        let why = match todo.status {
            _ if !todo.is_live() => REMOVED,
            Status::InProgress if todo.fence != job.todo.fence => SOMEONE_ELSES,
            // What its own agent did to it, a hold or a failure, is read when the turn ends.
            Status::InProgress | Status::Pending | Status::Failed => return state,
            status => closed(status).unwrap_or_default(),
        };
        match state {
            Working { conversation, job }
            | Asking { conversation, job, .. }
            | Ending { conversation, reason: EndReason::RunEnds(job) | EndReason::Failed(job, _) } => {
                self.lost(conversation, &job, why)
            }
            state => state,
        }
    }

    pub(super) fn tick(&mut self, mut state: SeatState, printed: Option<Instant>, todo_time_over: bool) -> SeatState {
        let (now, rules) = (self.conditions.now, self.conditions.rules);
        let since = |then: Instant| now.saturating_duration_since(then);
        let wall = self.conditions.wall;
        self.seat.sleep.take_if(|sleep| sleep.until.is_some_and(|until| until <= wall));
        if let Some(conversation) = state.conversation()
            && let Some(asked) = conversation.asked_to_end
            && (self.conditions.urgent || since(asked) >= rules.grace)
        {
            self.effect(SeatEffect::Kill(conversation.worker.start));
        }
        if let (_, Some(job)) = state.parts_mut()
            && since(job.renewed) >= rules.lease / 3
        {
            job.renewed = now;
            self.effect(SeatEffect::Renew { uid: job.todo.uid, owner: job.owner.clone() });
        }
        match state {
            Idle { conversation } | Resting { conversation, .. } if self.is_stopping() => {
                self.leave(conversation, None, false)
            }
            Resting { until, conversation } if until <= now => Idle { conversation },
            Working { conversation, job } => {
                let last_sign = printed.map_or(conversation.last_sign, |printed| printed.max(conversation.last_sign));
                let why = if since(last_sign) >= rules.idle {
                    format!("the agent showed no activity for {}", print_duration(rules.idle))
                } else if todo_time_over {
                    "the time limit for one todo was reached".to_owned()
                } else {
                    return Working { conversation, job };
                };
                self.ask_to_end(conversation, EndReason::Failed(job, why))
            }
            state => state,
        }
    }
}
