//! Runs and questions: what agents do and ask, and how the user controls them.

use axum::http::StatusCode;
use punch_core::Footprint;
use punch_core::drive::Switch;
use punch_core::text::clip;
use punch_core::view::Plain;
use punch_engine::{AgentQuestion, AnswerOutcome, ControlResult, QuestionReply, RunRow, Sum, seat_turns};
use punch_store::{QuestionFilter, RequestedState};
use serde_json::{Value, json};

use crate::context::{ApiResult, PlanContext};
use crate::{ApiProblem, around};

/// Runs and questions of one answer.
const LISTED: usize = 200;
/// Things that happened in a run.
const STEPS: usize = 1_000;
/// Entries of a ledger.
const LEDGER: usize = 5_000;

/// `GET …/runs`
pub(crate) fn runs(at: &PlanContext<'_>) -> ApiResult {
    let limit = at.query.at_most("limit", 20, LISTED)?;
    let revision = at.picture()?.revision();
    let runs = at.on(|engine| {
        let running = engine.running(at.id())?.map(|run| run.id);
        let mut out = Vec::new();
        for run in engine.runs(at.id(), limit)? {
            let mut row = json!(RunRow::of(&run, Sum::of(&engine.ledger(at.id(), run.id)?)));
            row["running"] = json!(running == Some(run.id));
            out.push(row);
        }
        Ok(out)
    })?;
    Ok(json!({"schema": 1, "revision": revision, "runs": runs}))
}

/// `GET …/runs/{n}`
pub(crate) fn run(at: &PlanContext<'_>) -> ApiResult {
    let number = at.number("n")?;
    let revision = at.picture()?.revision();
    let unknown = || unknown_run(number);
    let record = at.on(|engine| engine.run(at.id(), number))?.ok_or_else(unknown)?;
    let view = at.on(|engine| engine.run_view(at.id(), number, STEPS))?.ok_or_else(unknown)?;
    let state = at.on(|engine| around::run_state(engine, at.id(), &record))?;
    let ledger = at.on(|engine| engine.ledger(at.id(), number))?;
    let events = at.on(|engine| engine.run_events(at.id(), number, STEPS))?;
    let todos = ledger.iter().map(|spent| spent.uid).collect();
    let names = at.on(|engine| engine.slice(at.id(), &Footprint { todos, ..Footprint::default() }))?;
    let entry = |spent: &punch_store::LedgerEntry| {
        let todo = names.get(spent.uid).map(|todo| Plain::id(&todo.id));
        json!({
            "todo": todo, "attempt": spent.attempt, "agent": Plain::clipped(&spent.agent, 40), "tokens": spent.tokens(),
            "cost": spent.cost, "ms": spent.ms, "turns": spent.turns, "estimated": spent.estimated, "at": spent.at,
        })
    };
    let bar = |turn: &punch_engine::SeatTurn| {
        json!({
            "seat": turn.seat, "todo": Plain::id(&turn.todo), "attempt": turn.attempt, "start": turn.from,
            "end": turn.end.map(|(at, _)| at), "outcome": turn.end.map(|(_, end)| end.name()),
        })
    };
    let cost = |cost: &punch_engine::TodoCost| {
        let todo = names.by_id(cost.id.as_str());
        let mut out = json!(cost);
        out["estimated"] = json!(todo.and_then(|todo| todo.estimated_tokens));
        out
    };
    Ok(json!({
        "schema": 1,
        "revision": revision,
        "run": state,
        "resumed": view.resumed,
        "agents": view.agents,
        "because": view.because,
        "earlier": view.earlier,
        "steps": view.steps,
        "todos": view.todos.iter().map(cost).collect::<Vec<_>>(),
        "ledger": ledger.iter().take(LEDGER).map(entry).collect::<Vec<_>>(),
        "bars": seat_turns(&events).iter().map(bar).collect::<Vec<_>>(),
    }))
}

fn unknown_run(number: u64) -> ApiProblem {
    ApiProblem::not_found("unknown_run", format!("there is no run {number}"), "`punch run list` shows them")
}

