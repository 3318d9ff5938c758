//! The desk over the plans of a project.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use punch_core::dialect::cursor::Mode;
use punch_core::dialect::native::Limits;
use punch_core::{Footprint, Patch, Plan};
use punch_engine::call::{Caller, Tool};
use punch_engine::config::{Settings, Subagents};
use punch_engine::{Choice, Engine, EngineError, Role, owner_of};
use punch_store::{Changes, PlanId, StoreError};
use serde_json::json;

use crate::desk::{Ask, Desk, Reading, Reply};
use crate::{Problem, budget};

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
    /// What callers may do, if that is said from outside.
    pub role: Option<Role>,
}

/// Runs calls on the plan that is meant.
pub struct PlanDesk {
    opened: Opened,
    engine: Mutex<Option<Arc<Engine>>>,
}

impl PlanDesk {
    /// Opens nothing yet: a server that is never asked leaves no trace.
    pub const fn new(opened: Opened) -> Self {
        Self { opened, engine: Mutex::new(None) }
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
        let settings = &self.opened.settings;
        let owner = owner_of(&ask.session, settings);
        Caller {
            session: ask.session.clone(),
            by: ask.by.clone(),
            owner: Some(owner),
            role: self.opened.role,
            mode: match settings.subagents.value {
                Subagents::Off => Mode::Off,
                Subagents::Conservative => Mode::Conservative,
                Subagents::Aggressive => Mode::Aggressive,
            },
            limits: Limits { content: settings.limits_content.value, long: settings.limits_long.value },
            open_limit: settings.limits_open_todos.value as u64,
            settings: Some(settings),
        }
    }

    /// A session of our own making acts as the conversation that a hook has linked it to.
    fn identified<'a>(&self, ask: &'a Ask) -> Result<Cow<'a, Ask>, Problem> {
        let linked = match self.engine(false)? {
            Some(engine) => engine.linked(&ask.session)?,
            None => None,
        };
        Ok(match linked {
            Some(session) => Cow::Owned(Ask { session, ..ask.clone() }),
            None => Cow::Borrowed(ask),
        })
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
        let ask = &self.identified(ask)?;
        let caller = self.caller(ask);
        let choice = self.choice(Some(ask));
        let key = ask.key.as_deref();
        let run =
            |engine: &Engine, plan: PlanId| engine.call(plan, &caller, ask.surface, ask.tool, &ask.arguments, key);
        let answer = match ask.tool {
            Tool::Read | Tool::Claim => match self.on_plan(&choice, run)? {
                Some(answer) => answer,
                None => return Ok(empty(ask.tool)),
            },
            Tool::Write => {
                let engine = self.engine(true)?.ok_or_else(|| Problem::from(EngineError::Store(StoreError::Abort)))?;
                let plan = engine.choose_or_create(&choice)?;
                run(&engine, plan)?
            }
        };
        Ok(Reply {
            text: answer.text,
            structured: answer.structured,
            is_error: answer.is_error,
            revision: Some(answer.revision),
        })
    }

    fn read(&self, reading: &Reading) -> Result<Option<String>, Problem> {
        let ask = Ask::reading(match reading {
            Reading::Plan => json!({"view": "plan", "all": true, "limit": 200}),
            Reading::Todo(id) => json!({"view": "todo", "id": id}),
        });
        let caller = self.caller(&ask);
        let text = self.on_plan(&self.choice(None), |engine, plan| {
            if let Reading::Todo(id) = reading
                && engine.read(plan, |snapshot| Ok(snapshot.find(id)?))?.is_none()
            {
                return Ok(None);
            }
            let answer = engine.call(plan, &caller, ask.surface, ask.tool, &ask.arguments, None)?;
            // A todo reads as JSON, which a receipt would break.
            let receipt = matches!(reading, Reading::Plan).then_some(answer.revision);
            Ok(Some(budget::text(&answer.text, receipt)))
        })?;
        Ok(match text {
            Some(text) => text,
            None => matches!(reading, Reading::Plan).then(|| empty(Tool::Read).text),
        })
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
        Tool::Read | Tool::Write => ("There are no todos yet.", json!({"todos": [], "total": 0})),
    };
    Reply { text: text.into(), structured, is_error: false, revision: Some(0) }
}
