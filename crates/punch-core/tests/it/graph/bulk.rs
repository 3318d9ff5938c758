//! Kahn's algorithm and strongly connected components.

use proptest::prelude::*;
use punch_core::graph::kahn::{Csr, cycle, levels};
use punch_core::graph::scc::components;

use super::oracle::{Edge, Oracle, Spec, is_cycle};

/// Up to 12 nodes and any distinct pairs between them.
fn any_graph() -> impl Strategy<Value = (usize, Vec<(u32, u32)>)> {
    (1usize..12).prop_flat_map(|len| {
        let node = 0..len as u32;
        let pairs = prop::collection::btree_set((node.clone(), node), 0..2 * len);
        (Just(len), pairs.prop_map(|set| set.into_iter().collect()))
    })
}

fn oracle(len: usize, edges: &[(u32, u32)]) -> Oracle {
    let edges = edges.iter().map(|&(from, to)| Edge { from, to, suspended: false }).collect();
    Oracle::new(vec![Spec::default(); len], edges)
}

proptest! {
    #[test]
    fn kahn_gives_longest_paths_or_a_real_cycle((len, edges) in any_graph()) {
        let csr = Csr::from_edges(len, &edges);
        let oracle = oracle(len, &edges);
        match levels(&csr) {
            Ok(levels) => {
                prop_assert!(oracle.is_acyclic());
                prop_assert_eq!(levels, oracle.levels());
            }
            Err(residue) => {
                prop_assert!(!oracle.is_acyclic());
                prop_assert!(is_cycle(&cycle(&csr, &residue), &edges));
                for n in 0..len as u32 {
                    let stuck = oracle.below(n).iter().any(|&d| oracle.below(d).contains(&d));
                    prop_assert_eq!(residue.contains(&n), stuck);
                }
            }
        }
    }

    #[test]
    fn components_are_mutual_reachability((len, edges) in any_graph()) {
        let component = components(&Csr::from_edges(len, &edges));
        let oracle = oracle(len, &edges);
        for a in 0..len as u32 {
            for b in 0..len as u32 {
                let mutual = a == b || oracle.below(a).contains(&b) && oracle.below(b).contains(&a);
                prop_assert_eq!(component[a as usize] == component[b as usize], mutual);
            }
        }
    }

    #[test]
    fn csr_keeps_what_it_was_given((len, edges) in any_graph()) {
        let csr = Csr::from_edges(len, &edges);
        prop_assert_eq!(csr.edges().collect::<Vec<_>>(), edges.clone());
        prop_assert_eq!(csr.reversed().reversed(), csr.clone());
        prop_assert_eq!(Csr::from_lists((0..len as u32).map(|n| csr.row(n))), csr);
    }
}
