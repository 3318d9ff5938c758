//! Tool calls: one call of a dialect in, a short text and a structured answer out. Every write goes the one road:
//! project, step, diff, apply, in one transaction with the session's state.

pub mod budget;
mod checkpoint;
mod detail;
mod extended;
mod hint;
mod list;
mod mirror;
pub(crate) mod names;
mod native;
mod reach;
mod read;
mod render;
mod stated;
mod step;
mod veto;
mod worker;

use std::cell::RefCell;

use punch_core::dialect::cursor::Mode;
use punch_core::dialect::native::Limits;
use punch_core::{Actor, Refusal};
use punch_store::{Catalogue, Durability, PlanId, Session, SessionKey, Snapshot, StoreError};
use serde_json::Value;

use crate::config::{Batches, Settings, Subagents};
use crate::{
    Choice, Engine, EngineError, Proofs, Request, Role, SessionState, UnnamedCall, WorkTree, expected_call, link,
    owner_of, session,
};
use names::Names;
use read::Display;

pub use mirror::{Family, TodoUse};
pub(crate) use mirror::{Made, Notes, is_mirrored, left_out};
pub use punch_core::Dialect;
pub use render::TEXT_CAP;
pub use veto::Task;
pub use worker::{hold_others, ready_of};

/// Who calls.
#[derive(Clone, Debug)]
pub struct Caller<'a> {
    /// The conversation; where the host names none, a key of the server's own making.
    pub session: SessionKey,
    /// Who calls: signs events and notes, and owns what it starts.
    pub actor: Actor,
    /// What it may do, where something outside the session record says so.
    pub role: Option<Role>,
    /// How eagerly ready work is handed out (cursor).
    pub mode: Mode,
    /// How long texts may be.
    pub limits: Limits,
    /// Open todos that a call may leave in the plan.
    pub open_limit: u64,
    /// Settings whose policies go over the plan's own.
    pub settings: Option<&'a Settings>,
    /// Wants the answer for programs too.
    pub structured: bool,
    /// What is known about the work.
    pub work: Work,
    /// The server, for calls that do not name their session: a receipt may say later whose call it was.
    pub server: Option<SessionKey>,
}

impl<'a> Caller<'a> {
    /// A conversation that works under these settings.
    pub fn under(settings: &'a Settings, session: SessionKey, by: String) -> Self {
        Self {
            actor: Actor::agent(by, owner_of(&session, settings)),
            session,
            role: None,
            mode: match settings.subagents.value {
                Subagents::Off => Mode::Off,
                Subagents::Conservative => Mode::Conservative,
                Subagents::Aggressive => Mode::Aggressive,
            },
            limits: Limits { content: settings.limits_content.value, long: settings.limits_long.value },
            open_limit: settings.limits_open_todos.value as u64,
            settings: Some(settings),
            structured: false,
            work: Work::default(),
            server: None,
        }
    }
}

/// What speaks for the todos that a call finishes.
#[derive(Clone, Debug, Default)]
pub struct Work {
    /// The commit that the work tree stands on.
    pub commit: Option<String>,
    /// Checks that passed.
    pub proofs: Proofs,
    /// The code itself, for tools that ask git.
    pub tree: Option<WorkTree>,
}

impl Work {
    /// Whether a call may complete something, in any dialect's words: only then is the commit of interest.
    pub fn finishes(arguments: &Value) -> bool {
        let mut open = vec![arguments];
        while let Some(value) = open.pop() {
            match value {
                Value::String(word) if matches!(word.as_str(), "done" | "completed") => return true,
                Value::Array(values) => open.extend(values),
                Value::Object(values) => open.extend(values.values()),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
        false
    }
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Called {
    /// The answer.
    Answered(Answer),
    /// Nothing happened yet: the check of this todo has to pass first.
    Wants(String),
}

/// The answer to a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// For the model: short, capped, untrusted text neutralised where the dialect's own form allows.
    pub text: String,
    /// The same for programs; null where nobody asked for it.
    pub structured: Value,
    /// The call was refused or had errors.
    pub is_error: bool,
    /// The revision after the call; the receipt.
    pub revision: u64,
}

/// The answer to a reading, and for how long it holds if nobody writes.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// The plan that was meant.
    pub plan: PlanId,
    /// What it reads as.
    pub answer: Answer,
    /// Not before this time.
    pub from: i64,
    /// Before this one, where time changes something.
    pub until: Option<i64>,
}

impl Read {
    /// Still true at `now`.
    pub fn holds(&self, now: i64) -> bool {
        self.from <= now && self.until.is_none_or(|until| now < until)
    }
}

/// What a tool does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// Changes the plan.
    Write,
    /// Reads it.
    Read,
    /// Claims the best ready todo, or a named one.
    Claim,
    /// Keeps where the work stands, or comes back to it.
    Checkpoint,
}

