//! What agents leave on disk for a todo: the worktree of a run, and a log. Boards look for both.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use punch_core::Todo;
use punch_engine::locate::Location;
use punch_engine::{Engine, RunRecord, SessionFile, copies};
use punch_run::of_run;
use punch_run::worktree::LaneDiff;
use punch_store::PlanId;

use crate::assigned_agents;

/// Where runs of a project leave their files.
#[derive(Clone)]
pub struct RunFiles {
    /// Where the store is.
    pub location: Location,
    /// The user's state folder.
    pub state: Option<PathBuf>,
}

impl RunFiles {
    fn last_run(engine: &Engine, plan: PlanId) -> Option<RunRecord> {
        engine.runs(plan, 1).ok()?.into_iter().next()
    }

    /// The worktree in which the last run works on a todo.
    pub fn lane(&self, engine: &Engine, (plan, name): (PlanId, &str), todo: &Todo) -> Option<LaneDiff> {
        let run = Self::last_run(engine, plan).filter(RunRecord::has_worktrees)?;
        let identity = engine.store().identity().ok()?;
        let trees = copies::trees_of(self.state.as_ref()?, &self.location.database, &identity);
        LaneDiff::find(&self.location.project_root, &trees, name, &run, &todo.id)
    }

    /// The log of the last start of an agent on a todo, by a run or by the web board.
    pub fn log(&self, engine: &Engine, plan: PlanId, todo: &Todo) -> Option<PathBuf> {
        let logs = [self.run_log(engine, plan, todo), assigned_agents::log(&self.location, engine, todo)];
        logs.into_iter().flatten().max_by_key(|path| written(path))
    }

    /// The log of the last start in the last run: the session file beside it names the todo.
    fn run_log(&self, engine: &Engine, plan: PlanId, todo: &Todo) -> Option<PathBuf> {
        let run = Self::last_run(engine, plan)?;
        let folder = of_run(&self.location.database, plan, run.id);
        let log = |entry: fs::DirEntry| {
            let path = entry.path();
            let name = path.file_name()?.to_str()?.strip_prefix("session-")?.strip_suffix(".json")?.to_owned();
            let session = SessionFile::read(&path).ok()?;
            session.todos.contains(&todo.id).then(|| folder.join(format!("agent-{name}.log")))
        };
        let logs = fs::read_dir(&folder).ok()?.flatten().filter_map(log);
        logs.filter(|path| path.is_file()).max_by_key(|path| written(path))
    }
}

fn written(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|found| found.modified()).ok()
}
