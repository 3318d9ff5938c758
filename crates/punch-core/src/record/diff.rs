//! Computes the ops that lead from one version of a document to another. Only differences become ops, so changes by
//! others stay: the base is what the user was shown, not the current plan.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::diff_phases::Phases;
use super::make::{Gone, depends_on};
use super::{Document, Record, RecordStatus, ops};
use crate::{Edit, Hold, Keep, LabelEdit, Op, Plan, Ref, Status, Uid};

impl Document {
    /// The ops that bring a plan from this document to `after`. Todos are matched by id: what `after` lacks is
    /// archived, what it has without a known id is new. `plan` is the plan as it is now, of which this document may
    /// be an older state.
    ///
    /// Notes are append-only: changed ones are appended, deleted ones stay. Times, evidence, attempts and other
    /// history of known todos are not asked for.
    pub fn diff(&self, after: &Self, plan: &Plan) -> Vec<Op> {
        let known: HashMap<&str, &Record> = self.records.iter().filter_map(|r| Some((r.id.as_deref()?, r))).collect();
        let phases = Phases::new(self, after, plan);
        let mut out = Ops { steps: phases.op(plan).into_iter().collect(), ..Ops::default() };
        let kept: HashSet<&str> = after.records.iter().filter_map(|r| r.id.as_deref()).collect();
        let gone = self.records.iter().filter_map(|r| r.id.as_deref()).filter(|id| !kept.contains(id));
        let live = |id: &str| plan.by_id(id).map(|todo| todo.uid);
        out.steps.extend(gone.filter_map(live).map(|uid| Op::Rm(Ref::Uid(uid))));
        let places = (self.phase_places(), after.phase_places());
        let mut order = Vec::with_capacity(after.records.len());
        let (mut added, waiting) = (0, after.waiting());
        for (at, record) in after.records.iter().enumerate() {
            match record.id.as_deref().and_then(|id| known.get(id).map(|old| (id, *old))) {
                None => {
                    let phase = (places.1)(record).map(|at| phases.reference(at));
                    let (add, late) = ops::add(record, phase, waiting.contains(&at));
                    out.steps.push(Op::Add(add));
                    out.steps.extend(late.into_iter().map(|text| Op::Note(Ref::New(added), text)));
                    order.push(Ref::New(added));
                    added += 1;
                }
                Some((id, old)) => {
                    let uid = live(id);
                    let target = uid.map_or_else(|| Ref::Id(id.to_owned()), Ref::Uid);
                    let mut edit = edit(old, record, uid, plan);
                    edit.phase = phases.moved((places.0)(old), (places.1)(record));
                    out.compare(&target, old, record, edit);
                    order.extend(uid.map(Ref::Uid));
                }
            }
        }
        out.steps.extend(self.arrange(order, &kept, plan));
        out.finish()
    }

    /// New todos are added at the end; if they belong there and the others kept their order, nothing moves.
    fn arrange(&self, order: Vec<Ref>, kept: &HashSet<&str>, plan: &Plan) -> Option<Op> {
        let ids = self.records.iter().filter_map(|r| r.id.as_deref()).filter(|id| kept.contains(id));
        let was: Vec<Uid> = ids.filter_map(|id| plan.by_id(id)).map(|todo| todo.uid).collect();
        let uid = |r: &Ref| if let Ref::Uid(uid) = r { Some(*uid) } else { None };
        let appended = order.iter().skip_while(|r| uid(r).is_some()).all(|r| uid(r).is_none());
        let same = was.iter().copied().eq(order.iter().filter_map(uid));
        (!same || !appended).then_some(Op::Arrange(order))
    }

    /// Ids of known todos in which `after` changed something that cannot be edited.
    pub fn unchangeable(&self, after: &Self) -> Vec<String> {
        let known: HashMap<&str, &Record> = self.records.iter().filter_map(|r| Some((r.id.as_deref()?, r))).collect();
        let differs = |record: &&Record| {
            let old = record.id.as_deref().and_then(|id| known.get(id));
            old.is_some_and(|old| history(old) != history(record) || !missing(&record.notes, &old.notes).is_empty())
        };
        after.records.iter().filter(differs).filter_map(|r| r.id.clone()).collect()
    }
}

/// Status changes come in an order in which each leaves room for the next: holds end, work ends, holds begin, work
/// begins.
#[derive(Default)]
struct Ops {
    steps: Vec<Op>,
    releases: Vec<Op>,
    ends: Vec<Op>,
    holds: Vec<Op>,
    starts: Vec<Op>,
}

