//! How many open todos wait for something, for many things at once: 256 of them in one walk over the plan, each as one
//! bit of a word. A walk for each of them would be quadratic in a plan where many todos have failed.

use crate::graph::NodeState;
use crate::graph::hash::Map;
use crate::graph::kahn::Csr;
use crate::{Dep, Plan, Todo, Uid};

/// The live todos of a plan in list order, found by their handles faster than in the plan itself: what waits for what is
/// asked for every dependency.
pub(super) struct LiveTodos<'p> {
    pub todos: Vec<&'p Todo>,
    states: Vec<NodeState>,
    places: Map<Uid, u32>,
}

impl<'p> LiveTodos<'p> {
    pub(super) fn of(plan: &'p Plan, now: i64) -> Self {
        let todos = plan.live();
        let states = todos.iter().map(|todo| NodeState::of(todo, plan.row.policy.cancelled_dep, now)).collect();
        let places = (0u32..).zip(&todos).map(|(at, todo)| (todo.uid, at)).collect();
        Self { todos, states, places }
    }

    /// The place of a todo in list order.
    pub(super) fn place(&self, uid: Uid) -> Option<usize> {
        self.places.get(&uid).map(|at| *at as usize)
    }

    pub(super) fn get(&self, uid: Uid) -> Option<(&'p Todo, NodeState)> {
        self.place(uid).map(|at| (self.todos[at], self.states[at]))
    }
}

/// Where waiting begins.
pub(super) enum Start {
    /// With a todo: what depends on it waits.
    Todo(Uid),
    /// With these todos: they and what depends on them wait.
    Waiting(Vec<Uid>),
}

/// The live todos of a plan, dependencies before dependents.
pub(super) struct Behind<'a> {
    live: &'a LiveTodos<'a>,
    /// The rank of each todo, by its place in the list.
    ranks: Vec<u32>,
    /// What each waits for, by rank: unmet dependencies outside of cycles.
    deps: Csr,
    /// Pending or in progress: what waits for it waits for what it waits for.
    open: Vec<bool>,
    /// Open and not parked: it counts.
    counts: Vec<bool>,
    /// Something waits for it.
    waited_for: Vec<bool>,
}

impl<'a> Behind<'a> {
    pub(super) fn of(live: &'a LiveTodos<'a>) -> Self {
        let mut order: Vec<(u32, u32)> =
            (0u32..).zip(&live.todos).map(|(place, todo)| (todo.derived.level, place)).collect();
        // Over edges outside of cycles, a dependency is always of a lower level.
        order.sort_unstable();
        let mut ranks = vec![0; order.len()];
        (0u32..).zip(&order).for_each(|(rank, (_, place))| ranks[*place as usize] = rank);
        let mut edges = Vec::new();
        let mut waited_for = vec![false; order.len()];
        for (rank, (_, place)) in (0u32..).zip(&order) {
            for dep in &live.todos[*place as usize].depends_on {
                let Dep::On(uid) = dep else { continue };
                let Some(on) = live.place(*uid).filter(|on| !live.states[*on].satisfied()) else { continue };
                edges.push((rank, ranks[on]));
                waited_for[ranks[on] as usize] = true;
            }
        }
        let open: Vec<bool> = order.iter().map(|(_, place)| live.states[*place as usize].open()).collect();
        let counts = order.iter().zip(&open).map(|((_, at), open)| *open && !live.todos[*at as usize].is_parked());
        Self { live, deps: Csr::from_edges(order.len(), &edges), counts: counts.collect(), ranks, open, waited_for }
    }

    fn rank(&self, uid: &Uid) -> Option<usize> {
        self.live.place(*uid).map(|place| self.ranks[place] as usize)
    }

    /// How many todos wait for each of these, itself not counted.
    pub(super) fn counts(&self, starts: &[&Start]) -> Vec<u64> {
        let mut out = vec![0; starts.len()];
        let matters = |start: &Start| match start {
            Start::Todo(uid) => self.rank(uid).is_some_and(|at| self.waited_for[at]),
            Start::Waiting(uids) => !uids.is_empty(),
        };
        let wanted: Vec<usize> = (0..starts.len()).filter(|at| matters(starts[*at])).collect();
        for group in wanted.chunks(Bits::LEN) {
            let mut below = vec![Bits::default(); self.open.len()];
            let mut waits = below.clone();
            for (bit, at) in group.iter().enumerate() {
                match starts[*at] {
                    Start::Todo(uid) => self.rank(uid).into_iter().for_each(|at| below[at].set(bit)),
                    Start::Waiting(uids) => {
                        uids.iter().filter_map(|uid| self.rank(uid)).for_each(|at| waits[at].set(bit));
                    }
                }
            }
            let mut tally = Tally::default();
            for at in 0..self.open.len() {
                let mut here = waits[at];
                for on in self.deps.row(at as u32) {
                    here.add(below[*on as usize]);
                }
                if self.counts[at] {
                    tally.add(here);
                }
                // A closed todo passes on only that it is waited for itself.
                if self.open[at] {
                    below[at].add(here);
                }
            }
            for (bit, at) in group.iter().enumerate() {
                out[*at] = tally.of(bit);
            }
        }
        out
    }
}

/// A word of many bits. Four words at once cost hardly more than one.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Bits([u64; 4]);

impl Bits {
    const LEN: usize = 256;
    const NONE: Self = Self([0; 4]);

    const fn set(&mut self, bit: usize) {
        self.0[bit / 64] |= 1 << (bit % 64);
    }

    fn add(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word |= other);
    }
}

/// A counter for each bit of a word. The n-th word holds the n-th binary digit of all of them, so that counting a word
/// touches two of them on average, however many bits are set.
#[derive(Default)]
struct Tally {
    digits: Vec<Bits>,
}

impl Tally {
    fn add(&mut self, mut carry: Bits) {
        for digit in &mut self.digits {
            if carry == Bits::NONE {
                return;
            }
            for (digit, carry) in digit.0.iter_mut().zip(&mut carry.0) {
                (*digit, *carry) = (*digit ^ *carry, *digit & *carry);
            }
        }
        if carry != Bits::NONE {
            self.digits.push(carry);
        }
    }

    fn of(&self, bit: usize) -> u64 {
        (0..).zip(&self.digits).map(|(n, digit)| (digit.0[bit / 64] >> (bit % 64) & 1) << n).sum()
    }
}
