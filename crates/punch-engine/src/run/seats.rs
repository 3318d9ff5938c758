//! The state of the seats of a run, and the events of the run, for readers in other processes.

use std::collections::HashMap;

use punch_core::{Uid, text};
use punch_store::{Durability, PlanId, SeatRecord, Snapshot};
use serde::{Deserialize, Serialize};

use super::RunEvent;
use crate::activity::{self, ActivityKind};
use crate::process::ProcessId;
use crate::{Engine, EngineError};

/// Characters of the last line that an agent printed.
const LINE: usize = 200;

/// What a seat of a run does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SeatStage {
    /// Has nothing to do, and can be given a todo.
    #[default]
    Idle,
    /// Pauses after a failed start or turn.
    Resting,
    /// Waits until the usage limit of its agent is reset.
    Limited,
    /// Starts an agent.
    Starting,
    /// Its agent works.
    Working,
    /// Its agent waits for an answer of the user.
    Asking,
    /// Checks a todo that was reported as done.
    Checking,
    /// Its agent was asked to end.
    Ending,
    /// Finishes its todo if it has one, and gets no other until the user resumes it.
    Paused,
    /// The user stopped it, or its agent failed to start too often.
    Stopped,
}

impl SeatStage {
    /// Returns the word that is shown.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Resting => "resting",
            Self::Limited => "limited",
            Self::Starting => "starting",
            Self::Working => "working",
            Self::Asking => "asking",
            Self::Checking => "checking",
            Self::Ending => "ending",
            Self::Paused => "paused",
            Self::Stopped => "stopped",
        }
    }
}

/// The state of a seat of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct SeatStatus {
    /// The number of the seat, counted from 1.
    pub seat: u32,
    /// The stage of the seat.
    pub stage: SeatStage,
    /// The id of the todo that it works on.
    pub todo: Option<String>,
    /// The agent program, such as `claude`.
    pub agent: String,
    /// Since when it does that.
    pub since: i64,
    /// When the usage limit of its agent is reset, while it waits for that.
    pub until: Option<i64>,
    /// When its agent last printed or reported something.
    pub last_sign: Option<i64>,
    /// The last line that its agent printed.
    pub line: String,
    /// Tokens that its todo took in this run so far.
    pub tokens: u64,
    /// Reported cost of its todo in this run so far, in millionths of a dollar.
    pub cost: u64,
    /// The process of its agent.
    pub process: Option<ProcessId>,
}

impl SeatStatus {
    /// Returns true if both states are equal in everything but signs of life and usage.
    pub fn is_same_place(&self, other: &Self) -> bool {
        (self.stage, &self.todo, &self.agent, self.until) == (other.stage, &other.todo, &other.agent, other.until)
    }
}

impl Engine {
    /// Stores events of a run and the state of its seats, in one transaction. A seat that does something new also adds
    /// an activity.
    pub fn record_run(
        &self,
        plan: PlanId,
        run: u64,
        events: &[RunEvent],
        seats: &[SeatStatus],
    ) -> Result<(), EngineError> {
        self.write(plan, Durability::Relaxed, |tx, now| {
            // Several events of a moment are usually about the same todo.
            let mut found: HashMap<String, Option<Uid>> = HashMap::new();
            let mut find = |tx: &dyn Snapshot, id: Option<&str>| -> Result<Option<Uid>, EngineError> {
                let Some(id) = id else { return Ok(None) };
                if let Some(known) = found.get(id) {
                    return Ok(*known);
                }
                let todo = activity::todo_of(tx, id)?;
                found.insert(id.to_owned(), todo);
                Ok(todo)
            };
            for event in events {
                let todo = find(tx, event.todo())?;
                let source = activity::of_run(run, event.seat());
                let kind = ActivityKind::Run { run, event: event.clone() };
                activity::record(tx, Some(&source), todo, &kind, now)?;
            }
            let known = if seats.is_empty() { Vec::new() } else { tx.seats(run)? };
            for seat in seats {
                let seat = SeatStatus { line: text::clip(&seat.line, LINE).into_owned(), ..seat.clone() };
                let before = known.iter().find(|row| row.n == seat.seat).map(read);
                let body = serde_json::to_string(&seat).unwrap_or_default();
                tx.put_seat(&SeatRecord { run, n: seat.seat, at: now, body })?;
                if before.unwrap_or_default().stage != seat.stage {
                    let todo = find(tx, seat.todo.as_deref())?;
                    let kind = ActivityKind::Seat { run, seat: seat.seat, stage: seat.stage, todo: seat.todo };
                    let source = activity::of_run(run, Some(seat.seat));
                    activity::record(tx, Some(&source), todo, &kind, now)?;
                }
            }
            Ok(())
        })
    }

    /// Returns the state of the seats of a run, by number. Empty if the run has ended.
    pub fn seats(&self, plan: PlanId, run: u64) -> Result<Vec<SeatStatus>, EngineError> {
        self.read(plan, |snapshot| Ok(snapshot.seats(run)?.iter().map(read).collect()))
    }

    /// Returns the last `limit` events of a run, in order. Events that were pruned are missing.
    pub fn run_events(&self, plan: PlanId, run: u64, limit: usize) -> Result<Vec<(i64, RunEvent)>, EngineError> {
        let (mut since, mut out) = (0, std::collections::VecDeque::new());
        loop {
            let page = self.activity(plan, since, PAGE)?;
            if page.records.is_empty() {
                return Ok(out.into());
            }
            since = page.next;
            for record in page.records {
                if let ActivityKind::Run { run: of, event } = record.kind
                    && of == run
                {
                    out.push_back((record.at, event));
                }
            }
            out.drain(..out.len().saturating_sub(limit));
        }
    }

    /// Returns the processes of agents that runs of the plan started and hooks of its sessions reported.
    pub(crate) fn agent_processes(&self, plan: PlanId) -> Result<Vec<ProcessId>, EngineError> {
        let mut out: Vec<ProcessId> = self.browse(|catalogue| {
            let sessions = catalogue.sessions(None, i64::MIN, usize::MAX)?;
            Ok(sessions.iter().filter_map(|session| crate::session::read(session).process).collect())
        })?;
        out.extend(self.read(plan, |snapshot| {
            let Some(run) = snapshot.runs(1)?.first().map(|run| run.id) else { return Ok(Vec::new()) };
            Ok(snapshot.seats(run)?.iter().filter_map(|seat| read(seat).process).collect())
        })?);
        Ok(out)
    }
}

/// Activities read from the store at a time.
const PAGE: usize = 1_000;

/// Reads the state of a seat. A state from another version is read as far as possible.
fn read(row: &SeatRecord) -> SeatStatus {
    let body = serde_json::from_str(&row.body).unwrap_or_default();
    SeatStatus { seat: row.n, ..body }
}
