//! The desk over the plans of a project.

use std::borrow::Cow;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use punch_core::{Footprint, Patch, Plan, Refusal};
use punch_engine::call::{Answer, Called, Caller, TEXT_CAP, Tool, Work, budget};
use punch_engine::config::Settings;
use punch_engine::{Choice, Engine, EngineError, Role, UnnamedCall, WorkTree};
use punch_store::{Changes, PlanId, SessionKey, StoreError};
use serde_json::json;

use crate::Problem;
use crate::desk::{Ask, Checked, Desk, Reading, Stopped};
use crate::identity::idempotency;
use crate::readings::Readings;

/// Ids that a change is told by; more are told as "everything".
const NAMED: usize = 1_000;

/// Opens the store of a project.
pub trait Project: Send + Sync {
    /// The store; `None` if there is none and `create` is false: reading makes no store.
    fn open(&self, create: bool) -> Result<Option<Engine>, Problem>;

    /// What the model should learn about the store, such as writes that are lost. Each warning is given once.
    fn warning(&self) -> Option<String> {
        None
    }
}

/// How a project is served.
pub struct Opened {
    /// Where the store comes from.
    pub project: Box<dyn Project>,
    /// Every setting.
    pub settings: Settings,
    /// What tells worktrees that share a store apart.
    pub worktree: Option<String>,
    /// The code that is worked on: whose commit completions keep, and where their checks run.
    pub tree: Option<WorkTree>,
    /// What callers may do, if that is said from outside.
    pub role: Option<Role>,
    /// The assignment that this process was started for.
    pub assigned: Option<SessionKey>,
    /// A runner drives the agent: the assignment is the only session there is.
    pub is_driven: bool,
    /// The conversation that the host started this process for.
    pub started_for: Option<SessionKey>,
}

/// Runs calls on the plan that is meant.
pub struct PlanDesk {
    opened: Opened,
    engine: Mutex<Option<Arc<Engine>>>,
    /// The plan of the last reading, 0 before the first: looked at first by the next one.
    last: AtomicI64,
    readings: Readings,
}

impl PlanDesk {
    /// Opens nothing yet: a server that is never asked leaves no trace.
    pub fn new(opened: Opened) -> Self {
        Self { opened, engine: Mutex::new(None), last: AtomicI64::new(0), readings: Readings::default() }
    }

    /// A store that was open once is not made anew when it is gone: whoever took it away may bring it back.
    fn engine(&self, create: bool) -> Result<Option<Arc<Engine>>, Problem> {
        let mut held = self.engine.lock().unwrap_or_else(PoisonError::into_inner);
        if held.is_none() {
            *held = self.opened.project.open(create)?.map(Arc::new);
        }
        Ok(held.clone())
    }

    fn choice(&self, ask: Option<&Ask>) -> Choice {
        let settings = &self.opened.settings;
        Choice {
            name: ask.and_then(|ask| ask.plan.clone()).or_else(|| settings.plan.value.clone()),
            session: ask.map(|ask| ask.session.clone()),
            worktree: self.opened.worktree.clone(),
            plans: settings.plans.value,
        }
    }

