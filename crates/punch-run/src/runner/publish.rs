//! Stores what other processes see of a run: its events and the state of its seats.

use std::time::{Duration, Instant};

use punch_engine::process::{ProcessId, process};
use punch_engine::{SeatStage, SeatStatus};

use super::Runner;
use super::seat::{Seat, SeatState};

/// How often signs of life and usage of one seat are stored. A seat that does something else is stored at once. Parts of a
/// fleet store them after each renewal of their lease instead, all seats in one write: writes of many workers meet at the
/// lock of the plan, and each makes the others look at it.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// The milliseconds by which two times of the same sign may differ.
const SAME_SIGN: u64 = 1_000;

/// The last stored state of a seat.
pub(super) struct PublishedSeat {
    status: SeatStatus,
    at: Instant,
    /// The agent whose process is known, by start number.
    process: Option<(u64, Option<ProcessId>)>,
}

impl PublishedSeat {
    /// Returns true if a status has to be stored: at once if the seat does something else, and with the next heartbeat
    /// otherwise. `renewed` is when a part of a fleet last renewed its lease.
    fn is_outdated(&self, status: &SeatStatus, now: Instant, renewed: Option<Instant>) -> bool {
        let is_heartbeat = match renewed {
            Some(renewed) => self.at < renewed,
            None => now.saturating_duration_since(self.at) >= HEARTBEAT,
        };
        !status.is_same_place(&self.status) || (*status != self.status && is_heartbeat)
    }
}

impl Runner<'_, '_> {
    /// Stores new events, and the seats that have changed. A store that does not answer is tried again with the next
    /// call: nothing of this is worth waiting for.
    pub(super) fn publish(&mut self) {
        let (now, instant) = (self.world.engine.now(), Instant::now());
        let renewed = self.fleet.map(|_| self.renewed);
        let mut changed = Vec::new();
        for at in 0..self.seats.len() {
            let seat = &self.seats[at];
            if seat.number == 0 {
                continue;
            }
            let before = self.published.get(&seat.number);
            let known = before.and_then(|before| before.process);
            let start = seat.state.conversation().map(|open| open.worker.start);
            let process = start.map(|start| match known {
                Some((same, id)) if same == start => (start, id),
                _ => (start, self.processes.get(&start).and_then(|running| process(running.pid()))),
            });
            let status = SeatStatus { process: process.and_then(|(_, id)| id), ..self.status(seat, now) };
            let status = before.map_or(status.clone(), |before| with_times_of(status, &before.status));
            if before.is_none_or(|before| before.is_outdated(&status, instant, renewed)) {
                changed.push((seat.number, PublishedSeat { status, at: instant, process }));
            }
        }
        let events = self.journal.take();
        if events.is_empty() && changed.is_empty() {
            return;
        }
        let seats: Vec<SeatStatus> = changed.iter().map(|(_, published)| published.status.clone()).collect();
        match self.world.engine.record_run(self.world.plan, self.run.id, &events, &seats) {
            Ok(()) => self.published.extend(changed),
            Err(_) => self.journal.give_back(events),
        }
    }

    fn status(&self, seat: &Seat, now: i64) -> SeatStatus {
        let (conversation, job) = seat.state.parts();
        let ago = |then: Instant| i64::try_from(then.elapsed().as_millis()).unwrap_or(i64::MAX);
        let last_sign = conversation.map(|open| {
            let printed = self.processes.get(&open.worker.start).map(|running| running.printed());
            now.saturating_sub(ago(printed.map_or(open.last_sign, |printed| printed.max(open.last_sign))))
        });
        let spent = job.map(|job| self.meter.of(job.todo.uid)).unwrap_or_default();
        let turn = conversation.filter(|_| job.is_some()).map(|open| &open.spending);
        SeatStatus {
            seat: u32::try_from(seat.number).unwrap_or(u32::MAX),
            stage: stage(seat, self.paused),
            todo: job.map(|job| crate::observer::line(&job.todo.id)),
            agent: seat.name.clone(),
            since: now,
            until: seat.sleep.as_ref().filter(|_| seat.state.is_idle()).and_then(|sleep| sleep.until),
            last_sign,
            line: if conversation.is_some() { self.journal.last_line(seat.number) } else { String::new() },
            tokens: spent.tokens.saturating_add(turn.map_or(0, |turn| turn.tokens())),
            cost: spent.cost.saturating_add(turn.and_then(|turn| turn.cost_micros).unwrap_or(0)),
            process: None,
        }
    }
}

