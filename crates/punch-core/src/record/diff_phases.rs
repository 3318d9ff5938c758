//! Matches the phases of two versions of a document with each other and with those of the plan.

use std::collections::{HashMap, HashSet};

use super::Document;
use crate::{Keep, Op, PhaseRef, PhaseUid, Plan};

/// Phases of two versions, matched by name; of several with one name the n-th is the n-th.
pub(super) struct Phases<'a> {
    after: &'a [String],
    /// For each phase of the new version, its index in the old one.
    kept: Vec<Option<usize>>,
    /// For each phase of the old version, what the plan has for it.
    uids: Vec<Option<PhaseUid>>,
    /// The list itself changed, so the batch carries it and its entries are named by index.
    listed: bool,
}

impl<'a> Phases<'a> {
    pub(super) fn new(before: &Document, after: &'a Document, plan: &Plan) -> Self {
        let stored: Vec<&str> = plan.row.phases.iter().map(|p| p.name.as_str()).collect();
        let uid = |at: usize| plan.row.phases[at].uid;
        Self {
            after: &after.phases,
            kept: nth_to_nth(after.phases.iter().map(String::as_str), before.phases.iter().map(String::as_str)),
            uids: nth_to_nth(before.phases.iter().map(String::as_str), stored.iter().copied())
                .into_iter()
                .map(|at| at.map(uid))
                .collect(),
            listed: before.phases != after.phases,
        }
    }

    /// The new list, if it is one. Phases that came meanwhile stay behind it.
    pub(super) fn op(&self, plan: &Plan) -> Option<Op> {
        if !self.listed {
            return None;
        }
        let one = |(at, name): (usize, &String)| match self.uid(at) {
            Some(uid) => PhaseRef::Uid(uid),
            None => PhaseRef::Name(name.clone()),
        };
        let shown: HashSet<PhaseUid> = self.uids.iter().flatten().copied().collect();
        let came = plan.row.phases.iter().filter(|p| !shown.contains(&p.uid)).map(|p| PhaseRef::Uid(p.uid));
        Some(Op::Phases(self.after.iter().enumerate().map(one).chain(came).collect()))
    }

    /// How an op names a phase of the new version.
    pub(super) fn reference(&self, at: usize) -> PhaseRef {
        match self.uid(at) {
            _ if self.listed => PhaseRef::Index(at),
            Some(uid) => PhaseRef::Uid(uid),
            None => PhaseRef::Name(self.after[at].clone()),
        }
    }

    /// The phase of a todo, if it is another one now.
    pub(super) fn moved(&self, old: Option<usize>, new: Option<usize>) -> Keep<Option<PhaseRef>> {
        match (old, new) {
            (None, None) => Keep::Keep,
            (Some(old), Some(new)) if self.kept[new] == Some(old) => Keep::Keep,
            (_, new) => Keep::Set(new.map(|at| self.reference(at))),
        }
    }

    fn uid(&self, at: usize) -> Option<PhaseUid> {
        self.kept[at].and_then(|old| self.uids[old])
    }
}

/// For each name, the index of its counterpart in `others`.
fn nth_to_nth<'n>(names: impl Iterator<Item = &'n str>, others: impl Iterator<Item = &'n str>) -> Vec<Option<usize>> {
    let mut places: HashMap<&str, std::collections::VecDeque<usize>> = HashMap::new();
    for (at, name) in others.enumerate() {
        places.entry(name).or_default().push_back(at);
    }
    names.map(|name| places.get_mut(name).and_then(std::collections::VecDeque::pop_front)).collect()
}
