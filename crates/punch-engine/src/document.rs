//! Applies the user's edit of a whole plan: the difference between the text they were shown and the text they saved.

use std::collections::HashSet;

use punch_core::dialect::native::TextLimits;
use punch_core::{
    ApplyStop, Dep, Document, Edit, Footprint, Keep, MissingDep, Op, Plan, Policy, Ref, Refusal, StartGate,
};
use punch_store::PlanId;

use crate::{Engine, EngineError, PlanChange, WriteRequest};

/// Ticks are judged together: a user who ticks a todo and what it needs may list them in any order. Names that were
/// missing before may stay so; new ones are checked here.
fn preset(plan: Policy) -> Policy {
    let start_gate = if plan.start_gate == StartGate::Strict { StartGate::AtEnd } else { plan.start_gate };
    Policy { start_gate, missing_dep: MissingDep::Dangle, ..plan }
}

impl Engine {
    /// Asks for the difference between two versions of a document, in one transaction, on the plan as it is there.
    pub fn submit_document(
        &self,
        plan: PlanId,
        request: &WriteRequest<'_>,
        before: &Document,
        after: &Document,
        limits: &TextLimits,
    ) -> Result<PlanChange, EngineError> {
        let request = WriteRequest { preset, ..request.clone() };
        let mut ask = |plan: &Plan, _| -> Result<Vec<Op>, ApplyStop> {
            plan.need_whole()?;
            let ops = before.diff(after, plan);
            let refusals = check(plan, &ops, limits);
            if refusals.is_empty() { Ok(ops) } else { Err(ApplyStop::Refused(refusals)) }
        };
        self.submit_with(plan, &request, &Footprint::everything(), &mut ask)
    }
}

/// What native input must be, for all that is new.
fn check(plan: &Plan, ops: &[Op], limits: &TextLimits) -> Vec<Refusal> {
    let added: HashSet<&str> =
        ops.iter().filter_map(|op| if let Op::Add(add) = op { add.id.as_deref() } else { None }).collect();
    let mut out = Vec::new();
    for op in ops {
        let (todo, edit, notes): (_, _, &[String]) = match op {
            Op::Add(add) => (None, Some(&add.edit), &add.notes),
            Op::Edit(Ref::Uid(uid), edit) => (plan.get(*uid), Some(edit), &[]),
            Op::Edit(_, edit) => (None, Some(edit), &[]),
            Op::Note(_, text) => (None, None, std::slice::from_ref(text)),
            _ => continue,
        };
        out.extend(notes.iter().filter_map(|text| too_long("note", text, limits.long)));
        let Some(edit) = edit else { continue };
        out.extend(texts(edit, limits));
        let Keep::Set(refs) = &edit.depends_on else { continue };
        let was_missing = |id: &String| todo.is_some_and(|t| t.depends_on.contains(&Dep::Dangling(id.clone())));
        for r in refs {
            let Ref::Id(id) = r else { continue };
            if plan.by_id(id).is_none() && !added.contains(id.as_str()) && !was_missing(id) {
                let near = punch_core::text::nearest(id, plan.ids(), 3);
                let of = todo.map_or_else(|| "a new todo".to_owned(), |t| t.id.clone());
                out.push(Refusal::UnknownDependency { id: of, missing: id.clone(), near });
            }
        }
    }
    out
}

fn texts(edit: &Edit, limits: &TextLimits) -> Vec<Refusal> {
    let long = |field, text: &Keep<Option<String>>| match text {
        Keep::Set(Some(text)) => too_long(field, text, limits.long),
        _ => None,
    };
    let content = edit.content.as_set().and_then(|text| too_long("content", text, limits.content));
    let rest = [long("description", &edit.description), long("verificationCriteria", &edit.criteria)];
    content.into_iter().chain(rest.into_iter().flatten()).collect()
}

fn too_long(field: &'static str, text: &str, limit: usize) -> Option<Refusal> {
    let length = text.chars().count();
    (length > limit).then_some(Refusal::TooLong { field, length, limit })
}
