//! The choices a plan and a session make, in plain words.

/// When is a start or a completion judged?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Gate {
    /// At once.
    Strict,
    /// When all statuses of the batch have changed.
    AtEnd,
    /// Never refused.
    Warn,
}

/// What does a cancelled or failed dependency mean?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CancelledRule {
    /// It blocks.
    Block,
    /// It counts as met.
    Satisfy,
    /// Pending dependents are cancelled too.
    Cascade,
}

/// What does a completion need?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProofRule {
    /// Nothing, and nothing is kept.
    Trust,
    /// Evidence is kept when given.
    Claim,
    /// No failed check; without one and without words it is marked as unchecked.
    Evidence,
    /// A todo with a command needs evidence that it passed, any other one needs words.
    Command,
}

/// One choice for every question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ModelRules {
    /// When starts and completions are judged.
    pub gate: Gate,
    /// An owner has at most one todo in progress.
    pub one: bool,
    /// Edges in a circle are kept and counted unmet; otherwise a new circle is refused.
    pub suspend: bool,
    /// A dependency on an unknown id is kept; otherwise refused.
    pub dangle_missing: bool,
    /// What a cancelled dependency means; only the plan's own choice counts.
    pub cancelled: CancelledRule,
    /// A dependency on a removed todo is kept as an id; otherwise dropped.
    pub dangle_removed: bool,
    /// A running todo that gets an unmet dependency goes back to pending.
    pub demote: bool,
    /// What a completion needs.
    pub proof: ProofRule,
    /// A completion without the words it needs is refused; otherwise it is marked as unchecked.
    pub words: bool,
}

impl ModelRules {
    /// What a plan starts with.
    pub const NATIVE: Self = Self {
        gate: Gate::Strict,
        one: true,
        suspend: false,
        dangle_missing: false,
        cancelled: CancelledRule::Block,
        dangle_removed: false,
        demote: false,
        proof: ProofRule::Claim,
        words: false,
    };
    /// Merge or replace by id, everything tolerated.
    pub const CURSOR: Self = Self {
        gate: Gate::Warn,
        one: false,
        suspend: true,
        dangle_missing: true,
        dangle_removed: true,
        ..Self::NATIVE
    };
    /// Ops on phases.
    pub const PHASES: Self = Self { gate: Gate::Warn, one: false, ..Self::NATIVE };
    /// Full replacement.
    pub const TODOWRITE: Self = Self::PHASES;
    /// Replace or patch, judged at the end.
    pub const EXTENDED: Self = Self { gate: Gate::AtEnd, one: false, demote: true, ..Self::NATIVE };

    /// The five presets with their names.
    pub const PRESETS: [(&'static str, Self); 5] = [
        ("native", Self::NATIVE),
        ("cursor", Self::CURSOR),
        ("phases", Self::PHASES),
        ("todowrite", Self::TODOWRITE),
        ("extended", Self::EXTENDED),
    ];

    /// How many values each question has, in the order of the fields.
    pub const SIZES: [usize; 9] = [3, 2, 2, 2, 3, 2, 2, 3, 2];

    /// The rules with the given value for each question.
    pub const fn from_digits(digits: [usize; 9]) -> Self {
        Self {
            gate: [Gate::Strict, Gate::AtEnd, Gate::Warn][digits[0]],
            one: digits[1] == 0,
            suspend: digits[2] == 1,
            dangle_missing: digits[3] == 1,
            cancelled: [CancelledRule::Block, CancelledRule::Satisfy, CancelledRule::Cascade][digits[4]],
            dangle_removed: digits[5] == 1,
            demote: digits[6] == 1,
            proof: [ProofRule::Claim, ProofRule::Trust, ProofRule::Command][digits[7]],
            words: digits[8] == 1,
        }
    }
}
