//! Counts requests to the server, and formats these counts and the state of the plans as Prometheus text.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use punch_core::view::{FleetFigures, WorkerState};
use punch_engine::PlanEntry;

/// Upper bounds of the histogram, in seconds.
const BOUNDS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];
/// Plans with figures of their own; a collector pays for every one.
const PLANS: usize = 500;

/// How long requests of one route took.
#[derive(Clone, Copy, Default)]
struct Times {
    /// Requests up to each bound, and those beyond the last.
    counts: [u64; BOUNDS.len() + 1],
    sum: Duration,
}

#[derive(Default)]
struct StatusCounts {
    requests: BTreeMap<(&'static str, u16), u64>,
    times: BTreeMap<&'static str, Times>,
    problems: BTreeMap<String, u64>,
}

/// Counters since the server started.
#[derive(Default)]
pub(crate) struct Metrics {
    counts: Mutex<StatusCounts>,
}

/// The state of the server when it is asked.
pub(crate) struct ServerFacts<'a> {
    pub version: &'a str,
    pub project: &'a str,
    pub streams: usize,
    /// The plans; `None` if the store does not answer.
    pub plans: Option<&'a [PlanEntry]>,
    /// The workers; `None` if the store does not answer.
    pub fleet: Option<FleetFigures>,
}

impl Metrics {
    /// Counts a request that was answered.
    pub fn count(&self, route: &'static str, status: u16, took: Duration, problem: Option<&str>) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.requests.entry((route, status)).or_default() += 1;
        let times = counts.times.entry(route).or_default();
        let bucket = BOUNDS.iter().position(|bound| took.as_secs_f64() <= *bound).unwrap_or(BOUNDS.len());
        times.counts[bucket] += 1;
        times.sum += took;
        if let Some(code) = problem {
            *counts.problems.entry(code.to_owned()).or_default() += 1;
        }
    }

    /// Everything as Prometheus text.
    pub fn render(&self, state: &ServerFacts<'_>) -> String {
        let mut out = MetricsText::default();
        out.family("punch_info", "gauge", "The version of the server and the project it serves.");
        out.sample("punch_info", &[("version", state.version), ("project", state.project)], 1);
        out.family("punch_store_up", "gauge", "1 if the store answers.");
        out.sample("punch_store_up", &[], state.plans.is_some().into());
        out.family("punch_streams", "gauge", "Streams of changes that are open.");
        out.sample("punch_streams", &[], number(state.streams));
        let plans = state.plans.unwrap_or_default();
        let used: Vec<&PlanEntry> = plans.iter().filter(|plan| plan.info.archived.is_none()).take(PLANS).collect();
        out.family("punch_plans", "gauge", "Plans by state.");
        let archived = plans.iter().filter(|plan| plan.info.archived.is_some()).count();
        out.sample("punch_plans", &[("state", "used")], number(plans.len() - archived));
        out.sample("punch_plans", &[("state", "archived")], number(archived));
        out.family("punch_todos", "gauge", "Todos of a plan by status.");
        for plan in &used {
            let counts = &plan.counts;
            for (status, count) in [
                ("pending", counts.pending),
                ("in_progress", counts.in_progress),
                ("completed", counts.completed),
                ("cancelled", counts.cancelled),
                ("failed", counts.failed),
            ] {
                out.sample("punch_todos", &[("plan", &plan.info.name), ("status", status)], count);
            }
        }
        out.family("punch_plan_revision_total", "counter", "Changes of a plan, by whoever made them.");
        for plan in &used {
            out.sample("punch_plan_revision_total", &[("plan", &plan.info.name)], plan.info.revision);
        }
        if let Some(fleet) = &state.fleet {
            render_fleet(&mut out, fleet);
        }
        self.render_requests(&mut out);
        out.0
    }

