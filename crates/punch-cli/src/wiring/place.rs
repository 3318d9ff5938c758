//! Where agents' files are, how punch is called in them, and where the record of changes is.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use punch_agents::settings::{self, ConnectionLevel, Program, SettingsFile, SettingsRoots, ToolSource};
use punch_agents::{AGENTS, Adapter};
use punch_engine::call::Dialect;
use punch_engine::locate;
use punch_serve::wiring::plugin;

use super::record::FileRecord;
use super::worktree::Worktree;
use crate::arguments::Global;
use crate::environment;
use crate::failure::Failure;

/// How an agent is wired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WiringForm {
    /// Entries in the agent's settings.
    Settings,
    /// A plugin or extension.
    Plugin,
}

/// Everything that decides which files are meant.
#[derive(Clone)]
pub struct WiringPlace {
    /// The level of the settings.
    pub level: ConnectionLevel,
    /// The folders of the agents.
    pub roots: SettingsRoots,
    /// How punch is called.
    pub program: Program,
    /// The form of the tools for single agents, or for all of them.
    pub dialects: Vec<(Option<&'static Adapter>, Dialect)>,
    /// The tools for single agents, or for all of them.
    pub tools: Vec<(Option<&'static Adapter>, ToolSource)>,
    /// The folder of the records.
    pub records: PathBuf,
    /// The git worktree of the project, if it is one.
    pub worktree: Option<Arc<Worktree>>,
}

impl WiringPlace {
    /// Finds it from the working folder.
    pub fn find(global: &Global, level: ConnectionLevel) -> Result<Self, Failure> {
        Self::find_with(global, level, &Worktree::find)
    }

    /// Finds it without asking git, which is too slow for a look at the side: nothing can be written from there.
    pub fn to_look_at(global: &Global) -> Result<Self, Failure> {
        Self::find_with(global, ConnectionLevel::Personal, &|_| None)
    }

    fn find_with(
        global: &Global,
        level: ConnectionLevel,
        worktree: &dyn Fn(&Path) -> Option<Worktree>,
    ) -> Result<Self, Failure> {
        let around = environment::surroundings(global)?;
        let project = match (locate::locate(&around), level) {
            (Ok(location), _) => location.project_root,
            (Err(_), ConnectionLevel::User) => around.cwd.clone(),
            (Err(error), ConnectionLevel::Personal | ConnectionLevel::Shared) => return Err(error.into()),
        };
        let worktree = worktree(&project).map(Arc::new);
        let main = worktree.as_ref().map_or_else(|| project.clone(), |worktree| worktree.main.clone());
        let no_home = || Failure::refused("no_home", "there is no home folder", "set HOME");
        let roots = environment::agent_roots(project, main).ok_or_else(no_home)?;
        let records = environment::state_home().ok_or_else(no_home)?.join("punch").join("wiring");
        Ok(Self { level, roots, program: program()?, dialects: Vec::new(), tools: Vec::new(), records, worktree })
    }

    /// The path of the same kind of file at another level.
    pub fn at(&self, level: ConnectionLevel) -> Self {
        Self { level, ..self.clone() }
    }

    /// Returns true if what is in a file belongs to this level. Most agents have one file for the project, which is either
    /// shared or, with a record that says so, personal.
    pub fn owns(&self, path: &Path, record: Option<&FileRecord>) -> bool {
        let personal = record.is_some_and(|record| record.personal);
        match self.level {
            ConnectionLevel::User => true,
            ConnectionLevel::Personal => personal || !self.is_common(path),
            ConnectionLevel::Shared => !personal || !self.is_common(path),
        }
    }

    /// Returns true for a file of the project that some agent uses both for shared and for personal settings.
    fn is_common(&self, path: &Path) -> bool {
        let uses = |level: ConnectionLevel, agent: &'static Adapter| {
            let place = self.at(level);
            let guide = (agent.settings.guide_file)(level, &self.roots);
            place.targets(agent).into_iter().map(|target| target.path).chain(guide).any(|found| found == path)
        };
        AGENTS.iter().any(|agent| uses(ConnectionLevel::Shared, agent) && uses(ConnectionLevel::Personal, agent))
    }

    /// The tools that were asked for.
    pub fn tools(&self, agent: &Adapter) -> Option<ToolSource> {
        wanted(&self.tools, agent)
    }

    /// The files of an agent.
    pub fn targets(&self, agent: &'static Adapter) -> Vec<SettingsFile> {
        let call = (&self.program, wanted(&self.dialects, agent).map(Dialect::name));
        settings::files(agent, self.level, &self.roots, call, &|path: &Path| path.exists())
    }

    /// The files of an agent in a form; none in a form that it does not have.
    pub fn targets_as(&self, agent: &'static Adapter, form: WiringForm) -> Vec<SettingsFile> {
        match (form, self.level) {
            (WiringForm::Settings, _) => self.targets(agent),
            (WiringForm::Plugin, ConnectionLevel::User) => {
                plugin(agent, &self.roots, &self.program).unwrap_or_default()
            }
            (WiringForm::Plugin, ConnectionLevel::Personal | ConnectionLevel::Shared) => Vec::new(),
        }
    }

    /// A path as people read it: from the project or the home.
    pub fn shown(&self, path: &Path) -> String {
        if let Ok(inside) = path.strip_prefix(&self.roots.project) {
            return inside.display().to_string();
        }
        path.strip_prefix(&self.roots.home)
            .map_or(path.display().to_string(), |inside| format!("~/{}", inside.display()))
    }
}

/// What was asked for, for one agent before for all.
fn wanted<T: Copy>(choices: &[(Option<&'static Adapter>, T)], agent: &Adapter) -> Option<T> {
    let own = choices.iter().rev().find(|(whom, _)| whom.is_some_and(|whom| whom.name == agent.name));
    let all = || choices.iter().rev().find(|(whom, _)| whom.is_none());
    own.or_else(all).map(|(_, choice)| *choice)
}

/// `punch` where that name leads to this very program, so that files that are shared fit other machines; else the path.
fn program() -> Result<Program, Failure> {
    let own = environment::program()?;
    let real = |path: &Path| path.canonicalize().ok();
    let by_name = environment::find_program("punch").is_some_and(|found| real(&found) == real(&own));
    let path = if by_name { "punch".to_owned() } else { real(&own).unwrap_or(own).display().to_string() };
    Ok(Program(path))
}

/// The agents that are on PATH.
pub fn found_agents() -> Vec<&'static Adapter> {
    AGENTS.into_iter().filter(|agent| environment::find_program(agent.program).is_some()).collect()
}