    fn caller<'a>(&'a self, ask: &Ask) -> Caller<'a> {
        let tree = self.opened.tree.as_ref();
        Caller {
            role: self.opened.role,
            structured: ask.structured,
            work: Work {
                commit: tree.filter(|_| Work::finishes(&ask.arguments)).and_then(WorkTree::commit),
                proofs: ask.proofs.clone(),
                tree: tree.cloned(),
            },
            server: ask.server.clone(),
            ..Caller::under(&self.opened.settings, ask.session.clone(), ask.by.clone())
        }
    }

    /// The call with the session that makes it, where the call does not say so itself.
    fn identified<'a>(&self, ask: &'a Ask) -> Result<Cow<'a, Ask>, Problem> {
        let Some(engine) = self.engine(false)? else { return Ok(Cow::Borrowed(ask)) };
        self.adopt(&engine, ask)?;
        let session = match unnamed(ask) {
            Some(call) => engine.session_of_call(&call)?,
            None => engine.linked(&ask.session)?.unwrap_or_else(|| ask.session.clone()),
        };
        let session = held(self.worker(&engine)?.as_ref(), session);
        Ok(if session == ask.session { Cow::Borrowed(ask) } else { Cow::Owned(Ask { session, ..ask.clone() }) })
    }

    /// The one conversation that this process reports for, if it was started for an assignment.
    fn worker(&self, engine: &Engine) -> Result<Option<SessionKey>, Problem> {
        let Some(assigned) = &self.opened.assigned else { return Ok(None) };
        Ok(Some(engine.linked(assigned)?.unwrap_or_else(|| assigned.clone())))
    }

    /// What was assigned to this process is the business of whoever speaks through it. An agent of a run has one
    /// session only, so there it is the conversation that the process was started for, not what a call says.
    fn adopt(&self, engine: &Engine, ask: &Ask) -> Result<(), Problem> {
        let Some(assigned) = &self.opened.assigned else { return Ok(()) };
        let by = if self.opened.is_driven { self.opened.started_for.as_ref() } else { Some(&ask.session) };
        Ok(by.map(|by| engine.adopt(assigned, by)).transpose().map(drop)?)
    }

    /// Answers a reading call; `None` if there is no plan. Who asks is looked up only for what is not known already.
    fn reading(&self, ask: &Ask, choose: impl Fn(&Ask) -> Choice) -> Result<Option<Answer>, Problem> {
        let Some(engine) = self.engine(false)? else { return Ok(None) };
        let stamp = engine.store().stamp().map_err(EngineError::from)?;
        if let Some(known) = stamp.and_then(|stamp| self.readings.find(ask, stamp, engine.now())) {
            return Ok(Some(known));
        }
        self.adopt(&engine, ask)?;
        let last = Some(self.last.load(Ordering::Relaxed)).filter(|id| *id != 0).map(PlanId);
        let worker = self.worker(&engine)?;
        let who = |session: &SessionKey| {
            let session = held(worker.as_ref(), session.clone());
            let ask = match session == ask.session {
                true => Cow::Borrowed(ask),
                false => Cow::Owned(Ask { session, ..ask.clone() }),
            };
            (choose(&ask), self.caller(&ask))
        };
        let read = engine.call_read(&ask.session, unnamed(ask).as_ref(), last, ask.dialect, &ask.arguments, who)?;
        let Some(read) = read else { return Ok(None) };
        self.last.store(read.plan.0, Ordering::Relaxed);
        let answer = read.answer.clone();
        if let Some(stamp) = stamp {
            self.readings.keep(ask, stamp, read);
        }
        Ok(Some(answer))
    }

    /// Answers a call that may change the plan; `None` if there is none to claim from.
    fn writing(&self, ask: &Ask) -> Result<Option<Called>, Problem> {
        let (caller, choice) = (self.caller(ask), self.choice(Some(ask)));
        let once = ask.id.as_ref().map(|id| idempotency(&ask.session, name_of(ask.tool), id, &ask.arguments));
        let run = |engine: &Engine, plan: PlanId| {
            engine.call_or_check(plan, &caller, ask.dialect, ask.tool, &ask.arguments, once.as_deref())
        };
        if ask.tool == Tool::Claim {
            return self.on_plan(&choice, run);
        }
        let engine = self.engine(true)?.ok_or_else(|| Problem::from(EngineError::Store(StoreError::Abort)))?;
        let plan = engine.choose_or_create(&choice)?;
        run(&engine, plan).map(Some).map_err(Problem::from)
    }

    /// Runs `body` on the plan that is meant; `None` if there is none.
    fn on_plan<T>(
        &self,
        choice: &Choice,
        body: impl FnOnce(&Engine, PlanId) -> Result<T, EngineError>,
    ) -> Result<Option<T>, Problem> {
        let Some(engine) = self.engine(false)? else { return Ok(None) };
        let Some(plan) = engine.choose(choice)? else { return Ok(None) };
        Ok(Some(body(&engine, plan.id)?))
    }
}

impl Desk for PlanDesk {
    fn call(&self, ask: &Ask) -> Result<Called, Problem> {
        let called = match ask.tool {
            Tool::Read => self.reading(ask, |ask| self.choice(Some(ask)))?.map(Called::Answered),
            Tool::Claim | Tool::Write | Tool::Checkpoint => self.writing(&*self.identified(ask)?)?,
        };
        let mut answer = match called {
            Some(Called::Answered(answer)) => answer,
            Some(Called::Wants(id)) => return Ok(Called::Wants(id)),
            None => empty(ask.tool),
        };
        if let Some(warning) = self.opened.project.warning() {
            answer.text = format!("Warning: {warning}\n{}", answer.text);
        }
        Ok(Called::Answered(answer))
    }

