//! What the board needs from the program around it: the store, the settings, the code that is worked on.

use std::io;
use std::path::PathBuf;

use punch_core::Todo;
use punch_engine::config::Settings;
use punch_engine::{Engine, InboxQuery, PlanChoice, TodoAssignment, WorkTree};
use punch_store::PlanInfo;

use crate::ApiProblem;

/// Opens the store, and creates it if `true` is given; `None` if there is none.
pub type OpenStore = Box<dyn Fn(bool) -> Result<Option<Engine>, ApiProblem> + Send + Sync>;
/// Finds the worktree in which a run works on a todo.
pub type FindWorktree = Box<dyn Fn(&Engine, &PlanInfo, &Todo) -> Option<RunWorktree> + Send + Sync>;
/// Finds the log of the agent that works on a todo.
pub type LogFinder = Box<dyn Fn(&Engine, &PlanInfo, &Todo) -> Option<PathBuf> + Send + Sync>;
/// Names the agents that can be started on this machine.
pub type ListAgents = Box<dyn Fn() -> Vec<&'static str> + Send + Sync>;
/// Starts one of these agents on todos that were handed out, and does not wait for its end.
pub type StartAgent = Box<dyn Fn(&PlanInfo, &TodoAssignment, &str) -> io::Result<()> + Send + Sync>;

/// The worktree in which a run works on a todo.
pub struct RunWorktree {
    /// Its folder.
    pub path: PathBuf,
    /// How much was changed in it, in words; or why that is unknown.
    pub size: Box<dyn Fn() -> Result<String, String>>,
    /// Everything that was changed in it.
    pub patch: Box<dyn Fn() -> Result<String, String>>,
}

/// What the board needs from the program around it.
pub struct WebSetup {
    /// Opens the store.
    pub open: OpenStore,
    /// Which plan is shown first.
    pub choice: PlanChoice,
    /// The worktree in which a run works on a todo.
    pub worktree: FindWorktree,
    /// The log of the agent that works on a todo.
    pub agent_log: LogFinder,
    /// The agents that can be started on this machine.
    pub agents: ListAgents,
    /// Starts one of these agents.
    pub start_agent: StartAgent,
    /// The settings.
    pub settings: Settings,
    /// The code that is worked on, with the user's approvals.
    pub tree: WorkTree,
    /// The name of the project.
    pub project: String,
    /// The version of the server.
    pub version: &'static str,
}

impl WebSetup {
    /// The name of a plan in commands, where they would mean another one without it.
    pub(crate) fn plan_flag<'a>(&self, plan: &'a PlanInfo) -> Option<&'a str> {
        let is_default = plan.name == punch_engine::DEFAULT_PLAN && self.choice.name.is_none();
        (!is_default).then_some(plan.name.as_str())
    }

    pub(crate) fn inbox_query<'a>(&'a self, plan: &'a PlanInfo) -> InboxQuery<'a> {
        InboxQuery { plan_flag: self.plan_flag(plan), ..InboxQuery::new(&self.settings, Some(&self.tree)) }
    }
}
