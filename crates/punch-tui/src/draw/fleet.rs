//! Workers of the fleet: their rows, the claims that none of them looks after, and what the board warns about.

use punch_core::time::ago;
use punch_core::view::{FleetClaim, FleetWorker, Plain, SpanRole, WorkerState};
use ratatui::text::Line;

use super::line::{LineBuilder, span};
use crate::board::Board;

/// The state of a worker, its seats, what it does and since when.
pub(super) fn worker_row(board: &Board, worker: &FleetWorker, width: usize) -> Line<'static> {
    let look = board.look();
    let mut row = LineBuilder::new(look, width);
    row.put("   ", look.dim()).column(worker.name.as_str(), if width < 60 { 10 } else { 16 }, look.bold());
    let state = match worker.state {
        WorkerState::Working => look.good(),
        WorkerState::Draining | WorkerState::Gone => look.dim(),
        WorkerState::Lost => look.alarm(),
    };
    row.put(" ", look.dim()).column(worker.state.name(), 9, state);
    row.column(&format!("{}/{} seats", worker.busy(), worker.seats), 12, look.style(SpanRole::Text));
    if worker.state == WorkerState::Lost {
        row.put(&format!("last seen {}", ago(board.now() - worker.seen_at)), look.dim());
        return row.line();
    }
    row.put(&format!("{}/h  ", worker.per_hour), look.dim());
    let what: Vec<String> = worker.claims.iter().map(|claim| doing(board, claim)).collect();
    if !what.is_empty() {
        row.put(&format!("{}  ", what.join(", ")), look.style(SpanRole::Text));
    }
    row.put(&words(&worker.labels), look.style(SpanRole::Detail));
    row.line()
}

/// A todo of a worker, with its plan if that is not the one on the screen.
fn doing(board: &Board, claim: &FleetClaim) -> String {
    let plan = if claim.plan == board.data().name { String::new() } else { format!(" of {}", claim.plan) };
    let since = claim.since.map(|since| format!(" {}", span(board.now() - since))).unwrap_or_default();
    let state = if claim.reported { " handed in" } else { "" };
    format!("{}{plan}{state}{since}", claim.todo)
}

/// A claim that no worker looks after.
pub(super) fn stuck_row(board: &Board, plan: &str, todo: &str, width: usize) -> Line<'static> {
    let look = board.look();
    let same = |claim: &&FleetClaim| claim.plan.as_str() == plan && claim.todo.as_str() == todo;
    let Some(claim) = board.data().fleet.stuck.iter().find(same) else { return Line::default() };
    let mut row = LineBuilder::new(look, width);
    row.put(&format!(" {} stuck: ", look.pick("⚠", "!")), look.alarm());
    row.put(
        &format!("{}, claimed by {}, which is gone", doing(board, claim), claim.worker),
        look.style(SpanRole::Text),
    );
    row.line()
}

/// One of the warnings about the fleet.
pub(super) fn warning_row(board: &Board, at: usize, width: usize) -> Line<'static> {
    let look = board.look();
    let mut row = LineBuilder::new(look, width);
    let warnings = board.data().fleet.warnings(board.now());
    row.put(&format!(" {} ", look.pick("⚠", "!")), look.alarm());
    row.put(warnings.get(at).map_or("", String::as_str), look.style(SpanRole::Text));
    row.line()
}

/// Everything about a worker that has no todo of this plan.
pub(super) fn facts(worker: &FleetWorker, now: i64) -> Vec<(&'static str, String)> {
    let mut out = vec![
        ("machine", worker.host.to_string()),
        ("state", worker.state.name().to_owned()),
        ("seen", ago(now - worker.seen_at)),
        ("started", ago(now - worker.started_at)),
        ("seats", format!("{} of {} in use", worker.busy(), worker.seats)),
        ("agents", words(&worker.agents)),
        ("labels", words(&worker.labels)),
        ("plans", if worker.plans.is_empty() { "all".to_owned() } else { words(&worker.plans) }),
        ("coordinates", words(&worker.coordinates)),
        ("handed in", format!("{} ({} per hour)", worker.handed_in, worker.per_hour)),
    ];
    out.extend(worker.claims.iter().map(|claim| ("todo", format!("{} {} ({})", claim.todo, claim.text, claim.plan))));
    out.retain(|(_, value)| !value.is_empty());
    out
}

fn words(names: &[Plain]) -> String {
    names.iter().map(Plain::as_str).collect::<Vec<_>>().join(" ")
}
