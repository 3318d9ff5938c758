//! A session: one conversation of one agent with one plan.

use std::hash::{BuildHasher, Hasher, RandomState};
#[cfg(feature = "sqlite")]
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use punch_core::text;
#[cfg(feature = "verify")]
use punch_engine::Consents;
use punch_engine::config::{Config, ConfigInputs, Plans, Settings};
use punch_engine::{Engine, EngineError, IdMaker, PlanChoice, Role, ToolOffers, WorkTree};
use punch_store::{PlanId, SessionKey};

use crate::opened_store::{OpenedStore, system_clock};
use crate::wording::DefaultWording;
use crate::{Error, Options, Wording};

/// One conversation of one agent with the plan of a store. Threads may share it: calls come one after the other where
/// they write.
pub struct Session {
    pub(crate) engine: Arc<Engine>,
    pub(crate) plan: PlanId,
    pub(crate) key: SessionKey,
    pub(crate) agent: String,
    pub(crate) settings: Settings,
    pub(crate) offer: ToolOffers,
    pub(crate) role: Option<Role>,
    pub(crate) tree: Option<WorkTree>,
    /// True once the beginning of the session was reported.
    pub(crate) begun: AtomicBool,
    /// True if the last turn was continued.
    pub(crate) kept_going: AtomicBool,
    /// Ids for todos that come without one.
    pub(crate) ids: Option<Arc<IdMaker>>,
    /// What the model reads besides answers.
    pub(crate) wording: Arc<dyn Wording>,
    /// The first message, if it was assigned todos.
    pub(crate) assignment: Option<String>,
    subagents: AtomicU32,
    around: Around,
}

/// What further sessions of the same store need.
#[derive(Clone, Default)]
struct Around {
    #[cfg(feature = "verify")]
    database: Option<PathBuf>,
    config: Option<PathBuf>,
    root: Option<PathBuf>,
    lasting: bool,
}

impl Session {
    /// A session whose plans live as long as it does, and the sessions made from it.
    pub fn in_memory(options: Options) -> Result<Self, Error> {
        Self::at(OpenedStore::memory(), options)
    }

    /// Opens a session over a store in a file, which is created if there is none. Many processes may use it at once.
    #[cfg(feature = "sqlite")]
    pub fn open(path: impl AsRef<Path>, options: Options) -> Result<Self, Error> {
        Self::at(OpenedStore::file(path.as_ref(), options.busy_timeout)?, options)
    }

    /// A session over the store of a project, found from a folder in it: the one that `punch` uses there, with the
    /// project's settings. It is made if there is none.
    #[cfg(all(feature = "sqlite", feature = "git"))]
    pub fn open_project(folder: impl AsRef<Path>, options: Options) -> Result<Self, Error> {
        Self::at(OpenedStore::project(folder.as_ref(), options.busy_timeout)?, options)
    }

    /// A session over a store of your own. [`crate::store::Store`] says what it must promise.
    pub fn with_store(store: impl crate::store::Store + 'static, options: Options) -> Result<Self, Error> {
        Self::at(OpenedStore::own(Box::new(store)), options)
    }

    /// Another conversation on the same plan: a second agent, or the user. With [`Options::shared`] on another plan of the
    /// same store.
    pub fn beside(&self, mut options: Options) -> Result<Self, Error> {
        if options.plan.is_none() {
            options.plan = Some(self.plan_name()?);
        }
        options.ids = options.ids.or_else(|| self.ids.clone());
        Self::over(Arc::clone(&self.engine), self.around.clone(), options)
    }

    fn at(place: OpenedStore, mut options: Options) -> Result<Self, Error> {
        let engine = Engine::new(place.store, options.clock.take().unwrap_or_else(system_clock));
        let around = Around {
            #[cfg(feature = "verify")]
            database: place.database,
            config: place.config,
            root: place.root,
            lasting: place.lasting,
        };
        Self::over(Arc::new(engine), around, options)
    }

