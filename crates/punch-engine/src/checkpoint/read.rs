//! Reads checkpoints: the list, a single one, and the progress of the plan since one.

use std::collections::BTreeMap;

use punch_core::{Plan, Status, TodoProgress, Uid, text};
use punch_store::{Durability, PlanId, Snapshot};
use serde::Serialize;

use super::{CheckpointError, CheckpointReason, SavedCheckpoint};
use crate::{Engine, EngineError};

/// A todo whose status differs from the one at a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Differs {
    /// Its id now, or what it was called last.
    pub id: String,
    /// Then; null if it came later.
    pub then: Option<Status>,
    /// Now; null if it is archived.
    pub now: Option<Status>,
}

impl Engine {
    /// The newest checkpoints first.
    pub fn checkpoints(&self, plan: PlanId, limit: usize) -> Result<Vec<SavedCheckpoint>, EngineError> {
        self.read(plan, |snapshot| snapshot.checkpoints(limit)?.iter().map(SavedCheckpoint::read).collect())
    }

    /// One checkpoint by its id; `latest` is the newest that is not a safety copy.
    pub fn saved(&self, plan: PlanId, id: &str) -> Result<SavedCheckpoint, EngineError> {
        self.read(plan, |snapshot| find(snapshot, id))
    }

    /// How a plan differs from a checkpoint, in the order of the list, archived todos last.
    pub fn differs(&self, plan: PlanId, saved: &SavedCheckpoint) -> Result<Vec<Differs>, EngineError> {
        Ok(differs(&self.whole(plan)?, saved, self.now()))
    }

    /// Forgets all but the newest `keep`. Answers which.
    pub fn prune_checkpoints(&self, plan: PlanId, keep: usize) -> Result<Vec<String>, EngineError> {
        self.write(plan, Durability::Full, |tx, _| {
            let old: Vec<String> = tx.checkpoints(usize::MAX)?.into_iter().skip(keep).map(|kept| kept.id).collect();
            old.iter().try_for_each(|id| tx.forget_checkpoint(id))?;
            Ok(old)
        })
    }
}

pub(super) fn find(snapshot: &dyn Snapshot, id: &str) -> Result<SavedCheckpoint, EngineError> {
    if let Some(kept) = snapshot.checkpoint(id)? {
        return SavedCheckpoint::read(&kept);
    }
    let all = snapshot.checkpoints(1_000)?;
    if id == "latest" {
        let saved = all.iter().filter_map(|kept| SavedCheckpoint::read(kept).ok());
        if let Some(saved) = saved.into_iter().find(|saved| saved.why != CheckpointReason::Safety) {
            return Ok(saved);
        }
    }
    let near = text::nearest(id, all.iter().map(|kept| kept.id.as_str()), 3);
    Err(CheckpointError::Unknown { id: id.to_owned(), near }.into())
}

fn differs(whole: &Plan, saved: &SavedCheckpoint, now: i64) -> Vec<Differs> {
    let mut then: BTreeMap<Uid, &TodoProgress> = saved.work.iter().map(|(uid, work)| (*uid, work)).collect();
    let mut out = Vec::new();
    for todo in whole.live() {
        let before = then.remove(&todo.uid).map(|work| work.status);
        let after = todo.status_at(now);
        if before != Some(after) {
            out.push(Differs { id: todo.id.clone(), then: before, now: Some(after) });
        }
    }
    for (uid, work) in then {
        let id = whole.get(uid).map_or_else(|| format!("#{}", uid.0), |todo| todo.id.clone());
        out.push(Differs { id, then: Some(work.status), now: None });
    }
    out
}
