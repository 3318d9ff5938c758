//! The generic algorithms over a plain net, several changes at once.

use std::cell::Cell;

use proptest::prelude::*;
use punch_core::graph::{Net, NodeState, find_path, relevel, repull};

use super::oracle::{Edge, Oracle, Spec, is_cycle};

/// The plainest net: it also fails on demand, the way a partial plan does.
struct Plain {
    oracle: Oracle,
    levels: Vec<u32>,
    pulls: Vec<u8>,
    evaluated: Cell<usize>,
    fuel: Cell<usize>,
}

impl Plain {
    fn new(oracle: Oracle) -> Self {
        let pulls = (0..oracle.nodes.len() as u32).map(|n| oracle.pull(n)).collect();
        Self { levels: oracle.levels(), pulls, oracle, evaluated: Cell::new(0), fuel: Cell::new(usize::MAX) }
    }

    fn spend(&self) -> Result<(), &'static str> {
        self.fuel.set(self.fuel.get().checked_sub(1).ok_or("load more")?);
        Ok(())
    }
}

impl Net for Plain {
    type Node = u32;
    type Need = &'static str;
    fn deps(&self, n: u32, out: &mut Vec<u32>) -> Result<(), Self::Need> {
        self.spend()?;
        self.evaluated.set(self.evaluated.get() + 1);
        out.extend(self.oracle.active().filter(|e| e.0 == n).map(|e| e.1));
        Ok(())
    }
    fn dependents(&self, n: u32, out: &mut Vec<u32>) -> Result<(), Self::Need> {
        self.spend()?;
        out.extend(self.oracle.active().filter(|e| e.1 == n).map(|e| e.0));
        Ok(())
    }
    fn level(&self, n: u32) -> Result<u32, Self::Need> {
        self.spend().map(|()| self.levels[n as usize])
    }
    fn set_level(&mut self, n: u32, level: u32) -> Result<(), Self::Need> {
        self.levels[n as usize] = level;
        Ok(())
    }
    fn own(&self, n: u32) -> Result<u8, Self::Need> {
        Ok(self.oracle.nodes[n as usize].priority)
    }
    fn open(&self, n: u32) -> Result<bool, Self::Need> {
        Ok(self.oracle.nodes[n as usize].state.open())
    }
    fn pull(&self, n: u32) -> Result<u8, Self::Need> {
        self.spend().map(|()| self.pulls[n as usize])
    }
    fn set_pull(&mut self, n: u32, pull: u8) -> Result<(), Self::Need> {
        self.pulls[n as usize] = pull;
        Ok(())
    }
}

fn node() -> impl Strategy<Value = Spec> {
    (1u8..=5, prop::bool::ANY).prop_map(|(priority, open)| Spec {
        priority,
        state: if open { NodeState::Pending } else { NodeState::Satisfied },
    })
}

/// An acyclic graph of up to 14 nodes under a random numbering, and which of its edges come later or go.
fn layered() -> impl Strategy<Value = (Oracle, Vec<bool>)> {
    (2usize..14)
        .prop_flat_map(|len| {
            let order = Just((0..len as u32).collect::<Vec<_>>()).prop_shuffle();
            let pairs = prop::collection::btree_set((0..len, 0..len), 0..3 * len);
            (prop::collection::vec(node(), len), order, pairs, prop::collection::vec(any::<bool>(), 3 * len))
        })
        .prop_map(|(nodes, order, pairs, marks)| {
            let edges = pairs.into_iter().filter(|(a, b)| a > b);
            let edges = edges.map(|(a, b)| Edge { from: order[a], to: order[b], suspended: false }).collect();
            (Oracle::new(nodes, edges), marks)
        })
}

fn split(oracle: &Oracle, marks: &[bool]) -> (Oracle, Vec<Edge>) {
    let mut rest = oracle.clone();
    let mut marked = Vec::new();
    let mut marks = marks.iter();
    rest.edges.retain(|e| {
        !marks.next().is_some_and(|m| *m) || {
            marked.push(*e);
            false
        }
    });
    (rest, marked)
}

