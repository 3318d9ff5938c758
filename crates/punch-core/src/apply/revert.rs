//! Undo: the inverse patches of one revision, as a new revision. Refused where later writes changed the same fields.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::draft::Draft;
use super::resolve::Batch;
use super::{Stop, derive, edges, transition};
use crate::{Change, Dep, Event, Footprint, Kind, Op, Patch, Refusal, Status, Swap, Todo, Uid};

pub(super) fn revert(draft: &mut Draft<'_>, batch: &Batch<'_>) -> Result<(), Stop> {
    for op in batch.ops {
        if let Op::Revert { revision } = op {
            if batch.ops.len() > 1 {
                let what = "a revert must be the only op of its batch".into();
                return Err(Refusal::Invalid { at: "ops".into(), what }.into());
            }
            take_back(draft, *revision)?;
        }
    }
    Ok(())
}

fn take_back(draft: &mut Draft<'_>, revision: u64) -> Result<(), Stop> {
    if revision == 0 || revision > draft.plan.row.revision {
        return Err(Refusal::UnknownRevision { revision }.into());
    }
    // The consequences of an undo are found by looking at everything: it is rare, and it must be right.
    draft.plan.need_whole()?;
    let plan = draft.plan;
    let Some(events) = plan.events(revision) else {
        return Err(Stop::Need(Box::new(Footprint { revisions: [revision].into(), ..Footprint::default() })));
    };
    if events.is_empty() {
        return Err(Refusal::UnknownRevision { revision }.into());
    }
    let mut work: BTreeMap<Uid, Todo> = BTreeMap::new();
    let mut conflicts: Vec<(String, &'static str)> = Vec::new();
    for event in events.iter().rev() {
        match &event.patch {
            Patch::Todo(uid, changes) => {
                if !work.contains_key(uid) {
                    work.insert(*uid, draft.get(*uid)?.clone());
                }
                if let Some(todo) = work.get_mut(uid) {
                    back(draft, todo, event, changes, &mut conflicts);
                }
            }
            Patch::Phases(Swap { before, after }) if draft.row.phases == *after => {
                draft.row.phases.clone_from(before);
                draft.event(Kind::Reverted, Patch::Phases(Swap { before: after.clone(), after: before.clone() }));
            }
            Patch::Phases(_) => conflicts.push(("plan".into(), "phases")),
            Patch::Policy(swap) if draft.row.policy == swap.after => {
                draft.row.policy = swap.before;
                let swap = Swap { before: swap.after, after: swap.before };
                draft.event(Kind::Reverted, Patch::Policy(Box::new(swap)));
            }
            Patch::Policy(_) => conflicts.push(("plan".into(), "policy")),
        }
    }
    if conflicts.is_empty() {
        let running = adopt(draft, work, &mut conflicts)?;
        // The state before the last write is always had back; an older one must fit what was started since.
        if revision < plan.row.revision && conflicts.is_empty() {
            for uid in running {
                transition::within_limit(draft, uid, draft.get(uid)?.owner.as_deref())?;
            }
        }
    }
    conflicts.sort_unstable();
    conflicts.dedup();
    if conflicts.is_empty() { Ok(()) } else { Err(Refusal::RevertConflict { revision, fields: conflicts }.into()) }
}

fn back(
    draft: &Draft<'_>,
    todo: &mut Todo,
    event: &Event,
    changes: &[Change],
    conflicts: &mut Vec<(String, &'static str)>,
) {
    // What came is archived, not blanked: rows are never destroyed.
    if event.kind == Kind::Added {
        let mut probe = todo.fields.clone();
        let touched = changes.iter().filter(|c| c.undoable() && !probe.backward(c));
        conflicts.extend(touched.map(|c| (todo.id.clone(), c.field())));
        todo.removed = Some(draft.now);
        return;
    }
    for change in changes.iter().rev() {
        let others_note = matches!(change, Change::Notes(_)) && event.by != draft.ctx.actor.by();
        if !change.undoable() || others_note {
            continue;
        }
        if !todo.fields.backward(change) {
            conflicts.push((todo.id.clone(), change.field()));
        }
    }
}

/// Takes the older fields over and derives everything again; answers what is in progress again.
fn adopt(
    draft: &mut Draft<'_>,
    work: BTreeMap<Uid, Todo>,
    conflicts: &mut Vec<(String, &'static str)>,
) -> Result<Vec<Uid>, Stop> {
    let touched: HashSet<Uid> = work.keys().copied().collect();
    let mut running = Vec::new();
    for (uid, todo) in work {
        let old = draft.get(uid)?;
        let (was_live, old_status, old_deps) = (old.is_live(), old.status, old.depends_on.clone());
        if was_live {
            draft.unlink_deps(uid, &old_deps);
            *draft.row.counts.of(old_status) -= 1;
        }
        if todo.is_live() {
            draft.link_deps(uid, &todo.depends_on);
            *draft.row.counts.of(todo.status) += 1;
        }
        draft.edit(uid, Kind::Reverted, |t| t.fields = todo.fields)?;
        let todo = draft.touch(uid)?;
        if !todo.is_live() {
            todo.derived = crate::Derived::default();
        }
        // A lease is never taken back; it ends with the work it was given for.
        if !todo.is_live() || todo.status != old_status {
            todo.lease_until = None;
        }
        if todo.is_live() && todo.status == Status::InProgress && (!was_live || old_status != Status::InProgress) {
            running.push(uid);
            draft.active.insert(uid);
        }
        draft.repull.insert(uid);
        draft.strengthen.insert(uid);
        draft.repull.extend(old_deps.iter().filter_map(Dep::target));
    }
    check(draft, conflicts)?;
    if conflicts.is_empty() {
        bind(draft)?;
        derive::recount_all(draft)?;
        edges::settle_circles(draft, &touched)?;
    }
    Ok(running)
}

/// An id that is back is no longer missing (rule 13).
fn bind(draft: &mut Draft<'_>) -> Result<(), Stop> {
    if draft.row.dangling == 0 {
        return Ok(());
    }
    let live: Vec<Uid> = edges::live(draft).collect();
    let ids: HashMap<String, Uid> = live.iter().map(|uid| (draft.id(*uid), *uid)).collect();
    for uid in live {
        let deps = edges::bound(&draft.get(uid)?.depends_on, &ids);
        draft.set_deps(uid, deps)?;
    }
    Ok(())
}

/// What the older fields must not break: ids stay unique, nothing live depends on something gone, phases exist.
fn check(draft: &mut Draft<'_>, conflicts: &mut Vec<(String, &'static str)>) -> Result<(), Stop> {
    let mut ids = BTreeSet::new();
    for uid in edges::live(draft).collect::<Vec<_>>() {
        let todo = draft.get(uid)?;
        if !ids.insert(todo.id.clone()) {
            conflicts.push((todo.id.clone(), "id"));
        }
        if todo.phase.is_some_and(|phase| !draft.row.phases.iter().any(|p| p.uid == phase)) {
            conflicts.push((todo.id.clone(), "phase"));
        }
        for dep in &todo.depends_on {
            if let Some(to) = dep.target()
                && !draft.get(to)?.is_live()
            {
                conflicts.push((todo.id.clone(), "depends_on"));
            }
        }
    }
    Ok(())
}