/// `POST …/runs/{n}/control`
pub(crate) fn control(at: &PlanContext<'_>) -> ApiResult {
    let number = at.number("n")?;
    let body = at.body(&["wanted", "seat"])?;
    let (word, wanted) = match body.get("wanted").and_then(Value::as_str) {
        Some("pause") => ("pause", RequestedState::Pause),
        Some("resume") => ("resume", RequestedState::Go),
        Some("stop") => ("stop", RequestedState::Stop),
        _ => return Err(ApiProblem::bad_request("`wanted` must be pause, resume or stop")),
    };
    let seat = match body.get("seat") {
        None | Some(Value::Null) => None,
        Some(seat) => {
            let seat = seat.as_u64().and_then(|seat| u32::try_from(seat).ok());
            Some(seat.ok_or_else(|| ApiProblem::bad_request("`seat` must be the number of a seat"))?)
        }
    };
    let actor = at.caller.actor();
    match at.on(|engine| engine.control_run(at.id(), number, seat, wanted, &actor))? {
        ControlResult::Stored => Ok(json!({"schema": 1, "run": number, "seat": seat, "wanted": word})),
        ControlResult::NoRun => Err(unknown_run(number)),
        ControlResult::NotRunning => {
            let message = format!("run {number} is not running");
            let hint = "`punch run list` shows the runs";
            Err(ApiProblem::new(StatusCode::CONFLICT, "run_not_running", message, hint))
        }
        ControlResult::NoSeat => {
            let message = format!("run {number} has no such seat");
            Err(ApiProblem::not_found("unknown_seat", message, "`punch run show` lists its seats"))
        }
    }
}

/// `POST …/sessions/{id}/control`
pub(crate) fn control_session(at: &PlanContext<'_>) -> ApiResult {
    let name = at.part("id");
    let body = at.body(&["wanted"])?;
    let to = match body.get("wanted").and_then(Value::as_str) {
        Some("pause") => Switch::Paused,
        Some("resume") => Switch::On,
        Some("off") => Switch::Off,
        _ => return Err(ApiProblem::bad_request("`wanted` must be pause, resume or off")),
    };
    let actor = at.caller.actor();
    let key = at.on(|engine| around::named_session(engine, at.id(), name))?.ok_or_else(|| {
        let message = format!("no session `{}` works on this plan", clip(name, 100));
        ApiProblem::not_found("unknown_session", message, "GET the board of the plan, which lists its sessions")
    })?;
    at.on(|engine| engine.switch(at.id(), Some(&key), to, &actor))?;
    let switch = at.on(|engine| engine.switches(Some(&key)))?.combined();
    Ok(json!({"schema": 1, "session": name, "switch": around::switch_word(switch)}))
}

/// `GET …/questions`
pub(crate) fn questions(at: &PlanContext<'_>) -> ApiResult {
    let which = match at.query.text("state") {
        None | Some("open") => QuestionFilter::Open,
        Some("all") => QuestionFilter::All,
        Some(_) => return Err(ApiProblem::bad_request("`state` must be open or all")),
    };
    let found = at.on(|engine| engine.questions(at.id(), which, LISTED))?;
    let picture = at.picture()?;
    let found: Vec<Value> = found.iter().map(|question| around::question(question, picture.plan())).collect();
    Ok(json!({"schema": 1, "revision": picture.revision(), "questions": found}))
}

/// Refuses to allow a question that was cut: its rest cannot be read here.
fn is_readable(asked: &AgentQuestion, answer: &QuestionReply) -> Result<(), ApiProblem> {
    if !asked.is_open() || !asked.is_cut || asked.refuses(answer) {
        return Ok(());
    }
    let message = "the request is too long to be stored in full, so it can only be denied here";
    let hint = "answer in the terminal of the run, which shows all of it";
    Err(ApiProblem::new(StatusCode::CONFLICT, "question_cut", message, hint))
}

