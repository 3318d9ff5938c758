//! Checks and derived values after an undo has brought back older fields. For a small undo, it looks only around the
//! touched todos; if cycles, missing ids, phases or policies are involved, it looks at the whole plan.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::draft::PlanDraft;
use super::{ApplyStop, derive, edges};
use crate::{Dep, Footprint, Need, PlanRow, Todo, Uid};

/// The most events of an undo whose effects are looked for around its todos.
pub(super) const FEW: usize = 50;

/// Fields in which the older state does not fit the present one, by todo.
pub(super) type RevertConflicts = Vec<(String, &'static str)>;

/// Finds conflicts; if there are none, brings derived values in step with the touched todos.
pub(super) fn settle(
    draft: &mut PlanDraft<'_>,
    touched: &BTreeSet<Uid>,
    conflicts: &mut RevertConflicts,
) -> Result<(), ApplyStop> {
    if is_local(draft, touched)? {
        return Ok(settle_around(draft, touched, conflicts)?);
    }
    draft.plan.need_whole()?;
    check_all(draft, conflicts)?;
    if conflicts.is_empty() {
        bind(draft)?;
        derive::recount_all(draft)?;
        edges::settle_circles(draft, &touched.iter().copied().collect())?;
    }
    Ok(())
}

/// Returns true if nothing beyond the dependents of the touched todos can be affected.
fn is_local(draft: &PlanDraft<'_>, touched: &BTreeSet<Uid>) -> Result<bool, Need> {
    let (before, after) = (&draft.plan.row, &draft.row);
    let is_plain = |row: &PlanRow| row.dangling == 0 && row.suspended == 0;
    let is_same = before.policy == after.policy && before.phases == after.phases;
    if touched.len() > FEW || !is_plain(before) || !is_plain(after) || !is_same {
        return Ok(false);
    }
    Footprint::gather(touched.iter().map(|uid| draft.has_dependents(*uid)))?;
    for uid in touched {
        // An edge closes no cycle if nothing depends on the todo that gets it.
        if gains_edge(draft.plan.need(*uid)?, draft.get(*uid)?) && draft.has_dependents(*uid)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn gains_edge(before: &Todo, after: &Todo) -> bool {
    let is_new = |to: Uid| !before.is_live() || !before.depends_on.iter().any(|dep| dep.target() == Some(to));
    after.is_live() && after.depends_on.iter().filter_map(Dep::target).any(is_new)
}

fn settle_around(
    draft: &mut PlanDraft<'_>,
    touched: &BTreeSet<Uid>,
    conflicts: &mut RevertConflicts,
) -> Result<(), Need> {
    let mut affected = touched.clone();
    for uid in touched {
        affected.extend(draft.dependents_of(*uid)?);
    }
    let mut asked = Footprint::gather(touched.iter().map(|uid| draft.plan.find_id(&draft.get(*uid)?.id)));
    for uid in &affected {
        let targets = draft.get(*uid)?.depends_on.iter().filter_map(Dep::target);
        asked = both(asked, Footprint::gather(targets.map(|to| draft.get(to))));
    }
    asked?;
    let mut ids = HashSet::new();
    for uid in &affected {
        let todo = draft.get(*uid)?;
        if !todo.is_live() {
            continue;
        }
        check(draft, todo, conflicts)?;
        if touched.contains(uid) && (!ids.insert(todo.id.as_str()) || is_taken(draft, todo)?) {
            conflicts.push((todo.id.clone(), "id"));
        }
    }
    if !conflicts.is_empty() {
        return Ok(());
    }
    for uid in affected {
        if draft.get(uid)?.is_live() {
            draft.recount(uid)?;
        }
    }
    draft.relevel.extend(touched);
    Ok(())
}

/// What two questions ask for together.
fn both(one: Result<(), Need>, other: Result<(), Need>) -> Result<(), Need> {
    Footprint::gather([one, other])
}

/// Returns true if another live todo has the id of this one.
fn is_taken(draft: &PlanDraft<'_>, todo: &Todo) -> Result<bool, Need> {
    let Some(other) = draft.plan.find_id(&todo.id)?.filter(|other| *other != todo.uid) else { return Ok(false) };
    let other = draft.get(other)?;
    Ok(other.is_live() && other.id == todo.id)
}

/// What the older fields must not break: ids stay unique, nothing live depends on something gone, phases exist.
fn check_all(draft: &PlanDraft<'_>, conflicts: &mut RevertConflicts) -> Result<(), Need> {
    let mut ids = HashSet::new();
    for uid in edges::live(draft).collect::<Vec<_>>() {
        let todo = draft.get(uid)?;
        if !ids.insert(todo.id.as_str()) {
            conflicts.push((todo.id.clone(), "id"));
        }
        check(draft, todo, conflicts)?;
    }
    Ok(())
}

fn check(draft: &PlanDraft<'_>, todo: &Todo, conflicts: &mut RevertConflicts) -> Result<(), Need> {
    if todo.phase.is_some_and(|phase| !draft.row.phases.iter().any(|p| p.uid == phase)) {
        conflicts.push((todo.id.clone(), "phase"));
    }
    for to in todo.depends_on.iter().filter_map(Dep::target) {
        if !draft.get(to)?.is_live() {
            conflicts.push((todo.id.clone(), "depends_on"));
        }
    }
    Ok(())
}

/// Binds dependencies on unknown ids that are known again (rule 13).
fn bind(draft: &mut PlanDraft<'_>) -> Result<(), ApplyStop> {
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