/// Puts `oracle` in place of what the net has and lets the derived values follow.
fn follow(net: &mut Plain, oracle: Oracle, changed: &[Edge]) -> Result<(), &'static str> {
    net.oracle = oracle;
    relevel(net, &changed.iter().map(|e| e.from).collect::<Vec<_>>())?;
    repull(net, &changed.iter().map(|e| e.to).collect::<Vec<_>>())
}

proptest! {
    #[test]
    fn levels_and_pulls_follow_many_edges_at_once((oracle, marks) in layered()) {
        let (without, marked) = split(&oracle, &marks);
        let (full, bare) = (Plain::new(oracle.clone()), Plain::new(without.clone()));
        let mut net = Plain::new(without.clone());
        prop_assert_eq!(follow(&mut net, oracle, &marked), Ok(()));
        prop_assert_eq!((&net.levels, &net.pulls), (&full.levels, &full.pulls));
        prop_assert_eq!(follow(&mut net, without, &marked), Ok(()));
        prop_assert_eq!((&net.levels, &net.pulls), (&bare.levels, &bare.pulls));
    }

    #[test]
    fn one_edge_evaluates_each_node_once((oracle, _) in layered()) {
        for at in 0..oracle.edges.len() {
            let mut without = oracle.clone();
            let edge = without.edges.remove(at);
            let mut net = Plain::new(without.clone());
            net.oracle = oracle.clone();
            prop_assert_eq!(relevel(&mut net, &[edge.from]), Ok(()));
            prop_assert_eq!(&net.levels, &oracle.levels());
            let affected = 1 + oracle.above(edge.from).len();
            prop_assert!(net.evaluated.get() <= affected, "{} of {affected}", net.evaluated.get());
        }
    }

    #[test]
    fn a_path_is_found_exactly_if_one_exists((oracle, _) in layered()) {
        let net = Plain::new(oracle);
        for a in 0..net.oracle.nodes.len() as u32 {
            for b in 0..net.oracle.nodes.len() as u32 {
                let path = find_path(&net, a, b);
                prop_assert_eq!(matches!(path, Ok(Some(_))), net.oracle.closes(a, b));
                if let Ok(Some(path)) = path {
                    let edges: Vec<_> = net.oracle.active().chain([(a, b)]).collect();
                    prop_assert!(is_cycle(&path, &edges), "{path:?}");
                    prop_assert_eq!(&path[..2], &[a, b]);
                }
            }
        }
    }

    #[test]
    fn a_need_comes_out((oracle, marks) in layered(), fuel in 0usize..40) {
        let (without, marked) = split(&oracle, &marks);
        let mut net = Plain::new(without);
        net.fuel.set(fuel);
        let full = Plain::new(oracle.clone());
        match follow(&mut net, oracle, &marked) {
            Ok(()) => prop_assert_eq!((&net.levels, &net.pulls), (&full.levels, &full.pulls)),
            Err(need) => prop_assert_eq!((need, net.fuel.get()), ("load more", 0)),
        }
    }
}

#[test]
fn a_chain_tied_in_the_worst_order_stays_linear() {
    // All new nodes have level 1, and handles run against the edges: every seed comes up too early.
    let len = 600u32;
    let edges = (0..len - 1).map(|n| Edge { from: n, to: n + 1, suspended: false }).collect::<Vec<_>>();
    let mut net = Plain::new(Oracle::new(vec![Spec::default(); len as usize], Vec::new()));
    assert_eq!(follow(&mut net, Oracle::new(vec![Spec::default(); len as usize], edges.clone()), &edges), Ok(()));
    assert_eq!(net.levels, (1..=len).rev().collect::<Vec<_>>());
    assert!(net.evaluated.get() < 70 * len as usize, "{}", net.evaluated.get());
}
