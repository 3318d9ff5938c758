//! Undo and redo: applies the inverse patches of one revision as a new revision. Refuses if later writes changed the
//! same fields, or if nothing would change.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::draft::PlanDraft;
use super::resolve::ResolvedBatch;
use super::undo_walk::{self, Aim};
use super::{ApplyStop, Undone, claims, revert_effects, transition};
use crate::{
    Dep, Event, EventKind, Evidence, FieldChange, Fields, Footprint, ListSplice, Need, Note, Op, Patch, Refusal,
    Status, Swap, Todo, Uid, Warning,
};

pub(super) fn revert(draft: &mut PlanDraft<'_>, batch: &ResolvedBatch<'_>) -> Result<(), ApplyStop> {
    for op in batch.ops {
        let aim = match op {
            Op::Undo { revision: Some(revision), .. } => Aim::Revision(*revision),
            Op::Undo { revision: None, any } => Aim::Change { any: *any },
            Op::Redo => Aim::Undo,
            _ => continue,
        };
        if batch.ops.len() > 1 {
            let what = "an undo or redo must be the only op of its batch".into();
            return Err(Refusal::Invalid { at: "ops".into(), what }.into());
        }
        undo(draft, aim)?;
    }
    Ok(())
}

/// Undoes what is meant. Without a number, a change that would leave everything as it is gives way to the one before it.
fn undo(draft: &mut PlanDraft<'_>, aim: Aim) -> Result<(), ApplyStop> {
    let mut below = u64::MAX;
    loop {
        let undone = undo_walk::find(draft.plan, draft.ctx, aim, below)?;
        let revision = undone.revision;
        invert(draft, undone)?;
        if !draft.events.is_empty() {
            return Ok(());
        }
        if let Aim::Revision(revision) = aim {
            let stays = draft.warnings.iter().map(Warning::message).collect();
            return Err(Refusal::NothingUndoable { revision, stays }.into());
        }
        *draft = PlanDraft::new(draft.plan, draft.ctx);
        below = revision;
    }
}

/// Asks for the todos of these events in one round, or for the whole plan where they are many.
fn load_todos(draft: &PlanDraft<'_>, events: &[Event]) -> Result<(), Need> {
    if events.len() > revert_effects::FEW {
        return draft.plan.need_whole();
    }
    Footprint::gather(events.iter().filter_map(|event| match &event.patch {
        Patch::Todo(uid, _) => Some(draft.get(*uid)),
        Patch::Phases(_) | Patch::Policy(_) => None,
    }))
}

