//! The history of a plan: revisions, undo, and the plan at an earlier revision.

use std::collections::HashMap;

use punch_core::view::{HistoryRow, RevisionStory};
use punch_core::{Event, EventKind, FieldChange, Op, Patch, Plan, Refusal, Todo, Uid, UndoState, UndoWalk, apply};
use punch_store::{PlanId, Snapshot};

use crate::{Engine, EngineError, PlanChange, Revision, WriteRequest};

/// The number of events of a revision that are read to describe it. A revision may have as many as the plan has todos.
pub const NARRATED: usize = 1_000;

/// How many revisions are searched for the errors of earlier attempts.
const SEARCHED: u64 = 200;

/// One revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevisionEntry {
    /// The number of the revision.
    pub revision: u64,
    /// When the revision was written.
    pub at: i64,
    /// The author of the revision.
    pub by: String,
    /// What happened, in order; of a large revision only the beginning, unless everything was asked for.
    pub events: Vec<Event>,
    /// How many more events the revision has.
    pub more: u64,
    /// Whether it undid another revision, and whether it is in force.
    pub fate: UndoState,
}

impl RevisionEntry {
    /// Describes the revision in words.
    pub fn story(&self) -> RevisionStory {
        RevisionStory::of(&self.events).and_more(self.more)
    }

    /// The revision as a row; `names` has the todos that the story names.
    pub fn row(&self, names: &Plan, story: &RevisionStory) -> HistoryRow {
        HistoryRow::of(names, (self.revision, self.at, &self.by), story, self.fate)
    }
}

impl From<Revision> for RevisionEntry {
    /// What a revision undoes is recorded with it; whether it was undone is not known here.
    fn from(revision: Revision) -> Self {
        let fate = UndoWalk::default().visit(revision.number, &revision.events);
        let by = revision.by.by().to_owned();
        Self { revision: revision.number, at: revision.at, by, events: revision.events, more: 0, fate }
    }
}

impl Engine {
    /// Returns the last `limit` revisions, newest first, each with its first [`NARRATED`] events, which is enough to
    /// describe it.
    pub fn history(&self, plan: PlanId, limit: u64) -> Result<Vec<RevisionEntry>, EngineError> {
        self.read(plan, |snapshot| last(snapshot, limit, NARRATED))
    }

    /// The last `limit` revisions, newest first, with all their events.
    pub fn history_in_full(&self, plan: PlanId, limit: u64) -> Result<Vec<RevisionEntry>, EngineError> {
        self.read(plan, |snapshot| last(snapshot, limit, usize::MAX))
    }

    /// The last `limit` revisions in which something happened to a todo, newest first, with only those events.
    pub fn history_of(&self, plan: PlanId, uid: Uid, limit: usize) -> Result<Vec<RevisionEntry>, EngineError> {
        self.read(plan, |snapshot| {
            let (mut revision, pruned) = (snapshot.row()?.revision, snapshot.info()?.pruned);
            let mut entries = Vec::new();
            let mut standing = UndoWalk::default();
            while revision > pruned && entries.len() < limit {
                let mut events = snapshot.events_of(revision)?;
                let fate = standing.visit(revision, &events);
                events.retain(|event| matches!(event.patch, Patch::Todo(of, _) if of == uid));
                let came = events.iter().any(|event| event.kind == EventKind::Added);
                if let Some(first) = events.first() {
                    entries.push(RevisionEntry { revision, at: first.at, by: first.by.clone(), events, more: 0, fate });
                }
                if came {
                    break;
                }
                revision -= 1;
            }
            Ok(entries)
        })
    }

