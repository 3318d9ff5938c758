//! A session: one conversation of one agent with one plan.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use punch_engine::config::{Config, Inputs, Settings};
use punch_engine::{Choice, Consents, Engine, EngineError, Offer, Role, WorkTree};
use punch_store::{PlanId, SessionKey};

use crate::opened_store::{OpenedStore, system_clock};
use crate::{Error, Options};

/// One conversation of one agent with the plan of a store. Threads may share it: calls come one after the other where
/// they write.
pub struct Session {
    pub(crate) engine: Arc<Engine>,
    pub(crate) plan: PlanId,
    pub(crate) key: SessionKey,
    pub(crate) agent: String,
    pub(crate) settings: Settings,
    pub(crate) offer: Offer,
    pub(crate) role: Option<Role>,
    pub(crate) tree: Option<WorkTree>,
    /// Its beginning was reported.
    pub(crate) begun: AtomicBool,
    /// The last turn was kept going.
    pub(crate) kept_going: AtomicBool,
    around: Around,
}

/// What further sessions of the same store need.
#[derive(Clone, Default)]
struct Around {
    database: Option<PathBuf>,
    config: Option<PathBuf>,
    root: Option<PathBuf>,
}

impl Session {
    /// A session whose plans live as long as it does, and the sessions made from it.
    pub fn in_memory(options: Options) -> Result<Self, Error> {
        Self::at(OpenedStore::memory(), options)
    }

    /// A session over a store in a file of its own, which is made if there is none. Many processes may use it at once.
    pub fn open(path: impl AsRef<Path>, options: Options) -> Result<Self, Error> {
        Self::at(OpenedStore::file(path.as_ref())?, options)
    }

    /// A session over the store of a project, found from a folder in it: the one that `punch` uses there, with the
    /// project's settings. It is made if there is none.
    pub fn open_project(folder: impl AsRef<Path>, options: Options) -> Result<Self, Error> {
        Self::at(OpenedStore::project(folder.as_ref())?, options)
    }

    /// Another conversation over the same store: a second agent, or a subagent.
    pub fn beside(&self, options: Options) -> Result<Self, Error> {
        Self::over(Arc::clone(&self.engine), self.around.clone(), options)
    }

    fn at(place: OpenedStore, mut options: Options) -> Result<Self, Error> {
        let engine = Engine::new(place.store, options.clock.take().unwrap_or_else(system_clock));
        let around = Around { database: place.database, config: place.config, root: place.root };
        Self::over(Arc::new(engine), around, options)
    }

    fn over(engine: Arc<Engine>, around: Around, options: Options) -> Result<Self, Error> {
        let inputs = Inputs {
            flags: options.settings,
            project: around.config.clone(),
            user: options.user_file,
            ..Inputs::default()
        };
        let settings = Config::load(&inputs)?.for_agent(&options.agent).clone();
        let name = options.session.filter(|name| !name.is_empty()).unwrap_or_else(new_name);
        let key = SessionKey::new(name, options.subagent.as_deref());
        let choice = Choice {
            name: None,
            session: Some(key.clone()),
            worktree: around.root.as_ref().map(|root| root.display().to_string()),
            plans: settings.plans.value,
        };
        let plan = match options.plan.as_ref().or(settings.plan.value.as_ref()) {
            Some(name) => named(&engine, name)?,
            None => engine.choose_or_create(&choice)?,
        };
        let tree = options.work_tree.or_else(|| around.root.clone());
        let consents = match (&options.consents, &around.database) {
            (Some(state_home), Some(database)) => {
                let root = tree.as_deref().or(database.parent()).unwrap_or(database);
                Some(Consents::new(state_home, database, root))
            }
            _ => None,
        };
        let dialect = options.dialect.unwrap_or(punch_engine::call::Dialect::Native);
        let offered = settings.tools_enabled.value && options.role != Some(Role::None);
        Ok(Self {
            engine,
            plan,
            key,
            agent: options.agent,
            offer: if offered { Offer::new(dialect, &options.groups) } else { Offer::none(dialect) },
            settings,
            role: options.role,
            tree: tree.map(|root| WorkTree { root, git: None, consents }),
            begun: AtomicBool::new(false),
            kept_going: AtomicBool::new(false),
            around,
        })
    }

    /// The name of the conversation.
    pub fn name(&self) -> &str {
        self.key.session_id()
    }

    /// The name of the plan as it is now.
    pub fn plan_name(&self) -> Result<String, Error> {
        Ok(self.engine.read(self.plan, |snapshot| Ok(snapshot.info()?.name))?)
    }

    /// The settings that hold for this agent.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The engine, for what has no short form here.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The plan, for the engine.
    pub fn plan(&self) -> PlanId {
        self.plan
    }

    pub(crate) fn first(flag: &AtomicBool) -> bool {
        !flag.swap(true, Ordering::Relaxed)
    }
}

/// The plan of that name in use; made if there is none.
fn named(engine: &Engine, name: &str) -> Result<PlanId, EngineError> {
    let find = || Ok::<_, EngineError>(engine.plans()?.into_iter().find(|p| p.name == name && p.archived.is_none()));
    if let Some(plan) = find()? {
        return Ok(plan.id);
    }
    match (engine.create_plan(name), find()?) {
        (Ok(plan), _) => Ok(plan),
        // Another process made it in between.
        (Err(EngineError::PlanExists { .. }), Some(plan)) => Ok(plan.id),
        (Err(error), _) => Err(error),
    }
}

/// A name that no other conversation has.
fn new_name() -> String {
    let now = system_clock()();
    format!("lib-{now:x}-{:016x}", RandomState::new().build_hasher().finish())
}
