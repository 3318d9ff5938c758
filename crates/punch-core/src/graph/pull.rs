//! Updates effective priorities after a status, a priority or an edge has changed (rule 24).

use std::collections::BinaryHeap;

use super::Net;
use crate::NO_PULL;

/// Recomputes `pull = best reach of the dependents` for the seeds (the dependencies of what changed) and for
/// whatever they depend on, and stops where nothing changes. Levels must be exact ([`relevel`](super::relevel)
/// first): going from the highest level down, every dependent of a node is settled before the node.
pub fn repull<N: Net>(net: &mut N, seeds: &[N::Node]) -> Result<(), N::Need> {
    let mut heap = BinaryHeap::with_capacity(seeds.len());
    let mut deps = Vec::new();
    for &n in seeds {
        heap.push((net.level(n)?, n));
    }
    while let Some((key, n)) = heap.pop() {
        while heap.peek() == Some(&(key, n)) {
            heap.pop();
        }
        let pull = net.best_reach(n)?;
        if pull == net.pull(n)? {
            continue;
        }
        let before = net.reach(n)?;
        net.set_pull(n, pull)?;
        let after = net.reach(n)?;
        if before == after {
            continue;
        }
        deps.clear();
        net.deps(n, &mut deps)?;
        for &d in &deps {
            let theirs = net.pull(d)?;
            // Another dependent of `d` decides unless this one now asks for more, or was the one that decided.
            if after < theirs || before == theirs {
                heap.push((net.level(d)?, d));
            }
        }
    }
    Ok(())
}

/// Spreads the reach of the seeds (todos that were opened, rewired or made more urgent) to what they depend on,
/// where it is better than the pull there. Looks at no dependents, so that a new todo behind a hub of 100,000 costs
/// no more than behind a leaf; what may have become weaker goes through [`repull`] first.
pub fn strengthen<N: Net>(net: &mut N, seeds: &[N::Node]) -> Result<(), N::Need> {
    let mut stack = seeds.to_vec();
    let mut deps = Vec::new();
    while let Some(n) = stack.pop() {
        let reach = net.reach(n)?;
        if reach == NO_PULL {
            continue;
        }
        deps.clear();
        net.deps(n, &mut deps)?;
        for &d in &deps {
            if net.open(d)? && reach < net.pull(d)? {
                net.set_pull(d, reach)?;
                stack.push(d);
            }
        }
    }
    Ok(())
}
