//! Finds out which revisions are in force, and which of them an undo or a redo without a number means. A revision is in
//! force unless an undo of it is in force. Undos are newer than what they undo, so one walk from the newest revision to
//! the oldest decides each revision when it reaches it, and ends at the first that fits.

use std::collections::HashMap;

use super::{ApplyStop, Context, Undone};
use crate::{Event, EventKind, FieldChange, Footprint, Patch, Plan, Refusal};

/// A walk over revisions from the newest to the oldest.
#[derive(Clone, Debug, Default)]
pub struct UndoWalk {
    /// Undone revisions that are still to come, with the undo.
    undone: HashMap<u64, u64>,
    /// Undos from logs that did not record what they undo, with nothing assigned to them yet.
    unmarked: Vec<u64>,
}

/// The fate of one revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UndoState {
    /// The write undid an earlier one.
    pub is_undo: bool,
    /// The revision that it undid, if that was recorded.
    pub undoes: Option<u64>,
    /// The undo of this revision, if that undo is in force.
    pub undone_by: Option<u64>,
}

impl UndoWalk {
    /// Takes the next older revision. Every newer one must have been visited.
    pub fn visit(&mut self, revision: u64, events: &[Event]) -> UndoState {
        let undoes = events.iter().find_map(|event| event.undoes);
        let is_undo = undoes.is_some() || events.iter().any(|event| event.kind == EventKind::Reverted);
        let mut undone_by = self.undone.remove(&revision);
        match (is_undo, undoes) {
            // An undo that is undone has no effect.
            _ if undone_by.is_some() => {}
            (true, Some(of)) => {
                self.undone.entry(of).or_insert(revision);
            }
            (true, None) => self.unmarked.push(revision),
            (false, _) => undone_by = self.unmarked.pop(),
        }
        UndoState { is_undo, undoes, undone_by }
    }
}

/// What is to be undone.
#[derive(Clone, Copy, Debug)]
pub(super) enum Aim {
    /// This revision.
    Revision(u64),
    /// The latest change, of the actor or of anyone.
    Change { any: bool },
    /// The latest undo of the actor.
    Undo,
}

/// Finds the newest matching revision below `below` that is in force. Fails if the requested one is not in force, or if
/// there is none.
pub(super) fn find(plan: &Plan, ctx: &Context, aim: Aim, below: u64) -> Result<Undone, ApplyStop> {
    let newest = plan.row.revision;
    if let Aim::Revision(revision) = aim
        && (revision == 0 || revision > newest)
    {
        return Err(Refusal::UnknownRevision { revision }.into());
    }
    let mut standing = UndoWalk::default();
    let mut others = None;
    for revision in (1..=newest).rev() {
        let events = events(plan, newest, revision)?;
        let Some(first) = events.first() else { break };
        let fate = standing.visit(revision, events);
        match aim {
            Aim::Revision(named) if named == revision => {
                if let Some(by) = fate.undone_by {
                    return Err(Refusal::AlreadyUndone { revision, by }.into());
                }
                return chain(plan, newest, revision);
            }
            Aim::Revision(_) => continue,
            Aim::Change { .. } if fate.is_undo => continue,
            Aim::Undo if !fate.is_undo => continue,
            Aim::Change { .. } | Aim::Undo => {}
        }
        if fate.undone_by.is_some() || revision >= below || !events.iter().any(|event| undoable(event, ctx)) {
            continue;
        }
        let undone = chain(plan, newest, revision)?;
        let meant = matches!(aim, Aim::Undo) == undone.redo;
        if meant && (first.is_by(&ctx.actor) || matches!(aim, Aim::Change { any: true })) {
            return Ok(undone);
        }
        if meant && others.is_none() {
            others = Some((revision, first.by.clone()));
        }
    }
    match aim {
        Aim::Revision(revision) => Err(Refusal::UnknownRevision { revision }.into()),
        Aim::Change { .. } => Err(Refusal::NothingToUndo { others }.into()),
        Aim::Undo => Err(Refusal::NothingToRedo { others }.into()),
    }
}

/// Follows a chain of undos to the change that it began with.
fn chain(plan: &Plan, newest: u64, revision: u64) -> Result<Undone, ApplyStop> {
    let (mut change, mut redo, mut by) = (revision, false, String::new());
    loop {
        let events = events(plan, newest, change)?;
        // The start of the chain was pruned, so the oldest remaining undo represents it.
        let Some(first) = events.first() else { break };
        by.clone_from(&first.by);
        let marked = events.iter().find_map(|event| event.undoes).filter(|of| *of < change);
        redo ^= marked.is_some() || events.iter().any(|event| event.kind == EventKind::Reverted);
        match marked {
            Some(of) => change = of,
            None => break,
        }
    }
    Ok(Undone { revision, change, by, redo })
}

/// The events of a revision, or a request for them and for older ones: more each time, so that few rounds are needed. The
/// newest one alone at first: most undos mean it, and the one before may be an import of everything.
fn events(plan: &Plan, newest: u64, revision: u64) -> Result<&[Event], ApplyStop> {
    plan.events(revision).ok_or_else(|| {
        let more = (newest - revision).saturating_mul(7).max(1);
        let oldest = revision.saturating_sub(more - 1).max(1);
        let revisions = (oldest..=revision).filter(|revision| plan.events(*revision).is_none()).collect();
        ApplyStop::Need(Box::new(Footprint { revisions, ..Footprint::default() }))
    })
}

/// Whether undo undoes any part of an event. It never undoes fences, owners, evidence, usage and the notes of
/// others.
fn undoable(event: &Event, ctx: &Context) -> bool {
    match &event.patch {
        Patch::Todo(_, changes) => {
            event.kind == EventKind::Added || changes.iter().any(|change| is_undone(change, event, ctx))
        }
        Patch::Phases(_) | Patch::Policy(_) => true,
    }
}

/// Whether undo undoes this change of a todo.
pub(super) fn is_undone(change: &FieldChange, event: &Event, ctx: &Context) -> bool {
    change.undoable() && (!matches!(change, FieldChange::Notes(_)) || event.is_by(&ctx.actor))
}