    fn check(&self, ask: &Ask, id: &str, limit: Duration, stopped: &Stopped<'_>) -> Result<Checked, Problem> {
        let limit = limit.min(self.opened.settings.verify_timeout.value);
        let identified = self.identified(ask)?;
        let (choice, session) = (self.choice(Some(&*identified)), identified.session.clone());
        let checked = self.on_plan(&choice, |engine, plan| {
            let proven = match &self.opened.tree {
                Some(tree) => engine.prove_for(plan, Some(&session), &tree.checker(limit, stopped), id),
                None => {
                    engine.note_unproven(plan, &session, id);
                    Err(Refusal::NeedsVerification { id: id.to_owned() }.into())
                }
            };
            match proven {
                Ok(proof) => Ok(Checked::Passed(Box::new(proof))),
                Err(EngineError::Store(error)) => Err(EngineError::Store(error)),
                Err(error) => Ok(Checked::Answered(engine.refused(plan, ask.dialect, &error)?)),
            }
        })?;
        Ok(checked.unwrap_or_else(|| Checked::Answered(empty(ask.tool))))
    }

    fn read(&self, reading: &Reading) -> Result<Option<String>, Problem> {
        let (choice, mut ask) = (self.choice(None), Ask::reading(json!({"view": "plan", "all": true, "limit": 200})));
        let Reading::Todo(id) = reading else {
            let answer = self.reading(&ask, |_| choice.clone())?;
            let text = answer.map(|answer| budget::text(&answer.text, Some(answer.revision)));
            return Ok(Some(text.unwrap_or_else(|| empty(Tool::Read).text)));
        };
        (ask.arguments, ask.structured) = (json!({"view": "todo", "id": id}), true);
        let caller = self.caller(&ask);
        let found = self.on_plan(&choice, |engine, plan| {
            // Only by its id: a resource is no search.
            match engine.read(plan, |snapshot| Ok(snapshot.find(id)?))? {
                Some(_) => engine.call(plan, &caller, ask.dialect, ask.tool, &ask.arguments, None).map(Some),
                None => Ok(None),
            }
        })?;
        Ok(found.flatten().map(|answer| {
            let json = serde_json::to_string(&answer.structured["todo"]).unwrap_or_default();
            // What would be cut in the middle would be no JSON any more.
            if json.len() <= TEXT_CAP { json } else { budget::text(&answer.text, None) }
        }))
    }

    fn changed(&self, since: Option<u64>) -> Result<(u64, Option<Vec<String>>), Problem> {
        let found = self.on_plan(&self.choice(None), |engine, plan| {
            engine.read(plan, |snapshot| {
                let revision = snapshot.row()?.revision;
                let Some(since) = since.filter(|since| *since < revision) else {
                    return Ok((revision, Some(Vec::new())));
                };
                let mut uids = std::collections::BTreeSet::new();
                for event in snapshot.events(since, NAMED)? {
                    if let Patch::Todo(uid, _) = event.patch {
                        uids.insert(uid);
                    }
                }
                if uids.len() >= NAMED {
                    return Ok((revision, None));
                }
                let mut part = Plan::slice(snapshot.row()?);
                snapshot.load(&Footprint { todos: uids.clone(), ..Default::default() }, &mut part)?;
                Ok((revision, Some(uids.iter().filter_map(|uid| part.get(*uid)).map(|t| t.id.clone()).collect())))
            })
        })?;
        Ok(found.unwrap_or((0, Some(Vec::new()))))
    }

    fn changes(&self) -> Option<Box<dyn Changes>> {
        let engine = self.engine(false).ok().flatten()?;
        Some(engine.store().changes())
    }
}

/// The session of a call in a process that works for one worker: another conversation has none of the todos that it has
/// elsewhere, so that naming one leads to nothing.
fn held(worker: Option<&SessionKey>, session: SessionKey) -> SessionKey {
    match worker {
        Some(worker) if worker.host() != session.host() => SessionKey::new(worker.host(), Some(session.host())),
        Some(_) | None => session,
    }
}

/// A call that does not name its session.
fn unnamed(ask: &Ask) -> Option<UnnamedCall<'_>> {
    let server = ask.server.as_ref()?;
    let started_for = Some(&ask.session).filter(|session| *session != server);
    Some(UnnamedCall { server, started_for, id: ask.id.as_deref(), arguments: &ask.arguments })
}

/// What tells the tools of one server apart.
const fn name_of(tool: Tool) -> &'static str {
    match tool {
        Tool::Write => "write",
        Tool::Read => "read",
        Tool::Claim => "claim",
        Tool::Checkpoint => "checkpoint",
    }
}

/// What a plan that does not exist yet reads as.
fn empty(tool: Tool) -> Answer {
    let (text, structured) = match tool {
        Tool::Claim => ("Nothing is ready to claim.", json!({"todo": null})),
        Tool::Read | Tool::Write | Tool::Checkpoint => ("There are no todos yet.", json!({"todos": [], "total": 0})),
    };
    Answer { text: text.into(), structured, ..Answer::default() }
}
