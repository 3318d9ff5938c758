//! Removals archive; what depended on the todo follows the policy (rule 17).

use std::collections::BTreeSet;

use super::ApplyStop;
use super::draft::PlanDraft;
use super::resolve::ResolvedBatch;
use crate::{Dep, EventKind, Footprint, Need, OnRemove, Uid, Warning};

pub(super) fn remove(draft: &mut PlanDraft<'_>, batch: &ResolvedBatch<'_>) -> Result<(), ApplyStop> {
    let mut left: BTreeSet<Uid> = BTreeSet::new();
    Footprint::gather(batch.removed.iter().map(|uid| draft.plan.dependents_of(*uid)))?;
    for uid in &batch.removed {
        let dependents = draft.dependents_of(*uid)?;
        let stay: Vec<Uid> = dependents.into_iter().filter(|uid| !batch.removed.contains(uid)).collect();
        let todo = draft.get(*uid)?;
        if !stay.is_empty() && draft.ctx.policy.on_remove == OnRemove::Detach && !draft.satisfies(todo.status) {
            let (id, dependents) = (todo.id.clone(), stay.iter().map(|uid| draft.id(*uid)).collect());
            draft.warnings.push(Warning::Detached { id, dependents });
        }
        left.extend(stay);
    }
    // Each of those who stay is rewired once, however many of its dependencies go.
    for uid in left {
        let deps = without(draft, uid, &batch.removed)?;
        draft.set_deps(uid, deps)?;
    }
    for uid in &batch.removed {
        archive(draft, *uid)?;
    }
    Ok(())
}

/// Takes a todo out of the live plan. Its own dependencies stay in its row, so that undo can bring it back.
pub(super) fn archive(draft: &mut PlanDraft<'_>, uid: Uid) -> Result<(), ApplyStop> {
    super::claims::note_end(draft, uid)?;
    let now = draft.now;
    let deps = draft.get(uid)?.depends_on.clone();
    draft.unlink_deps(uid, &deps);
    draft.edit(uid, EventKind::Removed, |t| t.removed = Some(now))?;
    let todo = draft.touch(uid)?;
    todo.lease_until = None;
    // An archived row takes no part in the graph; fixed values keep it out of every comparison.
    todo.derived = crate::Derived::default();
    Ok(())
}

/// The dependencies of a todo without `gone`.
fn without(draft: &PlanDraft<'_>, uid: Uid, gone: &BTreeSet<Uid>) -> Result<Vec<Dep>, Need> {
    let mut deps = Vec::new();
    for dep in &draft.get(uid)?.depends_on {
        match (dep.target().filter(|to| gone.contains(to)), draft.ctx.policy.on_remove) {
            (None, _) => deps.push(dep.clone()),
            (Some(_), OnRemove::Detach) => {}
            (Some(to), OnRemove::Dangle) => deps.push(Dep::Dangling(draft.get(to)?.id.clone())),
        }
    }
    Ok(deps)
}
