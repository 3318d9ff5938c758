//! Counts how many open todos wait for each of up to 1,024 things in one walk over the plan, with one bit of a word for
//! each. A walk for each of them would be quadratic in a plan where many todos have failed.

use crate::graph::NodeState;
use crate::graph::hash::Map;
use crate::graph::kahn::Csr;
use crate::{Dep, Plan, Status, Todo, Uid};

/// The live todos of a plan in list order, found by their handles faster than in the plan itself: what waits for what is
/// asked for every dependency.
pub(super) struct LiveTodos<'p> {
    pub todos: Vec<&'p Todo>,
    states: Vec<LiveState>,
    places: HandlePlaces,
}

/// What is asked about the todos that others depend on. Beside the todos, because fetching those from memory in the order of
/// dependencies would take most of the time.
#[derive(Clone, Copy)]
pub(super) struct LiveState {
    pub node: NodeState,
    pub is_cancelled: bool,
    pub is_parked: bool,
}

impl LiveState {
    fn of(plan: &Plan, todo: &Todo, now: i64) -> Self {
        Self {
            node: NodeState::of(todo, plan.row.policy.cancelled_dep, now),
            is_cancelled: todo.status == Status::Cancelled,
            is_parked: todo.is_parked(),
        }
    }
}

/// The place of each handle.
enum HandlePlaces {
    /// By handle, [`NOWHERE`] without a live todo: handles count up from 1, so there are hardly more than todos.
    Dense(Vec<u32>),
    /// For a part of a plan.
    Sparse(Map<Uid, u32>),
}

const NOWHERE: u32 = u32::MAX;

impl HandlePlaces {
    fn of(todos: &[&Todo]) -> Self {
        let last = todos.iter().map(|todo| todo.uid.0).max().unwrap_or(0);
        match usize::try_from(last) {
            Ok(last) if last < todos.len() * 8 + 1_000 => {
                let mut places = vec![NOWHERE; last + 1];
                (0u32..).zip(todos).for_each(|(at, todo)| places[todo.uid.0 as usize] = at);
                Self::Dense(places)
            }
            _ => Self::Sparse((0u32..).zip(todos).map(|(at, todo)| (todo.uid, at)).collect()),
        }
    }

    fn get(&self, uid: Uid) -> Option<u32> {
        match self {
            Self::Dense(places) => {
                let at = usize::try_from(uid.0).ok()?;
                places.get(at).copied().filter(|at| *at != NOWHERE)
            }
            Self::Sparse(places) => places.get(&uid).copied(),
        }
    }
}

impl<'p> LiveTodos<'p> {
    pub(super) fn of(plan: &'p Plan, now: i64) -> Self {
        let todos = plan.live();
        let states = todos.iter().map(|todo| LiveState::of(plan, todo, now)).collect();
        Self { places: HandlePlaces::of(&todos), todos, states }
    }

    /// The place of a todo in list order.
    pub(super) fn place(&self, uid: Uid) -> Option<usize> {
        self.places.get(uid).map(|at| at as usize)
    }

    pub(super) fn state(&self, uid: Uid) -> Option<LiveState> {
        self.place(uid).map(|at| self.states[at])
    }
}