impl Ops {
    fn compare(&mut self, target: &Ref, old: &Record, new: &Record, edit: Edit) {
        if edit != Edit::default() {
            self.steps.push(Op::Edit(target.clone(), edit));
        }
        let notes = missing(&old.notes, &new.notes);
        self.steps.extend(notes.into_iter().map(|text| Op::Note(target.clone(), text.to_owned())));
        let pending = new.status.stored() == Status::Pending;
        match (&old.hold, &new.hold) {
            (Some(_), None) => self.releases.push(Op::Release(target.clone())),
            (old, Some(new)) if pending && !same_hold(old.as_ref(), new) => {
                let hold = Hold { by: String::new(), at: 0, ..new.clone() };
                self.holds.push(Op::Hold(target.clone(), hold));
            }
            _ => {}
        }
        if old.status == new.status {
            return;
        }
        let t = target.clone();
        match new.status {
            RecordStatus::Blocked => self.ends.push(Op::Block(t)),
            RecordStatus::Stored(status) if old.status.stored() == status => {}
            RecordStatus::Stored(Status::Pending) => self.ends.push(Op::Reopen(t)),
            RecordStatus::Stored(Status::InProgress) => {
                if old.status.stored() == Status::Completed {
                    self.ends.push(Op::Reopen(t.clone()));
                }
                self.starts.push(Op::Start(t));
            }
            RecordStatus::Stored(Status::Completed) => {
                self.ends.push(Op::Done { target: t, evidence: None, fence: None })
            }
            RecordStatus::Stored(Status::Cancelled) => self.ends.push(Op::Drop(t)),
            RecordStatus::Stored(Status::Failed) => {
                // Who writes that it failed does not ask for a retry.
                if old.status.stored() != Status::Pending {
                    self.ends.push(Op::Reopen(t.clone()));
                }
                self.ends.push(Op::Fail(t, new.last_error.clone().unwrap_or_default()));
            }
        }
    }

    fn finish(mut self) -> Vec<Op> {
        for more in [self.releases, self.ends, self.holds, self.starts] {
            self.steps.extend(more);
        }
        self.steps
    }
}

fn edit(old: &Record, new: &Record, uid: Option<Uid>, plan: &Plan) -> Edit {
    fn changed<T: Clone + PartialEq>(old: &T, new: &T) -> Keep<T> {
        if old == new { Keep::Keep } else { Keep::Set(new.clone()) }
    }
    let priority = |record: &Record| record.priority.unwrap_or(3);
    let known: HashSet<&str> = old.blocks.iter().map(String::as_str).collect();
    Edit {
        id: Keep::Keep,
        content: changed(&old.content, &new.content),
        active_form: changed(&old.active_form, &new.active_form),
        description: changed(&old.description, &new.description),
        depends_on: rewired(old, new, uid, plan),
        blocks: new.blocks.iter().filter(|id| !known.contains(id.as_str())).cloned().map(Ref::Id).collect(),
        phase: Keep::Keep,
        priority: changed(&priority(old), &priority(new)),
        labels: LabelEdit::between(&old.labels, &new.labels),
        complexity: changed(&old.complexity, &new.complexity),
        estimated_tokens: changed(&old.estimated_tokens, &new.estimated_tokens),
        criteria: changed(&old.verification_criteria, &new.verification_criteria),
        verify: changed(&old.verify_command, &new.verify_command),
        files: changed(&old.files, &new.files),
        hidden: changed(&old.hidden, &new.hidden),
    }
}

/// Takes out what went and appends what came; the list as given if it was not changed otherwise.
fn rewired(old: &Record, new: &Record, uid: Option<Uid>, plan: &Plan) -> Keep<Vec<Ref>> {
    if old.depends_on == new.depends_on {
        return Keep::Keep;
    }
    let refs = |ids: Vec<String>| Keep::Set(ids.into_iter().map(Ref::Id).collect());
    let current = uid.and_then(|uid| plan.get(uid)).map(|todo| depends_on(plan, todo, Gone::Left));
    let Some(mut current) = current.filter(|current| *current != old.depends_on) else {
        return refs(new.depends_on.clone());
    };
    let wanted: HashSet<&String> = new.depends_on.iter().collect();
    let before: HashSet<&String> = old.depends_on.iter().collect();
    current.retain(|id| wanted.contains(id) || !before.contains(id));
    let have: HashSet<String> = current.iter().cloned().collect();
    current.extend(new.depends_on.iter().filter(|id| !before.contains(id) && !have.contains(*id)).cloned());
    refs(current)
}

fn same_hold(old: Option<&Hold>, new: &Hold) -> bool {
    old.is_some_and(|old| (old.kind, &old.reason, old.until) == (new.kind, &new.reason, new.until))
}

/// The texts of `new` that `old` has not, each as often as it is missing.
fn missing<'a>(old: &[super::Remark], new: &'a [super::Remark]) -> Vec<&'a str> {
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for note in old {
        *times.entry(&note.text).or_default() += 1;
    }
    let is_new = |note: &&super::Remark| match times.get_mut(note.text.as_str()) {
        Some(left @ 1..) => {
            *left -= 1;
            false
        }
        _ => true,
    };
    new.iter().filter(is_new).map(|note| note.text.as_str()).collect()
}

/// The part of a record that no edit changes.
fn history(record: &Record) -> Record {
    Record {
        actual_tokens: record.actual_tokens,
        evidence: record.evidence.clone(),
        attempts: record.attempts,
        created_at: record.created_at,
        started_at: record.started_at,
        finished_at: record.finished_at,
        extra: record.extra.clone(),
        flags: record.flags,
        ..Record::default()
    }
}
