//! Agents that the web board starts on some todos. Each gets a process of its own, so that it continues when the server ends,
//! and a log beside the store.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use punch_core::Todo;
use punch_engine::locate::Location;
use punch_engine::{Engine, TodoAssignment};
use punch_store::{SessionKey, append_own, create_own_folder};

use crate::own_process::{OwnProcess, reap};

/// Number of logs that are kept.
const KEPT: usize = 50;

/// Starts agents for one project.
pub struct AssignedAgents {
    /// Where the store is.
    pub location: Location,
    /// How to start them.
    pub own: OwnProcess,
}

impl AssignedAgents {
    /// Starts `punch assign` for todos that were handed out, and does not wait for it.
    pub fn start(&self, plan: &str, given: &TodoAssignment, agent: &str) -> io::Result<()> {
        let folder = folder(&self.location);
        create_own_folder(&folder)?;
        forget_old(&folder);
        let log = append_own(&folder.join(format!("{}.log", given.key.session_id())))?;
        let (session, plan) = (format!("--session={}", given.key.session_id()), format!("--plan={plan}"));
        let mut command = self.own.command(&["assign", "--to", agent, &session, &plan])?;
        reap(command.stdout(log.try_clone()?).stderr(log).spawn()?)
    }
}

fn folder(location: &Location) -> PathBuf {
    location.database.with_file_name("assigned")
}

/// The logs in a folder, the newest first.
fn logs(folder: &Path) -> Vec<PathBuf> {
    let written = |path: &PathBuf| fs::metadata(path).and_then(|found| found.modified()).ok();
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut logs: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "log")).collect();
    logs.sort_by_cached_key(|path| std::cmp::Reverse(written(path)));
    logs
}

fn forget_old(folder: &Path) {
    for old in logs(folder).into_iter().skip(KEPT - 1) {
        let _ = fs::remove_file(old);
    }
}

/// Finds the log of the agent that a todo was last given to.
pub fn log(location: &Location, engine: &Engine, todo: &Todo) -> Option<PathBuf> {
    let has_todo = |path: &PathBuf| {
        let session = path.file_stem().and_then(|name| name.to_str()).map(|name| SessionKey::new(name, None));
        let assigned = session.and_then(|session| engine.assigned_todos(&session).ok()?);
        assigned.is_some_and(|todos| todos.contains(&todo.uid))
    };
    logs(&folder(location)).into_iter().find(has_todo)
}
