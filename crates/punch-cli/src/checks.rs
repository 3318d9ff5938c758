//! Checks as this process runs them: where, for how long, with whose consent.

use punch_engine::{Checker, Consents, WorkTree};

use crate::project::{Open, Project};
use crate::{environment, output};

impl Open {
    /// Behind a change that may have completed something: what is done stays done whatever comes of it.
    pub fn wrap_up(&self) {
        let project = &self.project;
        let (by, when) = (project.by(), project.config.settings.checkpoint_batches.value);
        match self.engine.wrap_up(self.plan, by, when, Some(&project.location.project_root)) {
            Ok(Some(saved)) => output::remark(&format!("checkpoint {}: a batch of work has ended", saved.id)),
            Ok(None) => {}
            Err(error) => self.engine.trouble(&error),
        }
    }
}

impl Project {
    /// The code that is worked on.
    pub fn tree(&self) -> WorkTree {
        WorkTree { root: self.location.project_root.clone(), consents: self.consents() }
    }

    /// Runs checks of this project, to their end or their time limit. When this process is ended, they end with it.
    pub fn checker(&self) -> Checker<'static> {
        self.tree().checker(self.config.settings.verify_timeout.value, &|| false)
    }

    /// The consents for this store; none where the user has no state folder.
    pub fn consents(&self) -> Option<Consents> {
        environment::state_home().map(|state| Consents::new(&state, &self.location.database))
    }
}
