//! Field updates: new todos, edits, notes, phases, order. Edges and statuses come later.

use std::collections::BTreeSet;

use super::draft::PlanDraft;
use super::order::{at_end, reorder};
use super::resolve::{ResolvedBatch, keep_number};
use super::{ApplyStop, derive};
use crate::{
    Add, Edit, EventKind, Fields, Keep, Label, LabelEdit, Note, Op, Patch, Phase, PhaseRef, PhaseUid, Refusal, Swap,
    Uid,
};

pub(super) fn update(draft: &mut PlanDraft<'_>, batch: &ResolvedBatch<'_>) -> Result<(), ApplyStop> {
    let phases = phases(draft, batch)?;
    // Creates everything new before anything is edited, because an edit may come before the add it belongs to.
    let adds = batch.ops.iter().filter_map(|op| if let Op::Add(add) = op { Some(add) } else { None });
    for ((uid, id), add) in batch.added.iter().zip(adds) {
        insert(draft, *uid, id, add);
    }
    let mut added = batch.added.iter();
    for (op, target) in batch.ops.iter().zip(&batch.targets) {
        match (op, target) {
            (Op::Add(add), _) => {
                if let Some((uid, _)) = added.next() {
                    edit(draft, *uid, &add.edit, &phases)?;
                }
            }
            (Op::Edit(_, changes), Some(uid)) => edit(draft, *uid, changes, &phases)?,
            (Op::Note(_, text), Some(uid)) => {
                let note = Note { text: text.clone(), at: draft.now, by: draft.ctx.actor.by().to_owned() };
                draft.edit(*uid, EventKind::Noted, |t| t.notes.push(note))?;
            }
            (Op::SetPolicy(policy), _) if draft.row.policy != *policy => {
                let before = std::mem::replace(&mut draft.row.policy, *policy);
                if before.cancelled_dep != policy.cancelled_dep {
                    derive::recount_all(draft)?;
                }
                draft.event(EventKind::PolicySet, Patch::Policy(Box::new(Swap { before, after: *policy })));
            }
            _ => {}
        }
    }
    reorder(draft, batch)
}

fn insert(draft: &mut PlanDraft<'_>, uid: Uid, id: &str, add: &Add) {
    let (now, by) = (draft.now, draft.ctx.actor.by().to_owned());
    let mut fields = Fields { id: id.to_owned(), position: at_end(draft), created_at: now, ..Fields::default() };
    match add.carried.as_deref() {
        None => {
            fields.notes = add.notes.iter().map(|text| Note { text: text.clone(), at: now, by: by.clone() }).collect()
        }
        Some(carried) => {
            fields.notes.clone_from(&carried.notes);
            fields.evidence.clone_from(&carried.evidence);
            fields.actual_tokens = carried.actual_tokens;
            fields.attempts = carried.attempts;
            fields.last_error.clone_from(&carried.last_error);
            fields.created_at = carried.created_at.unwrap_or(now);
            fields.extra.clone_from(&carried.extra);
            fields.flags = carried.flags;
        }
    }
    draft.insert_fresh(uid, fields);
}

fn edit(draft: &mut PlanDraft<'_>, uid: Uid, edit: &Edit, phases: &[PhaseUid]) -> Result<(), ApplyStop> {
    if let Keep::Set(id) = &edit.id {
        rename(draft, uid, id)?;
    }
    let phase = match &edit.phase {
        Keep::Keep => Keep::Keep,
        Keep::Set(None) => Keep::Set(None),
        Keep::Set(Some(r)) => Keep::Set(Some(phase(draft, r, phases)?)),
    };
    if let Keep::Set(priority) = edit.priority {
        if !(1..=5).contains(&priority) {
            return Err(
                Refusal::Invalid { at: "priority".into(), what: format!("{priority} is not between 1 and 5") }.into()
            );
        }
        draft.strengthen.insert(uid);
        if priority > draft.get(uid)?.priority {
            let deps: Vec<Uid> = draft.get(uid)?.depends_on.iter().filter_map(crate::Dep::target).collect();
            draft.repull.extend(deps);
        }
    }
    let labels = labels(draft, uid, &edit.labels)?;
    Ok(draft.edit(uid, EventKind::Edited, |t| {
        put(&mut t.content, &edit.content);
        put(&mut t.active_form, &edit.active_form);
        put(&mut t.description, &edit.description);
        put(&mut t.phase, &phase);
        put(&mut t.priority, &edit.priority);
        put(&mut t.labels, &labels);
        put(&mut t.complexity, &edit.complexity);
        put(&mut t.estimated_tokens, &edit.estimated_tokens);
        put(&mut t.criteria, &edit.criteria);
        put(&mut t.verify, &edit.verify);
        put(&mut t.files, &edit.files);
        put(&mut t.hidden, &edit.hidden);
    })?)
}

