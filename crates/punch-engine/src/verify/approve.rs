//! Approvals that the user gives through a board or at a terminal.

use punch_core::Verify;
use punch_store::{Durability, PlanId};

use crate::activity::{self, ActivityKind, one_line};
use crate::{Answerer, Consents, Engine, EngineError};

impl Engine {
    /// Approves a command that checks todos, and records who did it and where. Returns false if it was approved before.
    pub fn approve_check(
        &self,
        plan: PlanId,
        consents: &Consents,
        command: &Verify,
        by: &Answerer,
    ) -> Result<bool, EngineError> {
        let is_new =
            consents.give(command).map_err(|error| EngineError::ApprovalNotStored { why: error.to_string() })?;
        if is_new {
            let kind =
                ActivityKind::Approved { command: one_line(&command.line()), by: by.by().to_owned(), via: by.place() };
            self.write(plan, Durability::Relaxed, |tx, now| Ok(activity::record(tx, None, None, &kind, now)?))?;
        }
        Ok(is_new)
    }
}
