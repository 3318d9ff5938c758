//! Checks in processes of their own: a hook or server starts `punch check-reported` and does not have to wait for it.

use std::io::{self, Read};
use std::process::Stdio;

use punch_core::Uid;
use punch_engine::{BackgroundChecks, CheckLocks};
use punch_store::PlanId;

use crate::own_process::{OwnProcess, reap};
use crate::project::Project;

/// Starts this program again for each check.
pub struct DetachedChecks {
    own: OwnProcess,
    locks: CheckLocks,
}

impl DetachedChecks {
    /// Checks of the todos of a project, in its worktree.
    pub fn of(project: &Project) -> Self {
        Self { own: OwnProcess::of(project), locks: CheckLocks::beside(&project.location.database) }
    }
}

impl BackgroundChecks for DetachedChecks {
    fn start(&self, plan: PlanId, todo: Uid, agent: &str) -> io::Result<()> {
        let (plan, todo) = (plan.0.to_string(), todo.0.to_string());
        let mut command = self.own.command(&["check-reported", &plan, &todo, agent])?;
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        // It says one word once it holds the lock, and none if there is nothing to do.
        if let Some(mut output) = child.stdout.take() {
            let _ = output.read(&mut [0; 1])?;
        }
        reap(child)
    }

    fn locks(&self) -> &CheckLocks {
        &self.locks
    }
}
