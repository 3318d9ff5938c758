//! Checkpoints at the end of a batch: of todos that were handed out together (`next --budget`, the view `schedule`), or
//! of a parallel group. What was handed out is remembered until all of it is closed.

use std::collections::BTreeSet;

use punch_core::{Footprint, Plan, Status, Todo, Uid};
use punch_store::{Durability, HandOut, PlanId, Snapshot, Which};

use super::save::keep;
use super::{CheckpointReason, Code, SavedCheckpoint, Saving};
use crate::config::Batches;
use crate::{Engine, EngineError};

/// Todos of a batch that are remembered.
const TODOS: usize = 200;

/// Open todos among which the rest of a group is looked for; a plan with more has no end of a group noticed.
const LOOKED_AT: usize = 5_000;

impl Engine {
    /// Records that these todos were assigned as one batch, in place of the one before. Writes only
    /// if that is new.
    pub fn give_batch(&self, plan: PlanId, who: &str, ids: &[String]) -> Result<(), EngineError> {
        let wanted: BTreeSet<String> = ids.iter().take(TODOS).cloned().collect();
        let fresh = |snapshot: &dyn Snapshot| -> Result<Option<BTreeSet<Uid>>, EngineError> {
            let mut part = Plan::slice(snapshot.row()?);
            snapshot.load(&Footprint { ids: wanted.clone(), ..Footprint::default() }, &mut part)?;
            let todos: BTreeSet<Uid> = wanted.iter().filter_map(|id| part.by_id(id)).map(|todo| todo.uid).collect();
            let known = |batch: &HandOut| batch.owner == who && batch.todos == todos;
            let is_new = !todos.is_empty() && !snapshot.batches()?.iter().any(known);
            Ok(is_new.then_some(todos))
        };
        if self.read(plan, |snapshot| fresh(snapshot))?.is_none() {
            return Ok(());
        }
        self.write(plan, Durability::Relaxed, |tx, now| match fresh(tx)? {
            Some(todos) => Ok(tx.put_batch(&HandOut { owner: who.to_owned(), todos, at: now })?),
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
    ) -> Result<Option<SavedCheckpoint>, EngineError> {
        self.write(plan, Durability::Full, |tx, now| {
            let Some(EndedBatches { why, batches }) = ended(tx, when, done)? else { return Ok(None) };
            for batch in &batches {
                tx.forget_batch(&batch.owner)?;
            }
            let mut whole = Plan::slice(tx.row()?);
            tx.load(&Footprint::everything(), &mut whole)?;
            keep(tx, &whole, now, code, &Saving { why: CheckpointReason::Batch, by, notes: Some(&why) }).map(Some)
        })
    }
}

/// The batches that have ended.
struct EndedBatches {
    /// The reason in words.
    why: String,
    /// The batches whose todos are all closed.
    batches: Vec<HandOut>,
}

/// Whether a batch is over, now that these are completed.
pub(super) fn is_over(snapshot: &dyn Snapshot, when: Batches, done: &BTreeSet<Uid>) -> Result<bool, EngineError> {
    Ok(ended(snapshot, when, done)?.is_some())
}

fn ended(snapshot: &dyn Snapshot, when: Batches, done: &BTreeSet<Uid>) -> Result<Option<EndedBatches>, EngineError> {
    if when == Batches::Off {
        return Ok(None);
    }
    let all = snapshot.batches()?;
    if !all.is_empty() {
        let mut part = Plan::slice(snapshot.row()?);
        let todos = all.iter().flat_map(|batch| batch.todos.iter().copied()).collect();
        snapshot.load(&Footprint { todos, ..Footprint::default() }, &mut part)?;
        let is_open = |uid: &Uid| part.get(*uid).is_some_and(|todo| todo.is_live() && todo.status.is_open());
        let is_done = |uid: &Uid| part.get(*uid).is_some_and(|todo| todo.status == Status::Completed);
        let over: Vec<HandOut> = all.into_iter().filter(|batch| !batch.todos.iter().any(is_open)).collect();
        if over.iter().any(|batch| batch.todos.iter().any(is_done)) {
            let count: usize = over.iter().map(|batch| batch.todos.len()).sum();
            return Ok(Some(EndedBatches { why: format!("a batch of {count} is done"), batches: over }));
        }
    }
    match when {
        Batches::Groups => {
            let ended = |group| EndedBatches { why: format!("parallel group {group} is done"), batches: Vec::new() };
            Ok(group(snapshot, done)?.map(ended))
        }
        Batches::Off | Batches::Given => Ok(None),
    }
}

/// The parallel group whose last todo is among these.
fn group(snapshot: &dyn Snapshot, done: &BTreeSet<Uid>) -> Result<Option<u32>, EngineError> {
    let row = snapshot.row()?;
    if done.is_empty() || row.counts.listed() > LOOKED_AT as u64 {
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
