//! Computes the ops that add all of a document to an empty plan.

use std::collections::{BTreeSet, HashSet};

use super::{Document, Record, RecordStatus};
use crate::{
    Add, CarriedHistory, Edit, Hold, HoldKind, Keep, LabelEdit, ListPosition, Note, Op, PhaseRef, Ref, Refusal, Status,
};

impl Document {
    /// The ops that add everything to an empty plan: the phases, then every todo with its history.
    ///
    /// Checked here: ids are unique, phases exist. Unknown dependencies, cycles and the start gate are judged by
    /// `apply` under the policy of the import.
    pub fn ops(&self) -> Result<Vec<Op>, Refusal> {
        let mut ids = HashSet::new();
        for id in self.records.iter().filter_map(|record| record.id.as_deref()) {
            if !ids.insert(id) {
                return Err(Refusal::DuplicateId { id: id.to_owned() });
            }
        }
        let mut ops = Vec::with_capacity(self.records.len() + 1);
        if !self.phases.is_empty() {
            ops.push(Op::Phases(self.phases.iter().cloned().map(PhaseRef::Name).collect()));
        }
        let (place, waiting) = (self.phase_places(), self.waiting());
        let mut late = Vec::new();
        for (at, record) in self.records.iter().enumerate() {
            check(record, at)?;
            let phase = place(record);
            if phase.is_none() && (record.phase.is_some() || record.phase_index.is_some()) {
                let name = record.phase.clone().unwrap_or_default();
                let near = crate::text::nearest(&name, self.phases.iter().map(String::as_str), 3);
                return Err(Refusal::UnknownPhase { name, near });
            }
            let (add, notes) = add(record, phase.map(PhaseRef::Index), waiting.contains(&at));
            ops.push(Op::Add(add));
            late.extend(notes.into_iter().map(|text| Op::Note(Ref::New(at), text)));
        }
        self.wire(&mut ops);
        ops.extend(late);
        Ok(ops)
    }

    /// Brings the edges into the adds.
    fn wire(&self, ops: &mut [Op]) {
        let mut adds: Vec<&mut Add> =
            ops.iter_mut().filter_map(|op| if let Op::Add(add) = op { Some(add) } else { None }).collect();
        for (waiting, on) in &self.edges {
            let Some(add) = adds.get_mut(*waiting).filter(|_| *on < self.records.len()) else { continue };
            match &mut add.edit.depends_on {
                Keep::Set(deps) => deps.push(Ref::New(*on)),
                keep => *keep = Keep::Set(vec![Ref::New(*on)]),
            }
        }
    }

    /// The records called blocked that depend on something in the document or on an unknown id that is not done.
    pub(super) fn waiting(&self) -> HashSet<usize> {
        let blocked = |record: &Record| record.status == RecordStatus::Blocked;
        if !self.records.iter().any(blocked) {
            return HashSet::new();
        }
        let open = |record: &&Record| record.status != RecordStatus::Stored(Status::Completed);
        let done: HashSet<&str> =
            self.records.iter().filter(|record| !open(record)).filter_map(|record| record.id.as_deref()).collect();
        let held_up: HashSet<&str> =
            self.records.iter().filter(open).flat_map(|record| &record.blocks).map(String::as_str).collect();
        let waits = |record: &Record| {
            record.depends_on.iter().any(|dep| !done.contains(dep.as_str()))
                || record.id.as_deref().is_some_and(|id| held_up.contains(id))
        };
        let numbered = self.records.iter().enumerate();
        numbered.filter(|(_, record)| blocked(record) && waits(record)).map(|(at, _)| at).collect()
    }
}

