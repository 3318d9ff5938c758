//! What the board needs from the program around it: the store, the settings, and who is asking.

use std::path::{Path, PathBuf};

use punch_core::view::ClearDelay;
use punch_core::{Actor, Todo};
use punch_engine::config::Settings;
use punch_engine::{Consents, Engine, InboxQuery, WorkTree, WriteRequest};
use punch_store::PlanId;

use crate::look::BoardLook;

/// A store that is open, and the plan in it.
pub struct BoardStore {
    /// The engine over the store.
    pub engine: Engine,
    /// The plan.
    pub plan: PlanId,
    /// The name of the plan.
    pub name: String,
}

/// Opens the store; `None` if there is no store or no plan in it.
pub type OpenBoardStore = Box<dyn Fn() -> Result<Option<BoardStore>, String> + Send + Sync>;
/// Opens the store, and creates it and the plan if needed.
pub type Create = Box<dyn Fn() -> Result<BoardStore, String> + Send + Sync>;
/// Finds the worktree in which a run works on a todo.
pub type FindLane = Box<dyn Fn(&BoardStore, &Todo) -> Option<Box<dyn BoardLane>> + Send + Sync>;
/// Finds the log of the agent that works on a todo.
pub type FindAgentLog = Box<dyn Fn(&BoardStore, &Todo) -> Option<PathBuf> + Send + Sync>;

/// Runs a command in a new window of the terminal, without waiting for it.
pub type NewWindow = Box<dyn Fn(&[String]) -> Result<(), String> + Send + Sync>;

/// The worktree in which a run works on a todo.
pub trait BoardLane {
    /// Its folder.
    fn path(&self) -> &Path;
    /// How much was changed in it, in words; or why that is unknown.
    fn size(&self) -> Result<String, String>;
    /// Everything that was changed in it.
    fn patch(&self) -> Result<String, String>;
}

/// What the board needs from the program around it.
pub struct BoardSetup {
    /// Opens the store.
    pub open: OpenBoardStore,
    /// Opens the store, and creates it if needed.
    pub create: Create,
    /// The worktree in which a run works on a todo.
    pub lane: FindLane,
    /// The log of the agent that works on a todo.
    pub agent_log: FindAgentLog,
    /// What the lines of such a log say, without what only programs read.
    pub log_lines: fn(&str) -> Vec<String>,
    /// Opens a window of the terminal, where it has windows.
    pub new_window: Option<NewWindow>,
    /// The commands of punch.
    pub verbs: Vec<String>,
    /// The agents that todos can be given to.
    pub agents: Vec<String>,
    /// The settings.
    pub settings: Settings,
    /// The name of the plan in commands, where they would mean another one without it.
    pub plan_flag: Option<String>,
    /// The code that is worked on, with the user's approvals.
    pub tree: WorkTree,
    /// Who acts.
    pub actor: Actor,
    /// Variables by which agents mark what they start.
    pub marks: Vec<&'static str>,
    /// One of them that is set here.
    pub own_mark: Option<&'static str>,
    /// The program `punch`, and the arguments that choose this store and plan.
    pub program: PathBuf,
    /// Arguments that choose this store and plan.
    pub arguments: Vec<String>,
    /// How the board looks.
    pub look: BoardLook,
    /// When closed todos leave the list.
    pub delay: ClearDelay,
}

impl BoardSetup {
    pub(crate) const fn consents(&self) -> Option<&Consents> {
        self.tree.consents.as_ref()
    }

    pub(crate) fn inbox_query(&self) -> InboxQuery<'_> {
        InboxQuery { plan_flag: self.plan_flag.as_deref(), ..InboxQuery::new(&self.settings, Some(&self.tree)) }
    }

    pub(crate) fn request(&self) -> WriteRequest<'_> {
        WriteRequest {
            settings: Some(&self.settings),
            tree: Some(&self.tree.root),
            ..WriteRequest::of(self.actor.clone())
        }
    }
}
