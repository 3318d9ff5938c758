//! Updates levels after edges were added or removed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Net;
use super::hash::Map;

/// The number of nodes that may be visited too early before the order is computed again.
const PATIENCE: usize = 64;

/// Recomputes `level = 1 + max(level of deps)` for the seeds (the dependents of changed edges) and for whatever
/// follows from them, and stops where nothing changes.
///
/// The stored levels must be exact for the graph before the edges changed. They are then a topological order of the
/// old edges, so going by old level evaluates each node once, whatever single edge changed. Several new edges at
/// once may contradict that order; the few nodes that come up too early are evaluated again, and when that happens
/// too often the rest is put into a true topological order first, so the work stays linear.
pub fn relevel<N: Net>(net: &mut N, seeds: &[N::Node]) -> Result<(), N::Need> {
    let mut heap = BinaryHeap::with_capacity(seeds.len());
    let mut old_levels: Map<N::Node, u32> = Map::default();
    let mut scratch = Vec::new();
    let mut late = 0;
    for &n in seeds {
        heap.push(Reverse((net.level(n)?, n)));
    }
    while let Some(Reverse((key, n))) = heap.pop() {
        // The same node queued twice has the same key, so its copies are neighbours.
        while heap.peek() == Some(&Reverse((key, n))) {
            heap.pop();
        }
        let before = net.level(n)?;
        let after = evaluate(net, n, &mut scratch)?;
        if after == before {
            continue;
        }
        net.set_level(n, after)?;
        old_levels.entry(n).or_insert(before);
        scratch.clear();
        net.dependents(n, &mut scratch)?;
        for &d in &scratch {
            let level = net.level(d)?;
            // Another dependency of `d` decides unless this one rises above it or was the highest.
            if after < level && before + 1 != level {
                continue;
            }
            let old = old_levels.get(&d).copied().unwrap_or(level);
            late += usize::from(old <= key);
            heap.push(Reverse((old, d)));
        }
        if late > PATIENCE {
            return in_order(net, heap.into_iter().map(|Reverse((_, n))| n).collect());
        }
    }
    Ok(())
}

fn evaluate<N: Net>(net: &N, n: N::Node, scratch: &mut Vec<N::Node>) -> Result<u32, N::Need> {
    scratch.clear();
    net.deps(n, scratch)?;
    let mut level = 1;
    for &d in scratch.iter() {
        level = level.max(net.level(d)? + 1);
    }
    Ok(level)
}

/// Evaluates everything downstream of `seeds`, each node once, after all of its dependencies.
fn in_order<N: Net>(net: &mut N, seeds: Vec<N::Node>) -> Result<(), N::Need> {
    let mut waiting: Map<N::Node, usize> = seeds.iter().map(|&n| (n, 0)).collect();
    let mut all: Vec<N::Node> = waiting.keys().copied().collect();
    let mut scratch = Vec::new();
    let mut next = 0;
    while let Some(&n) = all.get(next) {
        next += 1;
        scratch.clear();
        net.dependents(n, &mut scratch)?;
        for &d in &scratch {
            let count = waiting.entry(d).or_insert_with(|| {
                all.push(d);
                0
            });
            *count += 1;
        }
    }
    let mut free: Vec<N::Node> = all.into_iter().filter(|n| waiting.get(n) == Some(&0)).collect();
    while let Some(n) = free.pop() {
        let level = evaluate(net, n, &mut scratch)?;
        if level != net.level(n)? {
            net.set_level(n, level)?;
        }
        scratch.clear();
        net.dependents(n, &mut scratch)?;
        for &d in &scratch {
            if let Some(count) = waiting.get_mut(&d) {
                *count -= 1;
                if *count == 0 {
                    free.push(d);
                }
            }
        }
    }
    Ok(())
}