/// The place where waiting begins.
pub(super) enum WaitStart {
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
        // Over edges outside of cycles, a dependency is always of a lower level, and none is above the number of todos.
        let level = |todo: &Todo| todo.derived.level.min(live.todos.len() as u32);
        let by_level = || (0u32..).zip(&live.todos).map(|(place, todo)| (level(todo), place));
        let top = live.todos.iter().map(|todo| level(todo) as usize).max().unwrap_or(0);
        let order: Vec<usize> =
            Csr::sorted(top + 1, live.todos.len(), by_level).edges().map(|(_, place)| place as usize).collect();
        let mut ranks = vec![0; order.len()];
        (0u32..).zip(&order).for_each(|(rank, place)| ranks[*place] = rank);
        // In list order, which is about the order in memory.
        let mut edges = Vec::new();
        let mut waited_for = vec![false; order.len()];
        for (todo, rank) in live.todos.iter().zip(&ranks) {
            for dep in &todo.depends_on {
                let Dep::On(uid) = dep else { continue };
                let Some(on) = live.place(*uid).filter(|on| !live.states[*on].node.satisfied()) else { continue };
                edges.push((*rank, ranks[on]));
                waited_for[ranks[on] as usize] = true;
            }
        }
        let states = || order.iter().map(|place| live.states[*place]);
        Self {
            live,
            deps: Csr::from_edges(order.len(), &edges),
            open: states().map(|state| state.node.open()).collect(),
            counts: states().map(|state| state.node.open() && !state.is_parked).collect(),
            ranks,
            waited_for,
        }
    }

    fn rank(&self, uid: &Uid) -> Option<usize> {
        self.live.place(*uid).map(|place| self.ranks[place] as usize)
    }

    /// How many todos wait for each of these, itself not counted.
    pub(super) fn counts(&self, starts: &[&WaitStart]) -> Vec<u64> {
        let mut out = vec![0; starts.len()];
        // Sorted by where the waiting begins: nothing before that place has to be looked at.
        let mut wanted: Vec<(usize, usize)> =
            (0..starts.len()).filter_map(|at| Some((self.begin(starts[at])?, at))).collect();
        wanted.sort_unstable();
        match wanted.len() {
            0..=256 => self.count::<4>(starts, &wanted, &mut out),
            _ => self.count::<16>(starts, &wanted, &mut out),
        }
        out
    }

    /// Counts with words of `W` numbers, the number of items that one walk can handle.
    fn count<const W: usize>(&self, starts: &[&WaitStart], wanted: &[(usize, usize)], out: &mut [u64]) {
        let mut below = vec![Bits::<W>::NONE; self.open.len()];
        for group in wanted.chunks(Bits::<W>::LEN) {
            let first = group.first().map_or(0, |(begin, _)| *begin);
            below[first..].fill(Bits::NONE);
            let mut waits: Map<usize, Bits<W>> = Map::default();
            for (bit, (_, at)) in group.iter().enumerate() {
                match starts[*at] {
                    WaitStart::Todo(uid) => self.rank(uid).into_iter().for_each(|at| below[at].set(bit)),
                    WaitStart::Waiting(uids) => {
                        uids.iter()
                            .filter_map(|uid| self.rank(uid))
                            .for_each(|at| waits.entry(at).or_insert(Bits::NONE).set(bit));
                    }
                }
            }
            let mut tally = Tally { digits: Vec::new() };
            for at in first..self.open.len() {
                let mut here =
                    if waits.is_empty() { Bits::NONE } else { waits.get(&at).copied().unwrap_or(Bits::NONE) };
                for on in self.deps.row(at as u32) {
                    // Bits before the first place belong to another group.
                    if *on as usize >= first {
                        here.add(&below[*on as usize]);
                    }
                }
                if here.is_none() {
                    continue;
                }
                // A closed todo passes on only that it is waited for itself.
                if self.open[at] {
                    below[at].add(&here);
                }
                if self.counts[at] {
                    tally.add(here);
                }
            }
            for (bit, (_, at)) in group.iter().enumerate() {
                out[*at] = tally.of(bit);
            }
        }
    }

    /// The first rank at which something waits for this, or `None` if nothing does.
    fn begin(&self, start: &WaitStart) -> Option<usize> {
        match start {
            WaitStart::Todo(uid) => self.rank(uid).filter(|at| self.waited_for[*at]),
            WaitStart::Waiting(uids) => uids.iter().filter_map(|uid| self.rank(uid)).min(),
        }
    }
}

/// A word of many bits. A walk over more bits costs less than several walks.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Bits<const W: usize>([u64; W]);

impl<const W: usize> Bits<W> {
    const LEN: usize = W * 64;
    const NONE: Self = Self([0; W]);

    const fn set(&mut self, bit: usize) {
        self.0[bit / 64] |= 1 << (bit % 64);
    }

    const fn get(self, bit: usize) -> u64 {
        self.0[bit / 64] >> (bit % 64) & 1
    }

    fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word |= other);
    }

    fn is_none(&self) -> bool {
        self.0.iter().fold(0, |all, word| all | word) == 0
    }
}

/// A counter for each bit of a word. Counters add two words at a time, digit by digit: a word waits at its digit until
/// the next one comes, so that a word costs one addition on average, however many bits are set.
struct Tally<const W: usize> {
    digits: Vec<Digit<W>>,
}

/// One binary digit of all counters.
struct Digit<const W: usize> {
    sum: Bits<W>,
    /// Nothing if no word waits.
    waiting: Bits<W>,
}

impl<const W: usize> Tally<W> {
    fn add(&mut self, mut bits: Bits<W>) {
        for digit in &mut self.digits {
            if digit.waiting.is_none() {
                digit.waiting = bits;
                return;
            }
            let words = digit.sum.0.iter_mut().zip(&mut digit.waiting.0).zip(&mut bits.0);
            for ((sum, waiting), bits) in words {
                let either = *sum ^ *waiting;
                (*sum, *bits) = (either ^ *bits, (*sum & *waiting) | (either & *bits));
                *waiting = 0;
            }
            if bits.is_none() {
                return;
            }
        }
        self.digits.push(Digit { sum: Bits::NONE, waiting: bits });
    }

    fn of(&self, bit: usize) -> u64 {
        let digit = |digit: &Digit<W>| digit.sum.get(bit) + digit.waiting.get(bit);
        (0..).zip(&self.digits).map(|(n, at)| digit(at) << n).sum()
    }
}
