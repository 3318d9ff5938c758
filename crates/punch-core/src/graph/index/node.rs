//! What the index keeps of one todo, and what it is told.

use crate::NO_PULL;

/// What the graph needs to know of a status. Kept as the bits of a node, so that changing it is a mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State(u8);

impl State {
    /// Pending, not held.
    pub const PENDING: Self = Self(OPEN | ELIGIBLE);
    /// Pending and held, or in progress.
    pub const BUSY: Self = Self(OPEN);
    /// Completed.
    pub const DONE: Self = Self(SATISFIED);
    /// Cancelled or failed, and blocking.
    pub const DROPPED: Self = Self(0);

    /// Pending or in progress: its priority counts for what it depends on.
    pub const fn open(self) -> bool {
        self.0 & OPEN != 0
    }

    /// Its dependents need not wait for it any longer.
    pub const fn satisfied(self) -> bool {
        self.0 & SATISFIED != 0
    }

    /// Pending and not held: ready once nothing is unmet.
    pub const fn eligible(self) -> bool {
        self.0 & ELIGIBLE != 0
    }
}

/// A todo as given to the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spec {
    /// List order.
    pub position: i64,
    /// 1 to 5; other values are taken as the nearest.
    pub priority: u8,
    /// Its status.
    pub state: State,
    /// Dependencies on ids that nobody has.
    pub dangling: u32,
}

impl Default for Spec {
    fn default() -> Self {
        Self { position: 0, priority: 3, state: State::PENDING, dangling: 0 }
    }
}

/// A dependency as given to the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Who waits.
    pub from: u32,
    /// For whom.
    pub to: u32,
    /// Counted unmet, but no part of levels, pulls and cycles.
    pub suspended: bool,
}

pub(super) const LIVE: u8 = 1;
pub(super) const OPEN: u8 = 2;
pub(super) const SATISFIED: u8 = 4;
pub(super) const ELIGIBLE: u8 = 8;
/// Its position does not follow from its rank (see [`super::ready`]).
pub(super) const LOOSE: u8 = 16;
const STATE: u8 = OPEN | SATISFIED | ELIGIBLE;

/// No edge, no node.
pub(super) const NONE: u32 = u32::MAX;

/// Everything of one node together: completing touches one cache line for each dependent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub position: i64,
    pub unmet: u32,
    pub dangling: u32,
    pub level: u32,
    /// First edge of its lists.
    pub deps: u32,
    pub dependents: u32,
    /// How many dependents have reach 1, 2, … 5 and none: a hub need not be scanned when one of its dependents changes.
    pub asking: [u32; 6],
    pub own: u8,
    pub pull: u8,
    pub bits: u8,
}

impl Node {
    pub fn new(spec: &Spec) -> Self {
        Self {
            position: spec.position,
            unmet: spec.dangling,
            dangling: spec.dangling,
            level: 1,
            deps: NONE,
            dependents: NONE,
            asking: [0; 6],
            own: spec.priority.clamp(1, 5),
            pull: NO_PULL,
            bits: LIVE | spec.state.0,
        }
    }

    pub const fn is(&self, bit: u8) -> bool {
        self.bits & bit != 0
    }

    pub const fn state(&self) -> State {
        State(self.bits & STATE)
    }

    pub const fn set_state(&mut self, state: State) {
        self.bits = self.bits & !STATE | state.0;
    }

    pub const fn is_ready(&self) -> bool {
        self.unmet == 0 && self.bits & (LIVE | ELIGIBLE) == LIVE | ELIGIBLE
    }

    /// The key in the ready set; it must not change with the status, so that what was put in is found again.
    pub fn effective(&self) -> u8 {
        self.own.min(self.pull)
    }

    /// What it asks of its dependencies: nothing once it is closed.
    pub fn reach(&self) -> u8 {
        if self.is(OPEN) { self.effective() } else { NO_PULL }
    }

    /// What is asked of it: nothing once it is closed.
    pub fn pulled(&self) -> u8 {
        if self.is(OPEN) { self.pull } else { NO_PULL }
    }

    pub fn best_asked(&self) -> u8 {
        self.asking[..5].iter().position(|&count| count > 0).map_or(NO_PULL, |at| at as u8 + 1)
    }

    /// A dependent with this reach asks. True if that is more than was asked so far. Nothing is asked of a closed
    /// todo: who opens it counts anew.
    pub fn ask(&mut self, reach: u8) -> bool {
        if !self.is(OPEN) {
            return false;
        }
        self.asking[usize::from(reach) - 1] += 1;
        reach < self.pull
    }

    /// A dependent with this reach asks no longer. True if it was the last one to ask that much.
    pub fn unask(&mut self, reach: u8) -> bool {
        if !self.is(OPEN) {
            return false;
        }
        let count = &mut self.asking[usize::from(reach) - 1];
        *count -= 1;
        *count == 0 && reach == self.pull
    }
}
