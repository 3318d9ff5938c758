//! Usage limits on a clock that only the test moves.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use punch_agents::{Reset, UsageLimit};
use punch_core::{Status, Todo, Uid};
use punch_engine::config::{Config, ConfigInputs};
use punch_store::SessionKey;

use super::super::tests::limited;
use super::super::{Seat, SeatConditions, SeatEffect, SeatEvent, SeatRules, SeatState, WorkerIdentity};
use crate::agent::{AgentEvent, AgentTurnEnd};
use crate::observer::RunEvent;
use crate::permission::{Otherwise, PermissionPolicy};

/// A seat that works off todos one after the other, on a clock that only the test moves.
struct Night {
    seat: Seat,
    rules: SeatRules,
    begun: Instant,
    /// Milliseconds since the run began, which is also the wall clock.
    now: i64,
    todos: VecDeque<Todo>,
    done: usize,
    events: Vec<RunEvent>,
}

impl Night {
    fn new(settings: &[(&str, &str)], todos: u64) -> Self {
        let flags = settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let settings = Config::load(&ConfigInputs { flags, ..ConfigInputs::default() }).unwrap().settings;
        let policy = PermissionPolicy { allowed: Vec::new(), otherwise: Otherwise::Ask };
        Self {
            seat: Seat { exit_reports_done: true, ..Seat::new(1, 0, "model".into(), "model".into()) },
            rules: SeatRules::of(&settings, 1, false, 1.0, policy),
            begun: Instant::now(),
            now: 0,
            todos: (1..=todos).map(|n| Todo::blank(Uid(n))).collect(),
            done: 0,
            events: Vec::new(),
        }
    }

    fn step(&mut self, event: SeatEvent) -> Vec<SeatEffect> {
        let conditions = SeatConditions {
            now: self.begun + Duration::from_millis(self.now.unsigned_abs()),
            wall: self.now,
            stopping: false,
            urgent: false,
            run_limit: None,
            todo_limit: None,
            rules: &self.rules,
        };
        let effects = self.seat.step(event, &conditions);
        self.events.extend(effects.iter().filter_map(|effect| match effect {
            SeatEffect::Report(event) => Some(event.clone()),
            _ => None,
        }));
        effects
    }

    /// Gives the seat its next todo; the agent ends its turn in this way.
    fn turn(&mut self, finish: AgentTurnEnd) {
        let todo = self.todos.front().cloned().unwrap();
        let worker = WorkerIdentity { start: 1, owner: "run:1/1.1".into(), key: SessionKey::new("k", None) };
        self.step(SeatEvent::Assign { uid: todo.uid, fresh: false });
        self.step(SeatEvent::Claimed { worker: worker.clone(), todo: todo.clone() });
        self.step(SeatEvent::Launched { worker, lane: None });
        let effects = self.step(SeatEvent::Agent(AgentEvent::TurnEnded { finish: finish.clone() }));
        let fails = |effect: &SeatEffect| matches!(effect, SeatEffect::Fail { .. });
        assert!(!effects.iter().any(fails));
        if finish == AgentTurnEnd::Natural {
            self.done += 1;
            self.todos.pop_front();
            self.seat.state = SeatState::Idle { conversation: None };
            return;
        }
        let unpaid = |effect: &SeatEffect| matches!(effect, SeatEffect::Charge(_));
        assert!(!effects.iter().any(unpaid), "a turn that was refused costs nothing");
        let mut claimed = todo;
        claimed.status = Status::InProgress;
        let effects = self.step(SeatEvent::Inspected(Some(claimed)));
        assert!(!effects.iter().any(fails), "a usage limit is not an attempt");
        assert!(effects.iter().any(|effect| matches!(effect, SeatEffect::Reopen(_))));
    }

    /// Lets time pass until the seat can be given a todo; false if that never happens.
    fn sleep(&mut self) -> bool {
        while !self.seat.is_free() {
            if self.seat.is_out() {
                return false;
            }
            self.now += 60_000;
            self.step(SeatEvent::Tick { printed: None, todo_time_over: false });
        }
        true
    }
}

const HOUR: i64 = 3_600_000;

