//! Shapes that break recursion and scans: all of them run in a thread with a small stack.

use punch_core::apply::derive;
use punch_core::graph::kahn::{Csr, cycle, levels};
use punch_core::graph::scc::components;
use punch_core::reason::{conflicts, unblocks, why};
use punch_core::{Dep, Plan, Todo, Uid};

const BIG: u32 = 100_000;

fn in_small_stack(body: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(256 * 1024).spawn(body);
    assert!(thread.is_ok_and(|t| t.join().is_ok()));
}

/// A plan in which todo `n + 1` depends on what `deps(n)` names, with its derived values.
fn derived_plan(deps: impl Fn(u64) -> Vec<u64>) -> Plan {
    let mut plan = Plan::new();
    for uid in 1..=u64::from(BIG) {
        let mut todo = Todo::blank(Uid(uid));
        (todo.id, todo.content) = (format!("T-{uid}"), format!("task {uid}"));
        todo.depends_on = deps(uid).into_iter().map(|dep| Dep::On(Uid(dep))).collect();
        plan.put(todo);
    }
    derive(&mut plan);
    plan
}

#[test]
fn a_chain_of_100k() {
    in_small_stack(|| {
        let chain = derived_plan(|uid| if uid > 1 { vec![uid - 1] } else { Vec::new() });
        let last = chain.get(Uid(BIG.into())).map(|todo| (todo.derived.level, todo.derived.unmet));
        assert_eq!(last, Some((BIG, 1)));
    });
}

#[test]
fn stars_of_100k() {
    in_small_stack(|| {
        let hub = derived_plan(|uid| if uid > 1 { vec![1] } else { Vec::new() });
        assert!(hub.all().skip(1).all(|todo| todo.derived.unmet == 1 && todo.derived.level == 2));
        let sink = derived_plan(|uid| if uid == 1 { (2..=BIG.into()).collect() } else { Vec::new() });
        assert_eq!(sink.get(Uid(1)).map(|todo| todo.derived.unmet), Some(BIG - 1));
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
        assert!(components(&csr).windows(2).all(|pair| pair[0] == pair[1]));
    });
}

#[test]
fn reasons_over_a_chain_of_100k() {
    in_small_stack(|| {
        let plan = derived_plan(|uid| if uid > 1 { vec![uid - 1] } else { Vec::new() });
        let roots = why(&plan, Uid(BIG.into()), 0).map(|w| w.roots.list);
        assert!(roots.is_some_and(|roots| roots.len() == 1 && roots[0].id == "T-1"));
        assert_eq!(unblocks(&plan, Uid(1), 0).map(|u| u.waiting), Some(BIG as usize - 1));
        assert_eq!(conflicts(&plan, 0).pairs.total, 0);
    });
}
