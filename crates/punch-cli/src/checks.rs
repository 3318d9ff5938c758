//! Checks as this process runs them: where, for how long, with whose consent.

use punch_engine::{Checker, Consents};

use crate::environment;
use crate::project::Project;

impl Project {
    /// Runs checks of this project. They go on until their end or their time limit.
    pub fn checker(&self) -> Checker<'static> {
        Checker {
            root: self.location.project_root.clone(),
            limit: self.config.settings.verify_timeout.value,
            consents: self.consents(),
            stopped: &|| false,
        }
    }

    /// The consents for this store; none where the user has no state folder.
    pub fn consents(&self) -> Option<Consents> {
        environment::state_home().map(|state| Consents::new(&state, &self.location.database))
    }
}
