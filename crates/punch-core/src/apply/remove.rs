//! Removals archive; what depended on the todo follows the policy (rule 17).

use super::Stop;
use super::draft::Draft;
use super::resolve::Batch;
use crate::{Dep, Kind, OnRemove, Uid, Warning};

pub(super) fn remove(draft: &mut Draft<'_>, batch: &Batch<'_>) -> Result<(), Stop> {
    for uid in &batch.removed {
        for dependent in draft.dependents_of(*uid)? {
            if !batch.removed.contains(&dependent) {
                release(draft, dependent, *uid)?;
            }
        }
        archive(draft, *uid)?;
    }
    Ok(())
}

/// Takes a todo out of the live plan. Its own dependencies stay in its row, so that undo can bring it back.
pub(super) fn archive(draft: &mut Draft<'_>, uid: Uid) -> Result<(), Stop> {
    let now = draft.now;
    let todo = draft.get(uid)?;
    let (status, deps) = (todo.status, todo.depends_on.clone());
    *draft.row.counts.of(status) -= 1;
    draft.unlink_deps(uid, &deps);
    draft.edit(uid, Kind::Removed, |t| t.removed = Some(now))?;
    let todo = draft.touch(uid)?;
    todo.lease_until = None;
    // An archived row takes no part in the graph; fixed values keep it out of every comparison.
    todo.derived = crate::Derived::default();
    Ok(())
}

/// Lets `dependent` go on without `gone`.
fn release(draft: &mut Draft<'_>, dependent: Uid, gone: Uid) -> Result<(), Stop> {
    let (id, open) = {
        let todo = draft.get(gone)?;
        (todo.id.clone(), !draft.satisfies(todo.status))
    };
    let mut deps = draft.get(dependent)?.depends_on.clone();
    match draft.ctx.policy.on_remove {
        OnRemove::Detach => {
            deps.retain(|dep| dep.target() != Some(gone));
            if open {
                let name = draft.id(dependent);
                match draft.warnings.last_mut() {
                    Some(Warning::Detached { id: last, dependents }) if *last == id => dependents.push(name),
                    _ => draft.warnings.push(Warning::Detached { id, dependents: vec![name] }),
                }
            }
        }
        OnRemove::Dangle => {
            for dep in deps.iter_mut().filter(|dep| dep.target() == Some(gone)) {
                *dep = Dep::Dangling(id.clone());
            }
        }
    }
    Ok(draft.set_deps(dependent, deps)?)
}
