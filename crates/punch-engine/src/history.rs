//! Looking back: revisions, undo, and the plan as it was.

use punch_core::{Event, Kind, Op, Patch, Plan, Refusal, Todo, Uid, apply};
use punch_store::{PlanId, Snapshot};

use crate::{Changed, Engine, EngineError, Request};

/// One revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its number.
    pub revision: u64,
    /// When.
    pub at: i64,
    /// Who.
    pub by: String,
    /// What happened, in order.
    pub events: Vec<Event>,
}

impl Entry {
    /// The write took back an earlier one.
    pub fn is_undo(&self) -> bool {
        self.events.iter().any(|event| event.kind == Kind::Reverted)
    }
}

impl Engine {
    /// The last `limit` revisions, newest first.
    pub fn history(&self, plan: PlanId, limit: u64) -> Result<Vec<Entry>, EngineError> {
        self.read(plan, |snapshot| last(snapshot, limit))
    }

    /// The last `limit` revisions in which something happened to a todo, newest first, with only those events.
    pub fn history_of(&self, plan: PlanId, uid: Uid, limit: usize) -> Result<Vec<Entry>, EngineError> {
        self.read(plan, |snapshot| {
            let (mut revision, pruned) = (snapshot.row()?.revision, snapshot.info()?.pruned);
            let mut entries = Vec::new();
            while revision > pruned && entries.len() < limit {
                let mut events = snapshot.events_of(revision)?;
                events.retain(|event| matches!(event.patch, Patch::Todo(of, _) if of == uid));
                let came = events.iter().any(|event| event.kind == Kind::Added);
                if let Some(first) = events.first() {
                    entries.push(Entry { revision, at: first.at, by: first.by.clone(), events });
                }
                if came {
                    break;
                }
                revision -= 1;
            }
            Ok(entries)
        })
    }

    /// Takes a revision back; without one, the last that is not itself an undo or undone already.
    pub fn undo(
        &self,
        plan: PlanId,
        request: &Request<'_>,
        revision: Option<u64>,
    ) -> Result<(u64, Changed), EngineError> {
        let revision = match revision {
            Some(revision) => revision,
            None => self.last_done(plan)?,
        };
        let changed = self.submit(plan, request, &[Op::Revert { revision }])?;
        Ok((revision, changed))
    }

    /// Undos pair with what they took back like brackets, so going back over them finds what still stands.
    fn last_done(&self, plan: PlanId) -> Result<u64, EngineError> {
        let mut limit = 64;
        loop {
            let entries = self.history(plan, limit)?;
            let mut undone = 0u64;
            for entry in &entries {
                if entry.is_undo() {
                    undone += 1;
                } else if undone > 0 {
                    undone -= 1;
                } else {
                    return Ok(entry.revision);
                }
            }
            if (entries.len() as u64) < limit {
                return Err(Refusal::UnknownRevision { revision: 0 }.into());
            }
            limit *= 4;
        }
    }

    /// The whole plan as it was after a revision.
    pub fn plan_at(&self, plan: PlanId, revision: u64) -> Result<Plan, EngineError> {
        self.read(plan, |snapshot| seen_at(snapshot, revision))
    }
}

/// The plan as it was at a revision.
pub(crate) fn seen_at(snapshot: &dyn Snapshot, revision: u64) -> Result<Plan, EngineError> {
    let row = snapshot.row()?;
    if revision > row.revision {
        return Err(Refusal::UnknownRevision { revision }.into());
    }
    let mut whole = Plan::slice(row);
    snapshot.load(&punch_core::Footprint::everything(), &mut whole)?;
    Ok(at_revision(&whole, &snapshot.events(revision, usize::MAX)?, revision))
}

/// The last `limit` revisions of one moment, newest first.
pub(crate) fn last(snapshot: &dyn Snapshot, limit: u64) -> Result<Vec<Entry>, EngineError> {
    let since = snapshot.row()?.revision.saturating_sub(limit);
    let mut entries: Vec<Entry> = Vec::new();
    for event in snapshot.events(since, usize::MAX)? {
        match entries.last_mut() {
            Some(entry) if entry.revision == event.revision => entry.events.push(event),
            _ => entries.push(Entry {
                revision: event.revision,
                at: event.at,
                by: event.by.clone(),
                events: vec![event],
            }),
        }
    }
    entries.reverse();
    Ok(entries)
}

/// A whole plan with the given later events taken back.
pub fn at_revision(plan: &Plan, later: &[Event], revision: u64) -> Plan {
    let mut out = taken_back(plan, later, revision);
    apply::derive(&mut out);
    out
}

/// The stored fields of a plan, or of a slice and the events about it, without later events. Derived values stay.
pub(crate) fn taken_back(plan: &Plan, later: &[Event], revision: u64) -> Plan {
    let mut out = plan.clone();
    for event in later.iter().rev() {
        match &event.patch {
            Patch::Todo(uid, changes) => {
                let mut todo = out.get(*uid).cloned().unwrap_or_else(|| Todo::blank(*uid));
                for change in changes.iter().rev() {
                    todo.fields.backward(change);
                }
                if event.kind == Kind::Added {
                    // Before it came it was not there; an archived blank says so.
                    todo.fields.removed = Some(event.at);
                }
                out.put(todo);
            }
            Patch::Phases(swap) => out.row.phases.clone_from(&swap.before),
            Patch::Policy(swap) => out.row.policy = swap.before,
        }
    }
    out.row.revision = revision;
    out
}
