//! Deletes old events after they were written to a file.

use std::io::Write;

use punch_store::{Durability, PlanId};

use crate::{Engine, EngineError};

impl Engine {
    /// Forgets the events of all revisions before `before`; each goes to `export` as one line of JSON first. Answers
    /// how many there were. What is forgotten can no longer be undone; the plan itself stays as it is.
    pub fn prune(&self, plan: PlanId, before: u64, export: &mut dyn Write) -> Result<u64, EngineError> {
        self.write(plan, Durability::Full, |tx, _| Ok(tx.prune(before, &mut *export)?))
    }
}
