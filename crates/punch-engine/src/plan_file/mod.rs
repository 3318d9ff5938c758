//! The plan file that belongs to a plan: which one it is, what both said when they last agreed, and who has to do with
//! it. Kept as one small value of the store; a plan without one costs a look for it (decision 0014).

mod after;
mod disk;
mod error;
mod sync;
mod take;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use punch_core::Uid;
use punch_core::plan_file::{AgreedTodo, Conflict, Merged, PlanFile, items_of, merge};
use punch_store::{Catalogue, Durability, PlanId, StoreError};
use serde::{Deserialize, Serialize};

use crate::{Engine, EngineError, Request};
pub use disk::{FileStamp, look};
pub use error::FileError;
pub use sync::{SyncOptions, Synced};

/// Conflicts that are remembered.
const REMEMBERED: usize = 20;

/// Names that are remembered of those who changed the file.
const NAMED: usize = 50;

/// What is known about the plan file of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Link {
    /// Where it is; absolute.
    pub path: PathBuf,
    /// Who linked it.
    pub created_by: String,
    /// Who changed the plan through it.
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
    pub conflicts: Vec<Conflict>,
    /// What both said.
    pub base: Vec<AgreedTodo>,
}

/// A plan file compared with its plan; nothing was changed.
#[derive(Clone, Debug)]
pub struct PlanFileStatus {
    /// What is known about it.
    pub link: Link,
    /// What a sync would do.
    pub merged: Merged,
    /// Todos in the file.
    pub todos: usize,
}

/// The plan file of a plan, at one moment of the store.
pub(crate) fn link_of(catalogue: &(impl Catalogue + ?Sized), plan: PlanId) -> Result<Option<Link>, StoreError> {
    Ok(catalogue.plan_file(plan)?.map(|body| Link::read(&body)))
}

impl Link {
    fn read(body: &str) -> Self {
        serde_json::from_str(body).unwrap_or_default()
    }

    fn edited(&mut self, by: &str) {
        if !self.edited_by.iter().any(|known| known == by) && self.edited_by.len() < NAMED {
            self.edited_by.push(by.to_owned());
        }
    }

    fn remember(&mut self, conflicts: &[Conflict]) {
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
    pub fn plan_file(&self, plan: PlanId) -> Result<Option<Link>, EngineError> {
        self.browse(|catalogue| link_of(catalogue, plan))
    }

    /// Links a plan to a file and brings both together: what the file has and the plan lacks comes in.
    pub fn link_plan_file(
        &self,
        plan: PlanId,
        request: &Request<'_>,
        path: &Path,
        how: SyncOptions,
    ) -> Result<Synced, EngineError> {
        if let Some(link) = self.plan_file(plan)?.filter(|link| link.path != path) {
            return Err(FileError::Linked { path: link.path }.into());
        }
        for other in self.plans()?.into_iter().filter(|other| other.id != plan) {
            if self.plan_file(other.id)?.is_some_and(|link| link.path == path) {
                return Err(FileError::Taken { path: path.to_owned(), plan: other.name }.into());
            }
        }
        // Before anything is kept: a file that cannot be used is not linked.
        understood(path, &disk::read(path)?, &[])?;
        let known = self.plan_file(plan)?;
        let fresh = known.is_none();
        if fresh {
            let link = Link { path: path.to_owned(), created_by: request.actor.by().to_owned(), ..Link::default() };
            self.keep_link(plan, Some(&link))?;
        }
        let synced = self.sync_plan_file(plan, request, how);
        if fresh && synced.is_err() {
            self.keep_link(plan, None)?;
        }
        synced
    }

    /// Forgets the plan file; it stays as it is. Answers what was known about it.
    pub fn unlink_plan_file(&self, plan: PlanId) -> Result<Link, EngineError> {
        let link = self.plan_file(plan)?.ok_or(FileError::NotLinked)?;
        self.keep_link(plan, None)?;
        Ok(link)
    }

    /// Compares the plan file with its plan.
    pub fn plan_file_standing(&self, plan: PlanId) -> Result<PlanFileStatus, EngineError> {
        let link = self.plan_file(plan)?.ok_or(FileError::NotLinked)?;
        let text = disk::read(&link.path)?;
        let file = understood(&link.path, &text, &link.base)?;
        let merged = merge(file.form(), &link.base, file.items(), &items_of(&self.whole(plan)?));
        Ok(PlanFileStatus { todos: file.items().len(), link, merged })
    }

    /// The todos of the plan file that are neither completed nor cancelled, in the order of the file.
    pub fn to_build(&self, plan: PlanId) -> Result<Vec<Uid>, EngineError> {
        let link = self.plan_file(plan)?.ok_or(FileError::NotLinked)?;
        let whole = self.whole(plan)?;
        let todo = |known: &AgreedTodo| whole.by_id(&known.file.id).filter(|todo| todo.status.is_open());
        Ok(link.base.iter().filter_map(todo).map(|todo| todo.uid).collect())
    }

    /// Remembers that todos of the plan file were given to a session.
    pub fn note_built(&self, plan: PlanId, session: &str, ids: &[String]) -> Result<(), EngineError> {
        let mut link = self.plan_file(plan)?.ok_or(FileError::NotLinked)?;
        link.built_by.insert(session.to_owned(), ids.to_vec());
        while link.built_by.len() > NAMED {
            link.built_by.pop_first();
        }
        self.keep_link(plan, Some(&link))
    }

    /// Keeps the link without going the way of a write: nothing in the plan changes.
    fn keep_link(&self, plan: PlanId, link: Option<&Link>) -> Result<(), EngineError> {
        let body = link.map(|link| serde_json::to_string(link).unwrap_or_default());
        Ok(self.store.write(plan, Durability::Relaxed, &mut |tx| tx.put_plan_file(body.as_deref()))?)
    }
}

fn understood<'a>(path: &Path, text: &'a str, base: &[AgreedTodo]) -> Result<PlanFile<'a>, FileError> {
    PlanFile::read(text, base).map_err(|what| FileError::Unclear { path: path.to_owned(), what })
}
