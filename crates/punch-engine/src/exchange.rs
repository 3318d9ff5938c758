//! Import and export of whole plans. The core implements the formats.

use std::collections::{BTreeSet, HashSet};

use punch_core::format::{Format, WrittenDocument};
use punch_core::{
    Actor, ApplyStop, Context, Document, Footprint, InProgressLimit, MissingDep, OnCycle, Op, ParsedDocument, Plan,
    Policy, Ref, StartGate, Status, apply,
};
use punch_store::PlanId;

use crate::merge::{merge, with_free_ids};
use crate::{Engine, EngineError, PlanChange, WriteRequest};

/// The plan that a text describes, without any store, under the rules of an import; and the unknown names in it.
pub fn plan_of(format: Format, text: &str, now: i64) -> Result<(Plan, BTreeSet<String>), EngineError> {
    let ParsedDocument { document, ignored } = format.read(text)?;
    let mut plan = Plan::new();
    let context = Context::new(now, Actor::user().signing("file").without_claims(), lenient(plan.row.policy));
    match apply(&plan, &document.ops()?, &context) {
        Ok(outcome) => plan.commit(&outcome),
        Err(ApplyStop::Refused(refusals)) => return Err(EngineError::Refused(refusals)),
        // A whole plan needs nothing.
        Err(ApplyStop::Need(_)) => {}
    }
    Ok((plan, ignored))
}

/// A plan in a format, with what that could not carry; nothing if the format is only read.
pub fn written(format: Format, plan: &Plan) -> Option<WrittenDocument> {
    let mut document = Document::of(plan);
    // Only where readers expect it: other exports stay the same until a todo changes in a way that they show.
    if format == Format::CursorAgent {
        for record in &mut document.records {
            let todo = record.id.as_deref().and_then(|id| plan.by_id(id));
            record.updated_at = todo.map(|todo| todo.updated_at);
        }
    }
    format.write(&document)
}

/// What an import did, or would do.
#[derive(Clone, Debug)]
pub struct ImportResult {
    /// The write; on a dry run it was undone.
    pub changed: PlanChange,
    /// Todos that were there already, and were updated where the document differs.
    pub known: usize,
    /// The content of the document.
    pub brings: Brings,
    /// Unknown names in the input.
    pub ignored: BTreeSet<String>,
}

/// The content of a document, in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Brings {
    /// Todos of each status, in the order of [`Status::ALL`].
    pub statuses: [usize; 5],
    /// Dependencies.
    pub dependencies: usize,
    /// Phases.
    pub phases: usize,
}

impl Brings {
    fn of(document: &Document) -> Self {
        let count = |status: Status| document.records.iter().filter(|r| r.status.stored() == status).count();
        // One edge may be named from both sides.
        let mut edges: HashSet<(String, &str)> = HashSet::new();
        for (at, record) in document.records.iter().enumerate() {
            let id = record.id.clone().unwrap_or_else(|| format!("#{at}"));
            edges.extend(record.depends_on.iter().map(|on| (id.clone(), on.as_str())));
            edges.extend(record.blocks.iter().filter_map(|by| Some((by.clone(), record.id.as_deref()?))));
        }
        Self {
            statuses: Status::ALL.map(count),
            dependencies: edges.len() + document.edges.len(),
            phases: document.phases.len(),
        }
    }
}

/// What an import may bring that a careful write may not: half-done work, and names that are still missing (rule 13).
pub(crate) fn lenient(plan: Policy) -> Policy {
    Policy { start_gate: StartGate::Warn, in_progress: InProgressLimit::Any, missing_dep: MissingDep::Dangle, ..plan }
}

/// The policy for imports with cycles suspended instead of refused.
fn with_circles(plan: Policy) -> Policy {
    Policy { on_cycle: OnCycle::Suspend, ..lenient(plan) }
}

/// The options of an import.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImportOptions {
    /// Archive what is there first.
    pub replace: bool,
    /// Update todos that the plan has already instead of adding them again.
    pub update: bool,
    /// Keep circular dependencies suspended instead of refusing them.
    pub circles: bool,
    /// Change nothing, only say what would come.
    pub dry_run: bool,
}

impl Engine {
    /// Brings a document into a plan, all or nothing.
    pub fn import(
        &self,
        plan: PlanId,
        request: &WriteRequest<'_>,
        format: Format,
        text: &str,
        how: ImportOptions,
    ) -> Result<ImportResult, EngineError> {
        let parsed = format.read(text)?;
        let (document, ignored) = (parsed.document, parsed.ignored);
        let (adds, mut known) = (document.ops()?, 0);
        let preset = if how.circles { with_circles } else { lenient };
        let request = WriteRequest { preset, ..request.clone() };
        let mut ask = |plan: &Plan, _| -> Result<Vec<Op>, ApplyStop> {
            plan.need_whole()?;
            if how.replace {
                let gone = plan.live().into_iter().map(|t| Op::Rm(Ref::Uid(t.uid)));
                return Ok(gone.chain(adds.iter().cloned()).collect());
            }
            let before = Document::of(plan);
            if how.update {
                let merged = merge(&before, &document, plan.row.next_number);
                known = merged.known;
                if known > 0 {
                    return Ok(before.diff(&merged.after, plan));
                }
            }
            let adds = with_free_ids(&before, &document, plan.row.next_number).ops()?;
            Ok(keep_phases(plan, adds))
        };
        let first = Footprint::everything();
        let changed = if how.dry_run {
            self.rehearse(plan, &request, &first, &mut ask)?
        } else {
            self.submit_with(plan, &request, &first, &mut ask)?
        };
        Ok(ImportResult { changed, known, brings: Brings::of(&document), ignored })
    }
}

/// The phases of the document come after those that are there, so what is there keeps its phase. A phase with the name of
/// one of them is that one; of phases with the same name, the first is the first and so on.
fn keep_phases(plan: &Plan, mut ops: Vec<Op>) -> Vec<Op> {
    use punch_core::{Keep, PhaseRef};
    let kept = &plan.row.phases;
    // Where each phase of the document is in the new list.
    let mut places = Vec::new();
    for op in &mut ops {
        match op {
            Op::Phases(list) => {
                let mut all: Vec<PhaseRef> = kept.iter().map(|phase| PhaseRef::Uid(phase.uid)).collect();
                for phase in list.drain(..) {
                    let known = match &phase {
                        PhaseRef::Name(name) => (0..kept.len()).find(|n| kept[*n].name == *name && !places.contains(n)),
                        _ => None,
                    };
                    places.push(known.unwrap_or(all.len()));
                    if known.is_none() {
                        all.push(phase);
                    }
                }
                *list = all;
            }
            Op::Add(add) => {
                if let Keep::Set(Some(PhaseRef::Index(n))) = &mut add.edit.phase {
                    *n = places.get(*n).copied().unwrap_or(*n + kept.len());
                }
            }
            _ => {}
        }
    }
    ops
}