    fn over(engine: Arc<Engine>, around: Around, options: Options) -> Result<Self, Error> {
        check_name(&options.agent)?;
        let tree = options.work_tree.or_else(|| around.root.clone());
        #[cfg(not(feature = "verify"))]
        let consents = None;
        #[cfg(feature = "verify")]
        let consents = match (&options.consents, &around.database) {
            (Some(state_home), Some(database)) => {
                let root = tree.as_deref().or(database.parent()).unwrap_or(database);
                Some(Consents::new(state_home, database, root))
            }
            _ => None,
        };
        let shell = ("reminders.shell".to_owned(), options.shell.to_string());
        let inputs = ConfigInputs {
            flags: [shell].into_iter().chain(options.settings).collect(),
            project: around.config.clone(),
            user: options.user_file,
            approvals: consents.clone(),
            ..ConfigInputs::default()
        };
        let settings = Config::load(&inputs)?.for_agent(&options.agent).clone();
        let name = options.session.filter(|name| !name.is_empty()).unwrap_or_else(new_name);
        let key = SessionKey::new(name, options.subagent.as_deref());
        // The store of a project belongs to the project; any other belongs to its conversations.
        let plans = if around.config.is_some() { settings.plans.value } else { Plans::Session };
        let choice = PlanChoice {
            name: None,
            session: Some(key.clone()),
            worktree: around.root.as_ref().map(|root| root.display().to_string()),
            plans,
        };
        let plan = match options.plan.as_ref().or(settings.plan.value.as_ref()) {
            Some(name) => named(&engine, name)?,
            None => engine.choose_or_create(&choice)?,
        };
        let dialect = options.dialect.unwrap_or(punch_engine::call::Dialect::Native);
        let offered = settings.tools_enabled.value && options.role != Some(Role::None);
        Ok(Self {
            engine,
            plan,
            key,
            agent: options.agent,
            offer: if offered { ToolOffers::new(dialect, &options.groups) } else { ToolOffers::none(dialect) },
            settings,
            role: options.role,
            tree: tree.map(|root| WorkTree { root, git: None, consents }),
            begun: AtomicBool::new(false),
            kept_going: AtomicBool::new(false),
            ids: options.ids,
            wording: options.wording.unwrap_or_else(|| Arc::new(DefaultWording)),
            assignment: None,
            subagents: AtomicU32::new(0),
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

    /// A setting as it holds for this agent, by the name that it has in `docs/config.md`, written as in a file.
    pub fn setting(&self, name: &str) -> Option<String> {
        self.settings.rows().into_iter().find(|row| row.key == name).and_then(|row| row.value)
    }

    pub(crate) fn first(flag: &AtomicBool) -> bool {
        !flag.swap(true, Ordering::Relaxed)
    }

    /// Whether the plan outlives the process.
    pub(crate) fn is_lasting(&self) -> bool {
        self.around.lasting
    }

    pub(crate) fn next_subagent(&self) -> String {
        format!("subagent-{}", self.subagents.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = f.debug_struct("Session");
        out.field("agent", &self.agent).field("key", &self.key).field("plan", &self.plan).finish_non_exhaustive()
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

/// An agent signs what it changes: its name is shown to users and models.
fn check_name(agent: &str) -> Result<(), Error> {
    let is_good = !text::is_blank(agent) && text::neutral(agent) == agent && agent.chars().count() <= 80;
    is_good.then_some(()).ok_or_else(|| Error {
        code: "invalid",
        message: format!("invalid name of an agent: `{}`", text::clip(&text::neutral(agent), 80)),
        hint: "use 1 to 80 visible characters on one line".to_owned(),
    })
}

/// A name that no other conversation has.
fn new_name() -> String {
    let now = system_clock()();
    format!("lib-{now:x}-{:016x}", RandomState::new().build_hasher().finish())
}
