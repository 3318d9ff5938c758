//! Checks as this process runs them: where, for how long, with whose consent.

use punch_engine::{Checker, Consents, WorkTree};

use crate::environment;
use crate::project::Project;

impl Project {
    /// The code that is worked on.
    pub fn tree(&self) -> WorkTree {
        WorkTree { root: self.location.project_root.clone(), git: None, consents: self.consents() }
    }

    /// Runs checks of this project, to their end or their time limit. When this process is ended, they end with it.
    pub fn checker(&self) -> Checker<'static> {
        self.tree().checker(self.config.settings.verify_timeout.value, &|| false)
    }

    /// What the user approved for this store and repository; none where the user has no state folder.
    pub fn consents(&self) -> Option<Consents> {
        environment::approvals(&self.location)
    }
}