/// The labels after the edit, if it changes them.
fn labels(draft: &PlanDraft<'_>, uid: Uid, edit: &LabelEdit) -> Result<Keep<BTreeSet<Label>>, ApplyStop> {
    if *edit == LabelEdit::Keep {
        return Ok(Keep::Keep);
    }
    let todo = draft.get(uid)?;
    let labels = edit.applied(&todo.labels);
    if labels.len() > Label::MOST {
        return Err(Refusal::TooManyLabels { id: todo.id.clone(), count: labels.len() }.into());
    }
    Ok(Keep::Set(labels))
}

fn put<T: Clone>(field: &mut T, value: &Keep<T>) {
    if let Keep::Set(value) = value {
        field.clone_from(value);
    }
}

fn rename(draft: &mut PlanDraft<'_>, uid: Uid, id: &str) -> Result<(), ApplyStop> {
    let old = draft.get(uid)?.id.clone();
    if old == id {
        return Ok(());
    }
    if id.is_empty() {
        return Err(Refusal::Invalid { at: "id".into(), what: "an id must not be empty".into() }.into());
    }
    if draft.find_id(id)?.is_some() {
        return Err(Refusal::DuplicateId { id: id.to_owned() }.into());
    }
    keep_number(draft, id);
    draft.ids.insert(old, None);
    draft.ids.insert(id.to_owned(), Some(uid));
    let id = id.to_owned();
    Ok(draft.edit(uid, EventKind::Edited, |t| t.id = id)?)
}

/// Runs the batch's phase list and answers the uid of each of its entries.
fn phases(draft: &mut PlanDraft<'_>, batch: &ResolvedBatch<'_>) -> Result<Vec<PhaseUid>, ApplyStop> {
    let mut uids = Vec::new();
    for op in batch.ops {
        let Op::Phases(entries) = op else { continue };
        let mut list = Vec::with_capacity(entries.len());
        for entry in entries {
            list.push(match entry {
                PhaseRef::Name(name) => fresh_phase(draft, name),
                PhaseRef::Uid(uid) => {
                    let known = draft.row.phases.iter().find(|p| p.uid == *uid).cloned();
                    known.ok_or_else(|| Refusal::UnknownPhase { name: uid.0.to_string(), near: Vec::new() })?
                }
                PhaseRef::Index(n) => {
                    return Err(Refusal::UnknownPhase { name: n.to_string(), near: Vec::new() }.into());
                }
            });
        }
        uids = list.iter().map(|p| p.uid).collect();
        set_phases(draft, list)?;
    }
    Ok(uids)
}

fn set_phases(draft: &mut PlanDraft<'_>, list: Vec<Phase>) -> Result<(), ApplyStop> {
    if draft.row.phases == list {
        return Ok(());
    }
    let dropped: Vec<PhaseUid> =
        draft.row.phases.iter().map(|p| p.uid).filter(|uid| !list.iter().any(|p| p.uid == *uid)).collect();
    let before = std::mem::replace(&mut draft.row.phases, list);
    draft.event(EventKind::Phased, Patch::Phases(Swap { before, after: draft.row.phases.clone() }));
    if dropped.is_empty() {
        return Ok(());
    }
    draft.plan.need_whole()?;
    let orphans: Vec<Uid> = draft
        .plan
        .all()
        .filter(|t| t.is_live() && t.phase.is_some_and(|p| dropped.contains(&p)))
        .map(|t| t.uid)
        .collect();
    for uid in orphans {
        if draft.get(uid)?.is_live() {
            draft.edit(uid, EventKind::Edited, |t| t.phase = None)?;
        }
    }
    Ok(())
}

fn phase(draft: &mut PlanDraft<'_>, r: &PhaseRef, listed: &[PhaseUid]) -> Result<PhaseUid, ApplyStop> {
    let found = match r {
        PhaseRef::Index(n) => listed.get(*n).copied(),
        PhaseRef::Uid(uid) => draft.row.phases.iter().map(|p| p.uid).find(|p| p == uid),
        PhaseRef::Name(name) => match draft.row.phases.iter().find(|p| p.name == *name) {
            Some(known) => Some(known.uid),
            None => {
                let made = fresh_phase(draft, name);
                let uid = made.uid;
                let mut list = draft.row.phases.clone();
                list.push(made);
                set_phases(draft, list)?;
                Some(uid)
            }
        },
    };
    found.ok_or_else(|| {
        let name = match r {
            PhaseRef::Index(n) => n.to_string(),
            PhaseRef::Uid(uid) => uid.0.to_string(),
            PhaseRef::Name(name) => name.clone(),
        };
        Refusal::UnknownPhase { name, near: Vec::new() }.into()
    })
}

fn fresh_phase(draft: &mut PlanDraft<'_>, name: &str) -> Phase {
    let uid = PhaseUid(draft.row.next_phase);
    draft.row.next_phase += 1;
    Phase { uid, name: name.to_owned() }
}
