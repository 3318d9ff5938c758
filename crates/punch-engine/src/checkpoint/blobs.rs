//! What the files of a todo held when it was completed (rule 32), kept beside the plan: it is about this clone, no part
//! of the history. A commit alone says little where it was made after `done`, or taken back by a later one.

use std::collections::{BTreeMap, BTreeSet};

use punch_core::{Footprint, Plan, Status, Todo, Uid};
use punch_store::{Durability, PlanId, Snapshot};
use serde::{Deserialize, Serialize};

use super::completed;
use crate::git::{Blobs, Git};
use crate::{Engine, EngineError};

/// Revisions that are looked back on for completions: others may have written since.
const REVISIONS: u64 = 16;
const EVENTS: usize = 1_000;

/// What is kept for one todo.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Kept {
    /// Which completion it is about: its time.
    at: i64,
    /// The contents.
    blobs: Blobs,
}

impl Engine {
    /// Keeps what the files of todos hold that were just completed. Cheap where nothing was, or where they name none.
    pub fn keep_files(&self, plan: PlanId, git: &dyn Fn() -> Option<Git>) -> Result<(), EngineError> {
        let new = self.read(plan, |snapshot| new(snapshot))?;
        let Some(git) = (if new.is_empty() { None } else { git() }) else { return Ok(()) };
        // Kept also where nothing matches: it is not asked for again.
        let keep = |(uid, at, files): (Uid, i64, Vec<String>)| (uid, Kept { at, blobs: git.blobs(&files) });
        let kept: Vec<(Uid, Kept)> = new.into_iter().map(keep).collect();
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
        let kept: BTreeMap<Uid, Kept> = self.read(plan, |snapshot| {
            let read = |uid: &Uid| -> Result<Option<(Uid, Kept)>, EngineError> {
                let kept = snapshot.setting(&name(plan, *uid))?;
                Ok(kept.and_then(|kept| serde_json::from_str(&kept).ok()).map(|kept| (*uid, kept)))
            };
            todos.iter().filter_map(|uid| read(uid).transpose()).collect()
        })?;
        let known = kept.into_iter().filter(|(_, kept)| kept.at <= until);
        Ok(known.filter(|(_, kept)| git.lost(&kept.blobs) == Some(true)).map(|(uid, _)| uid).collect())
    }
}

/// Todos with files that were completed lately and are not kept yet.
fn new(snapshot: &dyn Snapshot) -> Result<Vec<(Uid, i64, Vec<String>)>, EngineError> {
    let (row, plan) = (snapshot.row()?, snapshot.info()?.id);
    let events = snapshot.events(row.revision.saturating_sub(REVISIONS), EVENTS)?;
    let uids = completed(&events);
    if uids.is_empty() {
        return Ok(Vec::new());
    }
    let mut part = Plan::slice(row);
    snapshot.load(&Footprint { todos: uids.clone(), ..Footprint::default() }, &mut part)?;
    let mut out = Vec::new();
    let done = |todo: &&Todo| todo.status == Status::Completed && !todo.files.is_empty();
    for todo in uids.iter().filter_map(|uid| part.get(*uid)).filter(done) {
        let at = todo.finished_at.unwrap_or(todo.updated_at);
        let kept = snapshot.setting(&name(plan, todo.uid))?;
        let kept: Option<Kept> = kept.and_then(|kept| serde_json::from_str(&kept).ok());
        if kept.is_none_or(|kept| kept.at != at) {
            out.push((todo.uid, at, todo.files.clone()));
        }
    }
    Ok(out)
}

fn name(plan: PlanId, uid: Uid) -> String {
    format!("files:{}:{}", plan.0, uid.0)
}
