//! What is simulated: how large, how faulty, with which planted bug.

/// Milliseconds of a second.
pub const SECOND: i64 = 1_000;
/// Milliseconds of a minute.
pub const MINUTE: i64 = 60 * SECOND;
/// Milliseconds of an hour.
pub const HOUR: i64 = 60 * MINUTE;

/// A bug that is planted on purpose: a checker that does not find it is worth nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    /// Workers report completions without the fence of their claim.
    NoFence,
    /// Leases are computed with the clock of the host that asks, not with the clock of the store.
    HostClock,
    /// Workers keep working when they cannot renew their claim.
    NeverStops,
    /// A late renewal is confirmed although another worker has the todo.
    LateRenewal,
    /// The best todo is looked up before the transaction that claims it.
    StaleLook,
    /// A completion is confirmed before it is stored, and then not stored.
    EarlyAnswer,
}

impl Mutant {
    /// Every planted bug, with the name that the report gives it.
    pub const ALL: [(Self, &'static str); 6] = [
        (Self::NoFence, "completions without a fence"),
        (Self::HostClock, "leases by the host's clock"),
        (Self::NeverStops, "work continues without a lease"),
        (Self::LateRenewal, "late renewals confirmed"),
        (Self::StaleLook, "looking outside the transaction"),
        (Self::EarlyAnswer, "answers before the commit"),
    ];
}

/// How much goes wrong. Times are means of independent events.
#[derive(Clone, Copy, Debug)]
pub struct Faults {
    /// Messages of 10,000 that are lost, in each direction.
    pub lost: u64,
    /// Requests of 10,000 that arrive twice.
    pub doubled: u64,
    /// Messages of 10,000 that are late by up to a minute, and so overtaken by others.
    pub late: u64,
    /// Time between two crashes of a worker; 0 for none.
    pub crash_every: i64,
    /// Time between two pauses of a worker: the process is stopped, its clock is not.
    pub pause_every: i64,
    /// Time between two suspensions of a host: its clock stops too.
    pub suspend_every: i64,
    /// Time between two partitions of a host from the store.
    pub partition_every: i64,
    /// The wall clocks of hosts are off by at most this much.
    pub skew: i64,
}

impl Faults {
    /// A quiet network on honest machines.
    pub const NONE: Self = Self {
        lost: 0,
        doubled: 0,
        late: 0,
        crash_every: 0,
        pause_every: 0,
        suspend_every: 0,
        partition_every: 0,
        skew: 0,
    };
    /// A bad week: something happens to every worker a few times a day.
    pub const SOME: Self = Self {
        lost: 20,
        doubled: 20,
        late: 50,
        crash_every: 8 * HOUR,
        pause_every: 12 * HOUR,
        suspend_every: 24 * HOUR,
        partition_every: 12 * HOUR,
        skew: HOUR,
    };
    /// Much worse than any real fleet.
    pub const MANY: Self = Self {
        lost: 200,
        doubled: 200,
        late: 500,
        crash_every: HOUR,
        pause_every: 2 * HOUR,
        suspend_every: 4 * HOUR,
        partition_every: 2 * HOUR,
        skew: HOUR,
    };
}

/// One simulation. The same options with the same seed give the same history.
#[derive(Clone, Copy, Debug)]
pub struct SimulationOptions {
    /// Everything random follows from it.
    pub seed: u64,
    /// Plans.
    pub plans: u32,
    /// Todos in each plan.
    pub todos: u32,
    /// Workers, each on a host of its own.
    pub workers: u32,
    /// Agents that each worker runs at a time.
    pub seats: u32,
    /// How long a claim lasts unless renewed.
    pub lease: i64,
    /// Mean time that an agent needs for a todo.
    pub work: i64,
    /// What goes wrong.
    pub faults: Faults,
    /// A planted bug.
    pub mutant: Option<Mutant>,
}

impl SimulationOptions {
    /// A small fleet that is simulated in a moment.
    pub const fn small(seed: u64) -> Self {
        Self {
            seed,
            plans: 4,
            todos: 60,
            workers: 24,
            seats: 1,
            lease: 2 * MINUTE,
            work: 6 * MINUTE,
            faults: Faults::MANY,
            mutant: None,
        }
    }

    /// A fleet far beyond the machines that tests have.
    pub const fn large(seed: u64) -> Self {
        Self {
            seed,
            plans: 1_000,
            todos: 100,
            workers: 3_000,
            seats: 1,
            lease: 15 * MINUTE,
            work: 20 * MINUTE,
            faults: Faults::SOME,
            mutant: None,
        }
    }
}