#[test]
fn a_usage_limit_in_the_middle_of_the_night_costs_time_and_no_todo() {
    let mut night = Night::new(&[], 4);
    night.turn(AgentTurnEnd::Natural);
    night.turn(limited(Reset::At(5 * HOUR)));
    assert!(!night.seat.is_free());
    assert!(night.sleep());
    assert_eq!(night.now, 5 * HOUR);
    // The limit is not reset at once, and the agent names no time any more.
    night.turn(limited(Reset::Unknown));
    assert!(night.sleep());
    assert_eq!(night.now, 5 * HOUR + HOUR / 4);
    for _ in 0..3 {
        night.turn(AgentTurnEnd::Natural);
    }
    assert_eq!((night.done, night.todos.len()), (4, 0));
    let until: Vec<Option<i64>> = night
        .events
        .iter()
        .filter_map(|event| match event {
            RunEvent::Limited { until, .. } => Some(*until),
            _ => None,
        })
        .collect();
    assert_eq!(until, [Some(5 * HOUR), Some(5 * HOUR + HOUR / 4)]);
}

#[test]
fn a_seat_waits_for_a_usage_limit_only_as_long_as_the_settings_say() {
    let woken = |settings: &[(&str, &str)], reset: Reset| {
        let mut night = Night::new(settings, 1);
        night.turn(limited(reset));
        night.sleep().then_some(night.now)
    };
    let two_hours = Reset::After(Duration::from_secs(7_200));
    assert_eq!(woken(&[], two_hours), Some(2 * HOUR));
    assert_eq!(woken(&[("run.limit_wait", "1h")], two_hours), None);
    assert_eq!(woken(&[("run.limit_wait", "0s")], Reset::Unknown), None);
    assert_eq!(woken(&[("run.limit_pause", "1h")], Reset::Unknown), Some(HOUR));
    assert_eq!(woken(&[("run.limit_pause", "1h")], Reset::At(-5)), Some(HOUR), "a time that is over says nothing");
    assert_eq!(woken(&[], Reset::After(Duration::MAX)), None);
}

#[test]
fn a_clock_time_is_slept_until_also_past_midnight_and_an_unknown_zone_is_named() {
    let at = |now: i64, text: &str| {
        let mut night = Night::new(&[], 1);
        night.now = now;
        night.turn(AgentTurnEnd::UsageLimit(UsageLimit::of(text)));
        let why = night.events.iter().find_map(|event| match event {
            RunEvent::Limited { why, .. } => Some(why.clone()),
            _ => None,
        });
        (night.sleep().then_some(night.now), why.unwrap())
    };
    for (now, text, woken) in [
        (13 * HOUR, "limit reached, resets at 15:00 UTC", 15 * HOUR),
        (21 * HOUR, "limit reached, resets 3:30pm PST", 23 * HOUR + HOUR / 2),
        (20 * HOUR, "limit reached, resets 3am (UTC)", 27 * HOUR),
        (20 * HOUR, "limit reached, resets 3am (GMT+2)", 25 * HOUR),
        // The reset was a moment ago: the pause, not a day.
        (15 * HOUR + 60_000, "limit reached, resets at 15:00 UTC", 15 * HOUR + 60_000 + HOUR / 4),
    ] {
        assert_eq!(at(now, text), (Some(woken), text.to_owned()));
    }
    let berlin = "limit reached, resets 3pm (Europe/Berlin)";
    assert_eq!(at(0, berlin), (Some(HOUR / 4), format!("{berlin} (its time zone is unknown here)")));
}

#[test]
fn an_agent_that_only_reports_limits_does_not_keep_a_run_open() {
    let mut night = Night::new(&[("run.limit_wait", "1h"), ("run.limit_pause", "10m")], 1);
    let mut turns = 0;
    while night.sleep() {
        night.turn(limited(Reset::Unknown));
        turns += 1;
    }
    assert_eq!((turns, night.now), (7, HOUR));
}

#[test]
fn work_that_was_reported_before_the_limit_is_checked() {
    let mut night = Night::new(&[], 1);
    let mut todo = Todo::blank(Uid(1));
    todo.fence = 1;
    let worker = WorkerIdentity { start: 1, owner: "run:1/1.1".into(), key: SessionKey::new("k", None) };
    night.step(SeatEvent::Assign { uid: todo.uid, fresh: false });
    night.step(SeatEvent::Claimed { worker: worker.clone(), todo: todo.clone() });
    night.step(SeatEvent::Launched { worker, lane: None });
    night.step(SeatEvent::Agent(AgentEvent::TurnEnded { finish: limited(Reset::Unknown) }));
    let mut reported = todo;
    reported.status = Status::InProgress;
    reported.flags.reported = true;
    let effects = night.step(SeatEvent::Inspected(Some(reported)));
    assert!(effects.iter().any(|effect| matches!(effect, SeatEffect::Check { .. })));
}
