//! Checks in processes of their own: a hook or server starts `punch check-reported` and does not have to wait for it.

use std::io::{self, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;

use punch_core::Uid;
use punch_engine::process::own_process_group;
use punch_engine::{BackgroundChecks, CheckLocks};
use punch_store::PlanId;

use crate::project::Project;

/// Starts this program again for each check.
pub struct DetachedChecks {
    root: PathBuf,
    store: Option<PathBuf>,
    locks: CheckLocks,
}

impl DetachedChecks {
    /// Checks of the todos of a project, in its worktree.
    pub fn of(project: &Project) -> Self {
        Self {
            root: project.location.project_root.clone(),
            store: project.global.store.clone(),
            locks: CheckLocks::beside(&project.location.database),
        }
    }
}

impl BackgroundChecks for DetachedChecks {
    fn start(&self, plan: PlanId, todo: Uid, agent: &str) -> io::Result<()> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("check-reported").arg(plan.0.to_string()).arg(todo.0.to_string()).arg(agent);
        if let Some(store) = &self.store {
            command.arg("--store").arg(std::path::absolute(store)?);
        }
        command.current_dir(&self.root).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        // Agents kill the process group of a hook that they no longer need.
        own_process_group(&mut command);
        let mut child = command.spawn()?;
        // It says one word once it holds the lock, and none if there is nothing to do.
        if let Some(mut output) = child.stdout.take() {
            let _ = output.read(&mut [0; 1])?;
        }
        // A server lives on: without this, every check would leave a dead process behind.
        thread::Builder::new().name("check".into()).spawn(move || child.wait())?;
        Ok(())
    }

    fn locks(&self) -> &CheckLocks {
        &self.locks
    }
}
