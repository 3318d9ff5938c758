//! The server itself, its plans, and the workers of all machines.

use punch_core::text::neutral;
use punch_core::view::{FleetView, Progress};
use serde_json::{Value, json};

use crate::context::{ApiResult, RequestContext};
use crate::read::merge;

/// `GET /api/v1`
pub(crate) fn server(at: &RequestContext<'_>) -> ApiResult {
    let app = at.app;
    let plan = match app.store.engine()? {
        None => None,
        Some(engine) => app.store.on(&engine, |engine| engine.choose(&app.setup.choice))?,
    };
    let mut out = json!({
        "schema": 1,
        "server": app.setup.version,
        "project": neutral(&app.setup.project),
        "plan": plan.map(|plan| plan.name),
        "agents": if at.caller.answerer().is_some() { (app.setup.agents)() } else { Vec::new() },
    });
    merge(&mut out, at.caller.to_json());
    Ok(out)
}

/// `GET /api/v1/fleet`
pub(crate) fn fleet(at: &RequestContext<'_>) -> ApiResult {
    let app = at.app;
    let (view, now) = match app.store.engine()? {
        None => (FleetView::default(), 0),
        Some(engine) => (app.store.on(&engine, |engine| engine.fleet())?, engine.now()),
    };
    let mut out = json!({"schema": 1, "now": now});
    merge(&mut out, view.record());
    Ok(out)
}

/// `GET /api/v1/plans`
pub(crate) fn plans(at: &RequestContext<'_>) -> ApiResult {
    let app = at.app;
    let entries = match app.store.engine()? {
        None => Vec::new(),
        Some(engine) => app.store.on(&engine, |engine| engine.plan_entries())?,
    };
    let plan = |entry: &punch_engine::PlanEntry| {
        let (info, counts) = (&entry.info, &entry.counts);
        let progress = Progress::of_counts(counts);
        json!({
            "name": info.name,
            "revision": info.revision,
            "createdAt": info.created_at,
            "archived": info.archived,
            "default": entry.default,
            "counts": {
                "pending": counts.pending, "inProgress": counts.in_progress, "completed": counts.completed,
                "cancelled": counts.cancelled, "failed": counts.failed, "parked": counts.parked,
            },
            "progress": {"completed": progress.completed, "total": progress.total, "percent": progress.percent()},
        })
    };
    let plans: Vec<Value> = entries.iter().map(plan).collect();
    Ok(json!({"schema": 1, "plans": plans}))
}
