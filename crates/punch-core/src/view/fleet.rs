//! The workers of a fleet on all machines: what each does, and which claims no worker looks after. `punch worker list`, both
//! boards, the API and `/metrics` show this one value.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use super::Plain;
use crate::time::ago;

/// How long boards warn about a lost worker: a day. The list has it for longer.
const WARNED_MS: i64 = 24 * 60 * 60 * 1000;
/// Lost workers and stuck claims that boards name one by one.
const NAMED: usize = 3;

/// The workers that a store knows, and the claims that no worker looks after.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FleetView {
    /// Every worker, by name.
    pub workers: Vec<FleetWorker>,
    /// Todos in progress whose worker is gone. The coordinator of the plan opens them again.
    pub stuck: Vec<FleetClaim>,
}

/// A worker of a fleet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FleetWorker {
    /// The name of the worker.
    pub name: Plain,
    /// The name of its machine.
    pub host: Plain,
    /// The state of the worker.
    pub state: WorkerState,
    /// When the worker started.
    pub started_at: i64,
    /// When it was last seen.
    pub seen_at: i64,
    /// How many agents work at the same time.
    pub seats: usize,
    /// The labels that todos may ask for.
    pub labels: Vec<Plain>,
    /// The agents, as the user named them.
    pub agents: Vec<Plain>,
    /// The plans it takes todos of; all if there are none.
    pub plans: Vec<Plain>,
    /// The plans that it coordinates.
    pub coordinates: Vec<Plain>,
    /// It never coordinates a plan.
    pub only_works: bool,
    /// The todos that the worker has claimed.
    pub claims: Vec<FleetClaim>,
    /// Todos whose work it handed in since it started.
    pub handed_in: u64,
    /// Todos that it handed in per hour, as a rounded number.
    pub per_hour: u64,
    /// The number of its process.
    pub process: u32,
    /// The folder with its files.
    pub folder: Plain,
    /// The version of the program.
    pub version: Plain,
}

/// The state of a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerState {
    /// The worker takes todos.
    Working,
    /// It takes no more todos and leaves when its agents are done.
    Draining,
    /// It has not renewed its record in time.
    Lost,
    /// The worker has left.
    #[default]
    Gone,
}

impl WorkerState {
    /// Every state.
    pub const ALL: [Self; 4] = [Self::Working, Self::Draining, Self::Lost, Self::Gone];

    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::Draining => "draining",
            Self::Lost => "lost",
            Self::Gone => "gone",
        }
    }

    /// Returns true if the worker has agents.
    pub const fn is_alive(self) -> bool {
        matches!(self, Self::Working | Self::Draining)
    }
}

/// A todo that a worker has in progress.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FleetClaim {
    /// The plan.
    pub plan: Plain,
    /// The id of the todo.
    pub todo: Plain,
    /// The text of the todo.
    pub text: Plain,
    /// The worker that claimed it.
    pub worker: Plain,
    /// When the claim began.
    pub since: Option<i64>,
    /// Until when the claim lasts unless renewed.
    pub until: Option<i64>,
    /// The work is reported and waits for the coordinator.
    pub reported: bool,
}

impl FleetClaim {
    /// Where the work stands, in words.
    pub const fn standing(&self) -> &'static str {
        if self.reported { "handed in, waiting for its check" } else { "in progress" }
    }
}

/// The fleet in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FleetFigures {
    /// Workers that take todos.
    pub working: u64,
    /// Workers that are about to leave.
    pub draining: u64,
    /// Workers that were not seen in time.
    pub lost: u64,
    /// Workers that have left.
    pub gone: u64,
    /// Seats of workers that are alive.
    pub seats: u64,
    /// Seats with an agent at work.
    pub busy: u64,
    /// Claims that no worker looks after.
    pub stuck: u64,
    /// Todos that the workers that are alive handed in per hour.
    pub per_hour: u64,
}

impl FleetFigures {
    /// Workers in a state.
    pub const fn workers(&self, state: WorkerState) -> u64 {
        match state {
            WorkerState::Working => self.working,
            WorkerState::Draining => self.draining,
            WorkerState::Lost => self.lost,
            WorkerState::Gone => self.gone,
        }
    }
}

impl FleetWorker {
    /// Seats with an agent at work. Work that was handed in needs no seat.
    pub fn busy(&self) -> usize {
        self.claims.iter().filter(|claim| !claim.reported).count()
    }
}