/// Writes the inverse patches of a revision whose events are loaded.
fn invert(draft: &mut PlanDraft<'_>, undone: Undone) -> Result<(), ApplyStop> {
    let plan = draft.plan;
    let (revision, change, redo) = (undone.revision, undone.change, undone.redo);
    let events = plan.events(revision).unwrap_or_default();
    load_todos(draft, events)?;
    draft.undoes = Some(undone);
    remains(draft, events);
    let mut work: BTreeMap<Uid, Todo> = BTreeMap::new();
    let mut conflicts: Vec<(String, &'static str)> = Vec::new();
    let round_trips = round_trips(events);
    for event in events.iter().rev() {
        match &event.patch {
            Patch::Todo(uid, changes) => {
                if !work.contains_key(uid) {
                    work.insert(*uid, draft.get(*uid)?.clone());
                }
                if let Some(todo) = work.get_mut(uid) {
                    let net = changes.iter().filter(|change| !round_trips.contains(&(*uid, change.field())));
                    back(draft, todo, event, net, &mut conflicts);
                }
            }
            Patch::Phases(Swap { before, after }) if draft.row.phases == *after => {
                draft.row.phases.clone_from(before);
                draft.event(EventKind::Reverted, Patch::Phases(Swap { before: after.clone(), after: before.clone() }));
            }
            Patch::Phases(_) => conflicts.push(("plan".into(), "phases")),
            Patch::Policy(swap) if draft.row.policy == swap.after => {
                draft.row.policy = swap.before;
                let swap = Swap { before: swap.after, after: swap.before };
                draft.event(EventKind::Reverted, Patch::Policy(Box::new(swap)));
            }
            Patch::Policy(_) => conflicts.push(("plan".into(), "policy")),
        }
    }
    if conflicts.is_empty() {
        let running = adopt(draft, work, &mut conflicts)?;
        // The state before the last write is always had back; an older one must fit what was started since.
        if revision < plan.row.revision && conflicts.is_empty() {
            for uid in running {
                transition::within_limit(draft, uid, draft.get(uid)?.owner.as_deref())?;
            }
        }
    }
    conflicts.sort_unstable();
    conflicts.dedup();
    if conflicts.is_empty() {
        Ok(())
    } else {
        Err(Refusal::RevertConflict { revision: change, redo, fields: conflicts }.into())
    }
}

/// The fields about the work on a todo, each stored as a whole.
const WORK: [&str; 5] = ["status", "hold", "started_at", "finished_at", "flags"];

/// Finds fields about the work that a revision changed and changed back, as when a claim that ran out is claimed again:
/// there is nothing of them to undo, and a later change of them is not a conflict.
fn round_trips(events: &[Event]) -> HashSet<(Uid, &'static str)> {
    let mut ends: BTreeMap<Uid, (Fields, Fields)> = BTreeMap::new();
    let mut changed = HashSet::new();
    for (uid, changes) in events.iter().filter_map(|event| match &event.patch {
        Patch::Todo(uid, changes) => Some((*uid, changes)),
        Patch::Phases(_) | Patch::Policy(_) => None,
    }) {
        let (first, last) = ends.entry(uid).or_default();
        for change in changes.iter().filter(|change| WORK.contains(&change.field())) {
            // The first change of a field says what the field was before.
            if changed.insert((uid, change.field())) {
                first.forward(change);
                let _ = first.backward(change);
            }
            last.forward(change);
        }
    }
    let net: HashSet<(Uid, &'static str)> = ends
        .iter()
        .flat_map(|(uid, (first, last))| first.changes(last).into_iter().map(|change| (*uid, change.field())))
        .collect();
    changed.into_iter().filter(|field| !net.contains(field)).collect()
}

fn back<'c>(
    draft: &PlanDraft<'_>,
    todo: &mut Todo,
    event: &Event,
    changes: impl DoubleEndedIterator<Item = &'c FieldChange> + Clone,
    conflicts: &mut Vec<(String, &'static str)>,
) {
    // What came is archived, not blanked: rows are never destroyed. Whatever changed since then builds on it.
    if event.kind == EventKind::Added {
        let mut came = Fields::default();
        changes.for_each(|change| came.forward(change));
        let since = came.changes(&todo.fields).into_iter();
        let since = since.filter(|change| change.undoable() && !matches!(change, FieldChange::Notes(_)));
        conflicts.extend(since.map(|change| (todo.id.clone(), change.field())));
        todo.removed = Some(draft.now);
        return;
    }
    for change in changes.rev().filter(|change| undo_walk::is_undone(change, event, draft.ctx)) {
        let done = match change {
            FieldChange::Notes(splice) => notes_back(&mut todo.notes, splice),
            change => todo.fields.backward(change),
        };
        if !done {
            conflicts.push((todo.id.clone(), change.field()));
        }
    }
}

/// Undoes the adding, or the undoing, of notes wherever they are now: notes of others that came or went in between do
/// not conflict.
fn notes_back(notes: &mut Vec<Note>, splice: &ListSplice<Note>) -> bool {
    let mut without = notes.clone();
    for note in splice.added.iter().rev() {
        let Some(at) = without.iter().rposition(|other| other == note) else { return false };
        without.remove(at);
    }
    let at = splice.at.min(without.len());
    without.splice(at..at, splice.removed.iter().cloned());
    *notes = without;
    true
}

/// Warns about what stays of a revision although the rest of it is undone: notes of others, evidence and usage. Owners and
/// fences stay too, but only say who worked on a todo last.
fn remains(draft: &mut PlanDraft<'_>, events: &[Event]) {
    let (mut notes, mut evidence, mut usage) = (0, BTreeSet::new(), BTreeSet::new());
    for event in events.iter().filter(|event| event.kind != EventKind::Added) {
        let Patch::Todo(uid, changes) = &event.patch else { continue };
        for change in changes {
            match change {
                FieldChange::Notes(splice) if !event.is_by(&draft.ctx.actor) => notes += splice.added.len(),
                FieldChange::Evidence(splice) if splice.added.iter().any(says_something) => {
                    evidence.insert(draft.id(*uid));
                }
                FieldChange::ActualTokens(_) => {
                    usage.insert(draft.id(*uid));
                }
                _ => {}
            }
        }
    }
    if let Some(event) = events.first().filter(|_| notes > 0) {
        draft.warnings.push(Warning::NotesStay { count: notes, by: event.by.clone() });
    }
    for (what, ids) in [("evidence", evidence), ("token usage", usage)] {
        if !ids.is_empty() {
            draft.warnings.push(Warning::Stays { what, ids: ids.into_iter().collect() });
        }
    }
}

/// Evidence that holds more than the commit that a completion was made at.
fn says_something(evidence: &Evidence) -> bool {
    evidence.text.is_some() || evidence.command.is_some()
}

/// Takes the older fields over and derives everything again; answers what is in progress again.
fn adopt(
    draft: &mut PlanDraft<'_>,
    work: BTreeMap<Uid, Todo>,
    conflicts: &mut Vec<(String, &'static str)>,
) -> Result<Vec<Uid>, ApplyStop> {
    let touched: BTreeSet<Uid> = work.keys().copied().collect();
    let lease_end = draft.clock.saturating_add(draft.ctx.lease);
    let mut running = Vec::new();
    for (uid, todo) in work {
        claims::protect_fields(draft, uid, &todo.fields)?;
        let old = draft.get(uid)?;
        let (was_live, old_status, old_deps) = (old.is_live(), old.status, old.depends_on.clone());
        let same_owner = old.owner == todo.owner;
        if was_live {
            draft.unlink_deps(uid, &old_deps);
        }
        if todo.is_live() {
            draft.link_deps(uid, &todo.depends_on);
        }
        draft.edit(uid, EventKind::Reverted, |t| t.fields = todo.fields)?;
        let todo = draft.touch(uid)?;
        if !todo.is_live() {
            todo.derived = crate::Derived::default();
        }
        // A lease is never undone; it ends with the work it was given for.
        if !todo.is_live() || todo.status != old_status || !same_owner {
            todo.lease_until = None;
        }
        // What is in progress under a name again is so under a lease: its owner may be gone.
        if todo.is_live() && todo.status == Status::InProgress && todo.owner.is_some() {
            todo.lease_until = todo.lease_until.or(Some(lease_end));
        }
        if todo.is_live() && todo.status == Status::InProgress && (!was_live || old_status != Status::InProgress) {
            running.push(uid);
            draft.active.insert(uid);
        }
        draft.repull.insert(uid);
        draft.strengthen.insert(uid);
        draft.repull.extend(old_deps.iter().filter_map(Dep::target));
    }
    revert_effects::settle(draft, &touched, conflicts)?;
    Ok(running)
}
