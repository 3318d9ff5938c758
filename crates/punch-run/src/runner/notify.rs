//! Notifies the user while a run works: about new inbox items, and about the end of the run.

use std::time::{Duration, Instant};

use punch_engine::{InboxMemory, InboxQuery, WorkTree, inbox_message, notify};

use super::Runner;
use crate::error::RunError;
use crate::observer::RunEvent;

/// How often the inbox is looked at, at most.
const LOOK: Duration = Duration::from_secs(1);

/// When the inbox has to be looked at.
#[derive(Debug, Default)]
pub(super) struct InboxWatch {
    looked: Option<Instant>,
    /// The plan has changed since.
    changed: bool,
}

impl InboxWatch {
    /// The plan has changed, so something may have entered the inbox.
    pub const fn plan_changed(&mut self) {
        self.changed = true;
    }

    fn is_due(&self) -> bool {
        self.changed && self.looked.is_none_or(|looked| looked.elapsed() >= LOOK)
    }
}

impl Runner<'_, '_> {
    /// Notifies the user of what has entered the inbox.
    pub(super) fn notify_of_inbox(&mut self) -> Result<(), RunError> {
        // In a fleet the coordinator notifies the user.
        if self.world.settings.notify_command.value.is_none() || !self.inbox.is_due() || self.is_worker() {
            return Ok(());
        }
        let (world, plan) = (self.world, self.world.plan);
        let tree = WorkTree { root: world.root.clone(), git: None, consents: world.consents.clone() };
        let query = InboxQuery::new(world.settings, Some(&tree));
        self.refresh_cache()?;
        let (items, now) = match self.cache.plan() {
            Some(loaded) => self.persist(|engine| Ok((engine.inbox_of(plan, loaded, &query)?, engine.now())))?,
            None => return Ok(()),
        };
        (self.inbox.changed, self.inbox.looked) = (false, Some(Instant::now()));
        match InboxMemory::beside(&world.store, plan).entered(items, now) {
            Ok(entered) if entered.is_empty() => {}
            Ok(entered) => self.notify(inbox_message(&world.plan_name, &entered)),
            Err(error) => self.remark(format!("could not send notifications: {error}")),
        }
        Ok(())
    }

    /// Runs the user's command with a text, on a separate thread.
    pub(super) fn notify(&self, text: String) {
        let Some(command) = self.world.settings.notify_command.value.clone() else { return };
        let (root, journal) = (self.world.root.clone(), self.journal);
        self.scope.spawn(move || {
            if let Err(error) = notify(&command, &root, &text) {
                let what = format!("`notify.command` cannot be started: {error}");
                journal.report(&RunEvent::Remark { what });
            }
        });
    }
}