    /// The errors of a todo's attempts before its last error, newest first, at most `limit`. Only the latest revisions are
    /// searched; [`Engine::history_of`] finds every error.
    pub fn earlier_errors(&self, plan: PlanId, todo: &Todo, limit: usize) -> Result<Vec<String>, EngineError> {
        if todo.attempts < 2 {
            return Ok(Vec::new());
        }
        self.read(plan, |snapshot| {
            let mut errors = Vec::new();
            let newest = snapshot.row()?.revision;
            let oldest = newest.saturating_sub(SEARCHED).max(snapshot.info()?.pruned);
            let mut standing = UndoWalk::default();
            for revision in (oldest + 1..=newest).rev() {
                let (events, _) = snapshot.events_head(revision, NARRATED)?;
                let fate = standing.visit(revision, &events);
                if fate.is_undo || fate.undone_by.is_some() {
                    continue;
                }
                for change in events.iter().rev().flat_map(|event| changes_of(event, todo.uid)) {
                    let FieldChange::LastError(error) = change else { continue };
                    let Some(earlier) = &error.before else { return Ok(errors) };
                    errors.push(earlier.clone());
                    if errors.len() == limit {
                        return Ok(errors);
                    }
                }
            }
            Ok(errors)
        })
    }

    /// For each of these revisions that undid an undo: the change that is in force again because of it.
    pub fn redone(&self, plan: PlanId, entries: &[RevisionEntry]) -> Result<HashMap<u64, u64>, EngineError> {
        self.read(plan, |snapshot| {
            let listed: HashMap<u64, Option<u64>> =
                entries.iter().map(|entry| (entry.revision, entry.fate.undoes)).collect();
            let undoes = |revision: u64| -> Result<Option<u64>, EngineError> {
                match listed.get(&revision) {
                    Some(undoes) => Ok(*undoes),
                    None => Ok(snapshot.events_head(revision, 1)?.0.iter().find_map(|event| event.undoes)),
                }
            };
            let mut out = HashMap::new();
            for (revision, first) in entries.iter().filter_map(|entry| Some((entry.revision, entry.fate.undoes?))) {
                // Each step back turns an undo into a redo and the other way around.
                let (mut change, mut is_redo) = (first, false);
                while let Some(before) = undoes(change)?.filter(|before| *before < change) {
                    (change, is_redo) = (before, !is_redo);
                }
                out.extend(is_redo.then_some((revision, change)));
            }
            Ok(out)
        })
    }

    /// Undoes a revision; without one, the latest change that is in force: of the caller, or with `any` of anyone.
    /// [`punch_core::Outcome::undone`] says which one it was. It never succeeds without a change.
    pub fn undo(
        &self,
        plan: PlanId,
        request: &WriteRequest<'_>,
        revision: Option<u64>,
        any: bool,
    ) -> Result<PlanChange, EngineError> {
        self.submit(plan, request, &[Op::Undo { revision, any }])
    }

    /// Undoes the caller's latest undo that is in force. It never succeeds without a change.
    pub fn redo(&self, plan: PlanId, request: &WriteRequest<'_>) -> Result<PlanChange, EngineError> {
        self.submit(plan, request, &[Op::Redo])
    }

    /// The whole plan as it was after a revision.
    pub fn plan_at(&self, plan: PlanId, revision: u64) -> Result<Plan, EngineError> {
        self.read(plan, |snapshot| seen_at(snapshot, revision))
    }
}

/// What an event changed in the fields of a todo.
fn changes_of(event: &Event, todo: Uid) -> &[FieldChange] {
    match &event.patch {
        Patch::Todo(uid, changes) if *uid == todo => changes,
        _ => &[],
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

/// The last `limit` revisions of one moment, newest first, with at most `events` events of each.
pub(crate) fn last(snapshot: &dyn Snapshot, limit: u64, events: usize) -> Result<Vec<RevisionEntry>, EngineError> {
    let newest = snapshot.row()?.revision;
    let oldest = newest.saturating_sub(limit).max(snapshot.info()?.pruned);
    let mut standing = UndoWalk::default();
    let mut out = Vec::new();
    for revision in (oldest + 1..=newest).rev() {
        let (events, total) = snapshot.events_head(revision, events)?;
        let Some(first) = events.first() else { continue };
        let (at, by, fate) = (first.at, first.by.clone(), standing.visit(revision, &events));
        let more = total - events.len() as u64;
        out.push(RevisionEntry { revision, at, by, events, more, fate });
    }
    Ok(out)
}

/// A whole plan with the given later events undone.
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
                if event.kind == EventKind::Added {
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
