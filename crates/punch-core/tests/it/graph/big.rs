//! Shapes that break recursion and scans: all of them run in a thread with a small stack.

use punch_core::graph::kahn::{Csr, cycle, levels};
use punch_core::graph::reason::{conflicts, unblocks, why};
use punch_core::graph::scc::cyclic_edges;
use punch_core::graph::{Edge, Index, Spec, State};
use punch_core::{Dep, Plan, Todo, Uid};

const BIG: u32 = 100_000;

fn in_small_stack(body: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(256 * 1024).spawn(body);
    assert!(thread.is_ok_and(|t| t.join().is_ok()));
}

fn index(len: u32, pairs: impl Iterator<Item = (u32, u32)>) -> Index {
    let specs: Vec<Spec> = (0..len).map(|n| Spec { position: n.into(), ..Spec::default() }).collect();
    let edges: Vec<Edge> = pairs.map(|(from, to)| Edge { from, to, suspended: false }).collect();
    let built = Index::build(&specs, &edges);
    assert!(built.is_ok());
    built.unwrap_or_default()
}

#[test]
fn a_chain_of_100k() {
    in_small_stack(|| {
        let mut chain = index(BIG, (1..BIG).map(|n| (n, n - 1)));
        assert_eq!(chain.level_of(BIG - 1), BIG);
        // The last becomes urgent: everything before it does.
        chain.set_priority(BIG - 1, 1);
        assert_eq!(chain.effective(0), 1);
        // The edge that closes the ring is refused with the ring.
        let path = chain.add_edge(0, BIG - 1);
        assert_eq!(path.map_err(|path| path.len()), Err(BIG as usize + 1));
        assert_eq!(chain.longest_remaining(|_| 1)[0], u64::from(BIG));
        let mut freed = Vec::new();
        for n in 0..BIG {
            assert!(chain.ready().eq([n]));
            chain.set_status(n, State::DONE, &mut freed);
        }
        assert!(freed.into_iter().eq(1..BIG));
        assert!(chain.remove_edge(1, 0));
        assert_eq!(chain.level_of(BIG - 1), BIG - 1);
    });
}

#[test]
fn a_star_of_100k_dependents() {
    in_small_stack(|| {
        let mut star = index(BIG, (1..BIG).map(|n| (n, 0)));
        let mut freed = Vec::new();
        star.set_status(0, State::DONE, &mut freed);
        assert_eq!(freed.len(), BIG as usize - 1);
        // Neither completing from the far end nor cutting edges may cost the hub's degree each time.
        for n in (BIG / 2..BIG).rev() {
            star.set_status(n, State::DONE, &mut freed);
        }
        for n in 1..BIG {
            assert!(star.remove_edge(n, 0));
        }
        assert_eq!(star.pull_of(0), punch_core::NO_PULL);
        assert_eq!(star.ready().count(), BIG as usize / 2 - 1);
    });
}

#[test]
fn a_star_of_100k_dependencies() {
    in_small_stack(|| {
        let mut star = index(BIG, (1..BIG).map(|n| (0, n)));
        assert_eq!(star.unmet(0), BIG - 1);
        star.set_priority(0, 1);
        assert_eq!(star.effective(BIG - 1), 1);
        assert!(star.add_edge(BIG - 1, 0).is_err());
        let mut freed = Vec::new();
        for n in 1..BIG {
            assert!(freed.is_empty());
            star.set_status(n, State::DONE, &mut freed);
        }
        assert_eq!(freed, [0]);
        star.remove_node(0, &mut freed);
        assert_eq!(star.ready().count(), 0);
    });
}

#[test]
fn a_ring_of_100k() {
    in_small_stack(|| {
        let ring: Vec<(u32, u32)> = (0..BIG).map(|n| (n, (n + 1) % BIG)).collect();
        let csr = Csr::from_edges(BIG as usize, &ring);
        let residue = levels(&csr);
        assert_eq!(residue.as_ref().map_err(Vec::len), Err(BIG as usize));
        assert_eq!(cycle(&csr, &residue.unwrap_or_else(|r| r)).len(), BIG as usize + 1);
        assert_eq!(cyclic_edges(&csr, |e| e == 5), [5]);
        let edges: Vec<Edge> = ring.iter().map(|&(from, to)| Edge { from, to, suspended: to == 0 }).collect();
        let built = Index::build(&vec![Spec::default(); BIG as usize], &edges);
        assert!(built.is_ok_and(|index| index.ready().next().is_none()));
    });
}

#[test]
fn reasons_over_a_chain_of_100k() {
    in_small_stack(|| {
        let mut plan = Plan::new();
        for uid in 1..=u64::from(BIG) {
            let mut todo = Todo::blank(Uid(uid));
            (todo.id, todo.content) = (format!("T-{uid}"), format!("task {uid}"));
            todo.depends_on = (uid > 1).then(|| Dep::On(Uid(uid - 1))).into_iter().collect();
            plan.put(todo);
        }
        let roots = why(&plan, Uid(BIG.into()), 0).map(|w| w.roots.list);
        assert!(roots.is_some_and(|roots| roots.len() == 1 && roots[0].id == "T-1"));
        assert_eq!(unblocks(&plan, Uid(1), 0).map(|u| u.waiting), Some(BIG as usize - 1));
        assert_eq!(conflicts(&plan, 0).pairs.total, 0);
    });
}

#[test]
fn a_million_wide() {
    // Seconds rather than milliseconds: only in `cargo xtask exhaustive`.
    if std::env::var_os("PUNCH_EXHAUSTIVE").is_none() {
        return;
    }
    in_small_stack(|| {
        let wide = 1_000_000;
        let mut index = index(wide, (0..wide / 2).map(|n| (n + wide / 2, n)));
        assert_eq!(index.ready().count(), wide as usize / 2);
        let mut freed = Vec::new();
        for n in 0..wide / 2 {
            index.set_status(n, State::DONE, &mut freed);
        }
        assert_eq!(index.ready().count(), wide as usize / 2);
    });
}
