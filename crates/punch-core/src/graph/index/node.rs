//! What the index keeps of one todo, and what it is told.

use crate::NO_PULL;

/// What the graph needs to know of a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// Pending or in progress: its priority counts for what it depends on.
    pub open: bool,
    /// Its dependents need not wait for it any longer.
    pub satisfied: bool,
    /// Pending and not held: ready once nothing is unmet.
    pub eligible: bool,
}

impl State {
    /// Pending, not held.
    pub const PENDING: Self = Self { open: true, satisfied: false, eligible: true };
    /// Pending and held, or in progress.
    pub const BUSY: Self = Self { open: true, satisfied: false, eligible: false };
    /// Completed.
    pub const DONE: Self = Self { open: false, satisfied: true, eligible: false };
    /// Cancelled or failed, and blocking.
    pub const DROPPED: Self = Self { open: false, satisfied: false, eligible: false };

    pub(super) const fn bits(self) -> u8 {
        ((self.open as u8) * OPEN) | ((self.satisfied as u8) * SATISFIED) | ((self.eligible as u8) * ELIGIBLE)
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
    /// How many dependents have reach 1, 2, … 5: a hub need not be scanned when one of its dependents changes.
    pub asking: [u32; 5],
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
            asking: [0; 5],
            own: spec.priority.clamp(1, 5),
            pull: NO_PULL,
            bits: LIVE | spec.state.bits(),
        }
    }

    pub const fn is(&self, bit: u8) -> bool {
        self.bits & bit != 0
    }

    pub const fn state(&self) -> State {
        State { open: self.is(OPEN), satisfied: self.is(SATISFIED), eligible: self.is(ELIGIBLE) }
    }

    pub const fn set_state(&mut self, state: State) {
        self.bits = self.bits & !STATE | state.bits();
    }

    pub const fn is_ready(&self) -> bool {
        self.unmet == 0 && self.bits & (LIVE | ELIGIBLE) == LIVE | ELIGIBLE
    }

    pub fn effective(&self) -> u8 {
        self.own.min(self.pull)
    }

    /// What it asks of its dependencies.
    pub fn reach(&self) -> u8 {
        if self.is(OPEN) { self.effective() } else { self.pull }
    }

    pub fn best_asked(&self) -> u8 {
        self.asking.iter().position(|&count| count > 0).map_or(NO_PULL, |at| at as u8 + 1)
    }

    /// The slot that counts dependents of this reach; there is none for "nothing asked".
    pub fn asking(&mut self, reach: u8) -> Option<&mut u32> {
        self.asking.get_mut(usize::from(reach) - 1)
    }
}
