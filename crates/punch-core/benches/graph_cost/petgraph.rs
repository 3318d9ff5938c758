//! A general graph library with an ordered set of what is ready beside it. It does less than the index: no levels,
//! no counters, and a todo's own priority instead of the effective one.

use std::collections::BTreeSet;

use petgraph::Direction::{Incoming, Outgoing};
use petgraph::algo::{DfsSpace, has_path_connecting, toposort};
use petgraph::graph::{DiGraph, NodeIndex};

use crate::shape::{Random, Shape};
use crate::{Report, measured};

/// An edge goes from the dependent to the dependency; a node knows whether it is done.
struct Plan {
    graph: DiGraph<bool, ()>,
    ready: BTreeSet<(u8, u32)>,
}

impl Plan {
    fn new(shape: &Shape) -> Self {
        let mut graph = DiGraph::with_capacity(shape.deps.len(), shape.deps.len() * 3);
        for _ in 0..shape.len() {
            graph.add_node(false);
        }
        for (from, to) in shape.edges() {
            graph.add_edge(NodeIndex::from(from), NodeIndex::from(to), ());
        }
        Self { graph, ready: BTreeSet::new() }
    }

    fn is_ready(&self, n: NodeIndex) -> bool {
        !self.graph[n] && self.graph.neighbors_directed(n, Outgoing).all(|d| self.graph[d])
    }

    fn complete(&mut self, n: u32, priorities: &[u8]) {
        self.graph[NodeIndex::from(n)] = true;
        self.ready.remove(&(priorities[n as usize], n));
        let dependents: Vec<NodeIndex> = self.graph.neighbors_directed(NodeIndex::from(n), Incoming).collect();
        for d in dependents {
            if self.is_ready(d) {
                self.ready.insert((priorities[d.index()], d.index() as u32));
            }
        }
    }
}

pub fn run(shape: &Shape, op: &str) -> Option<Report> {
    if op == "build" {
        let sorted = measured(|| {
            let plan = Plan::new(shape);
            toposort(&plan.graph, None).map(|_| plan)
        });
        return sorted.ok().map(|_| shape.deps.len().into());
    }
    let mut plan = Plan::new(shape);
    plan.ready = (0..shape.len())
        .filter(|&n| plan.is_ready(NodeIndex::from(n)))
        .map(|n| (shape.priorities[n as usize], n))
        .collect();
    match op {
        "complete" | "take" => {
            let mut ops = 0;
            let mut next = plan.ready.first().copied();
            while let Some((_, n)) = next {
                next = measured(|| {
                    plan.complete(n, &shape.priorities);
                    if op == "take" { plan.ready.first().copied() } else { None }
                });
                next = next.or_else(|| plan.ready.first().copied());
                ops += 1;
            }
            Some(ops.into())
        }
        "append" => {
            let mut random = Random(3);
            let count = 1_000;
            for _ in 0..count {
                let deps = shape.new_deps(&mut random);
                measured(|| {
                    let n = plan.graph.add_node(false);
                    for d in deps {
                        plan.graph.add_edge(n, NodeIndex::from(d), ());
                    }
                    if plan.is_ready(n) {
                        plan.ready.insert((3, n.index() as u32));
                    }
                });
            }
            Some(count.into())
        }
        "edge" | "near" => {
            let pairs = shape.pairs(op, (2_000_000 / shape.deps.len()).clamp(5, 200));
            let mut space = DfsSpace::new(&plan.graph);
            for &(from, to) in &pairs {
                let (from, to) = (NodeIndex::from(from), NodeIndex::from(to));
                measured(|| {
                    if !has_path_connecting(&plan.graph, to, from, Some(&mut space)) {
                        plan.graph.add_edge(from, to, ());
                    }
                });
            }
            Some(pairs.len().into())
        }
        _ => None,
    }
}
