//! Facts about one clone of a repository, separate from what everyone who uses the store shares. They are paths, and a
//! path is valid on one machine only. A store that belongs to one clone, such as a file inside `.git`, stores them with
//! everything else; a store that several machines share must store them beside the clone.

use crate::{PlanId, StoreError};

/// What is known about this clone.
pub trait CloneFacts {
    /// The plan that was chosen for a worktree.
    fn worktree_plan(&self, worktree: &str) -> Result<Option<PlanId>, StoreError>;

    /// The plan file of a plan: JSON of the engine, kept as it is.
    fn plan_file(&self, plan: PlanId) -> Result<Option<String>, StoreError>;
}

/// Changes what is known about this clone.
pub trait CloneFactsTx: CloneFacts {
    /// Chooses the plan of this transaction for a worktree.
    fn put_worktree_plan(&mut self, worktree: &str) -> Result<(), StoreError>;

    /// Keeps the plan file of the plan of this transaction; `None` forgets it.
    fn put_plan_file(&mut self, body: Option<&str>) -> Result<(), StoreError>;
}
