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

#[cfg(test)]
mod tests {
    use punch_store::{OpenMode, SqliteStore, Store};

    use super::*;

    #[test]
    fn an_approval_is_stored_once_with_who_gave_it_and_where() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("punch.db");
        let store = SqliteStore::open(&database, OpenMode::Create).unwrap();
        let plan = store.create_plan("main", 1).unwrap();
        let engine = Engine::new(Box::new(store), Box::new(|| 1_000));
        let consents = Consents::new(folder.path(), &database, folder.path());
        let (command, by) = (Verify::Shell("make check".into()), Answerer::on("desk"));
        assert!(!consents.has(&command));
        assert!(engine.approve_check(plan, &consents, &command, &by).unwrap());
        assert!(consents.has(&command));
        assert!(!engine.approve_check(plan, &consents, &command, &by).unwrap(), "it was approved before");
        let recorded: Vec<ActivityKind> =
            engine.activity(plan, 0, 10).unwrap().records.into_iter().map(|record| record.kind).collect();
        let (command, by) = ("make check".to_owned(), "user".to_owned());
        assert_eq!(recorded, [ActivityKind::Approved { command, by, via: "terminal@desk".to_owned() }]);
    }
}