/// Returns a status with the times of an earlier one where they mean the same.
fn with_times_of(status: SeatStatus, before: &SeatStatus) -> SeatStatus {
    let since = if status.is_same_place(before) { before.since } else { status.since };
    let same = |known: &i64| status.last_sign.is_some_and(|sign| sign.abs_diff(*known) < SAME_SIGN);
    let last_sign = before.last_sign.filter(same).or(status.last_sign);
    SeatStatus { since, last_sign, ..status }
}

/// Returns what a seat does, as others see it.
pub(super) const fn stage(seat: &Seat, run_paused: bool) -> SeatStage {
    match &seat.state {
        SeatState::Idle { .. } | SeatState::Resting { .. } if seat.is_stopped() => SeatStage::Stopped,
        SeatState::Idle { .. } | SeatState::Resting { .. } if seat.paused || run_paused => SeatStage::Paused,
        SeatState::Idle { .. } | SeatState::Resting { .. } if seat.sleep.is_some() => SeatStage::Limited,
        SeatState::Idle { .. } => SeatStage::Idle,
        SeatState::Resting { .. } => SeatStage::Resting,
        SeatState::Claiming { .. } | SeatState::Preparing { .. } | SeatState::Starting { .. } => SeatStage::Starting,
        SeatState::Working { .. }
        | SeatState::Continuing { .. }
        | SeatState::Judging { .. }
        | SeatState::Failing { .. } => SeatStage::Working,
        SeatState::Asking { .. } => SeatStage::Asking,
        SeatState::Checking { .. } | SeatState::AgentGone { .. } => SeatStage::Checking,
        SeatState::Ending { .. } => SeatStage::Ending,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(stage: SeatStage, tokens: u64) -> SeatStatus {
        SeatStatus { seat: 1, stage, tokens, since: 0, ..SeatStatus::default() }
    }

    /// How often a seat is stored whose agent uses tokens every 20 milliseconds. `stage` says what it does at each of them;
    /// a part of a fleet renews its lease every `renewal` seconds.
    fn stored(seconds: u64, renewal: Option<u64>, stage: impl Fn(u64) -> SeatStage) -> usize {
        let begin = Instant::now();
        let mut published: Option<PublishedSeat> = None;
        let mut stored = 0;
        for tick in 0..seconds * 50 {
            let now = begin + Duration::from_millis(tick * 20);
            let renewed = renewal.map(|every| begin + Duration::from_secs(tick / 50 / every * every));
            let status = status(stage(tick), tick);
            if published.as_ref().is_none_or(|before| before.is_outdated(&status, now, renewed)) {
                stored += 1;
                published = Some(PublishedSeat { status, at: now, process: None });
            }
        }
        stored
    }

    #[test]
    fn signs_of_life_of_a_seat_are_stored_at_most_once_a_second() {
        assert_eq!(stored(10, None, |_| SeatStage::Working), 10);
    }

    #[test]
    fn signs_of_life_of_a_worker_are_stored_when_it_renews_its_lease() {
        assert_eq!(stored(60, Some(10), |_| SeatStage::Working), 6);
    }

    #[test]
    fn a_seat_that_does_something_else_is_stored_at_once() {
        // It begins to ask in the middle of a second.
        let stage = |tick| if tick < 75 { SeatStage::Working } else { SeatStage::Asking };
        assert_eq!(stored(2, None, stage), 3);
        assert_eq!(stored(2, Some(10), stage), 2);
    }
}
