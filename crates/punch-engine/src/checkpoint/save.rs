//! Saves a checkpoint: its content and its name.

use punch_core::{Footprint, Lists, Plan, Status, Todo, TodoProgress, Uid, time};
use punch_store::{CheckpointRow, Durability, PlanId, Tx};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{CheckpointError, Code};
use crate::git::GitState;
use crate::{Engine, EngineError};

/// Characters of a remark.
const NOTES: usize = 8_000;

/// At most this many automatic checkpoints are kept.
const AUTOMATIC: usize = 20;

/// Why a checkpoint was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CheckpointReason {
    /// The user or an agent asked for it.
    #[default]
    Asked,
    /// Before a restore.
    Safety,
    /// A session has used up a part of its context.
    Context,
    /// A batch of work ended.
    Batch,
}

/// What is asked of a new checkpoint.
#[derive(Clone, Debug, Default)]
pub struct Saving<'a> {
    /// The reason for the checkpoint.
    pub why: CheckpointReason,
    /// The actor that saves it.
    pub by: &'a str,
    /// A remark.
    pub notes: Option<&'a str>,
}

/// What was known about completions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Verification {
    /// Completed, and a check passed.
    pub verified: Vec<String>,
    /// Completed without a check.
    pub unverified: Vec<String>,
    /// Completed, and nothing vouches for it any more.
    pub stale: Vec<String>,
}

/// A checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SavedCheckpoint {
    /// `chk-YYYYMMDD-HHMMSS`, in UTC.
    pub id: String,
    /// When the checkpoint was saved.
    pub at: i64,
    /// The reason for the checkpoint.
    pub why: CheckpointReason,
    /// The actor that saved it.
    pub by: String,
    /// The name of the plan.
    pub plan: String,
    /// The revision of the plan.
    pub revision: u64,
    /// The state of the work.
    pub todos: Lists,
    /// The state of the code; null without git.
    pub git: Option<GitState>,
    /// What was known about completions.
    pub verification: Verification,
    /// A remark.
    pub notes: Option<String>,
    /// What it takes to come back, for every todo that there was.
    pub work: Vec<(Uid, TodoProgress)>,
}

impl SavedCheckpoint {
    /// The checkpoint for programs. What only a restore needs is left out; of the patch, which may be long, only the size
    /// is there unless it is asked for.
    pub fn answer(&self, with_patch: bool) -> Value {
        let mut out = serde_json::to_value(self).unwrap_or_default();
        if let Some(map) = out.as_object_mut() {
            map.remove("work");
            map.insert("time".into(), json!(time::utc(self.at)));
        }
        let bytes = self.git.as_ref().and_then(|git| git.patch.as_ref()).map(String::len);
        if let (Some(git), false) = (out["git"].as_object_mut(), with_patch) {
            git.remove("patch");
            git.insert("patchBytes".into(), json!(bytes.unwrap_or(0)));
        }
        out
    }

    pub(super) fn read(kept: &CheckpointRow) -> Result<Self, EngineError> {
        let damaged = |_| CheckpointError::Damaged { id: kept.id.clone() };
        Ok(serde_json::from_str(&kept.body).map_err(damaged)?)
    }
}

impl Engine {
    /// Saves the state of the plan and the code. `code` was read before, outside the transaction.
    pub fn checkpoint(&self, plan: PlanId, code: &Code, saving: &Saving<'_>) -> Result<SavedCheckpoint, EngineError> {
        self.write(plan, Durability::Full, |tx, now| {
            let mut whole = Plan::slice(tx.row()?);
            tx.load(&Footprint::everything(), &mut whole)?;
            keep(tx, &whole, now, code, saving)
        })
    }
}

/// Makes and keeps a checkpoint of a whole plan inside a transaction.
pub(super) fn keep(
    tx: &mut dyn Tx,
    whole: &Plan,
    now: i64,
    code: &Code,
    saving: &Saving<'_>,
) -> Result<SavedCheckpoint, EngineError> {
    let saved = SavedCheckpoint {
        id: free(tx, now)?,
        at: now,
        why: saving.why,
        by: saving.by.to_owned(),
        plan: tx.info()?.name,
        revision: whole.row.revision,
        todos: Lists::of(whole, now),
        git: code.state.clone(),
        verification: verification(whole),
        notes: saving.notes.map(|notes| notes.chars().take(NOTES).collect()),
        work: whole.live().into_iter().map(|todo| (todo.uid, TodoProgress::of(todo))).collect(),
    };
    let body = serde_json::to_string(&saved).unwrap_or_default();
    tx.put_checkpoint(&CheckpointRow { id: saved.id.clone(), at: now, body })?;
    if saving.why != CheckpointReason::Asked {
        forget_automatic(tx)?;
    }
    Ok(saved)
}

/// The name of this second, with a number if it is taken.
fn free(tx: &dyn Tx, now: i64) -> Result<String, EngineError> {
    let name = format!("chk-{}", time::stamp(now));
    if tx.checkpoint(&name)?.is_none() {
        return Ok(name);
    }
    for n in 2u64.. {
        let name = format!("{name}-{n}");
        if tx.checkpoint(&name)?.is_none() {
            return Ok(name);
        }
    }
    Ok(name)
}

/// Automatic ones come often; those that were asked for stay until they are pruned.
fn forget_automatic(tx: &mut dyn Tx) -> Result<(), EngineError> {
    let mut automatic = 0;
    for kept in tx.checkpoints(usize::MAX)? {
        if SavedCheckpoint::read(&kept).is_ok_and(|saved| saved.why != CheckpointReason::Asked) {
            automatic += 1;
            if automatic > AUTOMATIC {
                tx.forget_checkpoint(&kept.id)?;
            }
        }
    }
    Ok(())
}

fn verification(whole: &Plan) -> Verification {
    let mut out = Verification::default();
    for todo in whole.live().into_iter().filter(|todo| todo.status == Status::Completed) {
        let list = match (todo.flags.stale, checked(todo)) {
            (true, _) => &mut out.stale,
            (false, true) => &mut out.verified,
            (false, false) => &mut out.unverified,
        };
        list.push(todo.id.clone());
    }
    out
}

fn checked(todo: &Todo) -> bool {
    todo.evidence.iter().rev().find(|evidence| evidence.command.is_some()).is_some_and(|e| e.exit_code == Some(0))
}
