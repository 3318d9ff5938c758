//! Adds edges with a cycle check. A few edges are added one by one along the stored levels; many edges, or any while
//! cycles are tolerated, are added with one sort of the whole graph.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::ApplyStop;
use super::draft::PlanDraft;
use super::resolve::{ResolvedBatch, name};
use crate::graph::kahn::{self, Csr};
use crate::graph::{find_path, relevel, scc};
use crate::{Dep, Edit, Keep, MissingDep, Need, OnCycle, Op, Ref, Refusal, Uid, Warning};

/// From this many new edges on, one sort of everything is cheaper than that many searches.
const MANY: usize = 64;

pub(super) fn edges(draft: &mut PlanDraft<'_>, batch: &ResolvedBatch<'_>) -> Result<(), ApplyStop> {
    let mut wanted = wanted(draft, batch)?;
    // Naming what is there already is not a reason to look at the whole graph.
    wanted.retain(|uid, deps| draft.get(*uid).is_ok_and(|todo| todo.depends_on != *deps));
    let mut added = 0;
    for (uid, deps) in &wanted {
        let old: HashSet<Uid> = draft.get(*uid)?.depends_on.iter().filter_map(Dep::target).collect();
        added += deps.iter().filter_map(Dep::target).filter(|to| !old.contains(to)).count();
    }
    let tolerant = draft.ctx.policy.on_cycle == OnCycle::Suspend && added > 0;
    let circles = draft.plan.row.suspended > 0 && (!wanted.is_empty() || !batch.removed.is_empty());
    // New todos that depend on older ones only cannot close a circle, however many they are.
    let first_new = Uid(draft.plan.row.next_uid);
    let grows =
        wanted.iter().all(|(uid, deps)| *uid >= first_new && deps.iter().filter_map(Dep::target).all(|to| to < *uid));
    if circles || ((added > MANY || tolerant) && !grows) {
        return sort_all(draft, wanted);
    }
    for (uid, deps) in &wanted {
        for to in deps.iter().filter_map(Dep::target) {
            let known = draft.get(*uid)?.depends_on.contains(&Dep::On(to));
            // Nothing can come back to a todo without dependents.
            if !known
                && (to == *uid || draft.has_dependents(*uid)?)
                && let Some(path) = find_path(draft, *uid, to)?
            {
                // What the batch takes away further on may open the circle again: only the end state is judged.
                if any_dropped(draft, &wanted)? {
                    return sort_all(draft, wanted);
                }
                let path = path.into_iter().map(|uid| draft.id(uid)).collect();
                return Err(Refusal::Cycle { path }.into());
            }
        }
        draft.set_deps(*uid, deps.clone())?;
        // The next search relies on exact levels.
        relevel(draft, &[*uid])?;
    }
    Ok(())
}

