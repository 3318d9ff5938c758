//! Applies the user's edits of the file to the plan, in one write. If a status is refused, the rest is still applied,
//! and the refused one stays in the file as an unmerged change.

use std::collections::{HashMap, HashSet};

use punch_core::plan_file::{MergeConflict, MergeField, MergeSide, PlanFile, PlanFileMerge, PlanFileTodo, document};
use punch_core::{ApplyStop, Footprint, Keep, Op, PhaseRef, Plan, Ref, Todo, Uid, text};
use punch_store::PlanId;

use crate::checkpoint::AfterCommit;
use crate::exchange::lenient;
use crate::{Engine, EngineError, PlanChange, WriteRequest};

/// The result of applying the file's changes.
#[derive(Debug, Default)]
pub(super) struct TakenChanges {
    /// Ids of what is new.
    pub added: Vec<String>,
    /// Ids of what changed.
    pub changed: Vec<String>,
    /// Ids of what was archived.
    pub archived: Vec<String>,
    /// Ids whose status was refused, and why.
    pub refused: Vec<(String, String)>,
}

impl Engine {
    /// Work that is left for after the commit is added to `after_commit`, whatever the result of the rest.
    pub(super) fn take(
        &self,
        plan: PlanId,
        request: &WriteRequest<'_>,
        file: &PlanFile<'_>,
        merged: &PlanFileMerge,
        after_commit: &mut AfterCommit,
    ) -> Result<TakenChanges, EngineError> {
        let mut taken = TakenChanges::default();
        let phases: Vec<Option<&str>> = merged.places.iter().map(|at| file.phase(*at)).collect();
        let wish =
            FileEdits { before: &merged.before, after: &merged.after, phases: &phases, conflicts: &merged.conflicts };
        if wish.is_empty() {
            return Ok(taken);
        }
        match self.grant(plan, request, &wish, after_commit) {
            Ok(changed) => taken.count(&changed),
            Err(EngineError::Refused(refusals)) => {
                // Words, order and what is new first, then every status by itself.
                let current: HashMap<&str, &PlanFileTodo> =
                    merged.before.iter().map(|item| (item.id.as_str(), item)).collect();
                let calm = |item: &PlanFileTodo| match current.get(item.id.as_str()) {
                    Some(old) => PlanFileTodo { status: old.status, ..item.clone() },
                    None => item.clone(),
                };
                let after: Vec<PlanFileTodo> = merged.after.iter().map(calm).collect();
                if after == merged.after {
                    return Err(EngineError::Refused(refusals));
                }
                let calm = FileEdits { after: &after, conflicts: &[], ..wish };
                taken.count(&self.grant(plan, request, &calm, after_commit)?);
                for wanted in &merged.after {
                    let Some(old) = current.get(wanted.id.as_str()).filter(|old| old.status != wanted.status) else {
                        continue;
                    };
                    let before = [PlanFileTodo { status: old.status, ..wanted.clone() }];
                    let own = merged.conflicts.iter().find(|c| c.id == wanted.id && c.field == MergeField::Status);
                    let conflicts: Vec<MergeConflict> = own.into_iter().cloned().collect();
                    let after = std::slice::from_ref(wanted);
                    let wish = FileEdits { before: &before, after, phases: &[None], conflicts: &conflicts };
                    match self.grant(plan, request, &wish, after_commit) {
                        Ok(changed) => taken.count(&changed),
                        Err(EngineError::Refused(refusals)) => {
                            let why = EngineError::Refused(refusals).message();
                            taken.refused.push((wanted.id.clone(), why));
                        }
                        Err(error) => return Err(error),
                    }
                }
            }
            Err(error) => return Err(error),
        }
        // Words and status of one todo may have come in two writes.
        taken.changed.sort_unstable();
        taken.changed.dedup();
        Ok(taken)
    }

    fn grant(
        &self,
        plan: PlanId,
        request: &WriteRequest<'_>,
        wish: &FileEdits<'_>,
        after_commit: &mut AfterCommit,
    ) -> Result<PlanChange, EngineError> {
        let request =
            WriteRequest { preset: lenient, actor: request.actor.clone().without_claims(), ..request.clone() };
        let (before, after) = (document(wish.before), document(wish.after));
        let known: HashSet<&str> = wish.before.iter().map(|item| item.id.as_str()).collect();
        let new = wish.after.iter().zip(wish.phases).filter(|(item, _)| !known.contains(item.id.as_str()));
        let phases: Vec<Option<&str>> = new.map(|(_, phase)| *phase).collect();
        let mut ask = |plan: &Plan, _| -> Result<Vec<Op>, ApplyStop> {
            plan.need_whole()?;
            let mut ops = before.diff(&after, plan);
            let adds = ops.iter_mut().filter_map(|op| if let Op::Add(add) = op { Some(add) } else { None });
            for (add, phase) in adds.zip(&phases) {
                if let Some(name) = phase {
                    add.edit.phase = Keep::Set(Some(PhaseRef::Name((*name).to_owned())));
                }
            }
            let live = |conflict: &&MergeConflict| plan.by_id(&conflict.id).is_some();
            let noted = wish.conflicts.iter().filter(live);
            ops.extend(noted.map(|conflict| Op::Note(Ref::Id(conflict.id.clone()), note(conflict))));
            Ok(ops)
        };
        self.submit_from_file(plan, &request, &Footprint::everything(), &mut ask, after_commit)
    }
}

/// The changes that users request of the plan.
#[derive(Clone, Copy)]
struct FileEdits<'a> {
    before: &'a [PlanFileTodo],
    after: &'a [PlanFileTodo],
    /// The phase of every entry of `after`.
    phases: &'a [Option<&'a str>],
    conflicts: &'a [MergeConflict],
}

impl FileEdits<'_> {
    fn is_empty(&self) -> bool {
        self.before == self.after && self.conflicts.is_empty()
    }
}

impl TakenChanges {
    fn count(&mut self, changed: &PlanChange) {
        let plan = &changed.plan;
        let id = |uid: &Uid| plan.get(*uid).map(|todo| todo.id.clone());
        let new: HashSet<Uid> = changed.outcome.added.iter().copied().collect();
        self.added.extend(changed.outcome.added.iter().filter_map(id));
        let touched = |todo: &&Todo| todo.updated_at == changed.now && !new.contains(&todo.uid);
        for todo in changed.outcome.rows.iter().filter(touched) {
            let list = if todo.is_live() { &mut self.changed } else { &mut self.archived };
            list.push(todo.id.clone());
        }
    }
}

/// What stays with a todo when one of two words counts.
fn note(conflict: &MergeConflict) -> String {
    let what = match conflict.field {
        MergeField::Content => "text",
        MergeField::Status => "status",
        MergeField::Dependencies => "dependencies",
        MergeField::Presence if conflict.file.is_empty() => {
            return "deleted from the plan file while it was changed here; kept".to_owned();
        }
        MergeField::Presence => return "changed in the plan file while it was archived here".to_owned(),
    };
    let (file, plan) = (text::clip(&conflict.file, 200), text::clip(&conflict.plan, 200));
    match conflict.took {
        MergeSide::File => {
            format!("{what} changed in the plan file and in the plan; took the file's version; the plan had: {plan}")
        }
        MergeSide::Plan => {
            format!("{what} changed in the plan file and in the plan; kept the plan's version; the file had: {file}")
        }
    }
}
