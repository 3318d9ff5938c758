//! The project that a command works on: its store, its settings, and the chosen plan.

use std::mem::ManuallyDrop;
use std::path::PathBuf;
use std::time::Duration;

use punch_core::view::{ClearDelay, Glyphs, Layout};
use punch_core::{Actor, Plan, Uid, text};
use punch_engine::config::{Config, SettingSource};
use punch_engine::locate::{self, Location, LocationRule};
use punch_engine::{Engine, EngineError, News, PlanChoice, WriteRequest, copies};
use punch_store::{LostWrites, OpenMode, PlanId, SessionKey, StoreAdmin, Upgrade};

use crate::arguments::Global;
use crate::failure::Failure;
use crate::safety::Safety;
use crate::style::OutputStream;
use crate::{environment, open_store, output};

/// Takes a warning about lost writes.
pub type LossReport = Box<dyn Fn(&str) + Send + Sync>;

/// Place and settings; nothing is opened yet.
pub struct Project {
    /// The flags that every verb has.
    pub global: Global,
    /// Where the store is or will be.
    pub location: Location,
    /// Every setting with its source.
    pub config: Config,
    /// How long a transaction waits for other processes, if not as long as usual.
    pub wait: Option<Duration>,
    /// Creates the store that `--store` names if there is none.
    pub creates: bool,
    /// Receives reports of writes that the store has lost; standard error if it is not set.
    pub on_loss: Option<LossReport>,
}

/// Warns about settings of the project's file that do not count.
pub fn warn_ignored(config: &Config) {
    for ignored in &config.settings.ignored {
        output::remark(&format!("warning: {}\nhint: {}", ignored.message(), ignored.hint()));
    }
}

/// An engine that reports on standard error what happened after a commit.
fn engine(store: Box<dyn StoreAdmin>) -> Engine {
    let tell = |news: &News<'_>| match news {
        News::Trouble(error) => {
            let what = if matches!(error, EngineError::PlanFile(_)) { "the plan file was not updated: " } else { "" };
            output::remark(&format!("note: {what}{}\nhint: {}", error.message(), error.hint()));
        }
        News::Checkpoint(saved) => output::remark(&format!("checkpoint {}: a batch of work is done", saved.id)),
    };
    Engine::new(store, environment::clock()).telling(Box::new(tell))
}

/// A project with its store open and the plan chosen.
pub struct OpenProject {
    /// Place and settings.
    pub project: Project,
    /// The engine over the store.
    pub engine: Engine,
    /// The plan.
    pub plan: PlanId,
}

/// What a project has to read. No store, or no plan in it, reads as an empty plan.
pub enum ProjectPlan {
    /// The plan that is meant.
    Plan(OpenProject),
    /// There is none yet.
    Empty(Project),
}

impl ProjectPlan {
    /// The plan, if there is one.
    pub fn plan(self) -> Option<OpenProject> {
        match self {
            Self::Plan(open) => Some(open),
            Self::Empty(_) => None,
        }
    }

    /// The plan to write to, made if there is none.
    pub fn write(self) -> Result<OpenProject, Failure> {
        match self {
            Self::Plan(open) => Ok(open),
            Self::Empty(project) => project.write(),
        }
    }
}

/// Keeps a plan until the process ends. Freeing 200,000 todos one by one takes a fifth of the time of a command.
pub const fn never_freed<T>(plan: T) -> ManuallyDrop<T> {
    ManuallyDrop::new(plan)
}

impl OpenProject {
    /// The whole plan, for a command that ends after it was shown.
    pub fn whole(&self) -> Result<ManuallyDrop<Plan>, Failure> {
        Ok(never_freed(self.engine.whole(self.plan)?))
    }

    /// The folder for worktrees of agents; `None` without a home folder.
    pub fn trees(&self) -> Result<Option<PathBuf>, Failure> {
        let Some(state) = environment::state_home() else { return Ok(None) };
        let identity = self.engine.store().identity()?;
        Ok(Some(copies::trees_of(&state, &self.project.location.database, &identity)))
    }

    /// The todos that the worker around this process was assigned; `None` if there is no worker.
    pub fn assigned_todos(&self) -> Result<Option<Vec<Uid>>, Failure> {
        let given = environment::session_file().map(|file| file.session).or_else(environment::assigned);
        let is_given = given.is_some();
        let Some(name) = given.or_else(|| environment::session_of(environment::inside_agent()?)) else {
            return Ok(None);
        };
        let todos = self.engine.assigned_todos(&SessionKey::new(name, None))?;
        Ok(todos.or_else(|| is_given.then(Vec::new)))
    }
}