impl Engine {
    /// Runs one call. Refusals are answers, so that a model can act on them; errors of the store are errors.
    pub fn call(
        &self,
        plan: PlanId,
        caller: &Caller<'_>,
        dialect: Dialect,
        tool: Tool,
        arguments: &Value,
        key: Option<&str>,
    ) -> Result<Answer, EngineError> {
        match self.call_or_check(plan, caller, dialect, tool, arguments, key)? {
            Called::Answered(answer) => Ok(answer),
            Called::Wants(id) => {
                self.note_unproven(plan, &caller.session, &id);
                self.refused(plan, dialect, &Refusal::NeedsVerification { id }.into())
            }
        }
    }

    /// The same for callers that can run checks: one that is wanting is named in place of the refusal.
    pub fn call_or_check(
        &self,
        plan: PlanId,
        caller: &Caller<'_>,
        dialect: Dialect,
        tool: Tool,
        arguments: &Value,
        key: Option<&str>,
    ) -> Result<Called, EngineError> {
        let done = match (tool, dialect) {
            (Tool::Read, _) => {
                let calibration = self.calibration_for(arguments)?;
                let read = |snapshot: &dyn Snapshot| self.reading(snapshot, caller, dialect, arguments, calibration);
                self.read(plan, read).map(|(answer, display)| {
                    self.note_display(plan, caller, dialect, &display);
                    self.handed_out(plan, caller, arguments, answer)
                })
            }
            (Tool::Claim, _) => self.call_claim(plan, caller, arguments),
            (Tool::Checkpoint, _) => self.call_checkpoint(plan, caller, arguments),
            (Tool::Write, Dialect::Native) => self.call_native(plan, caller, arguments, key),
            (Tool::Write, Dialect::Extended) => self.call_extended(plan, caller, arguments, key),
            (Tool::Write, Dialect::Cursor | Dialect::Phases | Dialect::Todowrite) => {
                self.call_list(plan, caller, dialect, arguments, key)
            }
        };
        match done {
            Err(EngineError::Store(error)) => Err(EngineError::Store(error)),
            Err(error) => match caller.work.proofs.wanting(&error) {
                Some(id) => Ok(Called::Wants(id)),
                None => {
                    self.record_passed(plan, &caller.work.proofs);
                    self.refused(plan, dialect, &error).map(Called::Answered)
                }
            },
            Ok(answer) => Ok(Called::Answered(answer)),
        }
    }

    /// A refusal as the model reads it.
    pub fn refused(&self, plan: PlanId, dialect: Dialect, error: &EngineError) -> Result<Answer, EngineError> {
        Ok(render::refused(error, dialect, self.read(plan, |snapshot| Ok(snapshot.row()?.revision))?))
    }
}

impl Engine {
    /// Runs a reading call on the plan that is meant; see `Engine::read_meant`. `None` if there is no plan. `who`
    /// makes the caller and the choice of plan from the session that calls: the one named (or what it was linked to),
    /// or the one that an unnamed call belongs to.
    pub fn call_read<'a>(
        &self,
        session: &SessionKey,
        unnamed: Option<&UnnamedCall<'_>>,
        guess: Option<PlanId>,
        dialect: Dialect,
        arguments: &Value,
        who: impl Fn(&SessionKey) -> (Choice, Caller<'a>),
    ) -> Result<Option<Read>, EngineError> {
        let from = self.now();
        let calibration = self.calibration_for(arguments)?;
        let (caller, announced) = (RefCell::new(None), RefCell::new(None));
        let choose = |catalogue: &dyn Catalogue| {
            let session = match unnamed {
                Some(call) => {
                    let (session, expected) = expected_call::resolve(catalogue, call, from)?;
                    announced.replace(expected);
                    session
                }
                None => link::linked(catalogue, session)?.unwrap_or_else(|| session.clone()),
            };
            let (choice, found) = who(&session);
            caller.replace(Some(found));
            Ok(choice)
        };
        let found = self.read_meant(guess, choose, |snapshot| {
            let caller = caller.borrow();
            let Some(caller) = caller.as_ref() else { return Err(StoreError::Abort.into()) };
            Ok((self.reading(snapshot, caller, dialect, arguments, calibration)?, snapshot.next_moment(from)?))
        })?;
        if let Some(call) = unnamed {
            self.met(call.server, announced.into_inner().as_ref());
        }
        Ok(found.map(|(plan, ((answer, display), until))| {
            let caller = caller.borrow();
            let answer = match caller.as_ref() {
                Some(caller) => {
                    self.note_display(plan, caller, dialect, &display);
                    self.handed_out(plan, caller, arguments, answer)
                }
                None => answer,
            };
            Read { plan, answer, from, until }
        }))
    }

