//! Gives todos to a new agent. This starts a program on the user's machine, so it requires the same proof as answering
//! a question.

use std::sync::atomic::{AtomicU64, Ordering};

use axum::http::StatusCode;
use punch_core::Uid;
use punch_engine::assignment_key;
use serde_json::{Value, json};

use crate::ApiProblem;
use crate::context::{ApiResult, PlanContext};
use crate::dispatch::clock;

/// `POST …/assign`
pub(crate) fn assign(at: &PlanContext<'_>) -> ApiResult {
    let body = at.body(&["todos", "agent"])?;
    at.the_user("start agents", "run `punch assign`")?;
    let agents = (at.app.setup.agents)();
    let agent = body.get("agent").and_then(Value::as_str).unwrap_or_default();
    if !agents.contains(&agent) {
        let message = "`agent` must be one of the agents that can be started on the machine of the server";
        let hint = match agents.as_slice() {
            [] => "install an agent, and put it on PATH".to_owned(),
            known => format!("use {}", known.join(", ")),
        };
        return Err(ApiProblem::new(StatusCode::UNPROCESSABLE_ENTITY, "no_agent", message, hint));
    }
    let todos = todos(at, body.get("todos"))?;
    let (setup, actor, key) = (&at.app.setup, at.caller.actor(), assignment_key(&tag()));
    let given = at.on(|engine| engine.hand_out(at.id(), &actor, &setup.settings, &key, &todos))?;
    (setup.start_agent)(&at.feed.info, &given, agent).map_err(|error| {
        let message = format!("cannot start `{agent}`: {error}");
        ApiProblem::unavailable("no_agent", message, "run `punch assign` in a terminal")
    })?;
    Ok(json!({"schema": 1, "session": given.key.session_id(), "todos": given.ids, "agent": agent}))
}

fn todos(at: &PlanContext<'_>, given: Option<&Value>) -> Result<Vec<Uid>, ApiProblem> {
    let wrong = || ApiProblem::bad_request("`todos` must be a list of ids");
    let ids = given.and_then(Value::as_array).ok_or_else(wrong)?;
    let picture = at.picture()?;
    let plan = at.plan_of(&picture)?;
    let uid = |id: &Value| {
        let id = id.as_str().ok_or_else(wrong)?;
        plan.by_id(id).map(|todo| todo.uid).ok_or_else(|| at.unknown(plan, id))
    };
    ids.iter().map(uid).collect()
}

/// What no other assignment has.
fn tag() -> String {
    static MADE: AtomicU64 = AtomicU64::new(0);
    let number = MADE.fetch_add(1, Ordering::Relaxed);
    format!("serve-{:x}-{:x}-{number}", std::process::id(), clock())
}