/// A new todo, and the notes to be added to it afterwards because it brings a history along.
pub(super) fn add(record: &Record, phase: Option<PhaseRef>, waiting: bool) -> (Add, Vec<String>) {
    let (carried, plain) = history(record);
    let carried = (carried != CarriedHistory::default()).then(|| Box::new(carried));
    // Whatever is carried has its own notes, so the others follow.
    let (notes, late) = if carried.is_none() { (plain, Vec::new()) } else { (Vec::new(), plain) };
    let add = Add {
        id: record.id.clone(),
        edit: edit(record, phase),
        place: ListPosition::End,
        status: record.status.stored(),
        hold: hold(record, waiting),
        notes,
        carried,
    };
    (add, late)
}

/// Values that a document built by hand may have wrong; one that was read has passed already.
fn check(record: &Record, at: usize) -> Result<(), Refusal> {
    let wrong = |key: &str, what: &str| Refusal::Invalid { at: format!("todos[{at}].{key}"), what: what.to_owned() };
    if record.id.as_deref() == Some("") {
        return Err(wrong("id", "is empty"));
    }
    if record.priority.is_some_and(|priority| !(1..=5).contains(&priority)) {
        return Err(wrong("priority", "must be 1 to 5"));
    }
    Ok(())
}

fn edit(record: &Record, phase: Option<PhaseRef>) -> Edit {
    let ids = |ids: &[String]| ids.iter().cloned().map(Ref::Id).collect::<Vec<_>>();
    Edit {
        id: Keep::Keep,
        content: Keep::Set(record.content.clone()),
        active_form: given(&record.active_form),
        description: given(&record.description),
        depends_on: if record.depends_on.is_empty() { Keep::Keep } else { Keep::Set(ids(&record.depends_on)) },
        blocks: ids(&record.blocks),
        phase: phase.map_or(Keep::Keep, |phase| Keep::Set(Some(phase))),
        priority: Keep::from_option(record.priority),
        labels: LabelEdit::between(&BTreeSet::new(), &record.labels),
        complexity: given(&record.complexity),
        estimated_tokens: given(&record.estimated_tokens),
        criteria: given(&record.verification_criteria),
        verify: given(&record.verify_command),
        files: if record.files.is_empty() { Keep::Keep } else { Keep::Set(record.files.clone()) },
        hidden: given(&record.hidden),
    }
}

fn given<T: Clone>(value: &Option<T>) -> Keep<Option<T>> {
    value.as_ref().map_or(Keep::Keep, |value| Keep::Set(Some(value.clone())))
}

/// Only a pending todo can be on hold. One that is called blocked but waits for nothing gets a hold (rule 2).
fn hold(record: &Record, waiting: bool) -> Option<Hold> {
    if record.status.stored() != Status::Pending {
        return None;
    }
    let needed = record.status == RecordStatus::Blocked && !waiting;
    record.hold.clone().or_else(|| {
        needed.then(|| Hold {
            kind: HoldKind::Other,
            reason: "blocked".to_owned(),
            until: None,
            by: String::new(),
            at: 0,
        })
    })
}

/// What is carried, and the notes at the end without a date: those are added as new ones.
fn history(record: &Record) -> (CarriedHistory, Vec<String>) {
    let dated = record.notes.iter().rposition(|note| note.at.is_some() || note.by.is_some()).map_or(0, |at| at + 1);
    let (carried, plain) = record.notes.split_at(dated);
    let mut last = record.created_at.unwrap_or_default();
    let note = |remark: &super::Remark| {
        last = remark.at.unwrap_or(last);
        Note { text: remark.text.clone(), at: last, by: remark.by.clone().unwrap_or_default() }
    };
    let carried = CarriedHistory {
        notes: carried.iter().map(note).collect(),
        evidence: record.evidence.clone(),
        actual_tokens: record.actual_tokens.unwrap_or_default(),
        attempts: record.attempts.unwrap_or_default(),
        last_error: record.last_error.clone(),
        created_at: record.created_at,
        started_at: record.started_at,
        finished_at: record.finished_at,
        extra: record.extra.clone(),
        flags: record.flags.stored,
    };
    (carried, plain.iter().map(|remark| remark.text.clone()).collect())
}
