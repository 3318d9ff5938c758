//! Checkpoints at the end of a batch: of todos that were assigned together (`next --budget`, the view
//! `schedule`), or of a parallel group. What was given is remembered until all of it is closed.

use std::collections::BTreeSet;

use punch_core::{Footprint, Plan, Status, Todo, Uid};
use punch_store::{Durability, PlanId, Snapshot, Which};
use serde::{Deserialize, Serialize};

use super::save::keep;
use super::{CheckpointReason, Code, Saved, Saving};
use crate::config::Batches;
use crate::{Engine, EngineError};

/// Batches that are remembered, and todos of each.
const REMEMBERED: usize = 32;
const TODOS: usize = 200;

/// Open todos among which the rest of a group is looked for; a plan with more has no end of a group noticed.
const LOOKED_AT: usize = 5_000;

/// Todos that were assigned together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Given {
    /// To whom.
    who: String,
    /// What.
    todos: BTreeSet<Uid>,
}

impl Engine {
    /// Records that these todos were assigned as one batch, in place of the one before. Writes only
    /// if that is new.
    pub fn give_batch(&self, plan: PlanId, who: &str, ids: &[String]) -> Result<(), EngineError> {
        let wanted: BTreeSet<String> = ids.iter().take(TODOS).cloned().collect();
        let fresh = |snapshot: &dyn Snapshot| -> Result<Option<Vec<Given>>, EngineError> {
            let mut part = Plan::slice(snapshot.row()?);
            snapshot.load(&Footprint { ids: wanted.clone(), ..Footprint::default() }, &mut part)?;
            let todos = wanted.iter().filter_map(|id| part.by_id(id)).map(|todo| todo.uid).collect();
            let given = Given { who: who.to_owned(), todos };
            let mut all = remembered(snapshot, plan)?;
            if given.todos.is_empty() || all.contains(&given) {
                return Ok(None);
            }
            all.retain(|known| known.who != given.who);
            if all.len() >= REMEMBERED {
                all.remove(0);
            }
            all.push(given);
            Ok(Some(all))
        };
        if self.read(plan, |snapshot| fresh(snapshot))?.is_none() {
            return Ok(());
        }
        self.write(plan, Durability::Relaxed, |tx, _| match fresh(tx)? {
            Some(all) => Ok(tx.put_setting(&name(plan), Some(&text(&all)))?),
            None => Ok(()),
        })
    }

    /// Makes a checkpoint if a write that completed these ended a batch, and it has not been noticed since.
    pub(super) fn checkpoint_batch(
        &self,
        plan: PlanId,
        by: &str,
        when: Batches,
        done: &BTreeSet<Uid>,
        code: &Code,
    ) -> Result<Option<Saved>, EngineError> {
        self.write(plan, Durability::Full, |tx, now| {
            let now = now.max(tx.row()?.last_time);
            let Some((why, rest)) = ended(tx, plan, when, done)? else { return Ok(None) };
            if let Some(rest) = rest {
                tx.put_setting(&name(plan), (!rest.is_empty()).then(|| text(&rest)).as_deref())?;
            }
            let mut whole = Plan::slice(tx.row()?);
            tx.load(&Footprint::everything(), &mut whole)?;
            keep(tx, &whole, now, code, &Saving { why: CheckpointReason::Batch, by, notes: Some(&why) }).map(Some)
        })
    }
}

/// What ended, in words, and the batches that are left.
type Ended = (String, Option<Vec<Given>>);

/// Whether a batch is over, now that these are completed.
pub(super) fn is_over(
    snapshot: &dyn Snapshot,
    plan: PlanId,
    when: Batches,
    done: &BTreeSet<Uid>,
) -> Result<bool, EngineError> {
    Ok(ended(snapshot, plan, when, done)?.is_some())
}

fn ended(
    snapshot: &dyn Snapshot,
    plan: PlanId,
    when: Batches,
    done: &BTreeSet<Uid>,
) -> Result<Option<Ended>, EngineError> {
    if when == Batches::Off {
        return Ok(None);
    }
    let all = remembered(snapshot, plan)?;
    if !all.is_empty() {
        let mut part = Plan::slice(snapshot.row()?);
        let todos = all.iter().flat_map(|given| given.todos.iter().copied()).collect();
        snapshot.load(&Footprint { todos, ..Footprint::default() }, &mut part)?;
        let is_open = |uid: &Uid| part.get(*uid).is_some_and(|todo| todo.is_live() && todo.status.is_open());
        let is_done = |uid: &Uid| part.get(*uid).is_some_and(|todo| todo.status == Status::Completed);
        let (left, over): (Vec<Given>, Vec<Given>) = all.into_iter().partition(|given| given.todos.iter().any(is_open));
        if over.iter().any(|given| given.todos.iter().any(is_done)) {
            let count: usize = over.iter().map(|given| given.todos.len()).sum();
            return Ok(Some((format!("the last of a batch of {count} is done"), Some(left))));
        }
    }
    match when {
        Batches::Groups => Ok(group(snapshot, done)?.map(|group| (format!("parallel group {group} is done"), None))),
        Batches::Off | Batches::Given => Ok(None),
    }
}

/// The parallel group whose last todo is among these.
fn group(snapshot: &dyn Snapshot, done: &BTreeSet<Uid>) -> Result<Option<u32>, EngineError> {
    let row = snapshot.row()?;
    if done.is_empty() || row.counts.open() > LOOKED_AT as u64 {
        return Ok(None);
    }
    let mut part = Plan::slice(row);
    snapshot.load(&Footprint { todos: done.clone(), ..Footprint::default() }, &mut part)?;
    let open: BTreeSet<u32> = snapshot.list(Which::Open, None, LOOKED_AT)?.iter().map(level).collect();
    let mut levels = done.iter().filter_map(|uid| part.get(*uid)).map(level);
    Ok(levels.find(|level| !open.contains(level)))
}

const fn level(todo: &Todo) -> u32 {
    todo.derived.level
}

fn remembered(snapshot: &dyn Snapshot, plan: PlanId) -> Result<Vec<Given>, EngineError> {
    let kept = snapshot.setting(&name(plan))?;
    Ok(kept.and_then(|kept| serde_json::from_str(&kept).ok()).unwrap_or_default())
}

fn text(all: &[Given]) -> String {
    serde_json::to_string(all).unwrap_or_default()
}

fn name(plan: PlanId) -> String {
    format!("batches:{}", plan.0)
}