    fn render_requests(&self, out: &mut MetricsText) {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        out.family("punch_http_requests_total", "counter", "Requests by route and status.");
        for ((route, status), count) in &counts.requests {
            let status = status.to_string();
            out.sample("punch_http_requests_total", &[("route", route), ("status", &status)], *count);
        }
        out.family("punch_http_problems_total", "counter", "Requests that were refused, by error code.");
        for (code, count) in &counts.problems {
            out.sample("punch_http_problems_total", &[("code", code)], *count);
        }
        out.family("punch_http_request_seconds", "histogram", "Time until an answer began, by route.");
        for (route, times) in &counts.times {
            let mut sum = 0;
            for (bound, count) in BOUNDS.iter().zip(times.counts) {
                sum += count;
                let labels = [("route", *route), ("le", &*bound.to_string())];
                out.sample("punch_http_request_seconds_bucket", &labels, sum);
            }
            sum += times.counts[BOUNDS.len()];
            out.sample("punch_http_request_seconds_bucket", &[("route", route), ("le", "+Inf")], sum);
            out.write("punch_http_request_seconds_sum", &[("route", route)], &times.sum.as_secs_f64().to_string());
            out.sample("punch_http_request_seconds_count", &[("route", route)], sum);
        }
    }
}

/// Figures of all workers together: with names, every machine that ever worked would be a series of its own.
fn render_fleet(out: &mut MetricsText, fleet: &FleetFigures) {
    out.family("punch_workers", "gauge", "Workers by state.");
    for state in WorkerState::ALL {
        out.sample("punch_workers", &[("state", state.name())], fleet.workers(state));
    }
    for (name, about, value) in [
        ("punch_worker_seats", "Seats of workers that are alive.", fleet.seats),
        ("punch_worker_seats_busy", "Seats with an agent at work.", fleet.busy),
        ("punch_worker_stuck_claims", "Todos in progress whose worker is gone.", fleet.stuck),
        ("punch_worker_todos_per_hour", "Todos that workers hand in per hour.", fleet.per_hour),
    ] {
        out.family(name, "gauge", about);
        out.sample(name, &[], value);
    }
}

fn number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// Prometheus text in the making.
#[derive(Default)]
struct MetricsText(String);

impl MetricsText {
    fn family(&mut self, name: &str, kind: &str, about: &str) {
        let _ = writeln!(self.0, "# HELP {name} {about}\n# TYPE {name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: u64) {
        self.write(name, labels, &value.to_string());
    }

    fn write(&mut self, name: &str, labels: &[(&str, &str)], value: &str) {
        let pairs: Vec<String> = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
        let labels = if pairs.is_empty() { String::new() } else { format!("{{{}}}", pairs.join(",")) };
        let _ = writeln!(self.0, "{name}{labels} {value}");
    }
}

/// A value between quotes.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_hold_everything_up_to_their_bound() {
        let metrics = Metrics::default();
        for millis in [1, 3, 700, 60_000] {
            metrics.count("board", 200, Duration::from_millis(millis), None);
        }
        metrics.count("ops", 409, Duration::ZERO, Some("conflict"));
        let state = ServerFacts { version: "1", project: "a \"b\"\\c\n", streams: 2, plans: None, fleet: None };
        let text = metrics.render(&state);
        for line in [
            "punch_info{version=\"1\",project=\"a \\\"b\\\"\\\\c\\n\"} 1",
            "punch_store_up 0",
            "punch_streams 2",
            "punch_http_requests_total{route=\"board\",status=\"200\"} 4",
            "punch_http_problems_total{code=\"conflict\"} 1",
            "punch_http_request_seconds_bucket{route=\"board\",le=\"0.001\"} 1",
            "punch_http_request_seconds_bucket{route=\"board\",le=\"0.005\"} 2",
            "punch_http_request_seconds_bucket{route=\"board\",le=\"10\"} 3",
            "punch_http_request_seconds_bucket{route=\"board\",le=\"+Inf\"} 4",
            "punch_http_request_seconds_sum{route=\"board\"} 60.704",
            "punch_http_request_seconds_count{route=\"board\"} 4",
        ] {
            assert!(text.lines().any(|known| known == line), "{line}\n{text}");
        }
    }
}
