//! A worker as a state machine: it claims, works, renews and reports, and knows nothing but its own monotonic clock and the
//! answers it gets. Pure, so that thousands of them fit into one thread.

use crate::message::{Answer, Ask, Claim};
use crate::options::{Mutant, SECOND};

/// A request without an answer is repeated after this time.
const PATIENCE: i64 = 10 * SECOND;
/// The shortest and the longest time between two looks for work.
const POLL: (i64, i64) = (2 * SECOND, 60 * SECOND);

/// What a seat is doing.
#[derive(Clone, Copy, Debug)]
enum SeatState {
    /// Looks for work again at this time.
    Idle { until: i64, pause: i64 },
    /// Waits for a todo; asks again if no answer comes.
    Claiming { until: i64, pause: i64 },
    /// An agent works on a todo.
    Working(Work),
}

/// An agent at work.
#[derive(Clone, Copy, Debug)]
struct Work {
    claim: Claim,
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
struct Seat {
    state: SeatState,
    number: u64,
}

/// What happened to the work of a seat.
#[derive(Clone, Copy, Debug)]
pub enum Notice {
    /// An agent starts on a todo.
    Begins(Claim),
    /// The agent is stopped, after this many milliseconds of work, before the todo was completed.
    Stops(Claim, i64),
    /// The todo is completed.
    Completes(Claim, i64),
}

/// What a worker wants to be done.
#[derive(Debug, Default)]
pub struct Effects {
    /// Requests: seat, number, what.
    pub send: Vec<(usize, u64, Ask)>,
    /// What changed for its agents.
    pub notices: Vec<Notice>,
}

/// A worker on its host.
#[derive(Debug)]
pub struct Worker {
    seats: Vec<Seat>,
    lease: i64,
    mutant: Option<Mutant>,
}

impl Worker {
    /// A worker that starts at `now` with idle seats.
    pub fn new(seats: u32, lease: i64, mutant: Option<Mutant>, now: i64) -> Self {
        let seat = Seat { state: SeatState::Idle { until: now, pause: POLL.0 }, number: 0 };
        Self { seats: vec![seat; seats as usize], lease, mutant }
    }

    /// What its agents work on.
    pub fn claims(&self) -> impl Iterator<Item = Claim> + '_ {
        self.seats.iter().filter_map(|seat| match seat.state {
            SeatState::Working(work) => Some(work.claim),
            _ => None,
        })
    }

    /// When it has to be woken next.
    pub fn next_moment(&self) -> i64 {
        let moment = |seat: &Seat| match seat.state {
            SeatState::Idle { until, .. } | SeatState::Claiming { until, .. } => until,
            SeatState::Working(work) => work.renew.min(work.report).min(self.must_stop(&work)),
        };
        self.seats.iter().map(moment).min().unwrap_or(i64::MAX)
    }

    /// The moment at which an agent without a confirmed renewal is stopped: two thirds of the lease leave room for clocks
    /// that run at different speeds and for the time that stopping takes.
    fn must_stop(&self, work: &Work) -> i64 {
        if self.mutant == Some(Mutant::NeverStops) { i64::MAX } else { work.confirmed + self.lease * 2 / 3 }
    }

    /// Time has passed. `plan` chooses where to look for work.
    pub fn wake(&mut self, now: i64, plan: &mut dyn FnMut() -> usize, out: &mut Effects) {
        for index in 0..self.seats.len() {
            let mut seat = self.seats[index];
            match seat.state {
                SeatState::Idle { until, pause } | SeatState::Claiming { until, pause } if until <= now => {
                    seat.number += 1;
                    out.send.push((index, seat.number, Ask::Claim { plan: plan() }));
                    seat.state = SeatState::Claiming { until: now + PATIENCE, pause };
                }
                SeatState::Working(work) => self.tend(now, index, &mut seat, work, out),
                SeatState::Idle { .. } | SeatState::Claiming { .. } => {}
            }
            self.seats[index] = seat;
        }
    }

    fn tend(&self, now: i64, index: usize, seat: &mut Seat, mut work: Work, out: &mut Effects) {
        if self.must_stop(&work) <= now {
            out.notices.push(Notice::Stops(work.claim, now - work.began));
            seat.state = SeatState::Idle { until: now, pause: POLL.0 };
            return;
        }
        if work.report <= now {
            seat.number += 1;
            out.send.push((index, seat.number, Ask::Done(work.claim)));
            work.report = now + PATIENCE;
        }
        if work.renew <= now {
            // Renewals and reports are independent of each other; both may be under way.
            out.send.push((index, seat.number, Ask::Renew(work.claim)));
            work.renew = now + PATIENCE.min(self.lease / 6);
        }
        seat.state = SeatState::Working(work);
    }

    /// An answer has come. `sent` is when its request left, by the same clock; `work` how long an agent will need.
    pub fn hear(
        &mut self,
        now: i64,
        (index, number): (usize, u64),
        sent: i64,
        (ask, answer): (Ask, Answer),
        work: i64,
        out: &mut Effects,
    ) {
        let lease = self.lease;
        let Some(seat) = self.seats.get_mut(index) else { return };
        match (seat.state, ask, answer) {
            (SeatState::Claiming { pause, .. }, Ask::Claim { .. }, Answer::Claimed(None)) if number == seat.number => {
                seat.state = SeatState::Idle { until: now + pause, pause: (pause * 2).min(POLL.1) };
            }
            (SeatState::Claiming { .. }, Ask::Claim { .. }, Answer::Claimed(Some(claim))) if number == seat.number => {
                // An answer that took too long brings a claim that is about to end.
                if now >= sent + lease * 2 / 3 {
                    seat.state = SeatState::Idle { until: now, pause: POLL.0 };
                    return;
                }
                out.notices.push(Notice::Begins(claim));
                let (ends, renew) = (now + work, sent + lease / 3);
                seat.state = SeatState::Working(Work { claim, began: now, ends, confirmed: sent, renew, report: ends });
            }
            (SeatState::Working(mut work), Ask::Renew(claim), Answer::Renewed) if claim == work.claim => {
                work.confirmed = work.confirmed.max(sent);
                work.renew = work.renew.max(sent + lease / 3);
                seat.state = SeatState::Working(work);
            }
            (SeatState::Working(work), Ask::Done(claim), Answer::Completed) if claim == work.claim => {
                out.notices.push(Notice::Completes(claim, work.ends - work.began));
                seat.state = SeatState::Idle { until: now, pause: POLL.0 };
            }
            (SeatState::Working(work), Ask::Renew(claim) | Ask::Done(claim), Answer::Refused)
                if claim == work.claim =>
            {
                out.notices.push(Notice::Stops(claim, now.min(work.ends) - work.began));
                seat.state = SeatState::Idle { until: now, pause: POLL.0 };
            }
            _ => {}
        }
    }
}
