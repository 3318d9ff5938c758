//! Strongly connected components: which new edges to suspend.

use super::kahn::Csr;

const UNSEEN: u32 = u32::MAX;

/// The component of every node (Tarjan, with an explicit stack). Two nodes are in the same component if each
/// depends on the other, however indirectly.
pub fn components(deps: &Csr) -> Vec<u32> {
    let len = deps.len();
    let mut component = vec![UNSEEN; len];
    let mut low = vec![UNSEEN; len];
    let mut cursor: Vec<usize> = (0..len as u32).map(|n| deps.span(n).start).collect();
    let mut visited = 0;
    let mut found = 0;
    let mut calls = Vec::new();
    let mut open = Vec::new();
    // `low` starts as the visit number, which need not be stored separately: a node closes a component if nothing
    // lowered its `low`, and the call entry remembers that.
    for root in 0..len as u32 {
        if low[root as usize] != UNSEEN {
            continue;
        }
        calls.push((root, visited));
        while let Some(&(n, number)) = calls.last() {
            let i = n as usize;
            if low[i] == UNSEEN {
                low[i] = number;
                visited += 1;
                open.push(n);
            }
            if cursor[i] < deps.span(n).end {
                let d = deps.target(cursor[i]);
                if low[d as usize] == UNSEEN {
                    calls.push((d, visited));
                    continue;
                }
                // Reached again after the return from `d`, or directly: either way its `low` counts while open.
                if component[d as usize] == UNSEEN {
                    low[i] = low[i].min(low[d as usize]);
                }
                cursor[i] += 1;
                continue;
            }
            calls.pop();
            if low[i] == number {
                while let Some(member) = open.pop() {
                    component[member as usize] = found;
                    if member == n {
                        break;
                    }
                }
                found += 1;
            }
        }
    }
    component
}
