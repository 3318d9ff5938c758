//! Applies the user's edit of a whole plan: the difference between the text they were shown and the text they saved.

use std::collections::{HashMap, HashSet};

use punch_core::dialect::native::TextLimits;
use punch_core::view::edit_sheet::EditedSheet;
use punch_core::{
    ApplyStop, Dep, Document, Edit, Footprint, Keep, MissingDep, Op, Plan, Policy, Record, Ref, Refusal, StartGate,
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
    /// Refusals name the line of the user's text that they are about.
    pub fn submit_document(
        &self,
        plan: PlanId,
        request: &WriteRequest<'_>,
        before: &Document,
        after: &EditedSheet,
        limits: &TextLimits,
    ) -> Result<PlanChange, EngineError> {
        let request = WriteRequest { preset, ..request.clone() };
        let mut lines = HashMap::new();
        let mut ask = |plan: &Plan, _| -> Result<Vec<Op>, ApplyStop> {
            plan.need_whole()?;
            let ops = before.diff(&after.document, plan);
            lines = lines_of(before, after, plan);
            let refusals = check(plan, &ops, limits, &lines);
            if refusals.is_empty() { Ok(ops) } else { Err(ApplyStop::Refused(refusals)) }
        };
        self.submit_with(plan, &request, &Footprint::everything(), &mut ask).map_err(|error| match error {
            EngineError::Refused(refusals) => {
                EngineError::Refused(refusals.into_iter().map(|r| placed(r, &lines)).collect())
            }
            other => other,
        })
    }
}

/// What refusals call the new todo of this number, until it has an id.
fn new_todo(number: usize) -> String {
    format!("new todo {}", number + 1)
}

/// A line of the sheet that a todo stands on.
#[derive(Clone, Copy)]
struct TodoLine {
    number: usize,
    /// The user changed it.
    is_changed: bool,
}

/// The lines of the sheet, by what refusals call the todos on them: their ids, and those that new todos will get.
fn lines_of(before: &Document, after: &EditedSheet, plan: &Plan) -> HashMap<String, TodoLine> {
    let known: HashMap<&str, &Record> =
        before.records.iter().filter_map(|record| Some((record.id.as_deref()?, record))).collect();
    let (mut lines, mut added) = (HashMap::new(), 0);
    for (record, line) in after.document.records.iter().zip(&after.lines) {
        let old = record.id.as_deref().and_then(|id| known.get(id));
        let names = match (old, &record.id) {
            (Some(_), Some(id)) => vec![id.clone()],
            _ => {
                added += 1;
                vec![new_todo(added - 1), format!("T-{}", plan.row.next_number + added as u64 - 1)]
            }
        };
        let Some(number) = *line else { continue };
        let line = TodoLine { number, is_changed: old != Some(&record) };
        lines.extend(names.into_iter().map(|name| (name, line)));
    }
    lines
}

/// The refusal with the line of a todo that it is about, preferably one that the user changed.
fn placed(refusal: Refusal, lines: &HashMap<String, TodoLine>) -> Refusal {
    let found = refusal.about().iter().filter_map(|id| lines.get(id));
    let first = found.min_by_key(|line| (!line.is_changed, line.number)).map(|line| line.number);
    refusal.at_line(first)
}

/// What native input must be, for all that is new.
fn check(plan: &Plan, ops: &[Op], limits: &TextLimits, lines: &HashMap<String, TodoLine>) -> Vec<Refusal> {
    let added: HashSet<&str> =
        ops.iter().filter_map(|op| if let Op::Add(add) = op { add.id.as_deref() } else { None }).collect();
    let (mut out, mut adds) = (Vec::new(), 0);
    for op in ops {
        let (target, edit, notes): (Ref, _, &[String]) = match op {
            Op::Add(add) => {
                adds += 1;
                (Ref::New(adds - 1), Some(&add.edit), &add.notes)
            }
            Op::Edit(target, edit) => (target.clone(), Some(edit), &[]),
            Op::Note(target, text) => (target.clone(), None, std::slice::from_ref(text)),
            _ => continue,
        };
        let todo = if let Ref::Uid(uid) = &target { plan.get(*uid) } else { None };
        let name = match target {
            Ref::Uid(_) => todo.map(|todo| todo.id.clone()).unwrap_or_default(),
            Ref::Id(id) => id,
            Ref::New(number) => new_todo(number),
        };
        let line = lines.get(&name).map(|line| line.number);
        let mut put = |refusal: Refusal| out.push(refusal.at_line(line));
        notes.iter().filter_map(|text| too_long("note", text, limits.long)).for_each(&mut put);
        let Some(edit) = edit else { continue };
        texts(edit, limits).into_iter().for_each(&mut put);
        let Keep::Set(refs) = &edit.depends_on else { continue };
        let was_missing = |id: &String| todo.is_some_and(|t| t.depends_on.contains(&Dep::Dangling(id.clone())));
        for r in refs {
            let Ref::Id(id) = r else { continue };
            if plan.by_id(id).is_none() && !added.contains(id.as_str()) && !was_missing(id) {
                let near = punch_core::text::nearest(id, plan.ids(), 3);
                let of = todo.map_or_else(|| "a new todo".to_owned(), |t| t.id.clone());
                put(Refusal::UnknownDependency { id: of, missing: id.clone(), near });
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
