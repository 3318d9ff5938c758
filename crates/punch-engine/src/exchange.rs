//! Import and export of whole plans.

use std::collections::BTreeSet;

use punch_core::view::{markdown, markdown_read};
use punch_core::{
    Context, Document, Footprint, InProgressLimit, MissingDep, OnCycle, Op, Plan, Policy, Ref, Refusal, StartGate,
    Stop, apply,
};
use punch_store::PlanId;

use crate::{Changed, Engine, EngineError, Request};

/// A format that a plan can be written to and read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON of the extended format: `{"todos": […]}` or the bare list.
    Extended,
    /// Native Markdown.
    Markdown,
}

impl Format {
    /// Every format.
    pub const ALL: &'static [Self] = &[Self::Extended, Self::Markdown];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Extended => "extended",
            Self::Markdown => "markdown",
        }
    }

    /// Reads a document.
    pub fn read(self, text: &str) -> Result<(Document, BTreeSet<String>), Refusal> {
        let parsed = match self {
            Self::Extended => Document::from_json(text)?,
            Self::Markdown => markdown_read::read(text)?,
        };
        Ok((parsed.document, parsed.ignored))
    }

    /// The plan that a document describes, without any store, under the rules of an import.
    pub fn plan(self, text: &str, now: i64) -> Result<Plan, EngineError> {
        let (document, _) = self.read(text)?;
        let mut plan = Plan::new();
        let context = Context { now, by: "file".into(), owner: None, policy: lenient(plan.row.policy) };
        match apply(&plan, &document.ops()?, &context) {
            Ok(outcome) => plan.commit(&outcome),
            Err(Stop::Refused(refusals)) => return Err(EngineError::Refused(refusals)),
            // A whole plan needs nothing.
            Err(Stop::Need(_)) => {}
        }
        Ok(plan)
    }

    /// Writes a plan.
    pub fn write(self, plan: &Plan) -> String {
        let document = Document::of(plan);
        match self {
            Self::Extended => document.to_json(),
            Self::Markdown => markdown::write(&document, None),
        }
    }
}

/// What an import did, or would do.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The write; on a dry run it was taken back.
    pub changed: Changed,
    /// Names in the input that nobody knows.
    pub ignored: BTreeSet<String>,
}

/// What an import may bring that a careful write may not: half-done work, and names that are still missing (rule 13).
fn lenient(plan: Policy) -> Policy {
    Policy { start_gate: StartGate::Warn, in_progress: InProgressLimit::Any, missing_dep: MissingDep::Dangle, ..plan }
}

/// The same, with circles suspended instead of refused.
fn with_circles(plan: Policy) -> Policy {
    Policy { on_cycle: OnCycle::Suspend, ..lenient(plan) }
}

/// How an import goes.
#[derive(Clone, Copy, Debug, Default)]
pub struct How {
    /// Archive what is there first.
    pub replace: bool,
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
        request: &Request<'_>,
        format: Format,
        text: &str,
        how: How,
    ) -> Result<Imported, EngineError> {
        let (document, ignored) = format.read(text)?;
        let adds = document.ops()?;
        let preset = if how.circles { with_circles } else { lenient };
        let request = Request { preset, ..request.clone() };
        let mut ask = |plan: &Plan, _| -> Result<Vec<Op>, Stop> {
            plan.need_whole()?;
            let gone = plan.live().into_iter().filter(|_| how.replace).map(|t| Op::Rm(Ref::Uid(t.uid)));
            Ok(gone.chain(keep_phases(plan, &adds, how.replace)).collect())
        };
        let first = Footprint::everything();
        let changed = if how.dry_run {
            self.rehearse(plan, &request, &first, &mut ask)?
        } else {
            self.submit_with(plan, &request, &first, &mut ask)?
        };
        Ok(Imported { changed, ignored })
    }
}

/// The phases of the document come after those that are there, so what is there keeps its phase.
fn keep_phases(plan: &Plan, ops: &[Op], replace: bool) -> Vec<Op> {
    use punch_core::{Keep, PhaseRef};
    let kept = if replace { 0 } else { plan.row.phases.len() };
    let shift = |r: &mut PhaseRef| {
        if let PhaseRef::Index(n) = r {
            *n += kept;
        }
    };
    let mut out = ops.to_vec();
    for op in &mut out {
        match op {
            Op::Phases(list) => {
                let before = plan.row.phases.iter().take(kept).map(|p| PhaseRef::Uid(p.uid));
                *list = before.chain(list.drain(..)).collect();
            }
            Op::Add(add) => {
                if let Keep::Set(Some(phase)) = &mut add.edit.phase {
                    shift(phase);
                }
            }
            _ => {}
        }
    }
    out
}