/// Does any todo lose an edge that it still has?
fn any_dropped(draft: &PlanDraft<'_>, wanted: &BTreeMap<Uid, Vec<Dep>>) -> Result<bool, Need> {
    for (uid, deps) in wanted {
        let kept: HashSet<Uid> = deps.iter().filter_map(Dep::target).collect();
        if draft.get(*uid)?.depends_on.iter().filter_map(Dep::target).any(|to| !kept.contains(&to)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The dependencies that todos are to have, for those where the batch says anything about them.
fn wanted(draft: &mut PlanDraft<'_>, batch: &ResolvedBatch<'_>) -> Result<BTreeMap<Uid, Vec<Dep>>, ApplyStop> {
    let mut wanted: BTreeMap<Uid, Vec<Dep>> = BTreeMap::new();
    let mut refusals = Vec::new();
    let edits = edits(batch);
    for (uid, edit) in &edits {
        if let Keep::Set(refs) = &edit.depends_on {
            let deps = read(draft, batch, *uid, refs, &mut refusals)?;
            wanted.insert(*uid, deps);
        }
    }
    // What the blocked ones depend on: a thousand todos may block the same one.
    let mut known: HashMap<Uid, HashSet<Uid>> = HashMap::new();
    for (uid, edit) in &edits {
        for r in &edit.blocks {
            let Some(blocked) = lookup(draft, batch, r)? else {
                let missing = name(draft, r);
                let near = draft.near(&missing, &refusals);
                refusals.push(Refusal::UnknownDependency { id: draft.id(*uid), missing, near });
                continue;
            };
            add(draft, &mut wanted, &mut known, blocked, *uid)?;
        }
    }
    bind(draft, batch, &mut wanted)?;
    draft.refuse(refusals)?;
    Ok(wanted)
}

fn edits<'b>(batch: &'b ResolvedBatch<'_>) -> Vec<(Uid, &'b Edit)> {
    let mut added = batch.added.iter();
    let mut out = Vec::new();
    for (op, target) in batch.ops.iter().zip(&batch.targets) {
        match (op, target) {
            (Op::Add(add), _) => out.extend(added.next().map(|(uid, _)| (*uid, &add.edit))),
            (Op::Edit(_, edit), Some(uid)) => out.push((*uid, edit)),
            _ => {}
        }
    }
    out
}

fn lookup(draft: &PlanDraft<'_>, batch: &ResolvedBatch<'_>, r: &Ref) -> Result<Option<Uid>, Need> {
    Ok(batch.find(draft, r)?.filter(|uid| !batch.removed.contains(uid)))
}

fn read(
    draft: &mut PlanDraft<'_>,
    batch: &ResolvedBatch<'_>,
    uid: Uid,
    refs: &[Ref],
    refusals: &mut Vec<Refusal>,
) -> Result<Vec<Dep>, Need> {
    let mut deps = Vec::with_capacity(refs.len());
    let mut seen = HashSet::new();
    for r in refs {
        let dep = match lookup(draft, batch, r)? {
            Some(to) => Dep::On(to),
            None if draft.ctx.policy.missing_dep == MissingDep::Dangle && has_id(draft, r) => {
                // What was archived is waited for by its id, which another todo may already have.
                let id = name(draft, r);
                draft.find_id(&id)?.map_or(Dep::Dangling(id), Dep::On)
            }
            None => {
                let missing = name(draft, r);
                let near = draft.near(&missing, refusals);
                refusals.push(Refusal::UnknownDependency { id: draft.id(uid), missing, near });
                continue;
            }
        };
        if seen.insert(dep.clone()) {
            if let Dep::Dangling(missing) = &dep {
                let id = draft.id(uid);
                draft.warnings.push(Warning::Dangling { id, missing: missing.clone() });
            }
            deps.push(dep);
        }
    }
    Ok(deps)
}

/// Only what has an id can be waited for by it: a number that was never assigned has none.
fn has_id(draft: &PlanDraft<'_>, r: &Ref) -> bool {
    match r {
        Ref::Id(_) => true,
        Ref::Uid(uid) => draft.get(*uid).is_ok(),
        Ref::New(_) => false,
    }
}

/// Adds one edge to what a todo is to depend on.
fn add(
    draft: &PlanDraft<'_>,
    wanted: &mut BTreeMap<Uid, Vec<Dep>>,
    known: &mut HashMap<Uid, HashSet<Uid>>,
    uid: Uid,
    to: Uid,
) -> Result<(), Need> {
    use std::collections::btree_map::Entry;
    let deps = match wanted.entry(uid) {
        Entry::Occupied(entry) => entry.into_mut(),
        Entry::Vacant(entry) => entry.insert(draft.get(uid)?.depends_on.clone()),
    };
    let known = known.entry(uid).or_insert_with(|| deps.iter().filter_map(Dep::target).collect());
    if known.insert(to) {
        deps.push(Dep::On(to));
    }
    Ok(())
}

/// Dangling dependencies on ids that this batch brings become edges (rule 13).
fn bind(
    draft: &mut PlanDraft<'_>,
    batch: &ResolvedBatch<'_>,
    wanted: &mut BTreeMap<Uid, Vec<Dep>>,
) -> Result<(), ApplyStop> {
    if draft.plan.row.dangling == 0 && draft.row.dangling == 0 {
        return Ok(());
    }
    let renamed = batch.ops.iter().zip(&batch.targets).filter_map(|(op, target)| match (op, target) {
        (Op::Edit(_, Edit { id: Keep::Set(id), .. }), Some(uid)) => Some((*uid, id.clone())),
        _ => None,
    });
    let mut arrived: HashMap<String, Uid> = HashMap::new();
    for (uid, id) in batch.added.iter().cloned().chain(renamed) {
        // Renamed twice: only the last name counts.
        if draft.find_id(&id)? == Some(uid) {
            arrived.insert(id, uid);
        }
    }
    let mut waiting: Vec<Uid> = Vec::new();
    for id in arrived.keys() {
        waiting.extend(draft.plan.waiting_for_id(id)?);
    }
    // Removals of this same batch may have left further ones.
    waiting.extend(draft.rows.keys());
    waiting.sort_unstable();
    waiting.dedup();
    for uid in waiting {
        if !draft.get(uid)?.is_live() {
            continue;
        }
        let has = |deps: &[Dep]| deps.iter().any(|dep| matches!(dep, Dep::Dangling(id) if arrived.contains_key(id)));
        let deps = match wanted.get(&uid) {
            Some(deps) => deps,
            None => &draft.get(uid)?.depends_on,
        };
        if has(deps) {
            let deps = bound(deps, &arrived);
            wanted.insert(uid, deps);
        }
    }
    Ok(())
}

/// The dependencies with arrived ids bound. What was waited for under another name already is not waited for twice.
pub(super) fn bound(deps: &[Dep], arrived: &HashMap<String, Uid>) -> Vec<Dep> {
    let mut seen = HashSet::new();
    let bind = |dep: &Dep| match dep {
        Dep::Dangling(id) => arrived.get(id).map_or_else(|| dep.clone(), |to| Dep::On(*to)),
        Dep::On(_) | Dep::Suspended(_) => dep.clone(),
    };
    deps.iter().map(bind).filter(|dep| dep.target().is_none_or(|to| seen.insert(to))).collect()
}

/// Inserts every requested edge, then sorts the whole graph: an edge is suspended exactly if both its ends are in the
/// same cycle, whatever the order in which the edges came.
fn sort_all(draft: &mut PlanDraft<'_>, wanted: BTreeMap<Uid, Vec<Dep>>) -> Result<(), ApplyStop> {
    draft.plan.need_whole()?;
    let touched: HashSet<Uid> = wanted.keys().copied().collect();
    for (uid, mut deps) in wanted {
        let suspended: HashSet<Uid> = draft
            .get(uid)?
            .depends_on
            .iter()
            .filter_map(|dep| if let Dep::Suspended(to) = dep { Some(*to) } else { None })
            .collect();
        // Naming a todo again is not a change: what is suspended stays so until its circle opens.
        for dep in &mut deps {
            if let Dep::On(to) = dep
                && suspended.contains(to)
            {
                *dep = Dep::Suspended(*to);
            }
        }
        draft.set_deps(uid, deps)?;
    }
    settle_circles(draft, &touched)
}

/// Suspends, activates or refuses so that the active graph is acyclic, and sets every level.
pub(super) fn settle_circles(draft: &mut PlanDraft<'_>, touched: &HashSet<Uid>) -> Result<(), ApplyStop> {
    let nodes: Vec<Uid> = live(draft).collect();
    let number: HashMap<Uid, u32> = nodes.iter().zip(0..).map(|(uid, n)| (*uid, n)).collect();
    let graph = csr(draft, &nodes, &number)?;
    match kahn::levels(&graph) {
        Ok(levels) => {
            if draft.row.suspended > 0 {
                for uid in &nodes {
                    mark(draft, *uid, |_| false)?;
                }
            }
            set_levels(draft, &nodes, &levels)?;
        }
        Err(_) => {
            let component = scc::components(&graph);
            let circular = |a: Uid, b: Uid| match (number.get(&a), number.get(&b)) {
                (Some(a), Some(b)) => component[*a as usize] == component[*b as usize],
                _ => false,
            };
            if draft.ctx.policy.on_cycle == OnCycle::Refuse {
                refuse_new_circle(draft, &nodes, &graph, &component)?;
            }
            for uid in &nodes {
                let new = mark(draft, *uid, |to| circular(*uid, to))?;
                if touched.contains(uid) {
                    for to in new {
                        let (id, dep) = (draft.id(*uid), draft.id(to));
                        draft.warnings.push(Warning::Suspended { id, dep });
                    }
                }
            }
            let mut active = Vec::new();
            for (n, uid) in nodes.iter().enumerate() {
                let deps = draft.get(*uid)?.depends_on.iter();
                active.extend(
                    deps.filter_map(|d| if let Dep::On(to) = d { number.get(to) } else { None })
                        .map(|to| (n as u32, *to)),
                );
            }
            let levels = kahn::levels(&Csr::from_edges(nodes.len(), &active)).unwrap_or_default();
            set_levels(draft, &nodes, &levels)?;
        }
    }
    draft.relevel.clear();
    Ok(())
}

/// Live todos as this write has them.
pub(super) fn live<'d>(draft: &'d PlanDraft<'_>) -> impl Iterator<Item = Uid> + use<'d> {
    let base = draft.plan.all().filter(|t| !draft.rows.contains_key(&t.uid));
    base.chain(draft.rows.values()).filter(|t| t.is_live()).map(|t| t.uid)
}

/// All edges, suspended ones too.
fn csr(draft: &PlanDraft<'_>, nodes: &[Uid], number: &HashMap<Uid, u32>) -> Result<Csr, Need> {
    let mut edges = Vec::new();
    for (n, uid) in nodes.iter().enumerate() {
        let targets = draft.get(*uid)?.depends_on.iter().filter_map(Dep::target);
        edges.extend(targets.filter_map(|to| number.get(&to)).map(|to| (n as u32, *to)));
    }
    Ok(Csr::from_edges(nodes.len(), &edges))
}

/// A circle is refused if any of its edges was not suspended already.
fn refuse_new_circle(draft: &PlanDraft<'_>, nodes: &[Uid], graph: &Csr, component: &[u32]) -> Result<(), ApplyStop> {
    for (a, b) in graph.edges() {
        let (from, to) = (nodes[a as usize], nodes[b as usize]);
        if component[a as usize] != component[b as usize] || !draft.get(from)?.depends_on.contains(&Dep::On(to)) {
            continue;
        }
        let members: Vec<u32> =
            (0..component.len() as u32).filter(|n| component[*n as usize] == component[a as usize]).collect();
        let path = kahn::cycle(graph, &members).into_iter().map(|n| draft.id(nodes[n as usize])).collect();
        return Err(Refusal::Cycle { path }.into());
    }
    Ok(())
}

/// Marks the edges of one todo as suspended or active; answers the newly suspended ones.
fn mark(draft: &mut PlanDraft<'_>, uid: Uid, suspended: impl Fn(Uid) -> bool) -> Result<Vec<Uid>, Need> {
    let old = &draft.get(uid)?.depends_on;
    let mut new = Vec::new();
    let deps: Vec<Dep> = old
        .iter()
        .map(|dep| match dep {
            Dep::On(to) if suspended(*to) => {
                new.push(*to);
                Dep::Suspended(*to)
            }
            Dep::Suspended(to) if !suspended(*to) => Dep::On(*to),
            other => other.clone(),
        })
        .collect();
    draft.set_deps(uid, deps)?;
    Ok(new)
}

fn set_levels(draft: &mut PlanDraft<'_>, nodes: &[Uid], levels: &[u32]) -> Result<(), Need> {
    for (uid, level) in nodes.iter().zip(levels) {
        if draft.get(*uid)?.derived.level != *level {
            draft.touch(*uid)?.derived.level = *level;
        }
    }
    Ok(())
}