/// `POST …/questions/{id}/answer`
pub(crate) fn answer(at: &PlanContext<'_>) -> ApiResult {
    let id = at.number("id")?;
    let body = at.body(&["answer", "option", "reason"])?;
    let by = at.the_user("answer questions of agents", "answer in `punch watch`")?;
    let text = |name: &str| body.get(name).and_then(Value::as_str);
    let answer = match (text("answer"), text("option")) {
        (Some("allow"), None) => QuestionReply::Allow,
        (Some("refuse"), None) => QuestionReply::Refuse,
        (Some("option"), Some(option)) => QuestionReply::Option(option.to_owned()),
        _ => {
            return Err(ApiProblem::bad_request(
                "`answer` must be allow, refuse, or option with the id of an `option`",
            ));
        }
    };
    let asked = at.on(|engine| engine.question(at.id(), id))?;
    asked.map_or(Ok(()), |asked| is_readable(&asked, &answer))?;
    let outcome = at.on(|engine| engine.answer(at.id(), id, &answer, text("reason"), &by))?;
    let question = at.on(|engine| engine.question(at.id(), id))?;
    let picture = at.picture()?;
    let shown = question.as_ref().map(|question| around::question(question, picture.plan()));
    let conflict = |code: &str, message: &str, hint: &str| {
        ApiProblem::new(StatusCode::CONFLICT, code, message, hint).with("question", json!(shown))
    };
    match outcome {
        AnswerOutcome::Accepted => Ok(json!({"schema": 1, "question": shown})),
        AnswerOutcome::TooLate(_) => {
            Err(conflict("question_answered", "the question was answered or closed before", "the first answer counts"))
        }
        AnswerOutcome::Unknown => {
            let hint = "GET the open questions of the plan";
            Err(ApiProblem::not_found("unknown_question", format!("there is no question {id}"), hint))
        }
        AnswerOutcome::NotOffered => {
            let hint = "choose one of the options of the question";
            let message = "the agent does not offer this answer";
            Err(ApiProblem::new(StatusCode::UNPROCESSABLE_ENTITY, "not_offered", message, hint))
        }
        AnswerOutcome::OwnTerminalOnly => {
            let message = "only the agent's own terminal can answer this question";
            Err(conflict("own_terminal_only", message, "answer in the terminal of the agent"))
        }
        AnswerOutcome::OtherMachine(name) => {
            let message = format!("the run takes answers only on its own machine, `{name}`");
            Err(conflict("other_machine", &message, "`punch config set run.remote_answers true` there allows it"))
        }
    }
}

#[cfg(test)]
mod tests {
    use punch_core::Uid;
    use punch_engine::{Engine, PlanChoice, QUESTION_LENGTH, QuestionOption, QuestionRequest};
    use punch_store::MemoryStore;

    use super::*;

    #[test]
    fn a_question_that_was_cut_can_only_be_denied() {
        let engine = Engine::new(Box::new(MemoryStore::new()), Box::new(|| 1_000));
        let plan = engine.choose_or_create(&PlanChoice::default()).unwrap();
        let option = |id: &str, allows| QuestionOption { id: id.into(), label: id.into(), allows };
        let ask = |text: &str| {
            let options = vec![option("once", true), option("no", false)];
            let (worker, agent) = ("run:1/1.1", "claude");
            let todo = Uid(1);
            let ask = QuestionRequest { run: 1, seat: 1, worker, todo, agent, text, options, remote_answers: false };
            let id = engine.ask(plan, &ask).unwrap();
            engine.question(plan, id).unwrap().unwrap()
        };
        let (whole, cut) = (ask("rm x"), ask(&"x".repeat(QUESTION_LENGTH + 1)));
        for (answer, denies) in [
            (QuestionReply::Allow, false),
            (QuestionReply::Refuse, true),
            (QuestionReply::Option("once".into()), false),
            (QuestionReply::Option("no".into()), true),
        ] {
            assert!(is_readable(&whole, &answer).is_ok(), "{answer:?}");
            assert_eq!(is_readable(&cut, &answer).is_ok(), denies, "{answer:?}");
        }
    }
}