    /// A batch that was asked for is remembered as given; that it cannot be is no reason to keep it back.
    fn handed_out(&self, plan: PlanId, caller: &Caller<'_>, arguments: &Value, mut answer: Answer) -> Answer {
        if answer.is_error || !read::is_calibrated(arguments) {
            return answer;
        }
        let given = answer.structured["todos"].as_array().into_iter().flatten();
        let ids: Vec<String> = given.filter_map(Value::as_str).map(str::to_owned).collect();
        let off = caller.settings.is_some_and(|settings| settings.checkpoint_batches.value == Batches::Off);
        let who = caller.actor.owner().unwrap_or(caller.session.host());
        if !off && let Err(error) = self.give_batch(plan, who, &ids) {
            self.trouble(&error);
        }
        if !caller.structured {
            answer.structured = Value::Null;
        }
        answer
    }

    /// A reading sees one plan; what all of them teach is asked before, and only where it counts.
    fn calibration_for(&self, arguments: &Value) -> Result<f64, EngineError> {
        if read::is_calibrated(arguments) { self.calibration() } else { Ok(1.0) }
    }

    fn reading(
        &self,
        snapshot: &dyn Snapshot,
        caller: &Caller<'_>,
        dialect: Dialect,
        arguments: &Value,
        calibration: f64,
    ) -> Result<(Answer, Display), EngineError> {
        // Ops of the native tools name todos by their ids, whoever was shown them.
        let state = match dialect {
            Dialect::Extended => session::load(snapshot, &caller.session, snapshot.info()?.id)?,
            _ => SessionState::default(),
        };
        let mut display = Display { names: Names::of(&state), todos: Vec::new() };
        match read::answer(snapshot, caller, dialect, arguments, &mut display, (calibration, self.now())) {
            Err(EngineError::Store(error)) => Err(EngineError::Store(error)),
            Err(error) => Ok((render::refused(&error, dialect, snapshot.row()?.revision), display)),
            Ok(answer) => Ok((answer, display)),
        }
    }

    /// What a reading displayed may be named in the next list. A session that has it noted already is not written.
    fn note_display(&self, plan: PlanId, caller: &Caller<'_>, dialect: Dialect, display: &Display) {
        if dialect != Dialect::Extended || display.todos.is_empty() || caller.session.host().is_empty() {
            return;
        }
        let note = |session: &mut SessionState| session.displayed(display.todos.iter().copied());
        let elsewhere = |session: &Session| session.plan.is_some_and(|bound| bound != plan);
        let known = self.browse(|catalogue| catalogue.session(&caller.session));
        let noted = known.and_then(|known| {
            if known.as_ref().is_some_and(elsewhere) {
                return Ok(());
            }
            let mut state = known.as_ref().map(session::read).unwrap_or_default();
            if !note(&mut state) {
                return Ok(());
            }
            self.write(plan, Durability::Relaxed, |tx, now| {
                let found = tx.session(&caller.session)?;
                let bound = found.as_ref().and_then(|session| session.plan);
                let mut state = found.as_ref().map(session::read).unwrap_or_default();
                note(&mut state);
                Ok(session::keep(tx, &caller.session, bound, &state, now)?)
            })
        });
        if let Err(error) = noted {
            self.trouble(&error);
        }
    }
}

impl Answer {
    fn read(text: String, structured: Option<Value>, revision: u64) -> Self {
        Self { text, structured: structured.unwrap_or_default(), is_error: false, revision }
    }
}

impl<'a> Caller<'a> {
    fn request(&'a self, preset: fn(punch_core::Policy) -> punch_core::Policy) -> Request<'a> {
        Request {
            preset,
            settings: self.settings,
            commit: self.work.commit.as_deref(),
            proofs: Some(&self.work.proofs),
            tree: self.work.tree.as_ref().map(|tree| tree.root.as_path()),
            ..Request::of(self.actor.clone())
        }
    }
}

/// An answer as it is kept for a call that comes again.
fn pack(answer: &Answer) -> String {
    serde_json::json!({
        "text": answer.text,
        "structured": answer.structured,
        "isError": answer.is_error,
        "revision": answer.revision,
    })
    .to_string()
}

fn unpack(body: &str) -> Answer {
    let value: Value = serde_json::from_str(body).unwrap_or_default();
    Answer {
        text: value["text"].as_str().unwrap_or_default().to_owned(),
        structured: value["structured"].clone(),
        is_error: value["isError"].as_bool().unwrap_or_default(),
        revision: value["revision"].as_u64().unwrap_or_default(),
    }
}
