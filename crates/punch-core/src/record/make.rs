//! Makes records from todos, for answers and for exports.

use std::collections::HashMap;

use super::{Marks, Record, RecordStatus, Remark};
use crate::reason::PlanReader;
use crate::{Dep, Phase, PhaseUid, Plan, Status, Todo};

/// Makes records of many todos: the phases are looked at once.
pub struct Records<'a> {
    pub(super) plan: &'a Plan,
    places: HashMap<PhaseUid, NumberedPhase<'a>>,
}

impl<'a> Records<'a> {
    /// For todos of this plan.
    pub fn new(plan: &'a Plan) -> Self {
        Self { plan, places: places(&plan.row.phases) }
    }

    /// What a reader is shown at `now`, see [`Record::of`].
    pub fn of(&self, todo: &Todo, now: i64) -> Record {
        let phase = todo.phase.and_then(|uid| self.places.get(&uid)).copied();
        Record::with_phase(self.plan, todo, phase).shown(self.plan, todo, now)
    }
}

impl Record {
    /// What a reader is shown at `now`: derived values, owner and lease included.
    pub fn of(plan: &Plan, todo: &Todo, now: i64) -> Self {
        Self::stored(plan, todo).shown(plan, todo, now)
    }

    fn shown(self, plan: &Plan, todo: &Todo, now: i64) -> Self {
        let mut out = self;
        // An index means something only next to the list of phases.
        out.phase_index = None;
        // For the next export only: foreign text of any kind that no reader asked for.
        out.extra = None;
        let blocked = todo.is_blocked(now);
        out.status = if blocked { RecordStatus::Blocked } else { RecordStatus::Stored(todo.status_at(now)) };
        out.hold = todo.hold_at(now).cloned();
        out.depends_on = depends_on(plan, todo, Gone::Named);
        // A slice may not have the dependents; then they are not shown.
        out.blocks = plan
            .dependents_of(todo.uid)
            .map(|uids| uids.iter().filter_map(|uid| plan.get(*uid)).map(|t| t.id.clone()).collect())
            .unwrap_or_default();
        out.parallel_group = Some(u64::from(todo.derived.level));
        out.owner.clone_from(&todo.owner);
        out.lease_until = todo.lease_until;
        out.fence = Some(todo.fence).filter(|fence| *fence > 0);
        out.updated_at = Some(todo.updated_at);
        out.flags.stored.resume |= todo.lease_expired(now);
        out.flags.stalled = todo.is_stalled(now);
        out.flags.oversize = PlanReader::new(plan, now).is_marked_oversize(todo);
        out
    }

    /// What an export keeps: all that an import can bring back, nothing derived, no owner and no lease.
    pub fn stored(plan: &Plan, todo: &Todo) -> Self {
        let phase = todo.phase.and_then(|uid| plan.row.phases.iter().position(|phase| phase.uid == uid));
        let same = |at: usize| plan.row.phases.iter().filter(|p| p.name == plan.row.phases[at].name).count();
        let phase = phase.map(|at| NumberedPhase { at, name: &plan.row.phases[at].name, repeated: same(at) > 1 });
        Self::with_phase(plan, todo, phase)
    }

    pub(super) fn with_phase(plan: &Plan, todo: &Todo, phase: Option<NumberedPhase<'_>>) -> Self {
        let fields = &todo.fields;
        Self {
            id: Some(fields.id.clone()),
            content: fields.content.clone(),
            active_form: fields.active_form.clone(),
            status: RecordStatus::Stored(fields.status),
            phase: phase.map(|place| place.name.to_owned()),
            phase_index: phase.filter(|place| place.repeated).map(|place| place.at as u64),
            priority: Some(fields.priority).filter(|priority| *priority != 3),
            labels: fields.labels.clone(),
            depends_on: depends_on(plan, todo, Gone::Left),
            description: fields.description.clone(),
            hold: fields.hold.clone(),
            complexity: fields.complexity,
            estimated_tokens: fields.estimated_tokens,
            actual_tokens: Some(fields.actual_tokens).filter(|tokens| *tokens > 0),
            verification_criteria: fields.criteria.clone(),
            verify_command: fields.verify.clone(),
            files: fields.files.clone(),
            evidence: fields.evidence.clone(),
            notes: fields.notes.iter().map(Remark::from).collect(),
            attempts: Some(fields.attempts).filter(|attempts| *attempts > 0),
            last_error: fields.last_error.clone(),
            created_at: Some(fields.created_at),
            started_at: fields.started_at,
            finished_at: fields.finished_at,
            hidden: fields.hidden,
            extra: fields.extra.clone(),
            flags: Marks { stored: fields.flags, ..Marks::default() },
            ..Self::default()
        }
    }
}

/// A phase among the phases of its plan.
#[derive(Clone, Copy)]
pub(super) struct NumberedPhase<'a> {
    pub(super) at: usize,
    pub(super) name: &'a str,
    /// Another phase has the same name.
    pub(super) repeated: bool,
}

/// Maps each phase to its name and number.
pub(super) fn places(phases: &[Phase]) -> HashMap<PhaseUid, NumberedPhase<'_>> {
    let mut times: HashMap<&str, usize> = HashMap::new();
    for phase in phases {
        *times.entry(&phase.name).or_default() += 1;
    }
    phases
        .iter()
        .enumerate()
        .map(|(at, phase)| {
            let repeated = times.get(phase.name.as_str()).is_some_and(|times| *times > 1);
            (phase.uid, NumberedPhase { at, name: &phase.name, repeated })
        })
        .collect()
}

/// What becomes of a dependency on a completed todo that was removed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Gone {
    /// Still named.
    Named,
    /// Left out: it is satisfied forever, and in an export its id would be unknown.
    Left,
}

/// The ids of what a todo depends on.
pub(super) fn depends_on(plan: &Plan, todo: &Todo, gone: Gone) -> Vec<String> {
    let id = |dep: &Dep| match dep {
        Dep::Dangling(id) => Some(id.clone()),
        Dep::On(uid) | Dep::Suspended(uid) => plan
            .get(*uid)
            .filter(|to| to.is_live() || gone == Gone::Named || to.status != Status::Completed)
            .map(|to| to.id.clone()),
    };
    todo.depends_on.iter().filter_map(id).collect()
}
