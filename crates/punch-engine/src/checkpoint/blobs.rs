//! What the files of a todo held when it was completed (rule 32), kept beside the plan: it is about this clone, no part
//! of the history. A commit alone says little where it was made after `done`, or taken back by a later one.

use std::collections::{BTreeMap, BTreeSet};

use punch_core::{Footprint, Plan, Status, Todo, Uid};
use punch_store::{Durability, PlanId, Snapshot};
use serde::{Deserialize, Serialize};

use crate::git::{Blobs, Git};
use crate::{Engine, EngineError};

/// What is kept for one todo.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct CompletedBlobs {
    /// Which completion it is about: its time.
    at: i64,
    /// The contents.
    blobs: Blobs,
}

impl Engine {
    /// Keeps what the files of todos hold that were just completed.
    pub(super) fn keep_files(&self, plan: PlanId, git: &Git, named: &[Named]) -> Result<(), EngineError> {
        let keep = |named: &Named| (named.uid, CompletedBlobs { at: named.at, blobs: git.blobs(&named.files) });
        let kept: Vec<(Uid, CompletedBlobs)> = named.iter().map(keep).collect();
        self.write(plan, Durability::Relaxed, |tx, _| {
            for (uid, kept) in &kept {
                tx.put_setting(&name(plan, *uid), serde_json::to_string(kept).ok().as_deref())?;
            }
            Ok(())
        })
    }

    /// Which of these completions git has lost, by the contents of their files. `until`: when they were known.
    pub(super) fn lost_files(
        &self,
        plan: PlanId,
        git: &Git,
        todos: &BTreeSet<Uid>,
        until: i64,
    ) -> Result<BTreeSet<Uid>, EngineError> {
        let kept: BTreeMap<Uid, CompletedBlobs> = self.read(plan, |snapshot| {
            let read = |uid: &Uid| -> Result<Option<(Uid, CompletedBlobs)>, EngineError> {
                let kept = snapshot.setting(&name(plan, *uid))?;
                Ok(kept.and_then(|kept| serde_json::from_str(&kept).ok()).map(|kept| (*uid, kept)))
            };
            todos.iter().filter_map(|uid| read(uid).transpose()).collect()
        })?;
        let known = kept.into_iter().filter(|(_, kept)| kept.at <= until);
        Ok(known.filter(|(_, kept)| git.lost(&kept.blobs) == Some(true)).map(|(uid, _)| uid).collect())
    }
}

/// A completed todo that names files.
#[derive(Debug)]
pub(super) struct Named {
    uid: Uid,
    /// When it was completed.
    at: i64,
    files: Vec<String>,
}

/// Those of these todos that name files.
pub(super) fn named(snapshot: &dyn Snapshot, todos: &BTreeSet<Uid>) -> Result<Vec<Named>, EngineError> {
    let mut part = Plan::slice(snapshot.row()?);
    snapshot.load(&Footprint { todos: todos.clone(), ..Footprint::default() }, &mut part)?;
    let done = |todo: &&Todo| todo.status == Status::Completed && !todo.files.is_empty();
    let found = todos.iter().filter_map(|uid| part.get(*uid)).filter(done);
    let named = |todo: &Todo| Named {
        uid: todo.uid,
        at: todo.finished_at.unwrap_or(todo.updated_at),
        files: todo.files.clone(),
    };
    Ok(found.map(named).collect())
}

fn name(plan: PlanId, uid: Uid) -> String {
    format!("files:{}:{}", plan.0, uid.0)
}