impl Project {
    /// A project that is already found.
    pub const fn at(global: Global, location: Location, config: Config) -> Self {
        Self { global, location, config, wait: None, creates: false, on_loss: None }
    }

    /// Finds the project. Opens nothing and writes nothing.
    pub fn find(global: Global) -> Result<Self, Failure> {
        let location = locate::locate(&environment::surroundings(&global)?)?;
        let config = environment::config(&global, &location)?;
        Ok(Self::at(global, location, config))
    }

    /// Finds the project from another folder than the working folder, with settings that flags of the verb give.
    pub fn find_from(global: Global, folder: Option<PathBuf>, flags: Vec<(String, String)>) -> Result<Self, Failure> {
        let mut around = environment::surroundings(&global)?;
        around.cwd = folder.unwrap_or(around.cwd);
        let location = locate::locate(&around)?;
        let config = environment::config_with(&global, &location, flags)?;
        Ok(Self::at(global, location, config))
    }

    /// Warns about what does not count: settings of the project's file, and the name that an agent gives itself.
    pub fn warn_ignored(&self) {
        warn_ignored(&self.config);
        if let (Some(_), Some(mark)) = (&self.global.owner, environment::inside_agent()) {
            let (actor, hint) = (self.actor(), "leave `--owner` out");
            let name = text::neutral(actor.owner().unwrap_or_default()).into_owned();
            output::remark(&format!(
                "warning: `--owner` is ignored in an agent's shell (`{}` is set): this command acts as `{name}`\nhint: {hint}",
                mark.variable
            ));
        }
    }

    fn store(&self, mode: OpenMode) -> Result<Box<dyn StoreAdmin>, Failure> {
        let mut store = open_store::open(&self.location, mode, self.wait)?;
        if let Some(lost) = store.lost() {
            self.report_loss(lost);
        }
        if let Some(Upgrade { from, to, copy }) = store.upgrade().filter(|_| self.on_loss.is_none()) {
            let copy = copy.as_ref().map(|copy| format!("; `{}` is a copy from before", copy.display()));
            let copy = copy.unwrap_or_default();
            output::remark(&format!("note: upgraded the store from schema {from} to {to}{copy}"));
        }
        store.until_exit();
        Ok(store)
    }

    /// Warns about writes that are missing, and says what to type.
    fn report_loss(&self, lost: &LostWrites) {
        let way_out = Safety::of(&self.location).map_or_else(String::new, |safety| safety.way_out(lost));
        let store = self.location.shown();
        let warning = format!("the store `{store}` has lost writes: {lost}");
        match &self.on_loss {
            Some(report) => report(&format!("{warning}; {way_out}")),
            None => output::remark(&format!("warning: {warning}\nhint: {way_out}")),
        }
    }

