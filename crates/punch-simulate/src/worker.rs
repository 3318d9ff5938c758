//! A worker as a state machine: it claims, works, renews and reports, and knows nothing but its own monotonic clock and the
//! answers it gets. Pure, so that thousands of them fit into one thread.

use crate::message::{ClaimedTodo, StoreReply, StoreRequest};
use crate::options::{Mutant, SECOND};

/// A request without an answer is repeated after this time.
const PATIENCE: i64 = 10 * SECOND;
/// The shortest and the longest time between two looks for work.
const POLL: (i64, i64) = (2 * SECOND, 60 * SECOND);

/// What a seat is doing.
#[derive(Clone, Copy, Debug)]
enum SimulatedSeatState {
    /// Looks for work again at this time.
    Idle { until: i64, pause: i64 },
    /// Waits for a todo; asks again if no answer comes.
    Claiming { until: i64, pause: i64 },
    /// An agent works on a todo.
    Working(SeatWork),
}

/// An agent at work.
#[derive(Clone, Copy, Debug)]
struct SeatWork {
    claim: ClaimedTodo,
    began: i64,
    /// The agent is finished then.
    ends: i64,
    /// When the last confirmed claim or renewal was sent.
    confirmed: i64,
    /// When the next renewal is due.
    renew: i64,
    /// When the completion is reported, or reported again.
    report: i64,
}

/// A seat with the number of its latest request.
#[derive(Clone, Copy, Debug)]
struct SimulatedSeat {
    state: SimulatedSeatState,
    number: u64,
}

/// What happened to the work of a seat.
#[derive(Clone, Copy, Debug)]
pub enum WorkNotice {
    /// An agent starts on a todo.
    Begins(ClaimedTodo),
    /// The agent is stopped, after this many milliseconds of work, before the todo was completed.
    Stops(ClaimedTodo, i64),
    /// The todo is completed.
    Completes(ClaimedTodo, i64),
}

/// What a worker wants to be done.
#[derive(Debug, Default)]
pub struct Effects {
    /// Requests: seat, number, what.
    pub send: Vec<(usize, u64, StoreRequest)>,
    /// What changed for its agents.
    pub notices: Vec<WorkNotice>,
}

/// A worker on its host.
#[derive(Debug)]
pub struct SimulatedWorker {
    seats: Vec<SimulatedSeat>,
    lease: i64,
    mutant: Option<Mutant>,
}

impl SimulatedWorker {
    /// A worker that starts at `now` with idle seats.
    pub fn new(seats: u32, lease: i64, mutant: Option<Mutant>, now: i64) -> Self {
        let seat = SimulatedSeat { state: SimulatedSeatState::Idle { until: now, pause: POLL.0 }, number: 0 };
        Self { seats: vec![seat; seats as usize], lease, mutant }
    }

