//! Finds what a todo is ultimately waiting for: walks down the dependencies to those that wait for nothing themselves.

use std::collections::HashSet;

use super::{Cause, PlanReader, WaitReason, is_empty, is_optional};
use crate::{Dep, Footprint, Need, Plan, Status, Todo, Uid};

/// Everything that blocks some todos.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaitRoots {
    /// Each once, in the order of [`Cause`] and then of ids.
    pub found: Vec<WaitReason>,
    /// There was too much to look at everything.
    pub cut: bool,
    /// The ids of open todos of the lowest priority that nothing blocks.
    pub optional: Vec<String>,
}

/// Walks down from `start`, looking at no more than `limit` todos. What the reader could work on is not in the answer.
pub fn roots(plan: &Plan, start: &[Uid], owner: Option<&str>, now: i64, limit: usize) -> Result<WaitRoots, Need> {
    let reader = PlanReader::of(plan, owner, now);
    let mut walk = Walk { reader, seen: HashSet::new(), out: WaitRoots::default() };
    let mut layer: Vec<Uid> = start.to_vec();
    Footprint::gather(layer.iter().map(|uid| plan.need(*uid)))?;
    // A parked todo blocks only the todos that wait for it.
    layer.retain(|uid| plan.get(*uid).is_some_and(|todo| !todo.is_parked()));
    while !layer.is_empty() {
        layer.retain(|uid| walk.seen.insert(*uid));
        if walk.seen.len() > limit {
            walk.out.cut = true;
            layer.truncate(layer.len().saturating_sub(walk.seen.len() - limit));
        }
        Footprint::gather(layer.iter().map(|uid| plan.need(*uid)))?;
        super::need(plan, layer.iter().filter_map(|uid| plan.get(*uid)))?;
        let mut next = Vec::new();
        for todo in layer.iter().filter_map(|uid| plan.get(*uid)) {
            walk.visit(todo, &mut next);
        }
        layer = if walk.out.cut { Vec::new() } else { next };
    }
    let mut out = walk.out;
    out.found.sort_by(|a, b| (a.cause, &a.id).cmp(&(b.cause, &b.id)));
    out.found.dedup_by(|a, b| a.cause == b.cause && a.id == b.id);
    Ok(out)
}

struct Walk<'a> {
    reader: PlanReader<'a>,
    seen: HashSet<Uid>,
    out: WaitRoots,
}

impl<'a> Walk<'a> {
    fn visit(&mut self, todo: &'a Todo, next: &mut Vec<Uid>) {
        let reader = self.reader;
        if !reader.is_open(todo) {
            return;
        }
        if reader.is_elsewhere(todo) {
            self.out.found.push(reader.claim(todo));
            return;
        }
        let pending = todo.status_at(reader.now) == Status::Pending;
        if let Some(hold) = reader.hold(todo).filter(|_| pending) {
            self.out.found.push(hold);
        } else if todo.derived.unmet == 0 {
            if is_empty(todo) {
                self.out.found.push(WaitReason::own(Cause::Blank, todo, reader.now));
            } else if todo.flags.reported && !pending {
                self.out.found.push(WaitReason::own(Cause::Reported, todo, reader.now));
            } else if let Some(files) = reader.own_reason(todo).filter(|_| pending) {
                self.out.found.push(files);
            } else if is_optional(todo) {
                self.out.optional.push(todo.id.clone());
            }
        }
        if todo.derived.unmet == 0 {
            return;
        }
        for (dep, target) in reader.unmet(todo) {
            let reason = reader.dependency(todo, dep, target);
            match (reason.cause, dep) {
                (Cause::Missing | Cause::Dropped | Cause::Cycle, _) => self.out.found.push(reason),
                (_, Dep::On(_) | Dep::Suspended(_) | Dep::Dangling(_)) => next.extend(target.map(|t| t.uid)),
            }
        }
    }
}

/// Calls `next` for every todo reachable from `start`, nearest first, each once, `start` included; what it adds to
/// the list is visited later.
pub(super) fn reach<'a>(start: &'a Todo, mut next: impl FnMut(&'a Todo, &mut Vec<&'a Todo>)) {
    let mut seen = HashSet::from([start.uid]);
    let mut layer = vec![start];
    let mut found = Vec::new();
    while !layer.is_empty() {
        for todo in layer.drain(..) {
            next(todo, &mut found);
        }
        found.retain(|todo| seen.insert(todo.uid));
        std::mem::swap(&mut layer, &mut found);
    }
}
