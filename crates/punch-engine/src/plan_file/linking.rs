//! Links plans to files, and compares them.

use std::path::Path;

use punch_core::Uid;
use punch_core::plan_file::{AgreedTodo, PlanFile, items_of, merge};
use punch_store::{Durability, PlanId};

use super::{FileError, NAMED, PlanFileLink, PlanFileStatus, SyncOptions, SyncResult, disk};
use crate::{Engine, EngineError, WriteRequest};

impl Engine {
    /// Links a plan to a file and brings both together: what the file has and the plan lacks comes in.
    pub fn link_plan_file(
        &self,
        plan: PlanId,
        request: &WriteRequest<'_>,
        path: &Path,
        how: SyncOptions,
    ) -> Result<SyncResult, EngineError> {
        if let Some(link) = self.plan_file(plan)?.filter(|link| link.path != path) {
            return Err(FileError::Linked { path: link.path }.into());
        }
        for other in self.plans()?.into_iter().filter(|other| other.id != plan) {
            if self.plan_file(other.id)?.is_some_and(|link| link.path == path) {
                return Err(FileError::Taken { path: path.to_owned(), plan: other.name }.into());
            }
        }
        // Before anything is stored: a file that cannot be used is not linked.
        understood(path, &disk::read(path)?, &[])?;
        let known = self.plan_file(plan)?;
        let fresh = known.is_none();
        if fresh {
            let link = PlanFileLink {
                path: path.to_owned(),
                created_by: request.actor.by().to_owned(),
                ..PlanFileLink::default()
            };
            self.keep_link(plan, Some(&link))?;
        }
        let synced = self.sync_plan_file(plan, request, how);
        if fresh && synced.is_err() {
            self.keep_link(plan, None)?;
        }
        synced
    }

    /// Forgets the plan file; it stays as it is. Answers what was known about it.
    pub fn unlink_plan_file(&self, plan: PlanId) -> Result<PlanFileLink, EngineError> {
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
    pub(super) fn keep_link(&self, plan: PlanId, link: Option<&PlanFileLink>) -> Result<(), EngineError> {
        let body = link.map(|link| serde_json::to_string(link).unwrap_or_default());
        Ok(self.store.write(plan, Durability::Relaxed, &mut |tx| tx.put_plan_file(body.as_deref()))?)
    }
}

pub(super) fn understood<'a>(path: &Path, text: &'a str, base: &[AgreedTodo]) -> Result<PlanFile<'a>, FileError> {
    PlanFile::read(text, base).map_err(|what| FileError::Unclear { path: path.to_owned(), what })
}