    /// What its agents work on.
    pub fn claims(&self) -> impl Iterator<Item = ClaimedTodo> + '_ {
        self.seats.iter().filter_map(|seat| match seat.state {
            SimulatedSeatState::Working(work) => Some(work.claim),
            _ => None,
        })
    }

    /// When it has to be woken next.
    pub fn next_moment(&self) -> i64 {
        let moment = |seat: &SimulatedSeat| match seat.state {
            SimulatedSeatState::Idle { until, .. } | SimulatedSeatState::Claiming { until, .. } => until,
            SimulatedSeatState::Working(work) => work.renew.min(work.report).min(self.must_stop(&work)),
        };
        self.seats.iter().map(moment).min().unwrap_or(i64::MAX)
    }

    /// The moment at which an agent without a confirmed renewal is stopped: two thirds of the lease leave room for clocks
    /// that run at different speeds and for the time that stopping takes.
    fn must_stop(&self, work: &SeatWork) -> i64 {
        if self.mutant == Some(Mutant::NeverStops) { i64::MAX } else { work.confirmed + self.lease * 2 / 3 }
    }

    /// Time has passed. `plan` chooses where to look for work.
    pub fn wake(&mut self, now: i64, plan: &mut dyn FnMut() -> usize, out: &mut Effects) {
        for index in 0..self.seats.len() {
            let mut seat = self.seats[index];
            match seat.state {
                SimulatedSeatState::Idle { until, pause } | SimulatedSeatState::Claiming { until, pause }
                    if until <= now =>
                {
                    seat.number += 1;
                    out.send.push((index, seat.number, StoreRequest::Claim { plan: plan() }));
                    seat.state = SimulatedSeatState::Claiming { until: now + PATIENCE, pause };
                }
                SimulatedSeatState::Working(work) => self.tend(now, index, &mut seat, work, out),
                SimulatedSeatState::Idle { .. } | SimulatedSeatState::Claiming { .. } => {}
            }
            self.seats[index] = seat;
        }
    }

    fn tend(&self, now: i64, index: usize, seat: &mut SimulatedSeat, mut work: SeatWork, out: &mut Effects) {
        if self.must_stop(&work) <= now {
            out.notices.push(WorkNotice::Stops(work.claim, now - work.began));
            seat.state = SimulatedSeatState::Idle { until: now, pause: POLL.0 };
            return;
        }
        if work.report <= now {
            seat.number += 1;
            out.send.push((index, seat.number, StoreRequest::Done(work.claim)));
            work.report = now + PATIENCE;
        }
        if work.renew <= now {
            // Renewals and reports are independent of each other; both may be under way.
            out.send.push((index, seat.number, StoreRequest::Renew(work.claim)));
            work.renew = now + PATIENCE.min(self.lease / 6);
        }
        seat.state = SimulatedSeatState::Working(work);
    }

    /// An answer has come. `sent` is when its request left, by the same clock; `work` how long an agent will need.
    pub fn hear(
        &mut self,
        now: i64,
        (index, number): (usize, u64),
        sent: i64,
        (ask, answer): (StoreRequest, StoreReply),
        work: i64,
        out: &mut Effects,
    ) {
        let lease = self.lease;
        let Some(seat) = self.seats.get_mut(index) else { return };
        match (seat.state, ask, answer) {
            (SimulatedSeatState::Claiming { pause, .. }, StoreRequest::Claim { .. }, StoreReply::Claimed(None))
                if number == seat.number =>
            {
                seat.state = SimulatedSeatState::Idle { until: now + pause, pause: (pause * 2).min(POLL.1) };
            }
            (SimulatedSeatState::Claiming { .. }, StoreRequest::Claim { .. }, StoreReply::Claimed(Some(claim)))
                if number == seat.number =>
            {
                // An answer that took too long brings a claim that is about to end.
                if now >= sent + lease * 2 / 3 {
                    seat.state = SimulatedSeatState::Idle { until: now, pause: POLL.0 };
                    return;
                }
                out.notices.push(WorkNotice::Begins(claim));
                let (ends, renew) = (now + work, sent + lease / 3);
                seat.state = SimulatedSeatState::Working(SeatWork {
                    claim,
                    began: now,
                    ends,
                    confirmed: sent,
                    renew,
                    report: ends,
                });
            }
            (SimulatedSeatState::Working(mut work), StoreRequest::Renew(claim), StoreReply::Renewed)
                if claim == work.claim =>
            {
                work.confirmed = work.confirmed.max(sent);
                work.renew = work.renew.max(sent + lease / 3);
                seat.state = SimulatedSeatState::Working(work);
            }
            (SimulatedSeatState::Working(work), StoreRequest::Done(claim), StoreReply::Completed)
                if claim == work.claim =>
            {
                out.notices.push(WorkNotice::Completes(claim, work.ends - work.began));
                seat.state = SimulatedSeatState::Idle { until: now, pause: POLL.0 };
            }
            (
                SimulatedSeatState::Working(work),
                StoreRequest::Renew(claim) | StoreRequest::Done(claim),
                StoreReply::Refused,
            ) if claim == work.claim => {
                out.notices.push(WorkNotice::Stops(claim, now.min(work.ends) - work.began));
                seat.state = SimulatedSeatState::Idle { until: now, pause: POLL.0 };
            }
            _ => {}
        }
    }
}
