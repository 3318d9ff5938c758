//! The workers of a fleet.

use serde_json::Value;

use super::{about, count, list, named, object, or_null, text, time, word, yes_no};
use crate::view::WorkerState;

/// The fleet as [`crate::view::FleetView::record`] writes it.
pub fn fleet() -> Vec<(&'static str, Value)> {
    vec![
        ("workers", about(list(worker()), "by name")),
        ("stuck", about(list(claim()), "claims whose worker is gone; the coordinator of the plan opens them again")),
        ("figures", figures()),
    ]
}

fn worker() -> Value {
    let worker = object(
        &[
            ("name", text()),
            ("host", about(text(), "the name of its machine")),
            ("state", word(WorkerState::ALL.map(WorkerState::name))),
            ("startedAt", time()),
            ("seenAt", time()),
            ("seats", count()),
            ("labels", list(text())),
            ("agents", list(text())),
            ("plans", about(list(text()), "the plans it takes todos of; all if there are none")),
            ("coordinates", about(list(text()), "plans")),
            ("onlyWorks", about(yes_no(), "it never coordinates a plan")),
            ("claims", list(claim())),
            ("handedIn", about(count(), "todos since it started")),
            ("perHour", about(count(), "todos handed in per hour")),
            ("process", count()),
            ("folder", text()),
            ("version", text()),
        ],
        &[],
    );
    named("worker", worker)
}

fn claim() -> Value {
    let claim = object(
        &[
            ("plan", text()),
            ("todo", text()),
            ("text", text()),
            ("worker", text()),
            ("since", or_null(time())),
            ("until", or_null(time())),
            ("reported", about(yes_no(), "the work is handed in and waits for the coordinator")),
        ],
        &[],
    );
    named("fleetClaim", claim)
}

fn figures() -> Value {
    let states = WorkerState::ALL.map(|state| (state.name(), count()));
    let others = [
        ("seats", about(count(), "seats of workers that are alive")),
        ("busy", about(count(), "seats with an agent at work")),
        ("stuck", count()),
        ("perHour", count()),
    ];
    named("fleetFigures", object(&[&states[..], &others].concat(), &[]))
}
