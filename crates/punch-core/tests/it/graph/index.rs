//! The index under random operations: after each it equals the oracle and a rebuild.

use proptest::prelude::*;
use punch_core::graph::{Edge, Index, Spec, State};

use super::oracle::{Oracle, is_cycle};

#[derive(Clone, Debug)]
enum Step {
    Append(Spec, Vec<u32>),
    Status(u32, State),
    Priority(u32, u8),
    Position(u32, i64),
    Dangling(u32, u32),
    Add(u32, u32),
    Suspend(u32, u32),
    Remove(u32, u32),
    Drop(u32),
}

fn state() -> impl Strategy<Value = State> {
    prop_oneof![4 => Just(State::PENDING), 1 => Just(State::BUSY), 3 => Just(State::DONE), 1 => Just(State::DROPPED)]
}

fn spec() -> impl Strategy<Value = Spec> {
    (-3i64..20, 1u8..=5, state(), 0u32..12).prop_map(|(position, priority, state, dangling)| Spec {
        position,
        priority,
        state,
        dangling: dangling.saturating_sub(10),
    })
}

fn step() -> impl Strategy<Value = Step> {
    let n = || any::<u32>();
    prop_oneof![
        3 => (spec(), prop::collection::btree_set(0u32..16, 0..4))
            .prop_map(|(spec, deps)| Step::Append(spec, deps.into_iter().collect())),
        6 => (n(), state()).prop_map(|(n, s)| Step::Status(n, s)),
        2 => (n(), 1u8..=5).prop_map(|(n, p)| Step::Priority(n, p)),
        2 => (n(), -3i64..20).prop_map(|(n, p)| Step::Position(n, p)),
        1 => (n(), 0u32..3).prop_map(|(n, d)| Step::Dangling(n, d)),
        6 => (n(), n()).prop_map(|(a, b)| Step::Add(a, b)),
        1 => (n(), n()).prop_map(|(a, b)| Step::Suspend(a, b)),
        3 => (n(), n()).prop_map(|(a, b)| Step::Remove(a, b)),
        1 => n().prop_map(Step::Drop),
    ]
}

/// Both together; every step is applied to each.
struct Pair {
    index: Index,
    oracle: Oracle,
}

impl Pair {
    /// Turns a random number into a live node.
    fn pick(&self, n: u32) -> Option<u32> {
        let live: Vec<u32> = (0..self.oracle.nodes.len() as u32).filter(|&n| self.oracle.live[n as usize]).collect();
        (!live.is_empty()).then(|| live[n as usize % live.len()])
    }

    /// Checks what a change of `n` reports: everything that became ready by it, but `n` itself.
    fn freed(&mut self, n: u32, change: impl FnOnce(&mut Self, &mut Vec<u32>)) -> Result<(), TestCaseError> {
        let mut expected = self.oracle.ready();
        let mut freed = Vec::new();
        change(self, &mut freed);
        let before = std::mem::replace(&mut expected, self.oracle.ready());
        expected.retain(|d| *d != n && !before.contains(d));
        expected.sort_unstable();
        freed.sort_unstable();
        prop_assert_eq!(freed, expected);
        Ok(())
    }

    fn run(&mut self, step: Step) -> Result<(), TestCaseError> {
        let Some(any) = self.pick(0) else {
            if let Step::Append(spec, _) = step {
                self.append(spec, &[]);
            }
            return Ok(());
        };
        match step {
            Step::Append(spec, deps) => {
                let mut deps: Vec<u32> = deps.into_iter().filter_map(|d| self.pick(d)).collect();
                deps.sort_unstable();
                deps.dedup();
                self.append(spec, &deps);
            }
            Step::Status(n, state) => {
                let n = self.pick(n).unwrap_or(any);
                self.freed(n, |pair, freed| {
                    pair.index.set_status(n, state, freed);
                    pair.oracle.nodes[n as usize].state = state;
                })?;
            }
            Step::Priority(n, priority) => {
                let n = self.pick(n).unwrap_or(any);
                self.index.set_priority(n, priority);
                self.oracle.nodes[n as usize].priority = priority;
            }
            Step::Position(n, position) => {
                let n = self.pick(n).unwrap_or(any);
                self.index.set_position(n, position);
                self.oracle.nodes[n as usize].position = position;
            }
            Step::Dangling(n, dangling) => {
                let n = self.pick(n).unwrap_or(any);
                self.index.set_dangling(n, dangling);
                self.oracle.nodes[n as usize].dangling = dangling;
            }
            Step::Add(a, b) => self.add(self.pick(a).unwrap_or(any), self.pick(b).unwrap_or(any))?,
            Step::Suspend(a, b) => {
                let (from, to) = (self.pick(a).unwrap_or(any), self.pick(b).unwrap_or(any));
                let new = self.oracle.edge(from, to).is_none();
                prop_assert_eq!(self.index.suspend_edge(from, to), new);
                if new {
                    self.oracle.edges.push(Edge { from, to, suspended: true });
                }
            }
            Step::Remove(a, b) => {
                // Existing edges are rare among random pairs.
                let edge = self.oracle.edges.get(a as usize % self.oracle.edges.len().max(1)).copied();
                let (from, to) = edge.map_or((any, self.pick(b).unwrap_or(any)), |e| (e.from, e.to));
                let old = self.oracle.edge(from, to);
                prop_assert_eq!(self.index.remove_edge(from, to), old.is_some());
                if let Some(at) = old {
                    self.oracle.edges.remove(at);
                }
            }
            Step::Drop(n) => {
                let n = self.pick(n).unwrap_or(any);
                self.freed(n, |pair, freed| {
                    pair.index.remove_node(n, freed);
                    pair.oracle.live[n as usize] = false;
                    pair.oracle.edges.retain(|e| e.from != n && e.to != n);
                })?;
            }
        }
        self.check()
    }