impl FleetView {
    /// The fleet in numbers.
    pub fn figures(&self) -> FleetFigures {
        let mut out = FleetFigures { stuck: number(self.stuck.len()), ..FleetFigures::default() };
        for worker in &self.workers {
            *match worker.state {
                WorkerState::Working => &mut out.working,
                WorkerState::Draining => &mut out.draining,
                WorkerState::Lost => &mut out.lost,
                WorkerState::Gone => &mut out.gone,
            } += 1;
            if worker.state.is_alive() {
                out.seats = out.seats.saturating_add(number(worker.seats));
                out.busy += number(worker.busy());
                out.per_hour = out.per_hour.saturating_add(worker.per_hour);
            }
        }
        out
    }

    /// The workers by machine, without those that have left.
    pub fn hosts(&self) -> BTreeMap<&Plain, Vec<&FleetWorker>> {
        let mut out: BTreeMap<&Plain, Vec<&FleetWorker>> = BTreeMap::new();
        for worker in self.workers.iter().filter(|worker| worker.state != WorkerState::Gone) {
            out.entry(&worker.host).or_default().push(worker);
        }
        out
    }

    /// What a board warns about: workers that were lost within a day, and claims that are stuck. A few lines, whatever
    /// happened.
    pub fn warnings(&self, now: i64) -> Vec<String> {
        let lost = self.workers.iter().filter(|worker| worker.state == WorkerState::Lost);
        let lost = lost.filter(|worker| now.saturating_sub(worker.seen_at) < WARNED_MS);
        let lost = lost.map(|worker| {
            let seen = ago(now.saturating_sub(worker.seen_at));
            format!("worker {} on {} is lost, last seen {seen}", worker.name, worker.host)
        });
        let stuck = self.stuck.iter().map(|claim| {
            format!("{} of plan {} is stuck: its worker {} is gone", claim.todo, claim.plan, claim.worker)
        });
        let (mut out, stuck): (Vec<String>, Vec<String>) = (lost.collect(), stuck.collect());
        cut(&mut out, "lost worker");
        let mut stuck = stuck;
        cut(&mut stuck, "stuck claim");
        out.append(&mut stuck);
        out
    }

    /// The fleet for programs.
    pub fn record(&self) -> Value {
        json!({"workers": self.workers, "stuck": self.stuck, "figures": self.figures()})
    }

    /// The fleet for users, a line each.
    pub fn lines(&self, now: i64) -> Vec<String> {
        if self.workers.is_empty() {
            return vec!["No workers yet: `punch worker --agent claude` starts one.".to_owned()];
        }
        let mut lines = Vec::new();
        for worker in &self.workers {
            lines.push(headline(worker, now));
            for claim in &worker.claims {
                let since = claim.since.map(|since| format!(", started {}", ago(now.saturating_sub(since))));
                let (since, standing) = (since.unwrap_or_default(), claim.standing());
                lines.push(format!("    {} of plan {}: {standing}{since}", claim.todo, claim.plan));
            }
        }
        for claim in &self.stuck {
            lines.push(format!(
                "stuck: {} of plan {} is claimed by {}, which is gone; the coordinator reopens it",
                claim.todo, claim.plan, claim.worker
            ));
        }
        lines
    }
}

fn headline(worker: &FleetWorker, now: i64) -> String {
    let labels = match worker.labels.is_empty() {
        true => String::new(),
        false => format!(", labels {}", joined(&worker.labels)),
    };
    let coordinates = match worker.coordinates.is_empty() {
        true => String::new(),
        false => format!(", coordinates {}", joined(&worker.coordinates)),
    };
    format!(
        "{} on {}: {}, seen {}, {}{labels}, {} handed in ({} per hour){coordinates}",
        worker.name,
        worker.host,
        worker.state.name(),
        ago(now.saturating_sub(worker.seen_at)),
        counted(number(worker.seats), "seat"),
        counted(worker.handed_in, "todo"),
        worker.per_hour
    )
}

fn joined(words: &[Plain]) -> String {
    words.iter().map(Plain::as_str).collect::<Vec<_>>().join(" ")
}

/// Leaves a few lines and says how many more there are.
fn cut(lines: &mut Vec<String>, what: &str) {
    let more = lines.len().saturating_sub(NAMED);
    if more > 0 {
        lines.truncate(NAMED);
        lines.push(format!("{more} more {what}{}: `punch worker list`", if more == 1 { "" } else { "s" }));
    }
}

fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

fn number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
