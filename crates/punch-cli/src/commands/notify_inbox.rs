//! `punch notify-inbox`: runs `notify.command` if something has entered the inbox. Hooks, servers and checks start it
//! after a write and do not wait for it, so problems go to the log of hooks.

use std::io;

use clap::Args;
use punch_engine::{InboxMemory, InboxQuery, inbox_message, notify};

use crate::arguments::Global;
use crate::failure::{Exit, Failure};
use crate::hook_log;
use crate::own_process::{OwnProcess, reap};
use crate::project::Project;

/// Help at length.
pub const LONG_ABOUT: &str = "\
Run `notify.command` if something has entered the inbox of a plan since the last look.

Hooks and servers start this, not you: use `punch inbox`.";

/// The arguments of `punch notify-inbox`.
#[derive(Args)]
pub struct NotifyInboxArgs {}

impl NotifyInboxArgs {
    /// Looks and notifies. Never fails: no one would read the error.
    pub fn run(self, global: Global) -> Exit {
        if let Err(failure) = look(global) {
            let (message, _) = failure.text().unwrap_or_default();
            hook_log::say(None, &format!("notify: {}: {message}", failure.code()));
        }
        Exit::Ok
    }
}

fn look(global: Global) -> Result<(), Failure> {
    let project = Project::find(global)?;
    let Some(command) = project.config.settings.notify_command.value.clone() else { return Ok(()) };
    let Some(engine) = project.engine()? else { return Ok(()) };
    let tree = project.tree();
    let query = InboxQuery::new(&project.config.settings, Some(&tree));
    for plan in engine.plans()?.into_iter().filter(|plan| plan.archived.is_none()) {
        let Some(items) = engine.inbox_at_a_glance(plan.id, &query)? else { continue };
        let memory = InboxMemory::beside(&project.location.database, plan.id);
        let wrong = |cause| Failure::File("the inbox as it was".into(), cause);
        let entered = memory.entered(items, engine.now()).map_err(wrong)?;
        if !entered.is_empty() {
            let text = inbox_message(&plan.name, &entered);
            notify(&command, &project.location.project_root, &text)
                .map_err(|cause| Failure::File("notify.command".into(), cause))?;
        }
    }
    Ok(())
}

/// Starts the check of the inbox in a separate process.
pub struct Notifier {
    own: OwnProcess,
}

impl Notifier {
    /// Returns `None` if the user does not want to be notified.
    pub fn of(project: &Project) -> Option<Self> {
        project.config.settings.notify_command.value.as_ref()?;
        Some(Self { own: OwnProcess::of(project) })
    }

    /// Starts the look. One that cannot be started happens after the next write.
    pub fn start(&self) {
        let _ = self.spawn();
    }

    fn spawn(&self) -> io::Result<()> {
        reap(self.own.command(&["notify-inbox"])?.spawn()?)
    }
}