    fn append(&mut self, spec: Spec, deps: &[u32]) {
        let n = self.index.append(&spec, deps);
        self.oracle.nodes.push(spec);
        self.oracle.live.push(true);
        self.oracle.edges.extend(deps.iter().map(|&to| Edge { from: n, to, suspended: false }));
    }

    fn add(&mut self, from: u32, to: u32) -> Result<(), TestCaseError> {
        let old = self.oracle.edge(from, to);
        let active = old.is_some_and(|at| !self.oracle.edges[at].suspended);
        let closes = self.oracle.closes(from, to);
        match self.index.add_edge(from, to) {
            Ok(added) => {
                prop_assert!(!closes);
                prop_assert_eq!(added, !active);
                match old {
                    Some(at) => self.oracle.edges[at].suspended = false,
                    None => self.oracle.edges.push(Edge { from, to, suspended: false }),
                }
            }
            Err(path) => {
                prop_assert!(closes);
                let edges: Vec<_> = self.oracle.active().chain([(from, to)]).collect();
                prop_assert!(is_cycle(&path, &edges), "{path:?}");
                prop_assert_eq!(&path[..2], &[from, to]);
            }
        }
        Ok(())
    }

    fn check(&self) -> Result<(), TestCaseError> {
        let levels = self.oracle.levels();
        for n in (0..self.oracle.nodes.len() as u32).filter(|&n| self.oracle.live[n as usize]) {
            prop_assert_eq!(self.index.unmet(n), self.oracle.unmet(n), "unmet of {}", n);
            prop_assert_eq!(self.index.level_of(n), levels[n as usize], "level of {}", n);
            prop_assert_eq!(self.index.pull_of(n), self.oracle.pull(n), "pull of {}", n);
            prop_assert_eq!(self.index.effective(n), self.oracle.effective(n));
            let mut deps: Vec<_> = self.index.deps_of(n).collect();
            let edges = &self.oracle.edges;
            let mut expected: Vec<_> = edges.iter().filter(|e| e.from == n).map(|e| (e.to, e.suspended)).collect();
            deps.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(deps, expected);
            let mut above: Vec<_> = self.index.dependents_of(n).collect();
            let mut expected: Vec<_> = edges.iter().filter(|e| e.to == n).map(|e| (e.from, e.suspended)).collect();
            above.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(above, expected);
        }
        prop_assert_eq!(self.index.ready().collect::<Vec<_>>(), self.oracle.ready());
        prop_assert_eq!(self.index.first_ready(), self.index.ready().next());
        Ok(())
    }
}

proptest! {
    #[test]
    fn any_steps_equal_the_oracle(steps in prop::collection::vec(step(), 1..60)) {
        let mut pair = Pair { index: Index::default(), oracle: Oracle::default() };
        for step in steps {
            pair.run(step)?;
        }
        // A rebuild from what is left gives the same again, and takes the same steps on.
        let Oracle { nodes, live, edges } = &pair.oracle;
        let rebuilt = Index::build(nodes, edges);
        prop_assert!(rebuilt.is_ok());
        if live.iter().all(|l| *l) && let Ok(index) = rebuilt {
            let other = Pair { index, oracle: pair.oracle.clone() };
            other.check()?;
            let weight = |n: u32| u64::from(n) * 7 % 5 + 1;
            let longest: Vec<u64> = (0..nodes.len() as u32).map(|n| pair.oracle.remaining(n, &weight)).collect();
            prop_assert_eq!(pair.index.longest_remaining(weight), longest.clone());
            prop_assert_eq!(other.index.longest_remaining(weight), longest);
        }
    }
}

#[test]
fn moves_and_removals_in_numbers_stay_right() {
    // Enough to rank anew and to sweep dead edges several times.
    let specs: Vec<Spec> =
        (0..120).map(|n| Spec { position: n, priority: 1 + (n % 5) as u8, ..Spec::default() }).collect();
    let edges: Vec<Edge> = (1..120).map(|n| Edge { from: n, to: n / 2, suspended: false }).collect();
    let mut pair = Pair { index: Index::build(&specs, &edges).unwrap_or_default(), oracle: Oracle::new(specs, edges) };
    for round in 0..300u32 {
        let n = round * 7 % 120;
        assert!(pair.run(Step::Position(n, i64::from(round * 13 % 101))).is_ok());
        assert!(pair.run(Step::Remove(round, 0)).is_ok());
        if round % 3 == 0 {
            let spec = Spec { position: i64::from(round), ..Spec::default() };
            assert!(pair.run(Step::Append(spec, vec![round, round / 2])).is_ok());
        }
    }
}
