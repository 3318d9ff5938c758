//! Resolves references first: every name in the batch becomes a uid before anything changes.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::ApplyStop;
use super::draft::PlanDraft;
use crate::plan::made_number;
use crate::{Need, Op, Ref, Refusal, Uid};

/// A batch with its names looked up.
pub(super) struct ResolvedBatch<'a> {
    pub ops: &'a [Op],
    /// For each op, the todo it is about.
    pub targets: Vec<Option<Uid>>,
    /// The adds in order, with the ids they get.
    pub added: Vec<(Uid, String)>,
    /// The todos to remove.
    pub removed: BTreeSet<Uid>,
}

impl ResolvedBatch<'_> {
    /// Looks a reference up; `None` if no todo has that id.
    pub fn find(&self, draft: &PlanDraft<'_>, r: &Ref) -> Result<Option<Uid>, Need> {
        match r {
            Ref::New(n) => Ok(self.added.get(*n).map(|(uid, _)| *uid)),
            Ref::Uid(uid) => draft.find_uid(*uid),
            Ref::Id(id) => draft.find_id(id),
        }
    }
}

/// What people call the reference, for messages.
pub(super) fn name(draft: &PlanDraft<'_>, r: &Ref) -> String {
    match r {
        Ref::Id(id) => id.clone(),
        Ref::Uid(uid) => draft.id(*uid),
        Ref::New(n) => format!("new todo {}", n + 1),
    }
}

pub(super) fn resolve<'a>(draft: &mut PlanDraft<'_>, ops: &'a [Op]) -> Result<ResolvedBatch<'a>, ApplyStop> {
    let mut batch =
        ResolvedBatch { ops, targets: Vec::with_capacity(ops.len()), added: Vec::new(), removed: BTreeSet::new() };
    let mut refusals = Vec::new();

    // Removals come first in the order of a write, so an id that goes may be given again in the same batch.
    for op in ops {
        if let Op::Rm(r) = op
            && !matches!(r, Ref::New(_))
            && let Some(uid) = batch.find(draft, r)?
        {
            batch.removed.insert(uid);
        }
    }
    name_adds(draft, &mut batch, &mut refusals)?;

    let ids: HashMap<&str, Uid> = batch.added.iter().map(|(uid, id)| (id.as_str(), *uid)).collect();
    for op in ops {
        let Some(r) = target(op) else {
            batch.targets.push(None);
            continue;
        };
        let found = match r {
            // If one batch removes an id and assigns it again, the id means the old todo for `rm`, and the new one
            // elsewhere.
            Ref::Id(id) if !matches!(op, Op::Rm(_)) && ids.contains_key(id.as_str()) => ids.get(id.as_str()).copied(),
            _ => batch.find(draft, r)?,
        };
        match found {
            None => {
                let id = name(draft, r);
                let near = draft.near(&id, &refusals);
                refusals.push(Refusal::UnknownTodo { id, near });
            }
            Some(uid) if batch.removed.contains(&uid) && !matches!(op, Op::Rm(_)) => {
                refusals.push(Refusal::RemovedInBatch { id: name(draft, r) });
            }
            Some(_) => {}
        }
        batch.targets.push(found);
    }
    draft.refuse(refusals)?;
    for (uid, id) in &batch.added {
        draft.ids.insert(id.clone(), Some(*uid));
    }
    for uid in &batch.removed {
        let id = draft.id(*uid);
        draft.ids.entry(id).or_insert(None);
    }
    Ok(batch)
}

/// The one todo an op is about; placing and edges are looked up where they are used.
pub(super) const fn target(op: &Op) -> Option<&Ref> {
    match op {
        Op::Edit(r, _)
        | Op::Start(r)
        | Op::Claim(r, _)
        | Op::Renew(r, _)
        | Op::Unclaim(r)
        | Op::HandOver(r, _)
        | Op::Done { target: r, .. }
        | Op::Vouch { target: r, .. }
        | Op::Report { target: r, .. }
        | Op::RecordCheck { target: r, .. }
        | Op::Refute { target: r, .. }
        | Op::Restore { target: r, .. }
        | Op::Drop(r)
        | Op::Fail(r, _)
        | Op::Reopen(r)
        | Op::Hold(r, _)
        | Op::Release(r)
        | Op::Block(r)
        | Op::Rm(r)
        | Op::Note(r, _)
        | Op::Move(r, _) => Some(r),
        Op::Add(_) | Op::Arrange(_) | Op::Phases(_) | Op::SetPolicy(_) | Op::Undo { .. } | Op::Redo => None,
    }
}

/// Given ids are taken before ids are made, so that a made one never collides with a given one of the same batch.
fn name_adds(
    draft: &mut PlanDraft<'_>,
    batch: &mut ResolvedBatch<'_>,
    refusals: &mut Vec<Refusal>,
) -> Result<(), ApplyStop> {
    let adds: Vec<Option<&str>> =
        batch.ops.iter().filter_map(|op| if let Op::Add(add) = op { Some(add.id.as_deref()) } else { None }).collect();
    let mut taken: HashSet<&str> = HashSet::new();
    for id in adds.iter().flatten() {
        if id.is_empty() {
            refusals.push(Refusal::Invalid { at: "id".into(), what: "an id must not be empty".into() });
        }
        let lives = draft.find_id(id)?.is_some_and(|uid| !batch.removed.contains(&uid));
        if lives || !taken.insert(id) {
            refusals.push(Refusal::DuplicateId { id: (*id).to_owned() });
        }
        keep_number(draft, id);
    }
    for id in adds {
        let uid = Uid(draft.row.next_uid);
        draft.row.next_uid += 1;
        let id = id.map_or_else(
            || {
                draft.row.next_number += 1;
                format!("T-{}", draft.row.next_number - 1)
            },
            str::to_owned,
        );
        batch.added.push((uid, id));
    }
    Ok(())
}

/// A given `T-7` moves the counter on.
pub(super) fn keep_number(draft: &mut PlanDraft<'_>, id: &str) {
    if let Some(number) = made_number(id) {
        draft.row.next_number = draft.row.next_number.max(number + 1);
    }
}