    /// Opens the store if there is one.
    pub fn engine(&self) -> Result<Option<Engine>, Failure> {
        if !self.location.exists {
            return Ok(None);
        }
        match self.store(OpenMode::Existing) {
            Ok(store) => Ok(Some(engine(store))),
            // Whether a server has the project is known once it was asked.
            Err(failure) if self.location.server.is_some() && failure.code() == "store_missing" => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// Opens the store to read, if there is one with the plan that is meant.
    pub fn read(self) -> Result<ProjectPlan, Failure> {
        let Some(engine) = self.engine()? else {
            self.refuse_missing()?;
            if let Some(safety) = Safety::of(&self.location) {
                safety.offer();
            }
            return match &self.choice().name {
                Some(name) => Err(Failure::from(EngineError::UnknownPlan { name: name.clone(), near: Vec::new() })),
                None => Ok(ProjectPlan::Empty(self)),
            };
        };
        match engine.choose(&self.choice())? {
            Some(plan) => Ok(ProjectPlan::Plan(OpenProject { engine, plan: plan.id, project: self })),
            None => Ok(ProjectPlan::Empty(self)),
        }
    }

    /// Opens the store for a verb on todos that the user named; without a plan there is no such todo.
    pub fn open_named(self, names: &[String]) -> Result<OpenProject, Failure> {
        self.read()?.plan().ok_or_else(|| {
            let given = names.first().cloned().unwrap_or_default();
            EngineError::NotFound { given, near: Vec::new() }.into()
        })
    }

    /// Opens the store to write, making it and the default plan if there are none.
    pub fn write(self) -> Result<OpenProject, Failure> {
        let engine = self.engine_or_new()?;
        let plan = engine.choose_or_create(&self.choice())?;
        Ok(OpenProject { engine, plan, project: self })
    }

    /// Opens the store, making it if there is none.
    pub fn engine_or_new(&self) -> Result<Engine, Failure> {
        if !self.location.exists {
            self.refuse_missing()?;
            self.location.create()?;
            if let Some(safety) = Safety::of(&self.location) {
                safety.put_aside();
            }
            if self.location.kind == LocationRule::Outside && !self.global.json {
                let folder = self.location.database.parent().unwrap_or(&self.location.database).display().to_string();
                output::remark(&format!(
                    "note: created a store in `{folder}`, because this is not a git repository; folders below use it too"
                ));
            }
        }
        let store = self.store(OpenMode::Create)?;
        Ok(engine(store))
    }

    /// A folder that `--store` names must exist: a typo would read as an empty plan. `punch init` creates it.
    fn refuse_missing(&self) -> Result<(), Failure> {
        let Some(given) =
            self.global.store.as_deref().filter(|given| !given.exists() && !self.location.exists && !self.creates)
        else {
            return Ok(());
        };
        let folder = text::neutral(&given.display().to_string()).into_owned();
        let hint = format!("check the path, or create one with `punch init --store {}`", text::shell(&folder));
        Err(Failure::refused("no_store", format!("no store in `{folder}`"), &hint))
    }

    /// Where copies of the store go, unless a setting says that none are made.
    pub fn safety(&self) -> Option<Safety> {
        Safety::of(&self.location).filter(|_| self.config.settings.store_copy.value)
    }

    /// Returns the choice of the plan.
    pub fn choice(&self) -> PlanChoice {
        PlanChoice {
            name: self.config.settings.plan.value.clone(),
            worktree: Some(self.worktree()),
            ..PlanChoice::default()
        }
    }

    /// The identity of a worktree among those that share a store.
    pub fn worktree(&self) -> String {
        self.location.project_root.display().to_string()
    }

    /// Returns the actor that runs this command: the worker of a run, the agent around this process, or the user.
    pub fn actor(&self) -> Actor {
        // The worker of a run is that worker, whatever name it gives.
        if let Some(file) = environment::session_file() {
            return Actor::worker(file.owner.clone(), file.owner);
        }
        let Some(mark) = environment::inside_agent() else {
            let owner = self.config.settings.owner.value.as_deref();
            return owner.map_or_else(Actor::user, Actor::named_user);
        };
        // An agent is its session, whatever name it gives: another name would get around that one's claims.
        let program = mark.agent;
        Actor::agent(program, environment::session_of(mark).unwrap_or_else(|| program.to_owned()))
    }

    /// The request of this command, made by its actor.
    pub fn request(&self) -> WriteRequest<'_> {
        WriteRequest {
            detail: self.global.json,
            settings: Some(&self.config.settings),
            tree: Some(&self.location.project_root),
            ..WriteRequest::of(self.actor())
        }
    }

    /// The signs of the views: as `view.ascii` says, else Unicode on a terminal and check boxes in a pipe.
    pub fn glyphs(&self) -> Glyphs {
        let ascii = &self.config.settings.view_ascii;
        let wants_ascii =
            if ascii.source == SettingSource::Default { !OutputStream::Out.is_terminal() } else { ascii.value };
        if wants_ascii { Glyphs::Ascii } else { Glyphs::Unicode }
    }

    /// Where the answer is printed: on a terminal, or in a pipe.
    pub fn layout(&self, now: i64) -> Layout {
        let width = OutputStream::Out.is_terminal().then(|| self.width());
        Layout { glyphs: self.glyphs(), width, now }
    }

    /// When closed todos leave the views.
    pub fn clear_delay(&self) -> ClearDelay {
        ClearDelay(self.config.settings.view_clear_delay.value)
    }

    /// The width of the screen, or a sensible one.
    pub fn width(&self) -> usize {
        environment::width()
    }
}
