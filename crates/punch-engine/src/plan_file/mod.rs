//! The file that is linked to a plan: its path, the last common state, and the sessions that worked on it. Stored as
//! one small value; a plan without a file costs one lookup (decision 0014).

#[cfg(feature = "files")]
mod after;
#[cfg(feature = "files")]
mod disk;
mod error;
#[cfg(feature = "files")]
mod linking;
mod stamp;
#[cfg(feature = "files")]
mod sync;
#[cfg(feature = "files")]
mod take;

use std::collections::BTreeMap;
use std::path::PathBuf;

use punch_core::plan_file::{AgreedTodo, MergeConflict, PlanFileMerge};
use punch_store::{Catalogue, PlanId, StoreError};
use serde::{Deserialize, Serialize};

use crate::{Engine, EngineError};
#[cfg(feature = "files")]
pub use disk::look;
pub use error::FileError;
#[cfg(feature = "files")]
use linking::understood;
pub use stamp::FileStamp;
#[cfg(feature = "files")]
pub use sync::{SyncOptions, SyncResult};

/// Conflicts that are remembered.
#[cfg(feature = "files")]
const REMEMBERED: usize = 20;

/// Names that are remembered of those who changed the file.
#[cfg(feature = "files")]
const NAMED: usize = 50;

/// What is known about the plan file of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanFileLink {
    /// The absolute path of the file.
    pub path: PathBuf,
    /// The actor that linked the file.
    pub created_by: String,
    /// The actors that changed the plan through the file.
    pub edited_by: Vec<String>,
    /// The sessions that were given its todos, with the ids they were given.
    pub built_by: BTreeMap<String, Vec<String>>,
    /// The plan's revision when both last agreed.
    pub revision: u64,
    /// When, in milliseconds since the epoch.
    pub at: i64,
    /// How the file looked then.
    pub look: Option<FileStamp>,
    /// Where both had changed one thing, the newest last.
    pub conflicts: Vec<MergeConflict>,
    /// The state that both sides last agreed on.
    pub base: Vec<AgreedTodo>,
}

/// The part of [`PlanFileLink`] that shows whether the file was changed. Hooks read it at every step of an agent.
#[cfg(feature = "files")]
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct LinkedFile {
    path: PathBuf,
    look: Option<FileStamp>,
}

#[cfg(feature = "files")]
impl LinkedFile {
    fn read(body: &str) -> Self {
        serde_json::from_str(body).unwrap_or_default()
    }
}

/// A plan file compared with its plan; nothing was changed.
#[derive(Clone, Debug)]
pub struct PlanFileStatus {
    /// What is known about it.
    pub link: PlanFileLink,
    /// What a sync would do.
    pub merged: PlanFileMerge,
    /// Todos in the file.
    pub todos: usize,
}

/// The plan file of a plan, at one moment of the store.
pub(crate) fn link_of(catalogue: &(impl Catalogue + ?Sized), plan: PlanId) -> Result<Option<PlanFileLink>, StoreError> {
    Ok(catalogue.plan_file(plan)?.map(|body| PlanFileLink::read(&body)))
}

impl PlanFileLink {
    fn read(body: &str) -> Self {
        serde_json::from_str(body).unwrap_or_default()
    }

    #[cfg(feature = "files")]
    fn edited(&mut self, by: &str) {
        if !self.edited_by.iter().any(|known| known == by) && self.edited_by.len() < NAMED {
            self.edited_by.push(by.to_owned());
        }
    }

    #[cfg(feature = "files")]
    fn remember(&mut self, conflicts: &[MergeConflict]) {
        for conflict in conflicts {
            self.conflicts.retain(|known| known != conflict);
            self.conflicts.push(conflict.clone());
        }
        let surplus = self.conflicts.len().saturating_sub(REMEMBERED);
        self.conflicts.drain(..surplus);
    }
}

impl Engine {
    /// The plan file of a plan.
    pub fn plan_file(&self, plan: PlanId) -> Result<Option<PlanFileLink>, EngineError> {
        self.browse(|catalogue| link_of(catalogue, plan))
    }

    /// Plan files are left alone: this program was built without them. The next sync by one that has them notices.
    #[cfg(not(feature = "files"))]
    pub(crate) fn tell_file(&self, _plan: PlanId, _linked: Option<&str>) {}

    /// Plan files are left alone, see `tell_file`.
    #[cfg(not(feature = "files"))]
    pub(crate) fn read_back<'a>(
        &self,
        _plan: PlanId,
        _link: &str,
        _by: impl FnOnce(&std::path::Path) -> crate::WriteRequest<'a>,
        _reports_trouble: bool,
    ) {
    }
}
