//! Checks whether one more edge would close a cycle.

use super::Net;
use super::hash::Map;

/// The cycle `[dependent, dep, …, dependent]` that the edge "`dependent` depends on `dep`" would close, if any.
///
/// Exact levels are a topological order: if `dep` depends on `dependent` its level is higher, and so is the level of
/// everything between them. So only that window is searched, from both ends at once and always on the side that
/// cost less so far: a todo without dependents (every new one) is settled in one step.
pub fn find_path<N: Net>(net: &N, dependent: N::Node, dep: N::Node) -> Result<Option<Vec<N::Node>>, N::Need> {
    if dependent == dep {
        return Ok(Some(vec![dependent, dependent]));
    }
    let (low, high) = (net.level(dependent)?, net.level(dep)?);
    if high <= low {
        return Ok(None);
    }
    let mut up = SearchSide::new(dependent);
    let mut down = SearchSide::new(dep);
    let mut next = Vec::new();
    loop {
        next.clear();
        // Ties go up: there is nothing above most todos.
        let met = if up.cost <= down.cost {
            let Some(n) = up.frontier.pop() else { return Ok(None) };
            net.dependents(n, &mut next)?;
            up.step(n, &next, &down, |d| Ok(net.level(d)? < high))?
        } else {
            let Some(n) = down.frontier.pop() else { return Ok(None) };
            net.deps(n, &mut next)?;
            down.step(n, &next, &up, |d| Ok(net.level(d)? > low))?
        };
        if let Some(meet) = met {
            let mut path = vec![dependent];
            let at = path.len();
            path.extend(down.trail(meet));
            path[at..].reverse();
            path.extend(up.trail(meet).skip(1));
            return Ok(Some(path));
        }
    }
}

/// One half of the search: where each node was reached from, and what is still to be expanded.
struct SearchSide<T> {
    from: Map<T, T>,
    frontier: Vec<T>,
    cost: usize,
}

impl<T: Copy + Eq + std::hash::Hash> SearchSide<T> {
    fn new(start: T) -> Self {
        Self { from: Map::from_iter([(start, start)]), frontier: vec![start], cost: 0 }
    }

    /// Visits the neighbors of `n` inside the window, and returns the node where the other side was met.
    fn step<E>(
        &mut self,
        n: T,
        next: &[T],
        other: &Self,
        in_window: impl Fn(T) -> Result<bool, E>,
    ) -> Result<Option<T>, E> {
        self.cost += next.len() + 1;
        for &d in next {
            if self.from.contains_key(&d) {
                continue;
            }
            if other.from.contains_key(&d) {
                self.from.insert(d, n);
                return Ok(Some(d));
            }
            if in_window(d)? {
                self.from.insert(d, n);
                self.frontier.push(d);
            }
        }
        Ok(None)
    }

    /// From `n` back to the start of this side, both included.
    fn trail(&self, n: T) -> impl Iterator<Item = T> {
        std::iter::successors(Some(n), |n| self.from.get(n).copied().filter(|before| before != n))
    }
}
