//! The desk over the plans of a project.

use std::borrow::Cow;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use punch_core::{Footprint, Patch, Plan, Refusal};
use punch_engine::call::{Answer, Called, Caller, TEXT_CAP, Tool, Work, budget};
use punch_engine::config::Settings;
use punch_engine::{Choice, Engine, EngineError, Role, WorkTree};
use punch_store::{Changes, PlanId, SessionKey, StoreError};
use serde_json::json;

use crate::Problem;
use crate::desk::{Ask, Checked, Desk, Reading, Reply, Stopped};
use crate::readings::Readings;

/// Ids that a change is told by; more are told as "everything".
const NAMED: usize = 1_000;

/// Opens the store of a project.
pub trait Project: Send + Sync {
    /// The store; `None` if there is none and `create` is false: reading makes no store.
    fn open(&self, create: bool) -> Result<Option<Engine>, Problem>;
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
            ..Caller::under(&self.opened.settings, ask.session.clone(), ask.by.clone())
        }
    }

    /// A session of our own making acts as the conversation that a hook has linked it to.
    fn identified<'a>(&self, ask: &'a Ask) -> Result<Cow<'a, Ask>, Problem> {
        let linked = match self.engine(false)? {
            Some(engine) => {
                self.adopt(&engine, ask)?;
                engine.linked(&ask.session)?
            }
            None => None,
        };
        Ok(match linked {
            Some(session) => Cow::Owned(Ask { session, ..ask.clone() }),
            None => Cow::Borrowed(ask),
        })
    }

    /// What was assigned to this process is the business of whoever speaks through it.
    fn adopt(&self, engine: &Engine, ask: &Ask) -> Result<(), Problem> {
        match &self.opened.assigned {
            Some(assigned) => Ok(engine.adopt(assigned, &ask.session).map(drop)?),
            None => Ok(()),
        }
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
        let who = |session: &SessionKey| {
            let ask = match *session == ask.session {
                true => Cow::Borrowed(ask),
                false => Cow::Owned(Ask { session: session.clone(), ..ask.clone() }),
            };
            (choose(&ask), self.caller(&ask))
        };
        let read = engine.call_read(&ask.session, last, ask.surface, &ask.arguments, who)?;
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
        let run = |engine: &Engine, plan: PlanId| {
            engine.call_or_check(plan, &caller, ask.surface, ask.tool, &ask.arguments, ask.key.as_deref())
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
    fn call(&self, ask: &Ask) -> Result<Reply, Problem> {
        let called = match ask.tool {
            Tool::Read => self.reading(ask, |ask| self.choice(Some(ask)))?.map(Called::Answered),
            Tool::Claim | Tool::Write | Tool::Checkpoint => self.writing(&*self.identified(ask)?)?,
        };
        Ok(match called {
            Some(Called::Answered(answer)) => answer.into(),
            Some(Called::Wants(id)) => Reply { wants: Some(id), ..empty(ask.tool) },
            None => empty(ask.tool),
        })
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
                Err(error) => Ok(Checked::Answered(engine.refused(plan, ask.surface, &error)?.into())),
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
                Some(_) => engine.call(plan, &caller, ask.surface, ask.tool, &ask.arguments, None).map(Some),
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

/// What a plan that does not exist yet reads as.
fn empty(tool: Tool) -> Reply {
    let (text, structured) = match tool {
        Tool::Claim => ("Nothing is ready to claim.", json!({"todo": null})),
        Tool::Read | Tool::Write | Tool::Checkpoint => ("There are no todos yet.", json!({"todos": [], "total": 0})),
    };
    Reply { text: text.into(), structured, is_error: false, revision: Some(0), wants: None }
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        let Answer { text, structured, is_error, revision } = answer;
        Self { text, structured, is_error, revision: Some(revision), wants: None }
    }
}
