//! What is shown beside the todos of a plan: what needs the user, questions, the last run with its seats, sessions, and
//! how far the user has looked. Read from the store after every write.

use punch_core::Plan;
use punch_core::drive::Switch;
use punch_core::inbox::InboxItem;
use punch_core::text::{clip, neutral};
use punch_core::view::{FleetFigures, FleetView, inbox};
use punch_engine::process::machine_name;
use punch_engine::{AgentQuestion, Engine, EngineError, READER, RunRecord, SeatRow, SessionStatus, Sum};
use punch_store::{PlanId, PlanInfo, QuestionFilter, QuestionState, RequestedState, SessionKey};
use serde_json::{Value, json};

use crate::WebSetup;

/// Questions that are shown.
const QUESTIONS: usize = 200;
/// Sessions that are shown.
const SESSIONS: usize = 50;

/// Everything beside the todos, as clients get it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct BoardSurroundings {
    pub inbox: Vec<Value>,
    /// Open questions, newest first.
    pub questions: Vec<AgentQuestion>,
    pub run: Value,
    pub sessions: Vec<Value>,
    /// The fleet in short; null if the store knows no worker.
    pub fleet: Value,
    pub seen: u64,
}

impl BoardSurroundings {
    pub fn read(
        engine: &Engine,
        info: &PlanInfo,
        plan: &Plan,
        setup: &WebSetup,
        fleet: &FleetView,
    ) -> Result<Self, EngineError> {
        let id = info.id;
        Ok(Self {
            inbox: engine.inbox_of(id, plan, &setup.inbox_query(info))?.iter().map(inbox_item).collect(),
            questions: engine.questions(id, QuestionFilter::Open, QUESTIONS)?,
            run: match engine.runs(id, 1)?.into_iter().next() {
                Some(run) => run_state(engine, id, &run)?,
                None => Value::Null,
            },
            sessions: sessions(engine, id, setup)?,
            fleet: fleet_in_short(fleet, engine.now()),
            seen: engine.seen(id, READER)?.map_or(0, |mark| mark.revision),
        })
    }
}

/// What every page shows of the fleet: nothing that changes whenever a worker says that it is alive.
fn fleet_in_short(fleet: &FleetView, now: i64) -> Value {
    if fleet.workers.is_empty() {
        return Value::Null;
    }
    let FleetFigures { working, draining, lost, seats, busy, stuck, .. } = fleet.figures();
    json!({
        "working": working, "draining": draining, "lost": lost, "seats": seats, "busy": busy, "stuck": stuck,
        "warnings": fleet.warnings(now),
    })
}

/// An item of the inbox, with the number of its question.
pub(crate) fn inbox_item(item: &InboxItem) -> Value {
    let mut out = inbox::record(item);
    if let Some(question) = item.question {
        out["question"] = json!(question);
    }
    out
}

/// A question for clients; `plan` has the todo that it is about.
pub(crate) fn question(question: &AgentQuestion, plan: Option<&Plan>) -> Value {
    let (state, answer) = match &question.state {
        QuestionState::Open => ("open", Value::Null),
        QuestionState::Answered(given) => {
            let answer = json!({
                "answer": neutral(&given.answer), "by": neutral(&given.by), "via": neutral(machine_name(&given.via)), "at": given.at,
                "reason": given.reason.as_deref().map(neutral),
            });
            ("answered", answer)
        }
        QuestionState::Closed { .. } => ("closed", Value::Null),
    };
    let todo = question.todo.and_then(|uid| plan?.get(uid));
    let option = |option: &punch_engine::QuestionOption| json!({"id": option.id, "label": neutral(&option.label), "allows": option.allows});
    json!({
        "id": question.id,
        "state": state,
        "askedAt": question.asked_at,
        "todo": todo.map(|todo| neutral(&todo.id)),
        "uid": question.todo,
        "agent": neutral(&question.agent),
        "run": question.seat.map(|(run, _)| run),
        "seat": question.seat.map(|(_, seat)| seat),
        "text": question.text.lines().map(|line| neutral(line).into_owned()).collect::<Vec<_>>().join("\n"),
        "cut": question.is_cut,
        "options": question.options.iter().map(option).collect::<Vec<_>>(),
        "answerable": question.seat.is_some() && question.is_open(),
        "answer": answer,
    })
}

/// What clients call what is wanted of a run.
pub(crate) const fn wanted(wanted: RequestedState) -> &'static str {
    wanted.as_str()
}

/// A run with its seats.
pub(crate) fn run_state(engine: &Engine, id: PlanId, run: &RunRecord) -> Result<Value, EngineError> {
    let is_running = engine.running(id)?.is_some_and(|running| running.id == run.id);
    let spent = Sum::of(&engine.ledger(id, run.id)?);
    let controls = engine.run_controls(id, run.id)?;
    let seats = if is_running { engine.seats(id, run.id)? } else { Vec::new() };
    let seat = |seat: &punch_engine::SeatStatus| {
        let mut out = json!(SeatRow::from(seat));
        out["wanted"] = json!(wanted(controls.seats.get(&seat.seat).copied().unwrap_or_default()));
        out
    };
    let limits = run.limits();
    Ok(json!({
        "number": run.id,
        "startedAt": run.started_at,
        "endedAt": run.ended_at,
        "running": is_running,
        "outcome": run.body.outcome.map_or("unfinished", punch_engine::RunOutcome::name),
        "wanted": wanted(controls.run),
        "spent": spent,
        "limits": {"tokens": limits.tokens, "cost": limits.cost, "time": limits.time},
        "seats": seats.iter().map(seat).collect::<Vec<_>>(),
    }))
}

/// Sessions that work on the plan, and what happens when they want to stop.
fn sessions(engine: &Engine, plan: PlanId, setup: &WebSetup) -> Result<Vec<Value>, EngineError> {
    let limits = setup.settings.keep_going();
    let session = |status: SessionStatus| {
        let (continuation, of) = status.counters.latest(&limits);
        json!({
            "session": session_name(&status),
            "agent": neutral(&clip(&status.agent, 20)),
            "continuation": continuation,
            "of": of,
            "switch": switch_word(status.switch),
            "decision": neutral(&status.decision_words()),
            "decidedAt": status.decision.map(|(at, _)| at),
        })
    };
    Ok(engine.sessions_on(plan, SESSIONS)?.into_iter().map(session).collect())
}

/// What clients call a session.
fn session_name(status: &SessionStatus) -> String {
    neutral(&clip(status.key.session_id(), 100)).into_owned()
}

/// The session that clients call so; `None` if the board shows no such session.
pub(crate) fn named_session(engine: &Engine, plan: PlanId, name: &str) -> Result<Option<SessionKey>, EngineError> {
    let shown = engine.sessions_on(plan, SESSIONS)?;
    Ok(shown.into_iter().find(|status| session_name(status) == name).map(|status| status.key))
}

/// What clients call the choice about continuing.
pub(crate) const fn switch_word(switch: Switch) -> &'static str {
    match switch {
        Switch::On => "on",
        Switch::Paused => "paused",
        Switch::Off => "off",
    }
}
